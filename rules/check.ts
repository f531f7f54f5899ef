import type { Rule } from '../src/verdicts/problem.js'
import { NO_MATCH } from '../src/verdicts/problem.js'

/**
 * A stop of the run that looks at one of these names (`ansible_facts.memtotal_mb`; a fact counts under its injected name
 * too): role code checks it and does not mend it, so it only comes near.
 */
export function stopsUnless(holds: string, names: readonly string[]): Rule {
  return {
    says: `stops the run unless ${holds}`,
    matches: effect =>
      effect.kind === 'stop-if' && readsOneOf(effect.reads, names)
        ? { kind: 'near', why: `only stops the run unless ${holds}: it mends nothing`, closest: true }
        : NO_MATCH,
  }
}

/** Whether one of the names a stop reads is one of these. */
export function readsOneOf(reads: readonly string[], names: readonly string[]): boolean {
  return reads.some(read => names.some(name => isName(read, name)))
}

/** `ansible_facts.kernel`, `ansible_facts['kernel']` and `ansible_kernel` are one fact; `a.b` is part of `a`. */
function isName(read: string, name: string): boolean {
  const plain = plainName(read)
  return plain === name || plain.startsWith(`${name}.`)
}

function plainName(read: string): string {
  const dotted = read.replaceAll(/\[['"]([^'"\]]+)['"]\]/g, '.$1')
  return /^ansible_(?!facts\b)/.test(dotted) ? dotted.replace(/^ansible_/, 'ansible_facts.') : dotted
}
