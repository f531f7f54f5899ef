import { renderExplainJson } from '../reports/explain-json.js'
import { renderExplainMarkdown } from '../reports/explain-markdown.js'
import { renderExplainText } from '../reports/explain-text.js'
import {
  explainedVariables,
  renderExplainVariableJson,
  renderExplainVariableMarkdown,
  renderExplainVariableText,
  variableNamed,
} from '../reports/explain-variable.js'
import { UsageError } from '../source/diagnostic.js'
import type { DefineCommand } from './command.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  addRulesOption,
  type OutputOptions,
  requestOf,
} from './options.js'
import { styleFor, writeReport } from './output.js'
import { noProblem, reportFor, statusOf, tellDiagnostics, withPorts } from './subject.js'

const explainProblem = { text: renderExplainText, json: renderExplainJson, markdown: renderExplainMarkdown } as const
const explainVariable = {
  text: renderExplainVariableText,
  json: renderExplainVariableJson,
  markdown: renderExplainVariableMarkdown,
} as const
type Format = keyof typeof explainProblem

/** `whofixes explain`: the proof of one verdict, or of one value of the lab's files. */
export const defineExplain: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('explain')
    .description('the proof of one verdict: the chain to each task, every condition with its value, what came near')
    .argument('<problem>', 'as in who-fixes.json: swap, br_netfilter, …')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
  addOutputOptions(addRulesOption(addAnalysisOptions(command)), ['text', 'json', 'markdown']).action(
    (problem: string, source: string | undefined, options: AnalysisOptions & OutputOptions) => {
      const report = reportFor(source, withPorts(requestOf(options), [problem]))
      const style = styleFor(options, terminal)
      const verdict = report.problems.find(({ id }) => id === problem)
      const variable = variableNamed(report, problem)
      if (verdict === undefined && variable === undefined) {
        const names = [...report.problems.map(({ id }) => id), ...explainedVariables(report)]
        throw new UsageError(noProblem(problem, names))
      }
      const text =
        verdict !== undefined
          ? explainProblem[options.format as Format](report, verdict, style)
          : variable !== undefined
            ? explainVariable[options.format as Format](report, variable, style)
            : ''
      writeReport(text, options, terminal)
      tellDiagnostics(report.diagnostics, options, terminal)
      finish(verdict === undefined ? (variable?.[1].status === 'known' ? 0 : 3) : statusOf([verdict]))
    },
  )
}
