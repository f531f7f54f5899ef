import { addressText, type PartialAddress } from '../addresses/address.js'
import type { Analysis } from '../analyze.js'
import { hasName } from '../recorded/recorded-task.js'
import type { Snapshot } from '../recorded/snapshot.js'
import type { Place } from '../reports/place.js'
import {
  type Permalink,
  permalinks,
  type Report,
  type ReportedSource,
  type ReportedVariable,
} from '../reports/report.js'
import { lineOf, pathToOpen, type Span } from '../source/text.js'
import type { Version } from './follow/version.js'

/** One version of kubespray as citations are looked up in it: its role code, or what is recorded of a release. */
export interface Edition {
  /** As people name it: `v2.28.0`, a commit, a path. */
  readonly name: string
  readonly source: ReportedSource
  /** What a closing marker keeps: the release, else the commit; null for a directory, which is no version. */
  readonly version: string | null
  readonly permalink: Permalink
  /** The verdicts of the run the options ask for. */
  readonly report: () => Report
  /** A variable as a role sees it, with that role; without one as the role sees it that defines it for its own tasks. */
  readonly variable: (name: string, role: string | undefined) => SeenVariable | undefined
  /** Role code; undefined where only a snapshot is at hand. */
  readonly code?: { readonly version: Version; readonly conditionsOf: (at: Span) => readonly CitedCondition[] }
  readonly recordedTasks?: (address: PartialAddress) => readonly RecordedPlace[]
}

/** The versions a document may name; each is opened when it is first asked for. */
export interface Editions {
  /** The one everything is checked against; undefined: each citation has its own. */
  readonly target: Edition | undefined
  /** The newest there is. */
  readonly newest: () => Edition
  /** A SOURCE, or a tag, commit or branch; undefined where it is not at hand. */
  readonly named: (name: string) => Edition | undefined
  /** Which of two versions is the newer one; the first where that cannot be told. */
  readonly newer: (first: string, second: string) => string
}

export interface SeenVariable {
  readonly role: string | null
  readonly variable: ReportedVariable
}

/** A condition of a task, its own or one it inherits. */
export interface CitedCondition extends Place {
  /** As written. */
  readonly text: string
  readonly runs: 'true' | 'false' | 'unknown'
}

/** Where a task of a recorded release stands. */
export interface RecordedPlace extends Place {
  readonly content: string
  readonly address: string
}

/** How an edition's variables are looked up; `asked` has been resolved where each role begins. */
export type FindVariable = (analysis: Analysis, name: string, role: string | undefined) => SeenVariable | undefined

/** A version whose role code is at hand; nothing is analysed before it is asked for. */
export function editionOfCode(
  { version, name, source }: { readonly version: Version; readonly name: string; readonly source: ReportedSource },
  analysed: () => { readonly analysis: Analysis; readonly report: Report },
  find: FindVariable,
): Edition {
  return {
    name,
    source,
    version: source.kind === 'revision' ? (source.release ?? source.commit) : null,
    permalink: permalinks(source),
    report: () => analysed().report,
    variable: (asked, role) => find(analysed().analysis, asked, role),
    code: { version, conditionsOf: at => conditionsIn(analysed().analysis, at) },
  }
}

/** A release of which only the snapshot is at hand. */
export function editionOfSnapshot(snapshot: Snapshot): Edition {
  const { report, release } = snapshot
  return {
    name: release,
    source: report.source,
    version: release,
    permalink: permalinks(report.source),
    report: () => report,
    variable: (name, role) => recordedVariable(snapshot, name, role),
    recordedTasks: address => recordedTasks(snapshot, address),
  }
}

/**
 * The conditions under which a task runs, outermost first, as the run that was asked for evaluates them: where it comes to the
 * task more than once, of the time it is not certain that it does not run.
 */
function conditionsIn({ run }: Analysis, { file, start }: Span): readonly CitedCondition[] {
  const runs = run.tasks.filter(({ task: { at } }) => at.file.path === file.path && at.start === start)
  const task = runs.find(each => each.runs.kind !== 'false') ?? runs[0]
  return (task?.conditions ?? []).map(({ text, at, truth }) => ({
    text,
    runs: truth.kind,
    file: pathToOpen(at.file),
    line: lineOf(at),
  }))
}

/** As the role sees it that has a default of its own for it; else as the first that knows it. */
function recordedVariable(snapshot: Snapshot, name: string, role: string | undefined): SeenVariable | undefined {
  const views = [...snapshot.variables([name])].flatMap(([each, variables]) => {
    const variable = variables.get(name)
    return variable === undefined || (role !== undefined && each !== role) ? [] : [{ role: each, variable }]
  })
  const shown = role === undefined ? snapshot.report.variables.get(name) : undefined
  const owner = views.find(view => view.variable.file?.startsWith(`roles/${view.role}/`) === true)
  if (shown !== undefined) return { role: owner?.role ?? null, variable: shown }
  return owner ?? views[0]
}

function recordedTasks({ tasks }: Snapshot, asked: PartialAddress): readonly RecordedPlace[] {
  return tasks.flatMap(task => {
    const { owner, file, line, content, ordinal } = task
    if (owner !== asked.owner || !hasName(task, asked.name, asked.module)) return []
    if (asked.ordinal !== undefined && asked.ordinal !== ordinal) return []
    // Of its module only a hash is recorded.
    const { name, module } = asked
    const address = { owner, name, ordinal, content, ...(module === undefined ? {} : { module }) }
    return [{ file, line, content, address: addressText(address) }]
  })
}
