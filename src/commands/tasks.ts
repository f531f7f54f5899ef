import { type AnalysisRequest, analyzeListing, analyzeRun } from '../analyze.js'
import { reportedDiagnostic } from '../reports/report.js'
import { renderTasksJson } from '../reports/tasks-json.js'
import { renderTasksList } from '../reports/tasks-list.js'
import { renderTasksText } from '../reports/tasks-text.js'
import type { Diagnostic } from '../source/diagnostic.js'
import type { SourceTree } from '../source/tree.js'
import type { DefineCommand } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { writeReport } from './output.js'
import { openCodeOf, requirePlays, tellDiagnostics } from './subject.js'

/** Of the run, with conditions; a list is of the playbook as it stands before the run. */
const runFormats = { text: renderTasksText, json: renderTasksJson } as const
const formats = ['text', 'list', 'json'] as const

/** `whofixes tasks`: the task graph in run order. */
export const defineTasks: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('tasks')
    .description('the task graph in run order')
    .argument('[source]', 'a release, a directory or DIR@REV')
  addOutputOptions(addAnalysisOptions(command), formats).action(
    (source: string | undefined, options: AnalysisOptions & OutputOptions) => {
      const { text, diagnostics } = tasksAs(options.format, openCodeOf(source, 'tasks'), requestOf(options))
      writeReport(text, options, terminal)
      tellDiagnostics(diagnostics.map(reportedDiagnostic), options, terminal)
      finish(0)
    },
  )
}

function tasksAs(
  format: string,
  tree: SourceTree,
  request: AnalysisRequest,
): { readonly text: string; readonly diagnostics: readonly Diagnostic[] } {
  if (format === 'list') {
    const { listing, diagnostics } = analyzeListing(tree, request)
    requirePlays(listing.plays.length, request.playbook, diagnostics)
    return { text: renderTasksList(listing), diagnostics }
  }
  const { run, addresses, diagnostics } = analyzeRun(tree, request)
  requirePlays(run.plays.length, request.playbook, diagnostics)
  return { text: runFormats[format as keyof typeof runFormats](run, addresses), diagnostics }
}
