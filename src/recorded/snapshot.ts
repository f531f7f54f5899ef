import { readdirSync, readFileSync } from 'node:fs'
import { problems } from '../../rules/index.js'
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
import { UsageError } from '../source/diagnostic.js'
import {
  type RecordedEvidence,
  type RecordedPhase,
  type RecordedPlace,
  type RecordedProblem,
  type RecordedRelease,
  SNAPSHOT_SCHEMA,
} from './format.js'

/** Where the package keeps what was recorded about each release. */
export const snapshotsDirectory = new URL('../../../kubespray-snapshots/', import.meta.url)

/** What was recorded about a release: facts only, no role code and no expressions. */
export interface Snapshot {
  readonly release: string
  readonly report: Report
  /** Variables by role; all of them, or those with these names. */
  readonly variables: (names: readonly string[]) => ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>>
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

/** Reads the snapshot of a release; undefined where none was recorded. */
export function readSnapshot(release: string): Snapshot | undefined {
  if (!recordedReleases().includes(release)) return undefined
  return snapshotOf(readFileSync(new URL(`${release}.json`, snapshotsDirectory), 'utf8'), release)
}

/** The snapshot in a file's text. Throws UsageError when it is not one this version reads. */
export function snapshotOf(text: string, name: string): Snapshot {
  const recorded: RecordedRelease = JSON.parse(text)
  if (recorded.schema !== SNAPSHOT_SCHEMA) throw new UsageError(`${name}: no snapshot of the form ${SNAPSHOT_SCHEMA}`)
  const source: ReportedSource = { kind: 'recorded', release: recorded.release, commit: recorded.commit, path: null }
  const permalink = permalinks(source)
  return {
    release: recorded.release,
    report: {
      source,
      playbook: recorded.playbook,
      host: recorded.host,
      ansible: ansibleOf(recorded),
      stops: [],
      problems: recorded.problems.flatMap(problem => verdictOf(problem, recorded, permalink)),
      contradictions: (recorded.contradictions ?? []).map(([file, line, says, problem]) => ({
        file: fileAt(recorded, file),
        line,
        says: recorded.texts[says] ?? '',
        problem,
      })),
      variables: new Map(Object.entries(recorded.variables)),
      unknowns: recorded.unknowns.map(({ name: unknown, file, line, because }) => ({
        name: unknown,
        file: fileAt(recorded, file),
        line,
        because,
      })),
      diagnostics: [],
    },
    variables: names => variablesOf(recorded, names),
  }
}

function ansibleOf(recorded: RecordedRelease): ReportedAnsible {
  const [version, requirement, from, window, accepted] = recorded.ansible
  const place = (at: RecordedPlace | null) => (at === null ? null : { file: fileAt(recorded, at[0]), line: at[1] })
  const rules = (version === null ? rulesOfAll : rulesFor(version)).name
  const facts = { version, rules, from: place(from), requirement, window: place(window), accepted }
  return { ...facts, because: becauseOf(facts) }
}

/** A verdict with what the rules themselves say of the problem; one whose rule is gone is left out. */
function verdictOf(
  recorded: RecordedProblem,
  release: RecordedRelease,
  permalink: Permalink,
): readonly ReportedVerdict[] {
  const problem = problems.find(({ id }) => id === recorded.id)
  if (problem === undefined) return []
  const { id, title, asks, requirement, byHand } = problem
  const evidence = (each: RecordedEvidence): ReportedEvidence => evidenceOf(each, release, permalink)
  const phase = ({ fixedBy, condition, evidence: found }: RecordedPhase): ReportedPhase => ({
    fixedBy,
    condition,
    evidence: found.map(evidence),
    open: [],
  })
  return [
    {
      ...{ id, title, asks, requirement, byHand },
      fixedBy: recorded.fixedBy,
      condition: recorded.condition,
      now: phase(recorded.now),
      afterReboot: phase(recorded.afterReboot),
      nearMisses: recorded.nearMisses.map(evidence),
      searched: {
        ...recorded.searched,
        considered: recorded.searched.considered.flatMap(index => {
          const [program, calls, why] = release.considered[index] ?? []
          return program === undefined || calls === undefined || why === undefined ? [] : [{ program, calls, why }]
        }),
        unresolved: recorded.searched.unresolved.map(each => ({ ...each, file: fileAt(release, each.file) })),
      },
      notes: recorded.notes.map(note => ({
        ...note,
        permalink: note.file === null || note.line === null ? null : permalink({ file: note.file, line: note.line }),
      })),
    },
  ]
}

function evidenceOf(recorded: RecordedEvidence, release: RecordedRelease, permalink: Permalink): ReportedEvidence {
  const [play, role, task, module, file, line, effect, runs, condition, via, why] = recorded
  const text = (index: number): string => release.texts[index] ?? ''
  const place = { file: fileAt(release, file), line }
  return {
    play: text(play),
    role: role === null ? null : text(role),
    task: text(task),
    module: text(module),
    ...place,
    effect: text(effect),
    runs,
    condition: condition === null ? null : text(condition),
    via: via.flatMap(index => {
      const step = release.steps[index]
      if (step === undefined) return []
      const [kind, what, stepFile, stepLine] = step
      return [{ kind: kind as ReportedStep['kind'], what, file: fileAt(release, stepFile), line: stepLine }]
    }),
    permalink: permalink(place),
    ...(why === undefined ? {} : { why: text(why) }),
  }
}

function fileAt(release: RecordedRelease, index: number): string {
  return release.files[index] ?? ''
}

function variablesOf(
  release: RecordedRelease,
  names: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>> {
  const wanted = new Set(names)
  const roles = Object.entries(release.roles).map(([role, { view, defaults, vars, differs }]) => {
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
      for (const { name, line, recorded } of definitionsIn(release, file)) {
        if (wanted.size > 0 && !wanted.has(name)) continue
        const weaker = found.get(name)
        const other = differs[name]
        const value = other === undefined ? recorded : release.values[other]
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
    return [role, found] as const
  })
  return new Map(roles)
}

interface Definition {
  readonly name: string
  readonly line: number
  readonly recorded: Json | undefined
}

function definitionsIn(release: RecordedRelease, file: string): readonly Definition[] {
  const read = (place: string, recorded: Json | undefined): Definition => {
    const colon = place.lastIndexOf(':')
    return { name: place.slice(0, colon), line: Number(place.slice(colon + 1)), recorded }
  }
  return [
    ...Object.entries(release.definitions[file] ?? {}).map(([place, value]) => read(place, value)),
    ...(release.withoutValue[file] ?? []).map(place => read(place, undefined)),
  ]
}

function overriddenBy({ origin, file, line, value }: ReportedVariable): ReportedVariable['overridden'][number] {
  return { origin: origin ?? 'role defaults', file: file ?? '', line: line ?? 0, value }
}
