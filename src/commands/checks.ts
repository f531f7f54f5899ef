import { InvalidArgumentError } from 'commander'
import { analyzeRun } from '../analyze.js'
import { lookingTasks } from '../effects/looking.js'
import { roleTexts } from '../effects/role-text.js'
import { effectsOfRun } from '../effects/run-effects.js'
import { sourceOf } from '../recorded/published.js'
import { findingsOfChecks } from '../reports/check-findings.js'
import { type CheckOutcome, type ChecksReport, checkOutcomes, reportedChecks } from '../reports/checks.js'
import { renderChecksJson } from '../reports/checks-json.js'
import { renderChecksText } from '../reports/checks-text.js'
import { findingFormats, isFindingFormat, renderFindings } from '../reports/finding-formats.js'
import { type ReportedDiagnostic, reportedDiagnostic } from '../reports/report.js'
import type { SourceTree } from '../source/tree.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { styleFor, writeReport } from './output.js'
import { openCodeOf, requirePlays, tellDiagnostics } from './subject.js'
import { packageVersion } from './version.js'

interface ChecksOptions {
  readonly only?: readonly CheckOutcome[]
}

/** `whofixes checks`: the playbook's own stops, evaluated for this inventory and these facts. */
export const defineChecks: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('checks')
    .description(
      "the playbook's own stops (assert, fail, failed_when of what only looks): which end the run for this host",
    )
    .argument('[source]', 'a release, a directory or DIR@REV')
    .option(
      '--only <outcomes>',
      `only these: ${checkOutcomes.join(', ')}, with commas; the exit status is about them too`,
      outcomesIn,
    )
  addOutputOptions(addAnalysisOptions(command), ['text', 'json', ...findingFormats]).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions & ChecksOptions) => {
      const { only = checkOutcomes } = options
      const { report: whole, diagnostics } = checksOf(openCodeOf(source, 'checks'), options)
      const report = { ...whole, checks: whole.checks.filter(({ outcome }) => only.includes(outcome)) }
      const status = statusOf(report, only)
      writeReport(rendered(report, diagnostics, status, options, terminal), options, terminal)
      // The stops are what the report is about.
      tellDiagnostics(
        diagnostics.filter(({ code }) => code !== 'run-stops'),
        options,
        terminal,
      )
      finish(status)
    },
  )
}

function outcomesIn(text: string): readonly CheckOutcome[] {
  return text.split(',').map(part => {
    const outcome = checkOutcomes.find(each => each === part.trim())
    if (outcome === undefined) throw new InvalidArgumentError(`expected ${checkOutcomes.join(', ')}.`)
    return outcome
  })
}

function checksOf(
  tree: SourceTree,
  options: AnalysisOptions,
): { readonly report: ChecksReport; readonly diagnostics: readonly ReportedDiagnostic[] } {
  const request = requestOf(options)
  const { run, origin, addresses, diagnostics } = analyzeRun(tree, request)
  requirePlays(run.plays.length, request.playbook, diagnostics)
  const onlyLooks = lookingTasks(effectsOfRun(run, roleTexts(tree)))
  const report = reportedChecks({ run, source: sourceOf(origin), addressOf: addresses.of, onlyLooks })
  return { report, diagnostics: diagnostics.map(reportedDiagnostic) }
}

/** 3 where a check that is asked for is open, or may be missing; 1 where one stops the run. */
function statusOf({ checks, unread }: ChecksReport, only: readonly CheckOutcome[]): ExitStatus {
  const isOpen = only.includes('unknown') && (unread.length > 0 || checks.some(({ outcome }) => outcome === 'unknown'))
  return isOpen ? 3 : checks.some(({ outcome }) => outcome === 'stops') ? 1 : 0
}

function rendered(
  report: ChecksReport,
  diagnostics: readonly ReportedDiagnostic[],
  exitStatus: ExitStatus,
  options: OutputOptions,
  terminal: Terminal,
): string {
  const { format } = options
  if (isFindingFormat(format)) {
    return renderFindings(format, findingsOfChecks(report, diagnostics), {
      version: packageVersion(),
      exitStatus,
      directory: process.cwd(),
    })
  }
  return format === 'json' ? renderChecksJson(report) : renderChecksText(report, styleFor(options, terminal))
}
