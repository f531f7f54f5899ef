import { askText, bothTrue, causesOf, isSet, isText, notTrue, piecesCanBe } from '../src/effects/argument.js'
import { unitName } from '../src/effects/describe.js'
import type { Effect, Unit } from '../src/effects/effect.js'
import { FALSE, type Truth, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Rule, SETTLES } from '../src/verdicts/problem.js'
import type { PhaseRules } from './together.js'
import { isStarted, removesMask, unitText } from './unit.js'

/** Whether a unit is one of these, each under its full name; false where what is known of its name does not fit. */
export function isAmongUnits(unit: Value, units: readonly string[]): Truth {
  return askText(
    unit,
    text => units.includes(unitName(text)),
    pieces =>
      units.some(name => piecesCanBe(pieces, name) || piecesCanBe(pieces, name.replace(/\.service$/, '')))
        ? undefined
        : false,
  )
}

function ofUnits(effect: Effect, units: readonly string[], does: (unit: Unit) => Truth): Match {
  if (effect.kind !== 'unit') return NO_MATCH
  const among = isAmongUnits(effect.unit, units)
  const done = does(effect)
  const both = bothTrue(among, done)
  if (both.kind === 'true') return SETTLES
  if (both.kind === 'false') return NO_MATCH
  const says = among.kind === 'unknown' ? 'which unit it is is not known' : 'what becomes of the unit is not known'
  return { kind: 'could', says, causes: both.causes.length > 0 ? both.causes : causesOf(effect.unit) }
}

/** Whether both are about the same of these units; which one of several stopped does not concern another. */
function isSameUnit(settling: Effect, later: Effect, units: readonly string[]): Truth {
  if (settling.kind !== 'unit' || later.kind !== 'unit') return FALSE
  return unitText(settling.unit) === unitText(later.unit) ? isAmongUnits(later.unit, units) : FALSE
}

const isEnabled = (unit: Unit): Truth => bothTrue(isSet(unit.enabled, false), notTrue(isSet(unit.masked, false)))
const isStopped = (unit: Unit): Truth => isText(unit.state, 'stopped')
const isOff = (unit: Unit): Truth => {
  const masked = isSet(unit.masked, false)
  if (masked.kind === 'true') return masked
  return unit.enabled === undefined ? FALSE : notTrue(isSet(unit.enabled, true))
}

/** Rules for units of which one has to run: started now, enabled for each boot. `what` names them for people. */
export function runningRules(units: readonly string[], what: string): PhaseRules {
  const starts: Rule = {
    says: `starts ${what}`,
    matches: effect => ofUnits(effect, units, isStarted),
    undoneBy: (settling, later) =>
      later.kind === 'unit' ? bothTrue(isSameUnit(settling, later, units), isStopped(later)) : FALSE,
  }
  const enables: Rule = {
    says: `has ${what} start at each boot`,
    matches: effect => ofUnits(effect, units, isEnabled),
    undoneBy: (settling, later) =>
      later.kind === 'unit' ? bothTrue(isSameUnit(settling, later, units), isOff(later)) : FALSE,
  }
  return { now: [starts], afterReboot: [enables] }
}

/** Rules for units that must not run: stopped now, disabled or masked for each boot. */
export function stoppedRules(units: readonly string[], what: string): PhaseRules {
  const stops: Rule = {
    says: `stops ${what}`,
    matches: effect => ofUnits(effect, units, isStopped),
    undoneBy: (settling, later) =>
      later.kind === 'unit' ? bothTrue(isSameUnit(settling, later, units), isStarted(later)) : FALSE,
  }
  const disables: Rule = {
    says: `keeps ${what} from starting at boot`,
    matches: effect => ofUnits(effect, units, isOff),
    undoneBy: (settling, later) =>
      later.kind === 'file' && settling.kind === 'unit' && isSet(settling.masked, false).kind === 'true'
        ? removesMask(later, unitText(settling.unit))
        : later.kind === 'unit'
          ? bothTrue(isSameUnit(settling, later, units), isEnabled(later))
          : FALSE,
  }
  return { now: [stops], afterReboot: [disables] }
}
