import type { EffectsReport, ReportedEffect, ResidueReport } from './effects-report.js'
import { evidenceJson } from './report-json.js'

export const EFFECTS_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-effects-1.json'
export const RESIDUE_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-residue-1.json'

/** The effects of a run for machines, in run order. */
export function renderEffectsJson({ source, playbook, host, tasks, effects }: EffectsReport): string {
  const json = { schema: EFFECTS_SCHEMA, source, playbook, host, tasks, effects: effects.map(effectJson) }
  return `${JSON.stringify(json, null, 2)}\n`
}

function effectJson({ kind, certain, happens, ...evidence }: ReportedEffect): object {
  return { kind, certain, happens, ...evidenceJson(evidence) }
}

/** What a run leaves behind, for machines. */
export function renderResidueJson(report: ResidueReport): string {
  const { source, playbook, resetBy, host, left, taken, untold } = report
  const json = {
    schema: RESIDUE_SCHEMA,
    source,
    playbook,
    resetBy,
    host,
    left: left.map(each => ({ ...each, left: evidenceJson(each.left) })),
    taken,
    untold: untold.map(evidenceJson),
  }
  return `${JSON.stringify(json, null, 2)}\n`
}
