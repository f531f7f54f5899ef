import { createHash } from 'node:crypto'
import type { Task } from '../ansible/statement.js'
import type { Report, ReportedEvidence, ReportedPhase, ReportedVariable, ReportedVerdict } from '../reports/report.js'
import { isNotKnown, type Json } from '../reports/value-text.js'
import type { Run } from '../run/task-run.js'
import { lineOf } from '../source/text.js'
import type { Origin } from '../variables/resolved.js'
import {
  type RecordedEvidence,
  type RecordedPhase,
  type RecordedProblem,
  type RecordedRelease,
  type RecordedRole,
  type RecordedStep,
  type RecordedView,
  SNAPSHOT_SCHEMA,
} from './format.js'
import { withoutQuotes } from './without-code.js'

/** What a snapshot is made of. The report and the run must quote no role code (see `withoutExpressions`). */
export interface Recording {
  readonly release: string
  readonly report: Report
  readonly run: Run
  /** Every role where it first stands, in run order, with the variables its tasks see from role defaults and vars. */
  readonly roles: readonly { readonly path: string; readonly variables: ReadonlyMap<string, ReportedVariable> }[]
}

/** Values longer than this (checksum tables, lists of images) are not recorded: their place is. */
const longestValue = 100

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
    problems,
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

/**
 * Each definition once, with the value most roles see; per role only the files it sees besides those all roles see, and
 * where its value is another one.
 */
function recordVariables(
  recorded: Recording['roles'],
  files: Indexer<string>,
): Pick<RecordedRelease, 'definitions' | 'withoutValue' | 'common' | 'views' | 'values' | 'roles'> {
  const seen = recorded.map(({ path, variables }) => ({ path, places: placesOf(variables) }))
  const ballots = new Map<string, Map<string, number>>()
  for (const { places } of seen) {
    for (const { key, definition } of places) {
      const ballot = ballots.get(key) ?? new Map<string, number>()
      const vote = JSON.stringify(definition)
      ballots.set(key, ballot.set(vote, (ballot.get(vote) ?? 0) + 1))
    }
  }
  const elected = new Map<string, SeenDefinition>()
  for (const [key, ballot] of ballots) {
    const [winner] = [...ballot].sort(([, a], [, b]) => b - a)
    if (winner) elected.set(key, JSON.parse(winner[0]))
  }
  const definitions: Record<string, Record<string, Json>> = {}
  const withoutValue: Record<string, string[]> = {}
  for (const place of new Map(seen.flatMap(({ places }) => places.map(each => [each.key, each] as const))).values()) {
    const { line, value } = elected.get(place.key) ?? place.definition
    const name = `${place.name}:${line}`
    if (value === undefined) {
      const names = withoutValue[place.file] ?? []
      names.push(name)
      withoutValue[place.file] = names
    } else {
      const values = definitions[place.file] ?? {}
      values[name] = value
      definitions[place.file] = values
    }
  }
  const filesOf = (places: readonly SeenPlace[], origin: Origin): readonly number[] => [
    ...new Set(places.filter(place => place.origin === origin).map(({ file }) => files.indexOf(file))),
  ]
  const lists = seen.map(({ path, places }) => ({
    path,
    defaults: filesOf(places, 'role defaults'),
    vars: filesOf(places, 'role vars'),
    differs: differing(places, elected),
  }))
  const common = { defaults: shared(lists.map(each => each.defaults)), vars: shared(lists.map(each => each.vars)) }
  const values = indexer<Json>(value => JSON.stringify(value))
  const views = indexer<RecordedView>(view => JSON.stringify(view))
  const roles = lists.map(({ path, defaults, vars, differs }) => {
    const beyond = (all: readonly number[], of: readonly number[]): readonly number[] =>
      all.filter(file => !of.includes(file))
    const isOwn = (file: number): boolean => files.all[file]?.includes(`roles/${path}/`) === true
    const others = { defaults: beyond(defaults, common.defaults), vars: beyond(vars, common.vars) }
    const role: RecordedRole = {
      view: views.indexOf({
        defaults: others.defaults.filter(file => !isOwn(file)),
        vars: others.vars.filter(file => !isOwn(file)),
      }),
      defaults: others.defaults.filter(isOwn),
      vars: others.vars.filter(isOwn),
      differs: Object.fromEntries(Object.entries(differs).map(([name, value]) => [name, values.indexOf(value)])),
    }
    return [path, role] as const
  })
  return { definitions, withoutValue, common, views: views.all, values: values.all, roles: Object.fromEntries(roles) }
}

/** A place that defines a name, as one role sees it. */
interface SeenPlace {
  readonly key: string
  readonly name: string
  readonly origin: Origin
  readonly file: string
  readonly wins: boolean
  readonly definition: SeenDefinition
}

/** `value` is absent where it is not known or too long. */
interface SeenDefinition {
  readonly line: number
  readonly value?: Json
}

/** Role defaults and role vars of a role's names, weakest first. */
function placesOf(variables: ReadonlyMap<string, ReportedVariable>): readonly SeenPlace[] {
  return [...variables].flatMap(([name, { origin, file, line, value, status, overridden }]) => {
    const winner =
      file === null || line === null
        ? []
        : [{ origin, file, line, value: status === 'known' ? value : UNRECORDED, wins: true }]
    const all = [...winner, ...overridden.map(place => ({ ...place, wins: false }))].reverse()
    return all.flatMap(place =>
      place.origin === 'role defaults' || place.origin === 'role vars'
        ? [
            {
              key: `${place.file}\0${name}`,
              name,
              origin: place.origin,
              file: place.file,
              wins: place.wins,
              definition: definitionOf(place.line, place.value),
            },
          ]
        : [],
    )
  })
}

const UNRECORDED: Json = { unknown: '' }

function differing(places: readonly SeenPlace[], elected: ReadonlyMap<string, SeenDefinition>): Record<string, Json> {
  const differs: Record<string, Json> = {}
  for (const { key, name, wins, definition } of places) {
    if (!wins || JSON.stringify(elected.get(key)) === JSON.stringify(definition)) continue
    differs[name] = definition.value ?? UNRECORDED
  }
  return differs
}

/** What stands in all of some lists, in the order of the first. */
function shared(lists: readonly (readonly number[])[]): readonly number[] {
  const [first = [], ...rest] = lists
  return first.filter(file => rest.every(list => list.includes(file)))
}

function definitionOf(line: number, value: Json): SeenDefinition {
  const isRecorded = isWhollyKnown(value) && JSON.stringify(value).length <= longestValue
  return isRecorded ? { line, value } : { line }
}

function isWhollyKnown(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (isNotKnown(value) || 'oneOf' in value) return false
  return Object.values(value).every(isWhollyKnown)
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

interface Indexer<T> {
  readonly all: T[]
  readonly indexOf: (item: T) => number
}

function indexer<T>(keyOf: (item: T) => string): Indexer<T> {
  const indexes = new Map<string, number>()
  const all: T[] = []
  return {
    all,
    indexOf: item => {
      const key = keyOf(item)
      const before = indexes.get(key)
      if (before !== undefined) return before
      indexes.set(key, all.length)
      return all.push(item) - 1
    },
  }
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
