import { whyNoPort } from '../../rules/any_port.js'
import { problemById, problems } from '../../rules/index.js'
import { type Analysis, type AnalysisRequest, analyze, nameOfOrigin, shownVariables } from '../analyze.js'
import { isFullyKnown } from '../jinja/python.js'
import { sourceOf } from '../recorded/published.js'
import { newestRelease, readSnapshot, recordedReleases, type Snapshot } from '../recorded/snapshot.js'
import type { Report, ReportedDiagnostic, ReportedVerdict } from '../reports/report.js'
import { reportOf } from '../reports/report.js'
import { type Diagnostic, UsageError } from '../source/diagnostic.js'
import { openSource } from '../source/open.js'
import { placeOf } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { ResolvedVariable } from '../variables/resolved.js'
import type { ExitStatus, Terminal } from './command.js'
import { beyondSnapshot } from './options.js'

/** What a command answers about: role code, or what was recorded of a release. */
export type Subject =
  | { readonly kind: 'code'; readonly tree: SourceTree }
  | { readonly kind: 'recorded'; readonly snapshot: Snapshot }

/**
 * Opens SOURCE (contract): role code where there is any; the recorded snapshot of a release the local clone does not have,
 * as long as nothing is asked that it was not recorded with. Without SOURCE the newest recorded release.
 */
export function openSubject(source: string | undefined, request: AnalysisRequest): Subject {
  const name = source ?? newestRelease()
  const tree = openSource(name)
  if (tree !== undefined) return { kind: 'code', tree }
  const snapshot = readSnapshot(name)
  if (snapshot === undefined) {
    const recorded = recordedReleases()
    const known = recorded.length === 0 ? 'none is recorded' : `recorded are ${recorded.join(', ')}`
    throw new UsageError(
      `${name}: neither the local clone nor a recorded snapshot has this release (${known}); make or update the clone with: whofixes fetch`,
    )
  }
  const beyond = beyondSnapshot(request)
  if (beyond.length > 0) throw new UsageError(needsCode(name, beyond.join(', ')))
  return { kind: 'recorded', snapshot }
}

/** The role code of SOURCE, for what only code can answer. */
export function openCodeOf(source: string | undefined, command: string): SourceTree {
  const name = source ?? newestRelease()
  const tree = openSource(name)
  if (tree === undefined) throw new UsageError(needsCode(name, command))
  return tree
}

function needsCode(release: string, what: string): string {
  return `${what} needs the role code of ${release}, which the local clone does not have; make or update the clone with: whofixes fetch`
}

/** The report on SOURCE, from code or from a snapshot. */
export function reportFor(
  source: string | undefined,
  request: AnalysisRequest,
  { kubesprayOnly = false }: { readonly kubesprayOnly?: boolean } = {},
): Report {
  const subject = openSubject(source, request)
  if (subject.kind === 'recorded') return subject.snapshot.report
  if (kubesprayOnly) requireKubespray(subject.tree)
  return reportOfAnalysis(analyze(subject.tree, { ...request, variables: () => shownVariables }))
}

/** A request that also judges the ports outside the catalogue that these names ask for (`port_8081`). */
export function withPorts(request: AnalysisRequest, names: readonly string[]): AnalysisRequest {
  const asked = [...new Set(names)].flatMap(name =>
    problems.some(({ id }) => id === name) ? [] : (problemById(name) ?? []),
  )
  return asked.length === 0 ? request : { ...request, beside: [...(request.beside ?? []), ...asked] }
}

/** An analysis as a report shows it, with the variables that reports always show. */
export function reportOfAnalysis(analysis: Analysis): Report {
  const { origin, run, verdicts, contradictions, addresses, diagnostics } = analysis
  const variables = new Map(
    shownVariables.flatMap(name => {
      const variable = asItsRoleSees(analysis, name)
      return variable === undefined ? [] : [[name, variable] as const]
    }),
  )
  const { playbook, host, ansible, checks } = run
  return reportOf({
    source: sourceOf(origin),
    playbook,
    host,
    ansible,
    checks,
    verdicts,
    variables,
    contradictions: contradictions(),
    addresses,
    diagnostics,
  })
}

/**
 * A variable as the role sees it that defines it for its own tasks: of the roles with a default of their own the one that
 * wins over most other definitions, before any task sets it. Without such a role, as the first that knows it.
 */
export function asItsRoleSees({ roles }: Analysis, name: string): ResolvedVariable | undefined {
  const views = roles.flatMap(({ role, variables }) => {
    const variable = variables.get(name)
    return variable?.winner === undefined ? [] : [{ role, variable }]
  })
  const owners = views.filter(
    ({ role, variable }) =>
      role.code.defaults.some(definition => definition.name === name) &&
      [variable.winner, ...variable.overridden].every(place => place?.origin !== 'set_fact'),
  )
  // Where a task certainly sets it (the path is known to be a link), that is what the run goes on with.
  const settled = views.find(({ variable }) => variable.winner?.origin === 'set_fact' && isFullyKnown(variable.value))
  const [best] = owners.toSorted((a, b) => b.variable.overridden.length - a.variable.overridden.length)
  return (settled ?? best ?? views[0])?.variable
}

const marks = ['roles/kubernetes/preinstall', 'roles/kubernetes/node', 'cluster.yml']

/** Whether a tree has what every kubespray checkout has. */
export function isKubespray(tree: SourceTree): boolean {
  return marks.every(path => tree.entryKind(path) !== undefined)
}

/** Why a name is no problem, and what is one. */
export function noProblem(name: string, names: readonly string[]): string {
  return `no problem '${name}'; ${whyNoPort(name) ?? `there are ${names.join(', ')}, and port_N for any port`}`
}

/** Answers about kubespray refuse another tree. */
export function requireKubespray(tree: SourceTree): void {
  const missing = marks.filter(path => tree.entryKind(path) === undefined)
  if (missing.length === 0) return
  const name = nameOfOrigin(tree.origin)
  throw new UsageError(
    `${name} is no kubespray checkout: looked for ${marks.join(', ')}; not there: ${missing.join(', ')}`,
  )
}

/** A playbook without a play has nothing to show: Ansible refuses it too. */
export function requirePlays(plays: number, playbook: string, diagnostics: readonly Diagnostic[]): void {
  if (plays > 0) return
  const error = diagnostics.find(({ severity }) => severity === 'error')
  const why = error === undefined ? `${playbook}:1: it is empty` : `${placeOf(error.at)}: ${error.message}`
  throw new UsageError(`${why}; expected a playbook, a list of plays`)
}

/** 3 where an answer rests on something that was not resolved. */
export function statusOf(verdicts: readonly ReportedVerdict[]): ExitStatus {
  return verdicts.some(({ fixedBy }) => fixedBy === 'unknown') ? 3 : 0
}

/** What was wrong with the input, a line each, on standard error. */
export function tellDiagnostics(
  diagnostics: readonly ReportedDiagnostic[],
  options: { readonly quiet?: boolean },
  terminal: Terminal,
): void {
  for (const { severity, message, file, line } of diagnostics) {
    if (options.quiet && severity === 'warning') continue
    terminal.err(`${file}:${line}: ${severity}: ${message}`)
  }
}
