import type { Analysis } from '../analyze.js'
import type { Report } from '../reports/report.js'
export function recordSnapshot(release: string, report: Report, analysis: Analysis): string {
  return JSON.stringify({ release, report, tasks: analysis.run.tasks.length })
}
