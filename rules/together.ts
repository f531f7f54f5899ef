import type { Rule } from '../src/verdicts/problem.js'

/** The rules of one phase for the running host, and those for after a reboot. */
export interface PhaseRules {
  readonly now: readonly Rule[]
  readonly afterReboot: readonly Rule[]
}

/** Rules for a problem that is gone only where each of several parts is settled: all modules loaded, all keys set. */
export function together(parts: Readonly<Record<string, PhaseRules>>): PhaseRules {
  const names = Object.keys(parts)
  const partly = (name: string, rules: readonly Rule[]): readonly Rule[] =>
    rules.map(rule => ({
      ...rule,
      matches: (effect, occurrence, effects) => {
        const match = rule.matches(effect, occurrence, effects)
        return match.kind === 'settles' && match.part === undefined ? { ...match, part: { name, of: names } } : match
      },
    }))
  return {
    now: Object.entries(parts).flatMap(([name, { now }]) => partly(name, now)),
    afterReboot: Object.entries(parts).flatMap(([name, { afterReboot }]) => partly(name, afterReboot)),
  }
}
