import type { Report, ReportedEvidence, ReportedPhase, ReportedVerdict } from './report.js'

/** The address of the JSON Schema of this report, in one place. */
export const REPORT_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-report-1.json'

/** The report for machines (contract, "report --format json"). */
export function renderReportJson(report: Report): string {
  const { source, playbook, host, ansible, stops, problems, contradictions, variables, unknowns, diagnostics } = report
  const json = {
    schema: REPORT_SCHEMA,
    source,
    playbook,
    host,
    problems: problems.map(problemJson),
    variables: Object.fromEntries(variables),
    unknowns,
    contradictions,
    ansible,
    stops,
    diagnostics,
  }
  return `${JSON.stringify(json, null, 2)}\n`
}

function problemJson(problem: ReportedVerdict): object {
  return {
    id: problem.id,
    title: problem.title,
    fixedBy: problem.fixedBy,
    condition: problem.condition,
    now: phaseJson(problem.now),
    afterReboot: phaseJson(problem.afterReboot),
    nearMisses: problem.nearMisses.map(evidenceJson),
    searched: searchedJson(problem),
    notes: problem.notes,
  }
}

/** What was searched; `unreadable` is how many of it could not be read, each of them in `unresolved`. */
export function searchedJson({ searched }: ReportedVerdict): object {
  const { tasks, commands, near, unresolved, considered } = searched
  return { tasks, commands, unreadable: unresolved.length, near, unresolved, considered }
}

function phaseJson(phase: ReportedPhase): object {
  return {
    fixedBy: phase.fixedBy,
    condition: phase.condition,
    evidence: phase.evidence.map(evidenceJson),
    open: phase.open.map(evidenceJson),
  }
}

/** One piece of evidence; the conditions with their values and the lines of code belong to `explain`. */
export function evidenceJson(evidence: ReportedEvidence): object {
  const { conditions: _, excerpt: __, via, ...fields } = evidence
  return { ...fields, via: via.map(({ file, line, what }) => ({ file, line, what })) }
}
