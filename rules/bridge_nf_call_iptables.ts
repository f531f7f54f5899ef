import { bridgeProblem } from './bridge.js'

export const bridgeNfCallIptables = bridgeProblem(
  'bridge_nf_call_iptables',
  'net.bridge.bridge-nf-call-iptables',
  'IPv4',
  'iptables',
)
