/**
 * What a problem of your own is written against (`whofixes report --rules DIR`): the types of a problem and of effects, and
 * the builders the catalogue itself uses.
 */

// biome-ignore-all lint/performance/noBarrelFile: the one entry that problem files outside the package import

export { askText, isOneOfTexts, isSet, isText, optionsOf, showValue, textOf } from '../src/effects/argument.js'
export { isOneOfUnits, unitName } from '../src/effects/describe.js'
export type { Effect, EffectKind, Power } from '../src/effects/effect.js'
export { EVERY_POWER } from '../src/effects/effect.js'
export type { Occurrence, RunEffects } from '../src/effects/run-effects.js'
export type { Cause, Truth, Value } from '../src/jinja/value.js'
export { decide, FALSE, TRUE } from '../src/jinja/value.js'
export type { Claim, Claimed, Match, Note, Part, Problem, Rule } from '../src/verdicts/problem.js'
export { NO_MATCH, SETTLES } from '../src/verdicts/problem.js'
export { stopsUnless } from './check.js'
export { moduleRules } from './module.js'
export { portProblem } from './port.js'
export { settingRules } from './setting.js'
export { type PhaseRules, together } from './together.js'
export { whenStarts } from './unit.js'
