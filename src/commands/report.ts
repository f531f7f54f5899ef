import { Option } from 'commander'
import { undecided } from '../reports/answer-json.js'
import { findingFormats, isFindingFormat, renderFindings } from '../reports/finding-formats.js'
import { renderMatrixJson, renderMatrixText } from '../reports/matrix.js'
import type { Report, ReportedVerdict } from '../reports/report.js'
import { findingsOfReport } from '../reports/report-findings.js'
import { renderReportJson } from '../reports/report-json.js'
import { renderReportHtml, renderReportMarkdown } from '../reports/report-page.js'
import { renderReportText } from '../reports/report-text.js'
import { UsageError } from '../source/diagnostic.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import { matrixOfDistributions, matrixOfPlaybooks } from './matrix.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  addReportOption,
  addRulesOption,
  type OutputOptions,
  type ReportFileOptions,
  requestOf,
} from './options.js'
import { styleFor, writeReport, writeReports } from './output.js'
import { noProblem, openCodeOf, reportFor, statusOf, tellDiagnostics, withPorts } from './subject.js'
import { packageVersion } from './version.js'

const renderers = {
  text: renderReportText,
  json: renderReportJson,
  markdown: renderReportMarkdown,
  html: renderReportHtml,
} as const
type Format = keyof typeof renderers

interface ReportOptions {
  readonly matrix?: 'os' | 'playbook'
  readonly only?: readonly string[]
  readonly failOn?: readonly string[]
}

/** `whofixes report`, also the command without a name: every problem, with evidence. */
export const defineReport: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('report', { isDefault: true })
    .description('every problem: who fixes it now, who keeps it after a reboot, with evidence')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
    .addOption(
      new Option('--matrix <by>', 'the same for each supported distribution, or each playbook, side by side').choices([
        'os',
        'playbook',
      ]),
    )
    .option(
      '--only <what>',
      'only these problems: operator, unknown, kubespray (who takes care of them) or their ids, with commas',
      listed,
    )
    .option(
      '--fail-on <what>',
      'exit with 1 where a problem is up to the operator: operator for any of them, or ids, with commas',
      listed,
    )
  const formats = [...Object.keys(renderers), ...findingFormats]
  addReportOption(addOutputOptions(addRulesOption(addAnalysisOptions(command)), formats), formats).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions & ReportFileOptions & ReportOptions) => {
      if (options.matrix !== undefined) {
        requireMatrixFormat(options)
        const tree = openCodeOf(source, '--matrix')
        const matrix = (options.matrix === 'os' ? matrixOfDistributions : matrixOfPlaybooks)(tree, requestOf(options))
        const json = options.format === 'json'
        const text = json ? renderMatrixJson(matrix) : renderMatrixText(matrix, styleFor(options, terminal))
        writeReport(text, options, terminal)
        finish(statusOf(matrix.columns.flatMap(({ report }) => report.problems)))
        return
      }
      const { only = [], failOn = [] } = options
      const whole = reportFor(source, withPorts(requestOf(options), [...only, ...failOn]))
      const report = restricted(whole, only)
      const status = exitStatusOf(whole, only, failOn)
      writeReports(chosen => rendered(report, status, chosen, terminal), options, terminal)
      tellDiagnostics(report.diagnostics, options, terminal)
      if (status === 3) for (const line of undecided(whole)) terminal.err(line)
      finish(status)
    },
  )
}

const listed = (value: string): readonly string[] =>
  value
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== '')

const words: readonly string[] = ['operator', 'unknown', 'kubespray']

/** The problems that are shown: those that a word or an id names. Throws UsageError for a name that is neither. */
function restricted(report: Report, only: readonly string[]): Report {
  if (only.length === 0) return report
  const problems = chosen(report, only, '--only')
  const ids = problems.map(({ id }) => id)
  return { ...report, problems, contradictions: report.contradictions.filter(({ problem }) => ids.includes(problem)) }
}

function chosen(report: Report, names: readonly string[], option: string): readonly ReportedVerdict[] {
  const ids = report.problems.map(({ id }) => id)
  for (const name of names) {
    if (!words.includes(name) && !ids.includes(name)) throw new UsageError(`${option}: ${noProblem(name, ids)}`)
  }
  return report.problems.filter(({ id, fixedBy }) => names.includes(id) || names.includes(fixedBy))
}

/** 3 where an answer that is asked for is unknown (ids ask for those, a word asks for all), else 1 as `--fail-on` has it. */
function exitStatusOf(whole: Report, only: readonly string[], failOn: readonly string[]): ExitStatus {
  const failing = chosen(whole, failOn, '--fail-on').filter(({ fixedBy }) => fixedBy !== 'kubespray')
  const narrowed = only.length > 0 && !only.some(name => words.includes(name))
  const asked = narrowed ? [...chosen(whole, only, '--only'), ...failing] : whole.problems
  const status = statusOf(asked)
  return status === 0 && failing.some(({ fixedBy }) => fixedBy === 'operator') ? 1 : status
}

function rendered(report: Report, exitStatus: ExitStatus, options: OutputOptions, terminal: Terminal): string {
  const { format } = options
  return isFindingFormat(format)
    ? renderFindings(format, findingsOfReport(report), {
        version: packageVersion(),
        exitStatus,
        directory: process.cwd(),
      })
    : renderers[format as Format](report, styleFor(options, terminal))
}

function requireMatrixFormat({ format, report }: OutputOptions & ReportFileOptions): void {
  if (report.length > 0) throw new UsageError('--matrix and --report exclude each other')
  if (format !== 'text' && format !== 'json')
    throw new UsageError(`--matrix has the formats text and json, not ${format}`)
}
