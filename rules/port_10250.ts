import { portProblem } from './port.js'

export const port10250 = portProblem({
  port: 10250,
  owner: 'the kubelet',
  ownerUnit: 'kubelet.service',
  says: 'The kubelet has to listen on port 10250; kubeadm refuses to start while another does.',
  source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
  checkedBy: { init: null, join: null },
})
