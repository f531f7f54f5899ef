import { parseAddress, wordsOf } from '../addresses/address.js'
import type { Addresses } from '../addresses/addressed.js'
import type { ReportedAnsible } from '../reports/ansible-rules.js'
import type { Place } from '../reports/place.js'
import type { Report, ReportedEvidence, ReportedPhase, ReportedVerdict } from '../reports/report.js'
import type { Run } from '../run/task-run.js'
import { lineOf, pathToOpen } from '../source/text.js'
import {
  keptNear,
  type LikeRelease,
  type RecordedEvidence,
  type RecordedPhase,
  type RecordedPlace,
  type RecordedProblem,
  type RecordedRelease,
  type RecordedStep,
  SNAPSHOT_SCHEMA,
} from './format.js'
import { type Indexer, indexer } from './indexer.js'
import { differenceFrom } from './like.js'
import { recordVariables, type SeenRole } from './record-variables.js'
import { recordedTask } from './recorded-task.js'
import { effectFact, moduleFact, withoutQuotes } from './without-code.js'

/** What a snapshot is made of. The report and the run must quote no role code (see `withoutExpressions`). */
export interface Recording {
  readonly release: string
  readonly report: Report
  readonly run: Run
  readonly addresses: Pick<Addresses, 'of'>
  /** Every role where it first stands, in run order, with the variables its tasks see from role defaults and vars. */
  readonly roles: readonly SeenRole[]
  /** Names that are read and have no default, with a file that reads them. */
  readonly reads: ReadonlyMap<string, string>
}

/**
 * The text of a snapshot file: one fact a line, so that two of them can be compared. With `base`, the snapshot of another
 * release, it holds only what differs from that; both are read as the same.
 */
export function renderSnapshot(recording: Recording, base?: RecordedRelease): string {
  const { release, report } = recording
  const text = (value: string): string => value
  const tables = {
    files: indexer(text, base?.files),
    texts: indexer(text, base?.texts),
    steps: indexer<RecordedStep>(step => step.join('\0'), base?.steps),
    considered: indexer<RecordedRelease['considered'][number]>(each => each.join('\0'), base?.considered),
  }
  const snapshot: RecordedRelease = {
    schema: SNAPSHOT_SCHEMA,
    release,
    commit: report.source.commit ?? '',
    playbook: report.playbook,
    host: report.host,
    ansible: recordAnsible(report.ansible, tables.files),
    searched: [report.problems[0]?.searched.tasks ?? 0, report.problems[0]?.searched.commands ?? 0],
    problems: Object.fromEntries(report.problems.map(problem => [problem.id, recordProblem(problem, tables)])),
    contradictions: report.contradictions.map(
      ({ file, line, says, problem }) => [tables.files.indexOf(file), line, textIn(tables, says), problem] as const,
    ),
    variables: Object.fromEntries(report.variables),
    unknowns: report.unknowns.map(
      ({ name, file, line, because }) =>
        [textIn(tables, name), tables.files.indexOf(file), line, textIn(tables, because)] as const,
    ),
    ...recordVariables(recording.roles, tables.files, base),
    tasks: recordTasks(recording, tables),
    reads: recordReads(recording.reads),
    files: tables.files.all,
    texts: tables.texts.all,
    steps: tables.steps.all,
    considered: tables.considered.all,
  }
  return renderCompactly(base === undefined ? snapshot : differenceFrom(base, snapshot))
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

/** A sentence's number. */
function textIn({ texts }: Tables, value: string): number {
  return texts.indexOf(withoutQuotes(value))
}

function conditionIn(tables: Tables, condition: string | null): number | null {
  return condition === null ? null : textIn(tables, condition)
}

function recordProblem(problem: ReportedVerdict, tables: Tables): RecordedProblem {
  const { searched, notes, nearMisses } = problem
  return {
    fixedBy: problem.fixedBy,
    condition: conditionIn(tables, problem.condition),
    now: recordPhase(problem.now, tables),
    afterReboot: recordPhase(problem.afterReboot, tables),
    near: nearMisses.length,
    nearMisses: closest(nearMisses).map(each => recordEvidence({ ...each, via: [] }, tables)),
    searched: {
      unresolved: searched.unresolved.map(({ says, file, line, couldChange, why }) => [
        textIn(tables, says),
        tables.files.indexOf(file),
        line,
        couldChange,
        textIn(tables, why),
      ]),
      considered: searched.considered.map(({ program, calls, why }) =>
        tables.considered.indexOf([program, calls, withoutQuotes(why)]),
      ),
    },
    notes: notes.map(({ says, file, line }) => [
      textIn(tables, says),
      file === null ? null : tables.files.indexOf(file),
      line,
    ]),
  }
}

/** The first few that a report would show as different ones: another effect, or another place. */
function closest(evidence: readonly ReportedEvidence[]): readonly ReportedEvidence[] {
  const different = new Map<string, ReportedEvidence>()
  for (const each of evidence) {
    const key = `${each.effect}\0${each.file}\0${each.line}`
    if (!different.has(key)) different.set(key, each)
  }
  return [...different.values()].slice(0, keptNear)
}

function recordPhase({ fixedBy, condition, evidence, open }: ReportedPhase, tables: Tables): RecordedPhase {
  const recorded = (each: ReportedEvidence): RecordedEvidence => recordEvidence(each, tables)
  return {
    fixedBy,
    condition: conditionIn(tables, condition),
    evidence: evidence.map(recorded),
    ...(fixedBy === 'unknown' && open.length > 0 ? { open: closest(open).map(recorded) } : {}),
  }
}

function recordEvidence(evidence: ReportedEvidence, tables: Tables): RecordedEvidence {
  const { play, role, task, module, line, effect, runs, condition, via, why } = evidence
  const text = (value: string): number => textIn(tables, value)
  const place = (at: Place): number => tables.files.indexOf(at.file)
  const chain = via.map(step => tables.steps.indexOf([step.kind, step.what, place(step), step.line]))
  const head = [
    text(play),
    role === null ? null : text(role),
    text(task),
    text(moduleFact(module)),
    place(evidence),
    line,
  ] as const
  const recorded = [...head, text(effectFact(effect)), runs, conditionIn(tables, condition), chain] as const
  return why === undefined ? recorded : [...recorded, text(why)]
}

/** Every task's place once, with what finds it by its address. */
function recordTasks({ run, addresses, report }: Recording, tables: Tables): Readonly<Record<string, string>> {
  const names = namesOfEvidence(report)
  const byFile = new Map<string, Map<number, string>>()
  for (const { task } of run.tasks) {
    const path = pathToOpen(task.at.file)
    const line = lineOf(task.at)
    const places = byFile.get(path) ?? new Map<number, string>()
    const address = addresses.of(task)
    if (address === undefined) continue
    const name = names.get(`${path}:${line}`)
    byFile.set(
      path,
      places.set(line, recordedTask(address, line, name === undefined ? undefined : tables.texts.indexOf(name))),
    )
  }
  const inOrder = ([file, places]: [string, Map<number, string>]): [string, string] => [
    file,
    [...places]
      .sort(([a], [b]) => a - b)
      .map(([, recorded]) => recorded)
      .join(' '),
  ]
  return Object.fromEntries([...byFile].map(inOrder))
}

/** The names in addresses of evidence that the name a report prints does not give: templates are filled in there. */
function namesOfEvidence({ problems }: Report): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const phases = problems.flatMap(({ now, afterReboot }) => [now, afterReboot])
  const shown = [
    ...phases.flatMap(({ evidence, open }) => [...evidence, ...open]),
    ...problems.flatMap(p => p.nearMisses),
  ]
  for (const { file, line, task, address } of shown) {
    const name = address === null ? undefined : parseAddress(address)?.name
    if (name !== undefined && name !== wordsOf(task)) names.set(`${file}:${line}`, name)
  }
  return names
}

function recordReads(reads: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const byFile = new Map<string, string[]>()
  for (const [name, file] of reads) byFile.set(file, [...(byFile.get(file) ?? []), name])
  return Object.fromEntries([...byFile].map(([file, names]) => [file, names.toSorted().join(' ')]))
}

/** JSON with a line for each member of the first two levels: readable in a diff, without blanks that cost room. */
function renderCompactly(snapshot: RecordedRelease | LikeRelease): string {
  const members = Object.entries(snapshot).map(([key, value]) => `${JSON.stringify(key)}:${renderMembers(value)}`)
  return `{\n${members.join(',\n')}\n}\n`
}

function renderMembers(value: unknown): string {
  if (Array.isArray(value)) return `[\n${value.map(item => JSON.stringify(item)).join(',\n')}\n]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const lines = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`)
  return `{\n${lines.join(',\n')}\n}`
}
