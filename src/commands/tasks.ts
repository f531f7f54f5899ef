import { reportedDiagnostic } from '../reports/report.js'
import { renderTasksJson } from '../reports/tasks-json.js'
import { renderTasksList } from '../reports/tasks-list.js'
import { renderTasksText } from '../reports/tasks-text.js'
import type { DefineCommand } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { writeReport } from './output.js'
import { analyzeCode, tellDiagnostics } from './subject.js'

const formats = { text: renderTasksText, list: renderTasksList, json: renderTasksJson } as const

/** `whofixes tasks`: the task graph in run order. */
export const defineTasks: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('tasks')
    .description('the task graph in run order')
    .argument('[source]', 'a release, a directory or DIR@REV')
  addOutputOptions(addAnalysisOptions(command), Object.keys(formats)).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions) => {
      const { run, diagnostics } = analyzeCode(source, requestOf(options), 'tasks')
      writeReport(formats[options.format as keyof typeof formats](run), options, terminal)
      tellDiagnostics(diagnostics.map(reportedDiagnostic), options, terminal)
      finish(0)
    },
  )
}
