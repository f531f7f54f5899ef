import { analyze, analyzeListing, defaultRequest, roleVariables } from '../../src/analyze.js'
import { reportOfAnalysis } from '../../src/commands/subject.js'
import { reportedAnsible } from '../../src/reports/ansible-rules.js'
import { reportedVariable } from '../../src/reports/report.js'
import { renderReportJson } from '../../src/reports/report-json.js'
import { renderReportText } from '../../src/reports/report-text.js'
import { renderTasksJson } from '../../src/reports/tasks-json.js'
import { renderTasksList } from '../../src/reports/tasks-list.js'
import { renderTasksText } from '../../src/reports/tasks-text.js'
import { renderVarsJson } from '../../src/reports/vars-json.js'
import { renderVarsText } from '../../src/reports/vars-text.js'
import { type DiagnosticCode, UsageError } from '../../src/source/diagnostic.js'
import { placeOf, type Span } from '../../src/source/text.js'
import type { SourceTree } from '../../src/source/tree.js'
import { checkOutput } from '../schemas/valid.js'

/** Something that could not be read, and where. */
export interface Unread {
  readonly code: DiagnosticCode | 'gap'
  readonly isError: boolean
  readonly place: string
  readonly says: string
}

/** What became of one playbook. */
export interface Measured {
  readonly plays: number
  readonly tasks: number
  /** Of processor time, whatever else the machine does. */
  readonly milliseconds: number
  readonly unread: readonly Unread[]
  /** As `tasks --format list` prints it. */
  readonly list: string
  /** Whether nothing was found that keeps Ansible from making one. */
  readonly listable: boolean
  /** Why there is no answer at all: a refusal in a line, or what was thrown. */
  readonly refused?: string
  readonly thrown?: string
}

/** The whole pipeline for one playbook, with everything that is rendered from it. Never throws. */
export function measure(tree: SourceTree, playbook: string, inventory: string): Measured {
  const begin = process.cpuUsage()
  const nothing = { plays: 0, tasks: 0, unread: [], list: '', listable: false }
  const since = (): number => {
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1000
  }
  // What the tree refused for another playbook is no matter of this one.
  const earlier = new Set(tree.diagnostics())
  try {
    const request = { ...defaultRequest, playbook, inventory: [inventory], host: 'localhost', variables: roleVariables }
    const listed = analyzeListing(tree, request)
    const list = renderTasksList(listed.listing)
    const analysis = analyze(tree, request)
    const { run, roles, diagnostics } = analysis
    renderTasksText(run)
    const report = reportOfAnalysis(analysis)
    renderReportText(report)
    const variables = {
      ansible: reportedAnsible(run.ansible),
      roles: new Map(
        roles.map(({ role, variables }) => [
          role.code.path,
          new Map([...variables].map(([name, variable]) => [name, reportedVariable(variable)])),
        ]),
      ),
    }
    const outputs = [renderTasksJson(run, analysis.addresses), renderReportJson(report), renderVarsJson(variables)]
    renderVarsText(variables)
    const unread: readonly Unread[] = [
      ...[...diagnostics, ...listed.diagnostics]
        .filter(diagnostic => !earlier.has(diagnostic))
        .map(({ code, severity, at, message }) => unreadAt(code, severity === 'error', at, message)),
      ...run.gaps.map(({ at, says }) => unreadAt('gap', false, at, says)),
    ]
    const listable = !listed.diagnostics.some(each => each.severity === 'error' && !earlier.has(each))
    const milliseconds = since()
    for (const output of outputs) checkOutput(output)
    return { plays: run.plays.length, tasks: run.tasks.length, milliseconds, unread, list, listable }
  } catch (error) {
    if (error instanceof UsageError) return { ...nothing, milliseconds: since(), refused: error.message }
    return { ...nothing, milliseconds: since(), thrown: error instanceof Error ? String(error.stack) : String(error) }
  }
}

function unreadAt(code: Unread['code'], isError: boolean, at: Span, says: string): Unread {
  return { code, isError, place: at.file.path === '' ? '' : placeOf(at), says }
}
