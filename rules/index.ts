import type { Problem } from '../src/verdicts/problem.js'
import { brNetfilter } from './br_netfilter.js'
import { cgroupV2 } from './cgroup_v2.js'
import { ipAddress } from './ip_address.js'
import { ipForward } from './ip_forward.js'
import { kernelVersion } from './kernel_version.js'
import { memoryMinimum } from './memory_minimum.js'
import { port10250 } from './port_10250.js'
import { python } from './python.js'
import { supportedOs } from './supported_os.js'
import { swap } from './swap.js'

/** Every problem there is a rule for, in the order of who-fixes.json. */
export const problems: readonly Problem[] = [
  swap,
  brNetfilter,
  ipForward,
  port10250,
  cgroupV2,
  kernelVersion,
  memoryMinimum,
  supportedOs,
  ipAddress,
  python,
]

/** The problem with this id; undefined when there is none. */
export function problemById(id: string): Problem | undefined {
  return problems.find(problem => problem.id === id)
}
