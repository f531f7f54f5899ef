import type { Problem } from '../src/verdicts/problem.js'
import { brNetfilter } from './br_netfilter.js'
import { bridgeNfCallIp6tables } from './bridge_nf_call_ip6tables.js'
import { bridgeNfCallIptables } from './bridge_nf_call_iptables.js'
import { conntrackModule } from './conntrack_module.js'
import { inotifyInstances } from './inotify_instances.js'
import { ipForward } from './ip_forward.js'
import { ipv6Forward } from './ipv6_forward.js'
import { ipvsModules } from './ipvs_modules.js'
import { kubeletKernelDefaults } from './kubelet_kernel_defaults.js'
import { nodeportRangeReserved } from './nodeport_range_reserved.js'
import { overlay } from './overlay.js'
import { port10250 } from './port_10250.js'
import { rpFilter } from './rp_filter.js'
import { swap } from './swap.js'

/** Every problem there is a rule for, in the order of who-fixes.json. */
export const problems: readonly Problem[] = [
  swap,
  brNetfilter,
  ipForward,
  port10250,
  overlay,
  ipvsModules,
  conntrackModule,
  ipv6Forward,
  bridgeNfCallIptables,
  bridgeNfCallIp6tables,
  kubeletKernelDefaults,
  inotifyInstances,
  nodeportRangeReserved,
  rpFilter,
]

/** The problem with this id; undefined when there is none. */
export function problemById(id: string): Problem | undefined {
  return problems.find(problem => problem.id === id)
}
