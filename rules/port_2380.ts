import { portProblem } from './port.js'

export const port2380 = portProblem({
  port: 2380,
  groups: ['etcd', 'kube_control_plane', 'kube-master'],
  outsideKubeadm: ['etcd'],
  owner: 'etcd',
  ownerUnit: 'etcd.service',
  says: 'etcd has to listen on port 2380, where its members talk to each other; kubeadm looks only where it runs etcd itself.',
  source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
  checkedBy: { init: 'it runs etcd itself', join: 'it joins a control plane and runs etcd itself' },
})
