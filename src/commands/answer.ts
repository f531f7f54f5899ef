import { renderAnswerJson, undecided } from '../reports/answer-json.js'
import type { DefineCommand } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { writeReport } from './output.js'
import { reportFor, tellDiagnostics } from './subject.js'

/** `whofixes answer`: the lab's who-fixes.json; 3 where a key could not be told. */
export const defineAnswer: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('answer')
    .description("the lab's who-fixes.json")
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
  addOutputOptions(addAnalysisOptions(command), ['json']).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions) => {
      // The lab's answer is about role code under an inventory, not about one host's files.
      const request = { ...requestOf(options), followsHost: false }
      const report = reportFor(source, request, { kubesprayOnly: true })
      writeReport(renderAnswerJson(report), options, terminal)
      tellDiagnostics(report.diagnostics, options, terminal)
      const open = undecided(report)
      for (const line of open) terminal.err(line)
      finish(open.length === 0 ? 0 : 3)
    },
  )
}
