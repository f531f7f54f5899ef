import { portProblem } from './port.js'

export const port10257 = portProblem({
  port: 10257,
  groups: ['kube_control_plane', 'kube-master'],
  owner: 'the controller manager',
  says: 'The controller manager of a control plane has to listen on port 10257; kubeadm refuses to start while another does.',
  source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
  notOf: ['kube-scheduler'],
  checkedBy: { init: null, join: 'it joins a control plane' },
})
