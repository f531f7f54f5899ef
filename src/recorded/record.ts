import { createHash } from 'node:crypto'
import type { Task } from '../ansible/statement.js'
import type { ReportedAnsible } from '../reports/ansible-rules.js'
import type { Place } from '../reports/place.js'
import type { Report, ReportedEvidence, ReportedPhase, ReportedVerdict } from '../reports/report.js'
import type { Run } from '../run/task-run.js'
import { lineOf } from '../source/text.js'
import {
  type RecordedEvidence,
  type RecordedPhase,
  type RecordedPlace,
  type RecordedProblem,
  type RecordedRelease,
  type RecordedStep,
  SNAPSHOT_SCHEMA,
} from './format.js'
import { type Indexer, indexer } from './indexer.js'
import { recordVariables, type SeenRole } from './record-variables.js'
import { withoutQuotes } from './without-code.js'

/** What a snapshot is made of. The report and the run must quote no role code (see `withoutExpressions`). */
export interface Recording {
  readonly release: string
  readonly report: Report
  readonly run: Run
  /** Every role where it first stands, in run order, with the variables its tasks see from role defaults and vars. */
  readonly roles: readonly SeenRole[]
}

/** The text of a snapshot file: one fact a line, so that two of them can be compared. */
export function renderSnapshot(recording: Recording): string {
  const { release, report, run } = recording
  const files = indexer<string>(text => text)
  const texts = indexer<string>(text => text)
  const steps = indexer<RecordedStep>(step => step.join('\0'))
  const considered = indexer<RecordedRelease['considered'][number]>(each => each.join('\0'))
  const tables = { files, texts, steps, considered }
  const problems = report.problems.map(problem => recordProblem(problem, tables))
  const variables = recordVariables(recording.roles, files)
  const tasks = recordTasks(run)
  const snapshot: RecordedRelease = {
    schema: SNAPSHOT_SCHEMA,
    release,
    commit: report.source.commit ?? '',
    playbook: report.playbook,
    host: report.host,
    ansible: recordAnsible(report.ansible, files),
    problems,
    contradictions: report.contradictions.map(({ file, line, says, problem }) => [
      files.indexOf(file),
      line,
      texts.indexOf(withoutQuotes(says)),
      problem,
    ]),
    variables: Object.fromEntries(report.variables),
    unknowns: report.unknowns.map(({ name, file, line, because }) => ({
      name,
      file: files.indexOf(file),
      line,
      because: withoutQuotes(because),
    })),
    ...variables,
    tasks,
    files: files.all,
    texts: texts.all,
    steps: steps.all,
    considered: considered.all,
  }
  return renderCompactly(snapshot)
}

function recordAnsible(
  { version, requirement, from, window, accepted }: ReportedAnsible,
  files: Indexer<string>,
): RecordedRelease['ansible'] {
  const place = (at: Place | null): RecordedPlace | null => (at === null ? null : [files.indexOf(at.file), at.line])
  return [version, requirement, place(from), place(window), accepted]
}

interface Tables {
  readonly files: Indexer<string>
  readonly texts: Indexer<string>
  readonly steps: Indexer<RecordedStep>
  readonly considered: Indexer<RecordedRelease['considered'][number]>
}

function recordProblem(problem: ReportedVerdict, tables: Tables): RecordedProblem {
  const { searched, notes } = problem
  return {
    id: problem.id,
    fixedBy: problem.fixedBy,
    condition: problem.condition,
    now: recordPhase(problem.now, tables),
    afterReboot: recordPhase(problem.afterReboot, tables),
    nearMisses: problem.nearMisses.map(each => recordEvidence(each, tables)),
    searched: {
      tasks: searched.tasks,
      commands: searched.commands,
      unresolved: searched.unresolved.map(({ says, file, line, couldChange, why }) => ({
        says: withoutQuotes(says),
        file: tables.files.indexOf(file),
        line,
        couldChange,
        why: withoutQuotes(why),
      })),
      considered: searched.considered.map(({ program, calls, why }) =>
        tables.considered.indexOf([program, calls, withoutQuotes(why)]),
      ),
    },
    notes: notes.map(({ says, file, line }) => ({ says: withoutQuotes(says), file, line })),
  }
}

function recordPhase({ fixedBy, condition, evidence }: ReportedPhase, tables: Tables): RecordedPhase {
  return { fixedBy, condition, evidence: evidence.map(each => recordEvidence(each, tables)) }
}

function recordEvidence(evidence: ReportedEvidence, { files, texts, steps }: Tables): RecordedEvidence {
  const { play, role, task, module, file, line, effect, runs, condition, via, why } = evidence
  const text = (value: string): number => texts.indexOf(withoutQuotes(value))
  const chain = via.map(step => steps.indexOf([step.kind, step.what, files.indexOf(step.file), step.line]))
  const recorded = [
    ...[text(play), role === null ? null : text(role), text(task), text(module), files.indexOf(file), line],
    ...[text(effect), runs, condition === null ? null : text(condition), chain],
    ...(why === undefined ? [] : [text(why)]),
  ]
  return recorded as unknown as RecordedEvidence
}

/** Every task's place once, with the hash of its text, so that a later release can be compared without its code. */
function recordTasks(run: Run): Readonly<Record<string, string>> {
  const byFile = new Map<string, Map<number, string>>()
  for (const { task } of run.tasks) {
    const places = byFile.get(task.at.file.path) ?? new Map<number, string>()
    byFile.set(task.at.file.path, places.set(lineOf(task.at), contentHash(task)))
  }
  const inOrder = ([file, places]: [string, Map<number, string>]): [string, string] => [
    file,
    [...places]
      .sort(([a], [b]) => a - b)
      .map(([line, hash]) => `${line}:${hash}`)
      .join(' '),
  ]
  return Object.fromEntries([...byFile].map(inOrder))
}

/** The first 7 hex digits of SHA-256 of a task's text, indentation and blanks at line ends aside. */
export function contentHash({ at: { file, start, end } }: Task): string {
  const lines = file.text.slice(start, end).split('\n')
  const text = lines
    .map(line => line.trim())
    .filter(line => line !== '')
    .join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, 7)
}

/** JSON with a line for each member of the first two levels: readable in a diff, without blanks that cost room. */
function renderCompactly(snapshot: RecordedRelease): string {
  const members = Object.entries(snapshot).map(([key, value]) => `${JSON.stringify(key)}:${renderMembers(value)}`)
  return `{\n${members.join(',\n')}\n}\n`
}

function renderMembers(value: unknown): string {
  if (Array.isArray(value)) return `[\n${value.map(item => JSON.stringify(item)).join(',\n')}\n]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const lines = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`)
  return `{\n${lines.join(',\n')}\n}`
}
