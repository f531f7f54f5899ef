import type { Change } from '../reports/audit.js'
import type { Report, ReportedVerdict } from '../reports/report.js'

/**
 * Problems of which somebody else is to take care under NEW, now or after a reboot, and those that now rest on a condition.
 * Made from reports, so that a recorded snapshot can stand for either side.
 */
export function verdictChanges(old: Report, fresh: Report): readonly Change[] {
  return fresh.problems.flatMap(now => {
    const before = old.problems.find(({ id }) => id === now.id)
    return before === undefined ? [] : (changeOf(before, now) ?? [])
  })
}

function changeOf(before: ReportedVerdict, now: ReportedVerdict): Change | undefined {
  const differing = (['now', 'afterReboot'] as const).filter(phase => before[phase].fixedBy !== now[phase].fixedBy)
  const places = { old: deciding(before), new: deciding(now), inventory: [] }
  if (before.fixedBy === now.fixedBy && differing.length === 0) {
    if ((before.condition === null) === (now.condition === null)) return undefined
    const says =
      now.condition === null
        ? `${now.title}: ${now.fixedBy} takes care of it without a condition now`
        : `${now.title}: ${now.fixedBy} takes care of it only if ${now.condition}`
    return {
      kind: 'condition-changed',
      name: now.id,
      action: now.condition === null ? 'none' : 'advised',
      says,
      ...places,
    }
  }
  const phases = { now: 'now', afterReboot: 'after a reboot' }
  const told =
    before.fixedBy !== now.fixedBy
      ? `was up to ${before.fixedBy} and is up to ${now.fixedBy}`
      : differing
          .map(phase => `${phases[phase]} it was up to ${before[phase].fixedBy} and is up to ${now[phase].fixedBy}`)
          .join('; ')
  return { kind: 'verdict-changed', name: now.id, action: 'advised', says: `${now.title}: ${told}`, ...places }
}

function deciding({ now, afterReboot }: ReportedVerdict): Change['old'] {
  const [first] = [...now.evidence, ...afterReboot.evidence]
  return first === undefined ? null : { file: first.file, line: first.line }
}
