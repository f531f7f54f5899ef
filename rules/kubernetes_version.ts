import { joinedPieces, optionsOf, piecesOf } from '../src/effects/argument.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'

/** What a line of some file says that a run writes: each first group of `line` there is; `null` where it is not known. */
export function writtenValues({ occurrences }: RunEffects, line: RegExp): ReadonlySet<string | null> {
  const values = new Set<string | null>()
  for (const occurrence of occurrences) {
    const { effect, asWritten } = occurrence
    if (asWritten || effect.kind !== 'file' || effect.change !== 'written' || effect.content === undefined) continue
    if (standingOf(occurrence).kind === 'never') continue
    for (const { value } of optionsOf(effect.content)) {
      const pieces = piecesOf(value)
      const found = pieces === undefined ? undefined : line.exec(joinedPieces(pieces))?.[1]
      if (found !== undefined) values.add(found.includes('\0') ? null : found)
    }
  }
  return values
}

/** The version of Kubernetes as 1.MINOR that kubeadm's configuration names; undefined where the run writes none, or several. */
export function minorOfKubernetes(effects: RunEffects): number | undefined {
  const [first, ...others] = writtenValues(effects, /^kubernetesVersion: ["']?v?([^"'\s]+)/m)
  const minor = others.length > 0 ? undefined : /^1\.(\d+)\./.exec(first ?? '')?.[1]
  return minor === undefined ? undefined : Number(minor)
}
