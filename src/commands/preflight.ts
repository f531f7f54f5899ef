import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type AnalysisRequest, analyze, shownVariables } from '../analyze.js'
import { sourceOf } from '../recorded/published.js'
import { reportedAnsible } from '../reports/ansible-rules.js'
import { renderAnswerJson, undecided } from '../reports/answer-json.js'
import { beforeFile, factsFile, labText, portsFile } from '../reports/lab-files.js'
import type { PreflightReport, ReportedHost } from '../reports/preflight.js'
import { renderPreflightJson } from '../reports/preflight-json.js'
import { renderPreflightMarkdown } from '../reports/preflight-markdown.js'
import { renderPreflightText } from '../reports/preflight-text.js'
import { type Report, type ReportedDiagnostic, reportedDiagnostic } from '../reports/report.js'
import { UsageError } from '../source/diagnostic.js'
import type { SourceTree } from '../source/tree.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import { groupsOf } from './fleet/answers.js'
import { type Fleet, openFleet, strangersOf } from './fleet/fleet.js'
import { placeFleet } from './fleet/place.js'
import { analyzeHost, type HostAnalysis, reportedHost, swapTotalOf } from './hosts.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { replaceFile, styleFor, writeReport } from './output.js'
import { asItsRoleSees, openCodeOf, reportOfAnalysis, tellDiagnostics } from './subject.js'

interface PreflightOptions {
  readonly only?: readonly string[]
  readonly write?: string
}

/** `whofixes preflight`: role code and captured hosts together. */
export const definePreflight: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('preflight')
    .description('role code × host: what kubespray mends, what the operator does first, what comes back at a reboot')
    .argument('[source]', 'a release, a directory or DIR@REV')
    .option('--only <problems>', 'only these problems, with commas; the exit status is about them too', splitNames)
    .option('--write <dir>', "write the lab's files to DIR: before.json, ports.json, facts.json, who-fixes.json")
  addOutputOptions(addAnalysisOptions(command), ['text', 'json', 'markdown']).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions & PreflightOptions) => {
      const request = requestOf(options)
      if (request.evidence === undefined) {
        throw new UsageError(
          'preflight needs --evidence PATH: what `whofixes collect` printed on the host, or / for this one',
        )
      }
      const tree = openCodeOf(source, 'preflight')
      const fleet = openFleet(tree, request, options.only)
      if (fleet !== undefined) {
        finish(preflightFleet(fleet, options, terminal))
        return
      }
      const analysis = analyzeHost(tree, request)
      const { only } = options
      requireLooked(only, analysis)
      const { run, origin } = analysis
      const hosts = [reportedHost(analysis, only)]
      const ansible = reportedAnsible(run.ansible)
      const report: PreflightReport = { source: sourceOf(origin), playbook: run.playbook, ansible, hosts }
      const unknown = options.write === undefined ? [] : writeLabFiles(options.write, analysis, answerOf(tree, request))
      writeReport(rendered(report, options, terminal), options, terminal)
      // Where the run stops stands in the report.
      const diagnostics: readonly ReportedDiagnostic[] = analysis.diagnostics.map(reportedDiagnostic)
      tellDiagnostics(
        diagnostics.filter(({ code }) => code !== 'run-stops'),
        options,
        terminal,
      )
      for (const line of unknown) terminal.err(line)
      finish(unknown.length > 0 ? 3 : statusOf(report))
    },
  )
}

/** The report over many hosts. */
function preflightFleet(fleet: Fleet, options: OutputOptions & PreflightOptions, terminal: Terminal): ExitStatus {
  if (options.write !== undefined) throw new UsageError('--write writes the files of one host: name it with --host')
  const { only } = fleet
  const progress = options.quiet ? () => {} : progressOf(fleet.hosts.length, terminal)
  const { placed, answers } = placeFleet(fleet, progress)
  terminal.progress?.('')
  const [first] = answers.values()
  if (first === undefined) throw new Error('no host was worked out')
  requireKnown(only, first.report)
  const report: PreflightReport = { ...first.head, hosts: groupsOf(placed, answers) }
  writeReport(rendered(report, options, terminal), options, terminal)
  const diagnostics = [
    ...fleet.diagnostics.map(reportedDiagnostic),
    ...[...answers.values()].flatMap(each => each.diagnostics),
  ]
  tellDiagnostics(withoutRepeats(diagnostics.filter(({ code }) => code !== 'run-stops')), options, terminal)
  const missing = placed.flatMap(each => each.missing ?? [])
  for (const line of [...strangersOf(fleet), ...shortened(missing)])
    if (!options.quiet) terminal.err(`warning: ${line}`)
  return missing.length > 0 ? 3 : statusOf(report)
}

function withoutRepeats(diagnostics: readonly ReportedDiagnostic[]): readonly ReportedDiagnostic[] {
  return [...new Map(diagnostics.map(each => [`${each.file}:${each.line} ${each.message}`, each])).values()]
}

/** Nobody reads a thousand lines. */
function shortened(lines: readonly string[]): readonly string[] {
  return lines.length <= 20 ? lines : [...lines.slice(0, 20), `and ${lines.length - 20} more hosts`]
}

/** Seconds between two lines where there is no terminal. */
const SELDOM = 5

function progressOf(all: number, { progress, err }: Terminal): (placed: number) => void {
  let last = Date.now()
  return placed => {
    const now = Date.now()
    if (now - last < (progress === undefined ? SELDOM * 1000 : 100)) return
    last = now
    const line = `${placed} of ${all} hosts`
    if (progress === undefined) err(line)
    else progress(line)
  }
}

function splitNames(text: string): readonly string[] {
  return text.split(',').map(name => name.trim())
}

/** Throws UsageError for a problem that no host is looked at for. */
function requireLooked(only: readonly string[] | undefined, { onHost }: HostAnalysis): void {
  const names = onHost.verdicts.map(({ verdict }) => verdict.problem.id)
  requireNames(only, names)
}

function requireKnown(only: readonly string[] | undefined, { problems }: ReportedHost): void {
  if (only === undefined) return
  requireNames(
    only,
    problems.map(({ id }) => id),
  )
}

function requireNames(only: readonly string[] | undefined, names: readonly string[]): void {
  const wrong = only?.find(name => !names.includes(name))
  if (wrong === undefined) return
  throw new UsageError(`--only ${wrong}: no such problem is looked for on a host; there are ${names.join(', ')}`)
}

function rendered(report: PreflightReport, options: OutputOptions, terminal: Terminal): string | Iterable<string> {
  switch (options.format) {
    case 'json':
      return renderPreflightJson(report)
    case 'markdown':
      return renderPreflightMarkdown(report)
    default:
      return renderPreflightText(report, styleFor(options, terminal))
  }
}

/** 3 where a state that is asked for is not known; 1 where the run stops or the operator has to act. */
function statusOf({ hosts }: PreflightReport): ExitStatus {
  const problems = hosts.flatMap(host => host.problems)
  const isOpen = problems.some(each =>
    [each.now, each.afterRun, each.afterReboot].some(({ state }) => state === 'unknown'),
  )
  if (isOpen) return 3
  const asks = hosts.some(({ stops }) => stops.length > 0) || problems.some(({ acts }) => acts.includes('operator'))
  return asks ? 1 : 0
}

/** What the lab's answer is made from: role code under this inventory, whatever the host's files are. */
function answerOf(tree: SourceTree, request: AnalysisRequest): Report {
  return reportOfAnalysis(analyze(tree, { ...request, followsHost: false, variables: () => shownVariables }))
}

/** Writes the lab's files, all of them made before the first is written; what is not known in them, a line each. */
function writeLabFiles(directory: string, analysis: HostAnalysis, answer: Report): readonly string[] {
  const files = labFiles(analysis, answer)
  try {
    mkdirSync(directory, { recursive: true })
  } catch (error) {
    throw new UsageError(
      `--write ${directory}: the directory cannot be made (${error instanceof Error ? error.message : String(error)})`,
    )
  }
  for (const { name, text } of files) replaceFile(join(directory, name), text)
  return files.flatMap(({ name, unknown }) => unknown.map(line => `${name}: ${line}`))
}

interface WrittenFile {
  readonly name: string
  readonly text: string
  readonly unknown: readonly string[]
}

function labFiles(analysis: HostAnalysis, answer: Report): readonly WrittenFile[] {
  const { onHost, facts } = analysis
  const [before, ports] = [beforeFile(onHost.moments.now, swapTotalOf(onHost)), portsFile(onHost.moments.now)]
  const known = factsFile(facts, asItsRoleSees(analysis, 'minimal_master_memory_mb')?.value)
  return [
    { name: 'before.json', text: labText(before.content), unknown: before.unknown },
    { name: 'ports.json', text: labText(ports.content), unknown: ports.unknown },
    { name: 'facts.json', text: labText(known.content), unknown: known.unknown },
    { name: 'who-fixes.json', text: renderAnswerJson(answer), unknown: undecided(answer) },
  ]
}
