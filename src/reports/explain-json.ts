import type { Report, ReportedEvidence, ReportedPhase, ReportedVerdict } from './report.js'
import { evidenceJson, searchedJson } from './report-json.js'

/** The proof for machines: the verdict with every condition and value. */
export function renderExplainJson(report: Report, verdict: ReportedVerdict): string {
  const evidence = (each: ReportedEvidence): object => ({
    ...evidenceJson(each),
    via: each.via,
    conditions: each.conditions ?? [],
    ...(each.excerpt === undefined ? {} : { excerpt: each.excerpt }),
  })
  const phase = (each: ReportedPhase): object => ({
    fixedBy: each.fixedBy,
    condition: each.condition,
    evidence: each.evidence.map(evidence),
    open: each.open.map(evidence),
  })
  const json = {
    source: report.source,
    playbook: report.playbook,
    host: report.host,
    ansible: report.ansible,
    stops: report.stops,
    contradictions: report.contradictions.filter(({ problem }) => problem === verdict.id),
    problem: {
      ...verdict,
      now: phase(verdict.now),
      afterReboot: phase(verdict.afterReboot),
      nearMisses: verdict.nearMisses.map(evidence),
      searched: searchedJson(verdict),
    },
  }
  return `${JSON.stringify(json, null, 2)}\n`
}
