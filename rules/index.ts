import type { Problem } from '../src/verdicts/problem.js'
import { brNetfilter } from './br_netfilter.js'
import { ipForward } from './ip_forward.js'
import { port10250 } from './port_10250.js'
import { swap } from './swap.js'

/** Every problem there is a rule for, in the order of who-fixes.json. */
export const problems: readonly Problem[] = [swap, brNetfilter, ipForward, port10250]

/** The problem with this id; undefined when there is none. */
export function problemById(id: string): Problem | undefined {
  return problems.find(problem => problem.id === id)
}
