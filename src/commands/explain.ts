import { renderExplainJson } from '../reports/explain-json.js'
import { renderExplainMarkdown } from '../reports/explain-markdown.js'
import { renderExplainText } from '../reports/explain-text.js'
import { UsageError } from '../source/diagnostic.js'
import type { DefineCommand } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { styleFor, writeReport } from './output.js'
import { reportFor, statusOf, tellDiagnostics } from './subject.js'

/** `whofixes explain`: the proof of one verdict. */
export const defineExplain: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('explain')
    .description('the proof of one verdict: the chain to each task, every condition with its value, what came near')
    .argument('<problem>', 'as in who-fixes.json: swap, br_netfilter, …')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
  addOutputOptions(addAnalysisOptions(command), ['text', 'json', 'markdown']).action(
    (problem: string, source: string | undefined, options: AnalysisOptions & OutputOptions) => {
      const report = reportFor(source, requestOf(options))
      const verdict = report.problems.find(({ id }) => id === problem)
      if (verdict === undefined) {
        throw new UsageError(`no problem '${problem}'; there are ${report.problems.map(({ id }) => id).join(', ')}`)
      }
      const text =
        options.format === 'json'
          ? renderExplainJson(report, verdict)
          : options.format === 'markdown'
            ? renderExplainMarkdown(report, verdict)
            : renderExplainText(report, verdict, styleFor(options, terminal))
      writeReport(text, options, terminal)
      tellDiagnostics(report.diagnostics, options, terminal)
      finish(statusOf([verdict]))
    },
  )
}
