import { Option } from 'commander'
import { undecided } from '../reports/answer-json.js'
import { renderMatrixJson, renderMatrixText } from '../reports/matrix.js'
import { renderReportJson } from '../reports/report-json.js'
import { renderReportText } from '../reports/report-text.js'
import type { DefineCommand } from './command.js'
import { matrixOfDistributions, matrixOfPlaybooks } from './matrix.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  addRulesOption,
  type OutputOptions,
  requestOf,
} from './options.js'
import { styleFor, writeReport } from './output.js'
import { openCodeOf, reportFor, statusOf, tellDiagnostics } from './subject.js'

/** `whofixes report`, also the command without a name: every problem, with evidence. */
export const defineReport: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('report', { isDefault: true })
    .description('every problem: who fixes it now, who keeps it after a reboot, with evidence')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
  command.addOption(
    new Option('--matrix <by>', 'the same for each supported distribution, or each playbook, side by side').choices([
      'os',
      'playbook',
    ]),
  )
  addOutputOptions(addRulesOption(addAnalysisOptions(command)), ['text', 'json']).action(
    (
      source: string | undefined,
      options: AnalysisOptions & OutputOptions & { readonly matrix?: 'os' | 'playbook' },
    ) => {
      if (options.matrix !== undefined) {
        const tree = openCodeOf(source, '--matrix')
        const matrix = (options.matrix === 'os' ? matrixOfDistributions : matrixOfPlaybooks)(tree, requestOf(options))
        const json = options.format === 'json'
        const text = json ? renderMatrixJson(matrix) : renderMatrixText(matrix, styleFor(options, terminal))
        writeReport(text, options, terminal)
        finish(statusOf(matrix.columns.flatMap(({ report }) => report.problems)))
        return
      }
      const report = reportFor(source, requestOf(options))
      const text =
        options.format === 'json' ? renderReportJson(report) : renderReportText(report, styleFor(options, terminal))
      writeReport(text, options, terminal)
      tellDiagnostics(report.diagnostics, options, terminal)
      const status = statusOf(report.problems)
      if (status === 3) for (const line of undecided(report)) terminal.err(line)
      finish(status)
    },
  )
}
