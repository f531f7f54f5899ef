import { portProblem } from './port.js'

export const port10259 = portProblem({
  port: 10259,
  groups: ['kube_control_plane', 'kube-master'],
  owner: 'the scheduler',
  says: 'The scheduler of a control plane has to listen on port 10259; kubeadm refuses to start while another does.',
  source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
  notOf: ['kube-controller-manager'],
  checkedBy: { init: null, join: 'it joins a control plane' },
})
