import type { Count, Line } from '../reports/place.js'
import type { ReportedVariable, Runs } from '../reports/report.js'
import { outputs } from '../reports/schemas.js'
import type { Json } from '../reports/value-text.js'
import type { FixedBy } from '../verdicts/judge.js'

export const SNAPSHOT_SCHEMA = outputs.snapshot.schema

/**
 * What is recorded of a release of kubespray, whole or as it differs from another release. Written by `whofixes record`,
 * kept in kubespray-snapshots/: facts, no role code and no expressions.
 */
export type SnapshotJson = RecordedRelease | LikeRelease

/**
 * A number that stands for an entry of one of the snapshot's tables (`tables` below): each is written once.
 * @asType integer
 * @minimum 0
 */
export type Index = number

export type RecordedPlace = readonly [file: Index, line: Line]

/** The chain's link: kind, what stands there, file, line. */
export type RecordedStep = readonly [kind: string, what: string, file: Index, line: Line]

/** A task's effect as evidence. Names and sentences are indexes into `texts`, links of the chain into `steps`. */
export type RecordedEvidence = readonly [
  play: Index,
  role: Index | null,
  task: Index,
  module: Index,
  file: Index,
  line: Line,
  effect: Index,
  runs: Runs,
  condition: Index | null,
  via: readonly Index[],
  why?: Index,
]

export interface RecordedPhase {
  readonly fixedBy: FixedBy
  readonly condition: Index | null
  readonly evidence: readonly RecordedEvidence[]
  /** What might settle it, the first `keptNear`; only of a phase that is unknown, and only if there is any. */
  readonly open?: readonly RecordedEvidence[]
}

/** Of what came near a problem so many are recorded, the closest, each with another effect or place. */
export const keptNear = 8

export interface RecordedProblem {
  readonly fixedBy: FixedBy
  readonly condition: Index | null
  readonly now: RecordedPhase
  readonly afterReboot: RecordedPhase
  /** How many came near; the closest of them, without the chain that leads there, are `nearMisses`. */
  readonly near: Count
  readonly nearMisses: readonly RecordedEvidence[]
  readonly searched: {
    readonly unresolved: readonly (readonly [says: Index, file: Index, line: Line, couldChange: boolean, why: Index])[]
    /** Indexes into `considered` of the release. */
    readonly considered: readonly Index[]
  }
  readonly notes: readonly (readonly [says: Index, file: Index | null, line: Line | null])[]
}

/** What is recorded of a release: facts, no role code and no expressions. */
export interface RecordedRelease {
  readonly schema: typeof outputs.snapshot.schema
  readonly release: string
  readonly commit: string
  readonly playbook: string
  readonly host: string
  /** The version of ansible-core, the requirement that pins it with its place, the place that checks it, and whether it passes. */
  readonly ansible: readonly [
    version: string | null,
    requirement: string | null,
    from: RecordedPlace | null,
    window: RecordedPlace | null,
    accepted: boolean,
  ]
  readonly files: readonly string[]
  readonly texts: readonly string[]
  readonly steps: readonly RecordedStep[]
  /** What was searched for each problem. */
  readonly searched: readonly [tasks: Count, commands: Count]
  /** By id; their order is the catalogue's. */
  readonly problems: Readonly<Record<string, RecordedProblem>>
  /** Where the release's own documentation says otherwise: the sentence's place, what it says in our words, the problem. */
  readonly contradictions?: readonly (readonly [file: Index, line: Line, says: Index, problem: string])[]
  readonly variables: Readonly<Record<string, ReportedVariable>>
  /** Definitions by file: `name:line`, and what it comes to there. */
  readonly definitions: Readonly<Record<string, Readonly<Record<string, Json>>>>
  /** Definitions whose value is not known before the run, or too long to record: `name:line`, by file. */
  readonly withoutValue: Readonly<Record<string, readonly string[]>>
  /** The files whose definitions every role sees, weakest first. */
  readonly common: RecordedView
  readonly views: readonly RecordedView[]
  readonly values: readonly Json[]
  /** Per role the files it sees besides, which are stronger, and what comes out otherwise there. */
  readonly roles: Readonly<Record<string, RecordedRole>>
  /** The names of `roles` as they first stand in the run. */
  readonly inOrder: readonly string[]
  /** Task places by file: `line:hash` in order, the hash being the first 7 hex digits of SHA-256 of the task's text. */
  readonly tasks: Readonly<Record<string, string>>
  /** Names that no role's defaults define and something reads, each under one file that does; `*` for what is put together. */
  readonly reads: Readonly<Record<string, string>>
  /** Programs that are known only by what they cannot do: name, calls, and why that is enough. */
  readonly considered: readonly (readonly [program: string, calls: Count, why: string])[]
  readonly unknowns: readonly (readonly [name: Index, file: Index, line: Line, because: Index])[]
}

/** Lists whose entries others stand for by number. A file that is like another one holds only what it adds to them. */
export const tables = ['files', 'texts', 'steps', 'considered', 'views', 'values'] as const

/** What is recorded by name. A file that is like another one holds only the names that differ, null for one that is gone. */
export const maps = ['problems', 'variables', 'definitions', 'withoutValue', 'roles', 'tasks', 'reads'] as const

/**
 * A file of kubespray-snapshots/ that says what differs from another release's, which is a file of its own (one level
 * only). Members that are neither a table nor a map are absent where they are the same.
 */
export interface LikeRelease
  extends Partial<Omit<RecordedRelease, Table | NamedMap>>,
    Readonly<Partial<Pick<RecordedRelease, Table>>> {
  readonly schema: typeof outputs.snapshot.schema
  readonly release: string
  /** Which release, and the first digits of a hash of its snapshot: numbers mean something else in another one. */
  readonly like: readonly [release: string, hash: string]
  readonly problems?: Differing<'problems'>
  readonly variables?: Differing<'variables'>
  readonly definitions?: Differing<'definitions'>
  readonly withoutValue?: Differing<'withoutValue'>
  readonly roles?: Differing<'roles'>
  readonly tasks?: Differing<'tasks'>
  readonly reads?: Differing<'reads'>
}

type Table = (typeof tables)[number]
type NamedMap = (typeof maps)[number]
type Differing<K extends NamedMap> = { readonly [name in keyof RecordedRelease[K]]: RecordedRelease[K][name] | null }

/** What a role sees of role defaults and vars besides the common files. */
export interface RecordedRole {
  /** Which of `views`: the files other roles of the play bring in. */
  readonly view: Index
  /** The role's own files of defaults and of vars, stronger than those. */
  readonly defaults: readonly Index[]
  readonly vars: readonly Index[]
  /** Names whose value here is not the one recorded with the definition that wins, as indexes into `values`. */
  readonly differs: Readonly<Record<string, Index>>
}

export interface RecordedView {
  readonly defaults: readonly Index[]
  readonly vars: readonly Index[]
}
