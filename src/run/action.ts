import type { Task } from '../ansible/statement.js'
import type { Truth, Value } from '../jinja/value.js'
import type { Scope } from '../variables/scope.js'
import { allOf } from './conditions.js'
import { type Frame, stepsOf } from './frame.js'
import type { AppliedCondition, Invocation, TaskRun } from './task-run.js'
import type { Walk } from './walk.js'

/** A task whose module changes the run itself: variables, groups, handlers, or the tasks that follow. */
export interface Action {
  readonly walk: Walk
  readonly task: Task
  readonly frame: Frame
  readonly part: TaskRun['part']
  readonly run: TaskRun
  readonly scope: Scope
  /** Whether it has its effect: the task's conditions, and in a rescue section that it is reached. */
  readonly runs: Truth
  readonly invocations: readonly Invocation[]
  /** The conditions of each invocation as they came out. */
  readonly applied: readonly (readonly AppliedCondition[])[]
  readonly itemsKnown: boolean
}

/** One invocation of a module that sets variables. */
export interface Setting {
  readonly walk: Walk
  readonly task: Task
  readonly frame: Frame
  /** What the invocation sees, the item of its loop included. */
  readonly scope: Scope
  readonly invocation: Invocation
  /** Whether it has its effect. */
  readonly truth: Truth
  /** False where the invocation stands for any number of items. */
  readonly itemsKnown: boolean
  /** The host whose task it is. */
  readonly by: string
  /** Whether it is done once for all hosts of the play. */
  readonly once: boolean
}

/** Whether an invocation takes effect, with what else must hold. */
export function effective(action: Action, invocation: Invocation): Truth {
  return action.runs.kind === 'true' ? invocation.runs : allOf([action.runs, invocation.runs])
}

/** The items of an action's loop; undefined where it is not known which there are. */
export function itemsOf({ invocations, itemsKnown }: Action): readonly Value[] | undefined {
  return itemsKnown ? invocations.flatMap(({ item }) => item ?? []) : undefined
}

/** Notes that the run may go on where it could not be followed. */
export function addGap(
  { walk, task, frame }: Pick<Action, 'walk' | 'task' | 'frame'>,
  says: string,
  runs: Truth,
): void {
  walk.gaps.push({ says, at: task.at, via: stepsOf(frame), runs })
}

/** Whether a value is one that Ansible takes for true where it wants a boolean. */
export function isTrue(value: Value | undefined): boolean {
  if (value?.kind !== 'known') return false
  const { data } = value
  return data === true || data === 1n || (typeof data === 'string' && /^(?:yes|true|on|1|y|t)$/i.test(data))
}

/** The text a value is known to be; undefined for anything else. */
export function textOf(value: Value | undefined): string | undefined {
  return value?.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}

/** The texts of a list, or of one text with commas; what is not known is left out. */
export function textsOf(value: Value): readonly string[] {
  if (value.kind !== 'known') return []
  if (typeof value.data === 'string')
    return value.data
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== '')
  return Array.isArray(value.data) ? value.data.flatMap(item => textOf(item) ?? []) : []
}
