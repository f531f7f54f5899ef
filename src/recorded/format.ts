import type { Count, Line } from '../reports/place.js'
import type { ReportedVariable, Runs } from '../reports/report.js'
import { outputs } from '../reports/schemas.js'
import type { Json } from '../reports/value-text.js'
import type { FixedBy } from '../verdicts/judge.js'

export const SNAPSHOT_SCHEMA = outputs.snapshot.schema

/**
 * What is recorded of a release of kubespray, whole or as it differs from another release. Kept in
 * kubespray-snapshots/: facts, no role code and no expressions.
 */
export type SnapshotJson = RecordedRelease | LikeRelease

/**
 * A number that stands for an entry of one of the snapshot's tables (`tables` below): each is written once.
 * @asType integer
 * @minimum 0
 */
export type Index = number

/** A file, as an index into `files`, and a line in it. */
export type RecordedPlace = readonly [file: Index, line: Line]

/** The chain's link: kind, what stands there, file, line. */
export type RecordedStep = readonly [kind: string, what: string, file: Index, line: Line]

/**
 * A task's effect as evidence. Names and sentences are indexes into `texts`, links of the chain into `steps`; the last
 * member, where there is one, says why it does not count or why that is not known.
 */
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
  // `why`. Without its name, since the generator of schemas/ takes a named member for one that has to be there.
  Index?,
]

/** Who fixes a problem at one time, now or after a reboot. */
export interface RecordedPhase {
  /** Who fixes it at that time. */
  readonly fixedBy: FixedBy
  /** What its condition looks at, which is not quoted. Null where it always holds. */
  readonly condition: Index | null
  /** The tasks that settle it. */
  readonly evidence: readonly RecordedEvidence[]
  /** What might settle it, the first `keptNear`; only of a phase that is unknown, and only if there is any. */
  readonly open?: readonly RecordedEvidence[]
}

/** Of what came near a problem so many are recorded, the closest, each with another effect or place. */
export const keptNear = 8

/** One problem, and who fixes it. */
export interface RecordedProblem {
  /** Who has to fix it for good. */
  readonly fixedBy: FixedBy
  /** What its condition looks at, which is not quoted. Null where it always holds. */
  readonly condition: Index | null
  /** Who fixes it on the running host. */
  readonly now: RecordedPhase
  /** Who keeps it fixed when the host has booted again. */
  readonly afterReboot: RecordedPhase
  /** How many came near; the closest of them, without the chain that leads there, are `nearMisses`. */
  readonly near: Count
  /** The closest of what came near, without the chain that leads there, each with why it does not count. */
  readonly nearMisses: readonly RecordedEvidence[]
  /** What the answer rests on, besides what the whole release has in `searched`. */
  readonly searched: {
    /** What could not be read. */
    readonly unresolved: readonly (readonly [says: Index, file: Index, line: Line, couldChange: boolean, why: Index])[]
    /** Indexes into `considered` of the release. */
    readonly considered: readonly Index[]
  }
  /** What is to be known beside the answer, with the place it is about. */
  readonly notes: readonly (readonly [says: Index, file: Index | null, line: Line | null])[]
}

/** What is recorded of a release: facts, no role code and no expressions. */
export interface RecordedRelease {
  /** The address of the schema this file follows. */
  readonly schema: typeof outputs.snapshot.schema
  /** The release, as in `v2.31.0`. */
  readonly release: string
  /** The commit of its tag, as 40 hex digits. */
  readonly commit: string
  /** The playbook of the run. */
  readonly playbook: string
  /** The host of the run, as the inventory names it. */
  readonly host: string
  /** The version of ansible-core, the requirement that pins it with its place, the place that checks it, and whether it passes. */
  readonly ansible: readonly [
    version: string | null,
    requirement: string | null,
    from: RecordedPlace | null,
    window: RecordedPlace | null,
    accepted: boolean,
  ]
  /** A table: paths inside the checkout. */
  readonly files: readonly string[]
  /** A table: names and sentences. */
  readonly texts: readonly string[]
  /** A table: the links of the chains that lead to tasks. */
  readonly steps: readonly RecordedStep[]
  /** What was searched for each problem. */
  readonly searched: readonly [tasks: Count, commands: Count]
  /** By id; their order is the catalogue's. */
  readonly problems: Readonly<Record<string, RecordedProblem>>
  /** Where the release's own documentation says otherwise: the sentence's place, what it says in our words, the problem. */
  readonly contradictions?: readonly (readonly [file: Index, line: Line, says: Index, problem: string])[]
  /** Variables that every report shows, by name. */
  readonly variables: Readonly<Record<string, ReportedVariable>>
  /** Definitions by file: `name:line`, and what it comes to there. */
  readonly definitions: Readonly<Record<string, Readonly<Record<string, Json>>>>
  /** Definitions whose value is not known before the run, or too long to record: `name:line`, by file. */
  readonly withoutValue: Readonly<Record<string, readonly string[]>>
  /** The files whose definitions every role sees, weakest first. */
  readonly common: RecordedView
  /** A table: sets of files whose definitions a role sees besides. */
  readonly views: readonly RecordedView[]
  /** A table: values that a role sees otherwise than most. */
  readonly values: readonly Json[]
  /** Per role the files it sees besides, which are stronger, and what comes out otherwise there. */
  readonly roles: Readonly<Record<string, RecordedRole>>
  /** The names of `roles` as they first stand in the run. */
  readonly inOrder: readonly string[]
  /** Tasks by file, in order, separated by blanks; each as `recorded-task.ts` writes it. */
  readonly tasks: Readonly<Record<string, string>>
  /** Names that no role's defaults define and something reads, each under one file that does; `*` for what is put together. */
  readonly reads: Readonly<Record<string, string>>
  /** Programs that are known only by what they cannot do: name, calls, and why that is enough. */
  readonly considered: readonly (readonly [program: string, calls: Count, why: string])[]
  /** What the answers rest on and is not known: what it is, the place that asks for it, and why it is not known. */
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
  /** The address of the schema this file follows. */
  readonly schema: typeof outputs.snapshot.schema
  /** The release, as in `v2.31.1`. */
  readonly release: string
  /** Which release, and the first digits of a hash of its snapshot: numbers mean something else in another one. */
  readonly like: readonly [release: string, hash: string]
  /** The problems whose answer differs. */
  readonly problems?: Differing<'problems'>
  /** The variables that differ. */
  readonly variables?: Differing<'variables'>
  /** The files whose definitions differ. */
  readonly definitions?: Differing<'definitions'>
  /** The files whose definitions without a recorded value differ. */
  readonly withoutValue?: Differing<'withoutValue'>
  /** The roles that differ. */
  readonly roles?: Differing<'roles'>
  /** The files whose tasks differ. */
  readonly tasks?: Differing<'tasks'>
  /** The files in which other names are read. */
  readonly reads?: Differing<'reads'>
}

type Table = (typeof tables)[number]
type NamedMap = (typeof maps)[number]
type Differing<K extends NamedMap> = { readonly [name in keyof RecordedRelease[K]]: RecordedRelease[K][name] | null }

/** What a role sees of role defaults and vars besides the common files. */
export interface RecordedRole {
  /** Which of `views`: the files other roles of the play bring in. */
  readonly view: Index
  /** The role's own files of defaults; these and its files of vars are stronger than those. */
  readonly defaults: readonly Index[]
  /** The role's own files of vars. */
  readonly vars: readonly Index[]
  /** Names whose value here is not the one recorded with the definition that wins, as indexes into `values`. */
  readonly differs: Readonly<Record<string, Index>>
}

/** Files that a role sees, weakest first, as indexes into `files`. */
export interface RecordedView {
  /** Files of role defaults. */
  readonly defaults: readonly Index[]
  /** Files of role vars. */
  readonly vars: readonly Index[]
}
