import { type AnalysisRequest, analyzeRun, roleVariables } from '../analyze.js'
import type { Definition } from '../ansible/statement.js'
import { type ReportedAnsible, reportedAnsible } from '../reports/ansible-rules.js'
import { placeOfSpan } from '../reports/place.js'
import {
  type ReportedDefinition,
  type ReportedDiagnostic,
  type ReportedVariable,
  reportedDiagnostic,
  reportedVariable,
} from '../reports/report.js'
import { type Json, jsonOf } from '../reports/value-text.js'
import { definitionsOf } from '../reports/variables-report.js'
import { renderVarsJson } from '../reports/vars-json.js'
import { renderVarsText } from '../reports/vars-text.js'
import type { RoleCode } from '../run/role.js'
import { looksLikeSource } from '../source/open.js'
import { literalValue } from '../variables/node-value.js'
import type { Node } from '../yaml/node.js'
import type { DefineCommand } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { styleFor, writeReport } from './output.js'
import { openSubject, tellDiagnostics } from './subject.js'

type RoleVariables = ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>>

/** `whofixes vars`: what variables resolve to, role by role. */
export const defineVars: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('vars')
    .description('what variables resolve to, per role; with names also every place that defines them')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
    .argument('[names...]', 'only these variables')
  addOutputOptions(addAnalysisOptions(command), ['text', 'json']).action(
    (first: string | undefined, rest: readonly string[], options: AnalysisOptions & OutputOptions) => {
      const isSource = first !== undefined && looksLikeSource(first)
      const names = isSource || first === undefined ? rest : [first, ...rest]
      const { roles, unreached, ansible, diagnostics } = variablesOf(
        isSource ? first : undefined,
        requestOf(options),
        names,
      )
      const report =
        names.length === 0
          ? { ansible, roles }
          : { ansible, roles, definitions: definitionsOf(names, roles, unreached) }
      const text =
        options.format === 'json' ? renderVarsJson(report) : renderVarsText(report, styleFor(options, terminal))
      writeReport(text, options, terminal)
      tellDiagnostics(diagnostics, options, terminal)
      const seen = (name: string) => [...roles.values()].flatMap(variables => variables.get(name) ?? [])
      const missing = names.filter(name => seen(name).length === 0)
      for (const name of missing) terminal.err(`${name}: no role of this playbook knows it`)
      // Not known anywhere; a value that only changes on the way is shown with its alternatives.
      const open = names.some(name => seen(name).length > 0 && seen(name).every(({ status }) => status === 'unknown'))
      finish(open ? 3 : missing.length > 0 ? 1 : 0)
    },
  )
}

function variablesOf(
  source: string | undefined,
  request: AnalysisRequest,
  names: readonly string[],
): {
  readonly roles: RoleVariables
  readonly ansible: ReportedAnsible
  readonly unreached: readonly (ReportedDefinition & { readonly name: string })[]
  readonly diagnostics: readonly ReportedDiagnostic[]
} {
  const subject = openSubject(source, request)
  if (subject.kind === 'recorded') {
    const { variables, report } = subject.snapshot
    return { roles: variables(names), unreached: [], ansible: report.ansible, diagnostics: [] }
  }
  const { roles, unreachedRoles, run, diagnostics } = analyzeRun(subject.tree, {
    ...request,
    variables: (role, scope) => (names.length > 0 ? names : roleVariables(role, scope)),
  })
  const reported = roles.map(({ role, variables }) => {
    const entries = [...variables].map(([name, variable]) => [name, reportedVariable(variable)] as const)
    // Asked for by name, a role in which nothing defines it has nothing to say.
    return [
      role.code.path,
      new Map(entries.filter(([, each]) => names.length === 0 || each.status !== 'undefined')),
    ] as const
  })
  const unreached = names.length === 0 ? [] : unreachedRoles().flatMap(role => definitionsIn(role, names))
  return {
    roles: new Map(reported),
    unreached,
    ansible: reportedAnsible(run.ansible),
    diagnostics: diagnostics.map(reportedDiagnostic),
  }
}

/** What a role defines that the run does not get to: its values are shown as far as they are plain. */
function definitionsIn(role: RoleCode, names: readonly string[]): readonly (ReportedDefinition & { name: string })[] {
  const of = (origin: 'role defaults' | 'role vars', definitions: readonly Definition[]) =>
    definitions
      .filter(({ name }) => names.includes(name))
      .map(({ name, node, at }) => ({ name, origin, ...placeOfSpan(at), value: plainValue(node) }))
  return [...of('role defaults', role.defaults), ...of('role vars', role.vars)]
}

function plainValue(node: Node): Json {
  const value = literalValue(node)
  return value === undefined ? { unknown: 'its role is not reached by this playbook' } : jsonOf(value)
}
