import { type EffectQuery, isAskedFor } from '../effects/query.js'
import type { RunEffects } from '../effects/run-effects.js'
import { standingOf } from '../effects/standing.js'
import { type Evidence, evidenceOf } from './judge.js'

/** An effect that answers a question about a run. */
export interface FoundEffect extends Evidence {
  /** False where what it acts on is not known and may be what is asked for. */
  readonly certain: boolean
  /** Whether it may happen at all; `why` says why not. */
  readonly happens: boolean
}

/** The effects of a run that are asked for, in run order, those that never happen last. Without a question all of them. */
export function findEffects(effects: RunEffects, query: EffectQuery): readonly FoundEffect[] {
  const all = Object.values(query).every(list => list.length === 0)
  const found = effects.occurrences.flatMap((occurrence): readonly FoundEffect[] => {
    const asked = all ? ({ kind: 'true' } as const) : isAskedFor(occurrence.effect, query)
    if (asked.kind === 'false') return []
    const standing = standingOf(occurrence)
    const condition = standing.kind === 'host-decides' ? standing.condition : null
    const why =
      standing.kind === 'never'
        ? standing.why
        : standing.kind === 'unread'
          ? `whether it happens is not known: ${standing.causes.map(({ says }) => says).join('; ')}`
          : undefined
    const evidence = evidenceOf(occurrence, condition, why)
    return [{ ...evidence, certain: asked.kind === 'true', happens: standing.kind !== 'never' }]
  })
  return [...found.filter(({ happens }) => happens), ...found.filter(({ happens }) => !happens)]
}
