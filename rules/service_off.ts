import { bothTrue, isOneOfTexts, isSet, isText, notTrue, optionsOf, piecesOf } from '../src/effects/argument.js'
import { isOneOfUnits } from '../src/effects/describe.js'
import type { Effect, Package } from '../src/effects/effect.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { FALSE, type Truth, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Rule } from '../src/verdicts/problem.js'
import { namesPackage } from './packages.js'
import type { PhaseRules } from './together.js'
import { removesMask } from './unit.js'

interface ServiceFacts {
  /** For sentences: `firewalld`. */
  readonly name: string
  /** Under its full name. */
  readonly unit: string
  /** Packages that bring it: whoever removes one stops it, and nothing starts it at boot. */
  readonly packages: readonly string[]
  /** The unit whose use starts it again; it has to be off as well. */
  readonly socket?: string
  /** The case in which turning it off settles the problem; absent: it does. */
  readonly condition?: string
  /** Whether it is this service the run should turn off; absent: always. */
  readonly applies?: (effects: RunEffects) => boolean
}

function isOpen(value: Value): boolean {
  return optionsOf(value).every(option => piecesOf(option.value)?.some(piece => piece !== null) !== true)
}

/** Rules for a service that must not run: it is stopped, and it does not start at boot. */
export function serviceOff(facts: ServiceFacts): PhaseRules {
  const { name, unit, socket } = facts
  const settles: Match =
    facts.condition === undefined ? { kind: 'settles' } : { kind: 'settles', condition: facts.condition }
  const isIt = (value: Value): Truth => isOneOfUnits(value, [unit])

  // A unit of which only the host knows anything (those found active before) is not taken for every unit there is.
  const isAgain = (value: Value): Truth => {
    const about = isIt(value)
    return about.kind === 'unknown' && !about.causes.some(cause => cause.unread) && isOpen(value) ? FALSE : about
  }

  const matchOf = (value: Value, about: Truth, does: Truth): Match => {
    const both = bothTrue(about, does)
    if (both.kind === 'true') return settles
    if (both.kind === 'false') return NO_MATCH
    // A unit of which only the host knows anything is not taken for every unit there is; the judge tells that it is not.
    const inDoubt = about.kind === 'true' || both.causes.some(cause => cause.unread) || !isOpen(value)
    return inDoubt ? { kind: 'could', says: `whether that is ${name} is not known`, causes: both.causes } : NO_MATCH
  }
  const removes = (effect: Package): Match => {
    const named = namesPackage(effect, each => facts.packages.includes(each), facts.packages)
    const both = bothTrue(isOneOfTexts(effect.state, ['absent', 'removed', 'purged']), named)
    if (both.kind === 'true') return settles
    return both.kind === 'false'
      ? NO_MATCH
      : { kind: 'could', says: `whether that removes ${name} is not known`, causes: both.causes }
  }
  const installsAgain = (settling: Effect, later: Package): Truth =>
    settling.kind === 'package'
      ? bothTrue(
          isOneOfTexts(later.state, ['present', 'latest', 'installed']),
          namesPackage(later, each => facts.packages.includes(each), facts.packages),
        )
      : FALSE
  const withSocket = (match: Match, off: (effect: Effect) => boolean, effects: RunEffects): Match =>
    match.kind !== 'settles' || socket === undefined || effects.occurrences.some(({ effect }) => off(effect))
      ? match
      : { kind: 'near', why: `${socket} starts ${name} again when it is used` }
  const offAtBoot = (effect: Effect, which: (value: Value) => Truth): Match => {
    if (effect.kind !== 'unit') return NO_MATCH
    if (effect.masked !== undefined) {
      const masked = matchOf(effect.unit, which(effect.unit), isSet(effect.masked, false))
      if (masked.kind !== 'no') return masked
    }
    return effect.enabled === undefined
      ? NO_MATCH
      : matchOf(effect.unit, which(effect.unit), notTrue(isSet(effect.enabled, true)))
  }
  const isSocket = (value: Value): Truth => isOneOfUnits(value, socket === undefined ? [] : [socket])

  const stops: Rule = {
    says: `stops ${name}`,
    matches: (effect, _, effects) => {
      if ((effect.kind !== 'unit' && effect.kind !== 'package') || facts.applies?.(effects) === false) return NO_MATCH
      if (effect.kind === 'package') return removes(effect)
      const stopped = matchOf(effect.unit, isIt(effect.unit), isText(effect.state, 'stopped'))
      const socketOff = (other: Effect): boolean =>
        other.kind === 'unit' &&
        isSocket(other.unit).kind === 'true' &&
        isOneOfTexts(other.state, ['stopped']).kind === 'true'
      return withSocket(stopped, socketOff, effects)
    },
    undoneBy: (settling, later) =>
      later.kind === 'package'
        ? installsAgain(settling, later)
        : later.kind === 'unit'
          ? bothTrue(isAgain(later.unit), isOneOfTexts(later.state, ['started', 'restarted', 'reloaded']))
          : FALSE,
  }
  const keepsOff: Rule = {
    says: `keeps ${name} from starting at boot`,
    matches: (effect, _, effects) => {
      if ((effect.kind !== 'unit' && effect.kind !== 'package') || facts.applies?.(effects) === false) return NO_MATCH
      if (effect.kind === 'package') return removes(effect)
      return withSocket(offAtBoot(effect, isIt), other => offAtBoot(other, isSocket).kind === 'settles', effects)
    },
    undoneBy: (settling, later) => {
      if (later.kind === 'package') return installsAgain(settling, later)
      if (later.kind === 'file' && settling.kind === 'unit' && isSet(settling.masked, false).kind === 'true')
        return removesMask(later, unit)
      if (later.kind !== 'unit') return FALSE
      const masked = settling.kind === 'unit' && isSet(settling.masked, false).kind === 'true'
      if (masked)
        return later.masked === undefined ? FALSE : bothTrue(isAgain(later.unit), notTrue(isSet(later.masked, true)))
      return bothTrue(isAgain(later.unit), isSet(later.enabled, false))
    },
  }
  return { now: [stops], afterReboot: [keepsOff] }
}
