import type { ReportedNote, ReportedVariable, Runs } from '../reports/report.js'
import type { Json } from '../reports/value-text.js'
import type { FixedBy } from '../verdicts/judge.js'

export const SNAPSHOT_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-snapshot-1.json'

/** A number that stands for an entry of the snapshot's `files`, `steps`, `values` or `texts`: each is written once. */
type Index = number

export type RecordedPlace = readonly [file: Index, line: number]

/** The chain's link: kind, what stands there, file, line. */
export type RecordedStep = readonly [kind: string, what: string, file: Index, line: number]

/** A task's effect as evidence. Names and sentences are indexes into `texts`, links of the chain into `steps`. */
export type RecordedEvidence = readonly [
  play: Index,
  role: Index | null,
  task: Index,
  module: Index,
  file: Index,
  line: number,
  effect: Index,
  runs: Runs,
  condition: Index | null,
  via: readonly Index[],
  why?: Index,
]

export interface RecordedPhase {
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly evidence: readonly RecordedEvidence[]
}

export interface RecordedProblem {
  readonly id: string
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly now: RecordedPhase
  readonly afterReboot: RecordedPhase
  readonly nearMisses: readonly RecordedEvidence[]
  readonly searched: {
    readonly tasks: number
    readonly commands: number
    readonly unresolved: readonly {
      readonly says: string
      readonly file: Index
      readonly line: number
      readonly couldChange: boolean
      readonly why: string
    }[]
    /** Indexes into `considered` of the release. */
    readonly considered: readonly Index[]
  }
  readonly notes: readonly Omit<ReportedNote, 'permalink'>[]
}

/** One file of kubespray-snapshots/: facts about a release, no role code and no expressions. */
export interface RecordedRelease {
  readonly schema: typeof SNAPSHOT_SCHEMA
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
  readonly problems: readonly RecordedProblem[]
  /** Where the release's own documentation says otherwise: the sentence's place, what it says in our words, the problem. */
  readonly contradictions?: readonly (readonly [file: Index, line: number, says: Index, problem: string])[]
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
  /** Task places by file: `line:hash` in order, the hash being the first 7 hex digits of SHA-256 of the task's text. */
  readonly tasks: Readonly<Record<string, string>>
  /** Programs that are known only by what they cannot do: name, calls, and why that is enough. */
  readonly considered: readonly (readonly [program: string, calls: number, why: string])[]
  readonly unknowns: readonly {
    readonly name: string
    readonly file: Index
    readonly line: number
    readonly because: string
  }[]
}

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
