import { undecided } from '../reports/answer-json.js'
import { renderReportJson } from '../reports/report-json.js'
import { renderReportText } from '../reports/report-text.js'
import type { DefineCommand } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { styleFor, writeReport } from './output.js'
import { reportFor, statusOf, tellDiagnostics } from './subject.js'

/** `whofixes report`, also the command without a name: every problem, with evidence. */
export const defineReport: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('report', { isDefault: true })
    .description('every problem: who fixes it now, who keeps it after a reboot, with evidence')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
  addOutputOptions(addAnalysisOptions(command), ['text', 'json']).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions) => {
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
