import type { ReportedEvidence, ReportedVerdict } from './report.js'

/** What happens without a condition decides; it comes first. */
export function inOrder(evidence: readonly ReportedEvidence[]): readonly ReportedEvidence[] {
  return evidence.toSorted((left, right) => Number(left.condition !== null) - Number(right.condition !== null))
}

/** The one task that tells most of a verdict: the one that settles it; for the operator the nearest miss; else what might. */
export function mostTelling({ fixedBy, now, afterReboot, nearMisses }: ReportedVerdict): ReportedEvidence | undefined {
  const settles = [...inOrder(now.evidence), ...inOrder(afterReboot.evidence)]
  switch (fixedBy) {
    case 'kubespray':
      return settles[0]
    case 'operator':
      return nearMisses[0] ?? settles[0]
    case 'unknown':
      return now.open[0] ?? afterReboot.open[0] ?? settles[0] ?? nearMisses[0]
  }
}
