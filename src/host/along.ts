import type { ReadRoleText } from '../effects/role-text.js'
import { growingEffects, type RunEffects } from '../effects/run-effects.js'
import type { Evidence } from '../evidence/evidence.js'
import type { HostView } from '../run/host-view.js'
import type { Run } from '../run/task-run.js'
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
  /** The effects of the whole run, once it is through. */
  readonly effects: (run: Run) => RunEffects
}

/** Follows a run on a captured host; `before`: the host before it, where that was worked out already. */
export function followHost(
  evidence: Evidence,
  readRoleText: ReadRoleText,
  before: Moment = capturedMoment(evidence),
): HostAlong {
  const state: HostState = hostState(before)
  const effects = growingEffects(readRoleText)
  const now = (): Moment => momentOf(state, (files, name) => unitState({ ...evidence, files }, name))
  let current: Moment | undefined
  return {
    evidence,
    view: {
      answer: (task, invocation) => {
        current ??= now()
        return answerOf(task, invocation, current, evidence)
      },
      ran: task => {
        for (const effect of effects.add(task)) {
          if (effect.asWritten) continue
          applyEffect(state, effect)
          current = undefined
        }
      },
    },
    before,
    now,
    changedPaths: () => state.files.changed(),
    failures: () => state.failures,
    effects: effects.of,
  }
}
