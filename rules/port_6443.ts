import { portProblem } from './port.js'

export const port6443 = portProblem({
  port: 6443,
  groups: ['kube_control_plane', 'kube-master'],
  owner: 'the API server',
  says: 'The API server of a control plane has to listen on port 6443; kubeadm refuses to start while another does.',
  source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
  checkedBy: { init: null, join: 'it joins a control plane' },
})
