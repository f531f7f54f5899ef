import { type Audit, type AuditSummary, type Change, summaryOf } from './audit.js'
import { jsonText } from './json-text.js'
import type { ReportedDiagnostic, ReportedSource } from './report.js'
import { outputs } from './schemas.js'

/** What changes between two versions of kubespray. */
export interface AuditJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.audit.schema
  /** Where the role code of the version that runs now was read. */
  readonly old: ReportedSource
  /** Where the role code of the other version was read. */
  readonly new: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** The host the audit is about, as the inventory names it. */
  readonly host: string
  /** Ranked: what matters most first. */
  readonly changes: readonly Change[]
  /** How many of the changes ask for what. */
  readonly summary: AuditSummary
  /** What could not be compared, and why: a sentence each. */
  readonly notCompared: readonly string[]
  /** What was wrong with the files that were read for the new version. */
  readonly diagnostics: readonly ReportedDiagnostic[]
}

/** The audit for machines (contract of the command `audit`). */
export function renderAuditJson(audit: Audit): string {
  return jsonText(auditJson(audit))
}

/** The audit in its outside form, members in the order in which they are written. */
export function auditJson(audit: Audit): AuditJson {
  const { old, playbook, host, changes, notCompared, diagnostics } = audit
  return {
    schema: outputs.audit.schema,
    old,
    new: audit.new,
    playbook,
    host,
    changes,
    summary: summaryOf(changes),
    notCompared,
    diagnostics,
  }
}
