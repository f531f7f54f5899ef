import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { problems } from '../../rules/index.js'
import { addressText, moduleWord, wordsOf } from '../addresses/address.js'
import { rulesFor, rulesOfAll } from '../ansible/language.js'
import { becauseOf, type ReportedAnsible } from '../reports/ansible-rules.js'
import {
  type Permalink,
  permalinks,
  type Report,
  type ReportedEvidence,
  type ReportedPhase,
  type ReportedSource,
  type ReportedStep,
  type ReportedVariable,
  type ReportedVerdict,
} from '../reports/report.js'
import { isNotKnown, type Json } from '../reports/value-text.js'
import { innermost } from '../run/role.js'
import { UsageError } from '../source/diagnostic.js'
import type { Problem } from '../verdicts/problem.js'
import {
  type LikeRelease,
  type RecordedEvidence,
  type RecordedPhase,
  type RecordedPlace,
  type RecordedRelease,
  SNAPSHOT_SCHEMA,
} from './format.js'
import { hashOf, putTogether } from './like.js'
import { type RecordedTask, readRecordedTask } from './recorded-task.js'

/** Where the package keeps what was recorded about each release. */
export const snapshotsDirectory = new URL('../../../kubespray-snapshots/', import.meta.url)

/** A recorded task with the file it stands in and the role or file that owns it. */
export interface SnapshotTask extends RecordedTask {
  readonly file: string
  readonly owner: string
}

/** What was recorded about a release: facts only, no role code and no expressions. */
export interface Snapshot {
  readonly release: string
  readonly report: Report
  /** Variables by role; all of them, or those with these names. */
  readonly variables: (names: readonly string[]) => ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>>
  /** Names that something reads and no default defines, each with a file; `*` stands for any part of a name. */
  readonly reads: () => ReadonlyMap<string, string>
  /** The tasks the run reaches, by file and in each from top to bottom. */
  readonly tasks: readonly SnapshotTask[]
}

/** The recorded releases, oldest first. */
export function recordedReleases(): readonly string[] {
  return readdirSync(snapshotsDirectory)
    .flatMap(name => /^(v\d+\.\d+\.\d+)\.json$/.exec(name)?.[1] ?? [])
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** The newest release there is a snapshot of. Throws UsageError where there is none. */
export function newestRelease(): string {
  const newest = recordedReleases().at(-1)
  if (newest === undefined)
    throw new UsageError('no release is recorded; name a SOURCE: a directory, DIR@REV or a release')
  return newest
}

/** The release whose snapshot a patch release's says the differences from: the first of its minor; none for that itself. */
export function baseOf(release: string): string | undefined {
  const first = release.replace(/\d+$/, '0')
  return first === release ? undefined : first
}

/** Reads the snapshot of a release; undefined where none was recorded. */
export function readSnapshot(release: string): Snapshot | undefined {
  const recorded = readRecorded(release)
  return recorded && snapshotOf(recorded)
}

/** The commit of a recorded release; undefined where none was recorded. */
export function recordedCommit(release: string): string | undefined {
  const path = new URL(`${release}.json`, snapshotsDirectory)
  if (!existsSync(path)) return undefined
  const { commit }: Pick<RecordedRelease, 'commit'> = JSON.parse(readFileSync(path, 'utf8'))
  return commit
}

/** What is recorded of a release, whole, also where its file only says what differs from another one. */
export function readRecorded(release: string): RecordedRelease | undefined {
  const path = new URL(`${release}.json`, snapshotsDirectory)
  return existsSync(path) ? parseRecorded(readFileSync(path, 'utf8'), release, readRecorded) : undefined
}

/**
 * What a file's text records, put together with the release it is like. Throws UsageError when it is not of the form this
 * version reads, or the other release is missing or was recorded anew since.
 */
export function parseRecorded(
  text: string,
  name: string,
  baseNamed: (release: string) => RecordedRelease | undefined,
): RecordedRelease {
  const recorded: RecordedRelease | LikeRelease = JSON.parse(text)
  if (recorded.schema !== SNAPSHOT_SCHEMA) throw new UsageError(`${name}: no snapshot of the form ${SNAPSHOT_SCHEMA}`)
  if (!('like' in recorded)) return recorded
  const [like, hash] = recorded.like
  const base = baseNamed(like)
  if (base === undefined) throw new UsageError(`${name}: recorded as it differs from ${like}, which is not recorded`)
  if (hash !== hashOf(base)) throw new UsageError(`${name}: ${like} was recorded anew since; record ${name} again`)
  return putTogether(base, recorded)
}

/** What a snapshot says, for the commands. */
export function snapshotOf(recorded: RecordedRelease): Snapshot {
  const source: ReportedSource = {
    kind: 'recorded',
    release: recorded.release,
    commit: recorded.commit,
    path: null,
    published: recorded.release,
  }
  const permalink = permalinks(source)
  const tasks = tasksOf(recorded)
  const naming = { permalink, tasks: new Map(tasks.map(task => [`${task.file}:${task.line}`, task])) }
  return {
    release: recorded.release,
    report: {
      source,
      playbook: recorded.playbook,
      host: recorded.host,
      ansible: ansibleOf(recorded),
      stops: [],
      problems: problems.flatMap(problem => verdictOf(problem, recorded, naming)),
      contradictions: (recorded.contradictions ?? []).map(([file, line, says, problem]) => ({
        file: fileAt(recorded, file),
        line,
        says: textAt(recorded, says),
        problem,
      })),
      variables: new Map(Object.entries(recorded.variables)),
      unknowns: recorded.unknowns.map(([name, file, line, because]) => ({
        name: textAt(recorded, name),
        file: fileAt(recorded, file),
        line,
        because: textAt(recorded, because),
      })),
      diagnostics: [],
    },
    variables: names => variablesOf(recorded, names),
    reads: () => readsOf(recorded),
    tasks,
  }
}

function ansibleOf(recorded: RecordedRelease): ReportedAnsible {
  const [version, requirement, from, window, accepted] = recorded.ansible
  const place = (at: RecordedPlace | null) => (at === null ? null : { file: fileAt(recorded, at[0]), line: at[1] })
  const rules = (version === null ? rulesOfAll : rulesFor(version)).name
  const facts = { version, rules, from: place(from), requirement, window: place(window), accepted }
  return { ...facts, because: becauseOf(facts) }
}

/** A verdict with what the rules themselves say of the problem; none where it is not recorded. */
function verdictOf(problem: Problem, release: RecordedRelease, naming: Naming): readonly ReportedVerdict[] {
  const recorded = release.problems[problem.id]
  if (recorded === undefined) return []
  const { id, title, asks, requirement, byHand } = problem
  const { unresolved, considered } = recorded.searched
  const [tasks, commands] = release.searched
  const evidence = (each: RecordedEvidence): ReportedEvidence => evidenceOf(each, release, naming)
  const phase = ({ fixedBy, condition, evidence: found, open = [] }: RecordedPhase): ReportedPhase => ({
    fixedBy,
    condition: conditionAt(release, condition),
    evidence: found.map(evidence),
    open: open.map(evidence),
  })
  return [
    {
      ...{ id, title, asks, requirement, byHand },
      fixedBy: recorded.fixedBy,
      condition: conditionAt(release, recorded.condition),
      now: phase(recorded.now),
      afterReboot: phase(recorded.afterReboot),
      nearMisses: recorded.nearMisses.map(evidence),
      searched: {
        tasks,
        commands,
        unresolved: unresolved.map(([says, file, line, couldChange, why]) => ({
          says: textAt(release, says),
          file: fileAt(release, file),
          line,
          couldChange,
          why: textAt(release, why),
        })),
        considered: considered.flatMap(index => {
          const [program, calls, why] = release.considered[index] ?? []
          return program === undefined || calls === undefined || why === undefined ? [] : [{ program, calls, why }]
        }),
        near: recorded.near,
      },
      notes: recorded.notes.map(([says, at, line]) => {
        const file = at === null ? null : fileAt(release, at)
        const link = file === null || line === null ? null : naming.permalink({ file, line })
        return { says: textAt(release, says), file, line, permalink: link }
      }),
    },
  ]
}

function evidenceOf(
  recorded: RecordedEvidence,
  release: RecordedRelease,
  { permalink, tasks }: Naming,
): ReportedEvidence {
  const [play, role, task, module, file, line, effect, runs, condition, via, why] = recorded
  const text = (index: number): string => textAt(release, index)
  const place = { file: fileAt(release, file), line }
  return {
    play: text(play),
    role: role === null ? null : text(role),
    task: text(task),
    module: text(module),
    ...place,
    effect: text(effect),
    runs,
    condition: conditionAt(release, condition),
    via: via.flatMap(index => {
      const step = release.steps[index]
      if (step === undefined) return []
      const [kind, what, stepFile, stepLine] = step
      return [{ kind: kind as ReportedStep['kind'], what, file: fileAt(release, stepFile), line: stepLine }]
    }),
    permalink: permalink(place),
    address: addressOf(tasks.get(`${place.file}:${line}`), { task: text(task), module: text(module) }, release),
    ...(why === undefined ? {} : { why: text(why) }),
  }
}

/** What a snapshot's evidence is named by: links, and the recorded tasks by `file:line`. */
interface Naming {
  readonly permalink: Permalink
  readonly tasks: ReadonlyMap<string, SnapshotTask>
}

/** A task's address put together from what is recorded of it and what the evidence says of it. */
function addressOf(
  recorded: SnapshotTask | undefined,
  { task, module }: { readonly task: string; readonly module: string },
  release: RecordedRelease,
): string | null {
  if (recorded === undefined) return null
  const { owner, ordinal, content, name } = recorded
  return addressText({
    owner,
    name: name === undefined ? wordsOf(task) : textAt(release, name),
    module: moduleWord({ module }),
    ordinal,
    content,
  })
}

function tasksOf({ tasks, inOrder }: RecordedRelease): readonly SnapshotTask[] {
  const roles = new Set(inOrder)
  return Object.entries(tasks).flatMap(([file, recorded]) => {
    const owner = roleAt(file, roles) ?? file
    return recorded.split(' ').map(each => ({ ...readRecordedTask(each), file, owner }))
  })
}

/** The innermost of the roles that a file stands in. */
function roleAt(file: string, roles: ReadonlySet<string>): string | undefined {
  return innermost(file, directory => {
    const role = directory.replace(/^(?:.*\/)?roles\//, '')
    return roles.has(role) ? role : undefined
  })
}

function fileAt(release: RecordedRelease, index: number): string {
  return release.files[index] ?? ''
}

function textAt(release: RecordedRelease, index: number): string {
  return release.texts[index] ?? ''
}

function conditionAt(release: RecordedRelease, index: number | null): string | null {
  return index === null ? null : textAt(release, index)
}

function variablesOf(
  release: RecordedRelease,
  names: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>> {
  const wanted = new Set(names)
  const roles = release.inOrder.flatMap(role => {
    const recorded = release.roles[role]
    if (recorded === undefined) return []
    const { view, defaults, vars, differs } = recorded
    const others = release.views[view]
    const found = new Map<string, ReportedVariable>()
    const visible = [
      ...[...release.common.defaults, ...(others?.defaults ?? []), ...defaults].map(
        index => ({ origin: 'role defaults', file: fileAt(release, index) }) as const,
      ),
      ...[...release.common.vars, ...(others?.vars ?? []), ...vars].map(
        index => ({ origin: 'role vars', file: fileAt(release, index) }) as const,
      ),
    ]
    for (const { origin, file } of visible) {
      for (const { name, line, elected } of definitionsIn(release, file)) {
        if (wanted.size > 0 && !wanted.has(name)) continue
        const weaker = found.get(name)
        const other = differs[name]
        const value = other === undefined ? elected : release.values[other]
        const isKnown = value !== undefined && !isNotKnown(value)
        found.set(name, {
          status: isKnown ? 'known' : 'unknown',
          value: isKnown ? value : null,
          origin,
          file,
          line,
          overridden: weaker === undefined ? [] : [overriddenBy(weaker), ...weaker.overridden],
          because: isKnown ? null : 'the value is not recorded: it is not known before the run, or too long',
        })
      }
    }
    return [[role, found] as const]
  })
  return new Map(roles)
}

function readsOf({ reads }: RecordedRelease): ReadonlyMap<string, string> {
  return new Map(Object.entries(reads).flatMap(([file, names]) => names.split(' ').map(name => [name, file] as const)))
}

interface Definition {
  readonly name: string
  readonly line: number
  /** The value most roles see. */
  readonly elected: Json | undefined
}

function definitionsIn(release: RecordedRelease, file: string): readonly Definition[] {
  const read = (place: string, elected: Json | undefined): Definition => {
    const colon = place.lastIndexOf(':')
    return { name: place.slice(0, colon), line: Number(place.slice(colon + 1)), elected }
  }
  return [
    ...Object.entries(release.definitions[file] ?? {}).map(([place, value]) => read(place, value)),
    ...(release.withoutValue[file] ?? []).map(place => read(place, undefined)),
  ]
}

function overriddenBy({ origin, file, line, value }: ReportedVariable): ReportedVariable['overridden'][number] {
  return { origin: origin ?? 'role defaults', file: file ?? '', line: line ?? 0, value }
}
