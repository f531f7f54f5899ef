import type { Task } from '../../ansible/statement.js'
import type { Evidence } from '../../evidence/evidence.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import type { Moment } from '../moment.js'
import { commandOf } from './command.js'
import { findOf } from './find.js'
import { modprobeOf } from './modprobe.js'
import { packageFactsOf } from './package-facts.js'
import { serviceFactsOf } from './service-facts.js'
import { slurpOf } from './slurp.js'
import { statOf } from './stat.js'

type Answer = (task: Task, invocation: Invocation, moment: Moment, evidence: Evidence) => Answered | undefined

const answers: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ['ansible.builtin.command', commandOf],
  ['ansible.builtin.find', findOf],
  ['ansible.builtin.package_facts', packageFactsOf],
  ['ansible.builtin.raw', commandOf],
  ['ansible.builtin.service_facts', (task, _invocation, moment, evidence) => serviceFactsOf(task, moment, evidence)],
  ['ansible.builtin.shell', commandOf],
  ['ansible.builtin.slurp', slurpOf],
  ['ansible.builtin.stat', statOf],
  ['community.general.modprobe', (_task, invocation, moment) => modprobeOf(invocation, moment)],
])

/**
 * What a host says at one moment to a task that only looks, or of which it decides whether it fails, in the form its result
 * has. Undefined where the module does more than that, or what it looks at is not worked out; what was not captured is unknown
 * for that reason. Of `evidence` only what no task changes is used, and what `moment` still confirms.
 */
export function answerOf(task: Task, invocation: Invocation, moment: Moment, evidence: Evidence): Answered | undefined {
  return answers.get(invocation.module ?? task.module)?.(task, invocation, moment, evidence)
}
