import type { Task } from '../ansible/statement.js'
import type { ReadRoleText } from '../effects/role-text.js'
import { growingEffects, type RunEffects, type TaskEffect } from '../effects/run-effects.js'
import type { Evidence } from '../evidence/evidence.js'
import type { Answered, HostView } from '../run/host-view.js'
import type { Invocation, Run } from '../run/task-run.js'
import { answerOf } from './answers/answers.js'
import { applyEffect } from './apply.js'
import { capturedMoment } from './captured.js'
import { type ForeseenFailure, type HostState, hostState, momentOf } from './host-state.js'
import type { Moment } from './moment.js'
import { unitState } from './units/unit-state.js'

/** A captured host that a run is followed on: it answers what only looks, and is changed by what the run does. */
export interface HostAlong {
  readonly evidence: Evidence
  readonly view: HostView
  readonly before: Moment
  /** The host as the run has left it so far. */
  readonly now: () => Moment
  /** The paths the run has changed, or may have. */
  readonly changedPaths: () => readonly string[]
  /** Tasks that certainly fail on this host so far. */
  readonly failures: () => readonly ForeseenFailure[]
  /** What the run asked the host and did to it, in order. */
  readonly events: readonly HostEvent[]
  /**
   * Does to this host what a run on another one did, without the run: false where it answers anything that was asked otherwise
   * (by a text that is equal for equal answers), because then its run is another one.
   */
  readonly replay: (events: readonly HostEvent[], text: (answered: Answered | undefined) => string) => boolean
  /** The effects of the whole run, once it is through. */
  readonly effects: (run: Run) => RunEffects
}

/** One thing between a run and its host: what the host answered to an execution of a task, or what a task did to it. */
export type HostEvent =
  | {
      readonly kind: 'answer'
      readonly task: Task
      readonly invocation: Invocation
      readonly answered: Answered | undefined
    }
  | { readonly kind: 'done'; readonly effects: readonly TaskEffect[] }

/**
 * Follows a run on a captured host. What the run does is applied to a copy; the evidence and the first moment stay as they are.
 * `readRoleText` reads files of the role code, as for the effects of a run without a host; `before` is the host before the run,
 * where that was worked out already.
 */
export function followHost(
  evidence: Evidence,
  readRoleText: ReadRoleText,
  before: Moment = capturedMoment(evidence),
): HostAlong {
  const state: HostState = hostState(before)
  const effects = growingEffects(readRoleText)
  const events: HostEvent[] = []
  const now = (): Moment => momentOf(state, (files, name) => unitState({ ...evidence, files }, name))
  let current: Moment | undefined
  const answer = (task: Task, invocation: Invocation): Answered | undefined => {
    current ??= now()
    return answerOf(task, invocation, current, evidence)
  }
  const apply = (done: readonly TaskEffect[]): void => {
    for (const effect of done) {
      applyEffect(state, effect)
      current = undefined
    }
  }
  return {
    evidence,
    view: {
      answer: (task, invocation) => {
        const answered = answer(task, invocation)
        events.push({ kind: 'answer', task, invocation, answered })
        return answered
      },
      ran: task => {
        const done = effects.add(task).filter(({ asWritten }) => !asWritten)
        if (done.length > 0) events.push({ kind: 'done', effects: done })
        apply(done)
      },
    },
    before,
    now,
    changedPaths: () => state.files.changed(),
    failures: () => state.failures,
    events,
    replay: (others, text) =>
      others.every(event => {
        if (event.kind === 'done') {
          apply(event.effects)
          return true
        }
        return text(answer(event.task, event.invocation)) === text(event.answered)
      }),
    effects: effects.of,
  }
}
