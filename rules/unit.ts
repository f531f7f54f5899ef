import { isOneOfTexts, isSet, showValue } from '../src/effects/argument.js'
import { isOneOfUnits, unitName } from '../src/effects/describe.js'
import type { Effect, Unit } from '../src/effects/effect.js'
import { takesAway } from '../src/effects/query.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import { known, type Truth, type Value } from '../src/jinja/value.js'
import type { TaskRun } from '../src/run/task-run.js'

/** Whether an effect starts a unit on the running host. */
export function isStarted({ state }: Unit): Truth {
  return isOneOfTexts(state, ['started', 'restarted', 'reloaded'])
}

/**
 * Under which condition the run starts a unit (`now`), or has it started at each boot: null without one, undefined where
 * it does not.
 */
export function whenStarts(unit: string, when: 'now' | 'boot', effects: RunEffects): string | null | undefined {
  const conditions: string[] = []
  for (const occurrence of effects.occurrences) {
    const { effect } = occurrence
    if (effect.kind !== 'unit' || isOneOfUnits(effect.unit, [unitName(unit)]).kind !== 'true') continue
    const starts = when === 'now' ? isStarted(effect) : isSet(effect.enabled, false)
    if (starts.kind !== 'true') continue
    const standing = standingOf(occurrence)
    if (standing.kind === 'happens') return null
    if (standing.kind === 'host-decides') conditions.push(standing.condition)
  }
  return conditions.length === 0 ? undefined : [...new Set(conditions)].join(' or ')
}

/** A unit under its full name, for sentences. */
export function unitText(unit: Value): string {
  return unitName(showValue(unit))
}

/**
 * Under which condition a unit reads a file after a task has written it: null without one. Where a handler of that very task
 * restarts it, it does so whenever the file changes; undefined where the run does not restart it.
 */
export function whenReadBy(unit: string, writer: TaskRun, effects: RunEffects): string | null | undefined {
  for (const { effect, task } of effects.occurrences) {
    if (effect.kind !== 'unit' || isOneOfUnits(effect.unit, [unitName(unit)]).kind !== 'true') continue
    if (task.part !== 'handler' || isStarted(effect).kind !== 'true' || effect.onlyIf !== undefined) continue
    if (task.runs.kind === 'true' && task.notifiedBy.includes(writer)) return null
  }
  return whenStarts(unit, 'now', effects)
}

/** Whether an effect takes away the link that masks a unit. */
export function removesMask(later: Effect, unit: string): Truth {
  return takesAway(later, known(`/etc/systemd/system/${unit}`))
}
