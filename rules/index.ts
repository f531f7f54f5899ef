import type { Problem } from '../src/verdicts/problem.js'
import { anyPort } from './any_port.js'
import { brNetfilter } from './br_netfilter.js'
import { fapolicyd } from './fapolicyd.js'
import { firewall } from './firewall.js'
import { ipForward } from './ip_forward.js'
import { leftoversOfAFailedInit } from './leftovers_of_a_failed_init.js'
import { otherContainerRuntime } from './other_container_runtime.js'
import { port53 } from './port_53.js'
import { port2379 } from './port_2379.js'
import { port2380 } from './port_2380.js'
import { port6443 } from './port_6443.js'
import { port10250 } from './port_10250.js'
import { port10257 } from './port_10257.js'
import { port10259 } from './port_10259.js'
import { swap } from './swap.js'

/** Every problem there is a rule for, in the order of who-fixes.json. */
export const problems: readonly Problem[] = [
  swap,
  brNetfilter,
  ipForward,
  port10250,
  port6443,
  port2379,
  port2380,
  port10257,
  port10259,
  port53,
  fapolicyd,
  firewall,
  otherContainerRuntime,
  leftoversOfAFailedInit,
]

/** The problem with this id, also `port_N` for a port that is not in the catalogue; undefined when there is none. */
export function problemById(id: string): Problem | undefined {
  return problems.find(problem => problem.id === id) ?? anyPort(id)
}
