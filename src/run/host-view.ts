import type { Task } from '../ansible/statement.js'
import type { Value } from '../jinja/value.js'
import type { Invocation, TaskRun } from './task-run.js'

/**
 * What a host says to a task that only looks, in the form its result has when the module is done: without what
 * `changed_when`, `failed_when` and the loop make of it. `whole`: it has no other members. `fields`: those members are known,
 * any other may be there. A member the host does not say is unknown for that reason; `failed` may be left out where `rc`
 * decides it, `changed` where it is false.
 */
export type Answered =
  | { readonly kind: 'whole'; readonly value: Value }
  | { readonly kind: 'fields'; readonly fields: ReadonlyMap<string, Value> }

/** The host a run is followed on, as far as it is known, at each moment of the run. */
export interface HostView {
  /** What the host says to one execution of a task; undefined where the task does not only look, or nobody knows what it looks at. */
  readonly answer: (task: Task, invocation: Invocation) => Answered | undefined
  /** Told of every task when the run has passed it, in run order, handlers where they are run: what it did is so from then on. */
  readonly ran: (task: TaskRun) => void
}
