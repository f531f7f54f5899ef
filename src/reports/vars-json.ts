import type { VariablesReport } from './variables-report.js'

/** `vars --format json` (contract). */
export function renderVarsJson(report: VariablesReport): string {
  const roles = Object.fromEntries([...report.roles].map(([role, variables]) => [role, Object.fromEntries(variables)]))
  const definitions = report.definitions === undefined ? {} : { definitions: Object.fromEntries(report.definitions) }
  return `${JSON.stringify({ ansible: report.ansible, roles, ...definitions }, null, 2)}\n`
}
