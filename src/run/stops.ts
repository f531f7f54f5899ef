import type { Task } from '../ansible/statement.js'
import type { Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import { evaluateWhen, failingCondition } from './conditions.js'
import { chainOf, type Frame, inheritedKeyword } from './frame.js'
import type { Items } from './loops.js'
import type { AppliedCondition, Invocation, TaskRun } from './task-run.js'
import type { Walk } from './walk.js'

/** An evaluation of a task that certainly fails, if the run gets there. */
export interface FailedEvaluation {
  /** The condition that fails; without one it is the loop or an argument. */
  readonly condition: AppliedCondition | undefined
  readonly says: string
  /** Whether items of the loop before it are done. */
  readonly isLater: boolean
}

/** Of these the arguments are looked at elsewhere, or what is not defined is no fault (`debug: var`). */
const notLookedAt: ReadonlySet<string> = new Set(
  ['assert', 'meta', 'include', 'include_tasks', 'include_role', 'include_vars'].map(name => `ansible.builtin.${name}`),
)

/** One execution of a task as it was decided. */
interface Execution {
  readonly applied: readonly AppliedCondition[]
  readonly invocation?: Invocation
}

/**
 * The evaluation that fails when a task is run: of its conditions in order, then of its arguments, item by item. A loop is
 * evaluated first, but what fails there only counts where the conditions do not skip the task (`TaskExecutor._execute`).
 */
export function failedEvaluation(
  task: Task,
  items: Items | undefined,
  whole: readonly AppliedCondition[],
  executions: readonly Execution[],
): FailedEvaluation | undefined {
  if (items?.kind === 'unknown') {
    const isReached = whole.every(({ truth }) => truth.kind === 'true')
    return items.fails !== undefined && isReached
      ? { condition: undefined, says: items.fails, isLater: false }
      : undefined
  }
  for (const [index, { applied, invocation }] of executions.entries()) {
    const isLater = index > 0
    const condition = failingCondition(applied)
    if (condition !== undefined) return { condition, says: `its condition ${condition.text}`, isLater }
    if (invocation?.runs.kind !== 'true' || notLookedAt.has(task.module)) continue
    for (const [name, value] of [...invocation.arguments, ['', invocation.raw] as const]) {
      const says = failureOf(value)
      if (says !== undefined && !(name === 'var' && task.module === 'ansible.builtin.debug')) {
        return {
          condition: undefined,
          says: `evaluating ${name === '' ? 'its arguments' : name} fails: ${says}`,
          isLater,
        }
      }
    }
  }
  return undefined
}

function failureOf(value: Value | undefined): string | undefined {
  if (value?.kind === 'failure') return value.says
  return value?.kind === 'undefined' && value.lenient !== true ? value.says : undefined
}

/** Whether something may take the failure of a task that cannot be evaluated; `failed_when` is not asked without a result. */
export function isPerhapsTaken(walk: Walk, task: Task, frame: Frame): boolean {
  const ignore = inheritedKeyword(frame, task, 'ignore_errors')
  if (ignore !== undefined && evaluateWhen(ignore, 'task', walk.scopes.ofFrame(frame)).truth.kind !== 'false')
    return true
  return isPerhapsRescued(frame)
}

/** Notes that the run ends for its host at a task that cannot be evaluated. */
export function stopAtEvaluation(walk: Walk, run: TaskRun, { condition, says }: FailedEvaluation): void {
  const conditions = condition === undefined ? [] : [condition]
  walk.state.checks.push({
    kind: 'evaluation',
    task: run,
    outcome: 'stops',
    conditions,
    items: [{ outcome: 'stops', asked: conditions }],
    message: condition === undefined ? says : undefined,
    final: true,
    hints: [],
  })
  stopAt(walk, run)
}

/** From here on nothing is done on the run's host, but for `always` of the blocks around the task. */
export function stopAt(walk: Walk, { task }: TaskRun): void {
  // Handlers that were notified still run then.
  if (walk.play.play.keywords.has('force_handlers')) return
  walk.state.stopped ??= `the run stops before, at ${placeOf(task.at)}`
}

/** Whether a check that stops the run looks at nothing that a host or an inventory could change. */
export function looksAtNothing(conditions: readonly AppliedCondition[]): boolean {
  return conditions.every(({ names }) => names.length === 0)
}

function isPerhapsRescued(frame: Frame): boolean {
  return chainOf(frame).some(
    ({ kind, directives }) => kind === 'block' && 'rescue' in directives && (directives.rescue as unknown[]).length > 0,
  )
}
