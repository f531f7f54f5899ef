import type { ChecksReport } from './checks.js'
import { jsonText } from './json-text.js'
import { outputs } from './schemas.js'

/** The playbook's own stops, evaluated for one host. */
export interface ChecksJson extends ChecksReport {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.checks.schema
}

/** The checks for machines: contract, "checks". */
export function renderChecksJson(report: ChecksReport): string {
  const { source, playbook, host, ansible, totals, checks, unread } = report
  const json: ChecksJson = { schema: outputs.checks.schema, source, playbook, host, ansible, totals, checks, unread }
  return jsonText(json)
}
