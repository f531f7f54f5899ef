import type { Problem } from '../src/verdicts/problem.js'
import { anyPort } from './any_port.js'
import { brNetfilter } from './br_netfilter.js'
import { bridgeNfCallIp6tables } from './bridge_nf_call_ip6tables.js'
import { bridgeNfCallIptables } from './bridge_nf_call_iptables.js'
import { cgroupV2 } from './cgroup_v2.js'
import { conntrackModule } from './conntrack_module.js'
import { etcHosts } from './etc_hosts.js'
import { fapolicyd } from './fapolicyd.js'
import { firewall } from './firewall.js'
import { hostname } from './hostname.js'
import { inotifyInstances } from './inotify_instances.js'
import { ipAddress } from './ip_address.js'
import { ipForward } from './ip_forward.js'
import { ipv6Forward } from './ipv6_forward.js'
import { ipvsModules } from './ipvs_modules.js'
import { kernelVersion } from './kernel_version.js'
import { kubeletKernelDefaults } from './kubelet_kernel_defaults.js'
import { leftoversOfAFailedInit } from './leftovers_of_a_failed_init.js'
import { memoryMinimum } from './memory_minimum.js'
import { networkManager } from './network_manager.js'
import { nodeportRangeReserved } from './nodeport_range_reserved.js'
import { otherContainerRuntime } from './other_container_runtime.js'
import { overlay } from './overlay.js'
import { port53 } from './port_53.js'
import { port2379 } from './port_2379.js'
import { port2380 } from './port_2380.js'
import { port6443 } from './port_6443.js'
import { port10250 } from './port_10250.js'
import { port10257 } from './port_10257.js'
import { port10259 } from './port_10259.js'
import { python } from './python.js'
import { resolvConf } from './resolv_conf.js'
import { rpFilter } from './rp_filter.js'
import { selinux } from './selinux.js'
import { supportedOs } from './supported_os.js'
import { swap } from './swap.js'
import { timeSync } from './time_sync.js'
import { unattendedUpgrades } from './unattended_upgrades.js'

/** Every problem there is a rule for: those of who-fixes.json first, in its order, then by what they are about. */
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
  port6443,
  port2379,
  port2380,
  port10257,
  port10259,
  port53,
  firewall,
  selinux,
  fapolicyd,
  timeSync,
  hostname,
  etcHosts,
  resolvConf,
  networkManager,
  unattendedUpgrades,
  cgroupV2,
  kernelVersion,
  memoryMinimum,
  supportedOs,
  ipAddress,
  python,
  otherContainerRuntime,
  leftoversOfAFailedInit,
]

/** The problem with this id, also `port_N` for a port that is not in the catalogue; undefined when there is none. */
export function problemById(id: string): Problem | undefined {
  return problems.find(problem => problem.id === id) ?? anyPort(id)
}
