import { type CitationsReport, type CountedStates, countStates, type ReportedDocument } from './citations.js'
import { jsonText } from './json-text.js'
import type { ReportedSource } from './report.js'
import { outputs } from './schemas.js'

/** What became of the citations in documents. Written by `whofixes cite FILE… --format json`. */
export interface CiteJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.cite.schema
  /** The version everything was checked against (`--source`); null where each citation is checked against its own. */
  readonly source: ReportedSource | null
  /** One entry a file, in the order in which they were named. */
  readonly documents: readonly ReportedDocument[]
  /** How many citations are in which state; those that `--write` put right are not counted. */
  readonly summary: CountedStates
}

/** What became of the citations, for machines. */
export function renderCitationsJson(report: CitationsReport): string {
  return jsonText(citationsJson(report))
}

/** The report in its outside form, members in the order in which they are written. */
export function citationsJson(report: CitationsReport): CiteJson {
  const { source, documents } = report
  return { schema: outputs.cite.schema, source, documents, summary: countStates(report) }
}
