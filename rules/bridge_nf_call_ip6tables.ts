import { bridgeProblem } from './bridge.js'

export const bridgeNfCallIp6tables = bridgeProblem(
  'bridge_nf_call_ip6tables',
  'net.bridge.bridge-nf-call-ip6tables',
  'IPv6',
  'ip6tables',
)
