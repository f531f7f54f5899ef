import type { ReportedNote, Runs } from '../reports/report.js'
import type { Json } from '../reports/value-text.js'
import type { Origin } from '../variables/resolved.js'
import type { FixedBy } from '../verdicts/judge.js'

export const SNAPSHOT_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-snapshot-1.json'

/** A number that stands for an entry of the snapshot's `files`, `steps`, `values` or `texts`: each is written once. */
type Index = number

/** The chain's link: kind, what stands there, file, line. */
export type RecordedStep = readonly [kind: string, what: string, file: Index, line: number]

export interface RecordedEvidence {
  readonly play: Index
  readonly role: Index | null
  readonly task: Index
  readonly module: Index
  readonly file: Index
  readonly line: number
  readonly effect: Index
  readonly runs: Runs
  readonly condition: Index | null
  readonly via: readonly Index[]
  readonly why?: Index
}

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
    readonly considered: readonly { readonly program: string; readonly calls: number; readonly why: string }[]
  }
  readonly notes: readonly Omit<ReportedNote, 'permalink'>[]
}

/** Where a name is defined and what it comes to there: line, value (absent where it is not known or not recorded). */
export type RecordedDefinition = readonly [line: number, value?: Json]

/** A task's place: line, content hash (first 8 hex digits of SHA-256 of its text), name. */
export type RecordedTask = readonly [line: number, hash: string, name: string]

/** One file of kubespray-snapshots/: facts about a release, no role code and no expressions. */
export interface RecordedRelease {
  readonly schema: typeof SNAPSHOT_SCHEMA
  readonly release: string
  readonly commit: string
  readonly playbook: string
  readonly host: string
  readonly files: readonly string[]
  readonly texts: readonly string[]
  readonly steps: readonly RecordedStep[]
  readonly problems: readonly RecordedProblem[]
  readonly variables: Readonly<Record<string, RecordedVariable>>
  /** By file, then by name. */
  readonly definitions: Readonly<Record<string, Readonly<Record<string, RecordedDefinition>>>>
  /** Per role the files whose definitions it sees, weakest first, and what comes out otherwise there. */
  readonly roles: Readonly<Record<string, RecordedRole>>
  readonly tasks: Readonly<Record<string, readonly RecordedTask[]>>
  readonly unknowns: readonly { readonly name: string; readonly file: Index; readonly line: number; readonly because: string }[]
}

export interface RecordedVariable {
  readonly status: 'known' | 'unknown' | 'undefined'
  readonly value: Json
  readonly origin: Origin | null
  readonly file: string | null
  readonly line: number | null
  readonly overridden: readonly { readonly origin: Origin; readonly file: string; readonly line: number; readonly value: Json }[]
  readonly because: string | null
}

export interface RecordedRole {
  /** Files of role defaults and role vars, as indexes, weakest first. */
  readonly defaults: readonly Index[]
  readonly vars: readonly Index[]
  /** Names whose value here is not the one recorded with the definition that wins. */
  readonly differs: Readonly<Record<string, Json>>
}
