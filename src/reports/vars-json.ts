import type { ReportedAnsible } from './ansible-rules.js'
import { jsonText } from './json-text.js'
import type { ReportedVariable } from './report.js'
import { outputs } from './schemas.js'
import type { ReportedDefinitions, VariablesReport } from './variables-report.js'

/** What variables resolve to, role by role. */
export interface VarsJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.vars.schema
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** By role, as its path under `roles/`, and by name: the variables as they are where the role first stands in the playbook. */
  readonly roles: Readonly<Record<string, Readonly<Record<string, ReportedVariable>>>>
  /** By name: every place that defines it. Only where names were asked for. */
  readonly definitions?: Readonly<Record<string, ReportedDefinitions>>
}

/** `vars --format json` (contract). */
export function renderVarsJson(report: VariablesReport): string {
  const json: VarsJson = {
    schema: outputs.vars.schema,
    ansible: report.ansible,
    roles: Object.fromEntries([...report.roles].map(([role, variables]) => [role, Object.fromEntries(variables)])),
    ...(report.definitions === undefined ? {} : { definitions: Object.fromEntries(report.definitions) }),
  }
  return jsonText(json)
}
