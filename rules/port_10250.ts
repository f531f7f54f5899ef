import { portProblem } from './port.js'

export const port10250 = portProblem({
  port: 10250,
  owner: 'the kubelet',
  ownerUnit: 'kubelet.service',
  source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
})
