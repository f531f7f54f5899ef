import type { Problem } from '../src/verdicts/problem.js'
import { brNetfilter } from './br_netfilter.js'
import { etcHosts } from './etc_hosts.js'
import { hostname } from './hostname.js'
import { ipForward } from './ip_forward.js'
import { networkManager } from './network_manager.js'
import { port10250 } from './port_10250.js'
import { resolvConf } from './resolv_conf.js'
import { selinux } from './selinux.js'
import { swap } from './swap.js'
import { timeSync } from './time_sync.js'
import { unattendedUpgrades } from './unattended_upgrades.js'

/** Every problem there is a rule for, in the order of who-fixes.json. */
export const problems: readonly Problem[] = [
  swap,
  brNetfilter,
  ipForward,
  port10250,
  selinux,
  timeSync,
  hostname,
  etcHosts,
  resolvConf,
  networkManager,
  unattendedUpgrades,
]

/** The problem with this id; undefined when there is none. */
export function problemById(id: string): Problem | undefined {
  return problems.find(problem => problem.id === id)
}
