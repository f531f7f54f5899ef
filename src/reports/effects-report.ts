import type { EffectKind } from '../effects/effect.js'
import type { FoundEffect } from '../verdicts/find.js'
import type { Left, Residue } from '../verdicts/residue.js'
import { type Naming, type ReportedEvidence, type ReportedSource, reportedEvidence } from './report.js'

/** An effect that answers a question about a run. */
export interface ReportedEffect extends ReportedEvidence {
  readonly kind: EffectKind
  readonly certain: boolean
  readonly happens: boolean
}

export interface EffectsReport {
  readonly source: ReportedSource
  readonly playbook: string
  readonly host: string
  /** What was searched. */
  readonly tasks: number
  readonly effects: readonly ReportedEffect[]
}

export interface ReportedLeft {
  readonly what: string
  readonly stays: Left['stays']
  readonly why: string | null
  readonly tasks: number
  readonly left: ReportedEvidence
}

export interface ResidueReport {
  readonly source: ReportedSource
  readonly playbook: string
  /** The playbook that is to take things away. */
  readonly resetBy: string
  readonly host: string
  readonly left: readonly ReportedLeft[]
  readonly taken: number
  readonly untold: readonly ReportedEvidence[]
}

/** Effects that answer a question, with places instead of spans. */
export function reportedEffects(found: readonly FoundEffect[], naming: Naming): readonly ReportedEffect[] {
  return found.map(each => ({
    kind: each.effect.kind,
    certain: each.certain,
    happens: each.happens,
    ...reportedEvidence(each, naming),
  }))
}

/** What is left of a run, with places instead of spans. */
export function reportedResidue(
  { left, taken, untold }: Residue,
  naming: Naming,
): Pick<ResidueReport, 'left' | 'taken' | 'untold'> {
  return {
    left: left.map(each => ({
      what: each.what,
      stays: each.stays,
      why: each.why ?? null,
      tasks: each.tasks,
      left: reportedEvidence(each.left, naming),
    })),
    taken,
    untold: untold.map(each => reportedEvidence(each, naming)),
  }
}
