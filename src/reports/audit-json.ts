import { type Audit, summaryOf } from './audit.js'

const AUDIT_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-audit-1.json'

/** The audit for machines (contract of the command `audit`). */
export function renderAuditJson(audit: Audit): string {
  const { old, playbook, host, changes, notCompared } = audit
  const json = {
    schema: AUDIT_SCHEMA,
    old,
    new: audit.new,
    playbook,
    host,
    changes,
    summary: summaryOf(changes),
    notCompared,
  }
  return `${JSON.stringify(json, null, 2)}\n`
}
