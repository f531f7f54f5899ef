import { addressText, type TaskAddress } from '../addresses/address.js'
import type { Addresses } from '../addresses/addressed.js'
import type { Task } from '../ansible/statement.js'
import { isFullyKnown } from '../jinja/python.js'
import { type Cause, decide, type Truth } from '../jinja/value.js'
import type { AnsibleVersion } from '../run/ansible-version.js'
import type { AppliedCondition, Check, LookedAt, Step, TaskRun } from '../run/task-run.js'
import type { Diagnostic, DiagnosticCode } from '../source/diagnostic.js'
import { once } from '../source/once.js'
import { positionOf, type Span } from '../source/text.js'
import type { TreeOrigin } from '../source/tree.js'
import type { Origin, ResolvedVariable } from '../variables/resolved.js'
import type { Contradiction } from '../verdicts/contradictions.js'
import type { Evidence, FixedBy, PhaseVerdict, Verdict } from '../verdicts/judge.js'
import { type ReportedAnsible, reportedAnsible } from './ansible-rules.js'
import { type Count, encodedPath, type Line, type Place, placeOfSpan } from './place.js'
import { type ReportedStop, stopsOf } from './stops.js'
import { type Json, jsonOf, whyUnknown } from './value-text.js'

/** Whether a task runs on the host, once the run gets there. */
export type Runs = 'yes' | 'no' | 'unknown'

/** One link of the chain that leads to a task. */
export interface ReportedStep extends Place {
  /** What kind of link it is. */
  readonly kind: Step['kind']
  /** What stands there, as in `role kubernetes/preinstall`. */
  readonly what: string
}

/** A condition with its value and those of the names in it; only a fresh analysis has it, a snapshot keeps no expressions. */
export interface ReportedCondition extends Place {
  /** The condition as written. */
  readonly text: string
  /** On what it stands: the task itself, or a link of the chain that leads to it. */
  readonly from: AppliedCondition['from']
  /** Whether it holds for this host. */
  readonly runs: Runs
  /** What remains of it for the host to decide, in Ansible's words; null where it is decided. */
  readonly remains: string | null
  /** The names it looks at. */
  readonly names: readonly ReportedName[]
}

/** A name a condition looks at: its value, why that is not known, and the places that give it. */
export interface ReportedName {
  /** The name, with the attributes asked of it, as in `result.rc`. */
  readonly name: string
  /** Its value when the condition was evaluated. */
  readonly value: Json
  /** Why the value is not known; null where it is. */
  readonly because: string | null
  /** The places that give it. */
  readonly from: readonly OriginPlace[]
}

/** A place that gives a name its value. */
export interface OriginPlace extends Place {
  /** Ansible's name of the precedence level. */
  readonly origin: Origin
}

/** Lines of role code as they stand there. Only a fresh analysis has it. */
export interface Excerpt {
  /** The number of the first line, from 1. */
  readonly first: Line
  /** The lines, without what all of them are indented by. */
  readonly lines: readonly string[]
  /** How many lines of the task follow. */
  readonly more: Count
}

/** A task's effect as evidence (contract, "report --format json"). */
export interface ReportedEvidence extends Place {
  readonly play: string
  readonly role: string | null
  readonly task: string
  readonly module: string
  readonly effect: string
  readonly runs: Runs
  readonly condition: string | null
  readonly via: readonly ReportedStep[]
  readonly permalink: string | null
  /** The task's stable address (docs/citations.md); null where it has none, as tasks that Ansible makes by itself. */
  readonly address: string | null
  /** Why it does not count (a near miss), or why that is not known. */
  readonly why?: string
  readonly conditions?: readonly ReportedCondition[]
  readonly excerpt?: Excerpt
}

export interface ReportedPhase {
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly evidence: readonly ReportedEvidence[]
  /** What might settle it, and why that is not known. */
  readonly open: readonly ReportedEvidence[]
}

/** What could not be read, and where it stands. */
export interface ReportedUnresolved extends Place {
  /** What it is, in plain words. */
  readonly says: string
  /** Whether it could change the answer. */
  readonly couldChange: boolean
  /** Why it could not be read. */
  readonly why: string
}

/** A program that is known only by what it cannot do. */
export interface ReportedConsidered {
  /** The program's name. */
  readonly program: string
  /** How often the run calls it. */
  readonly calls: Count
  /** Why that is enough to tell that it does not settle the problem. */
  readonly why: string
}

/** What is to be known beside an answer. */
export interface ReportedNote {
  /** The note, in plain words. */
  readonly says: string
  /** The file it is about, relative to the checkout; null where it is about none. */
  readonly file: string | null
  /** The line in that file, from 1; null without a file. */
  readonly line: Line | null
  /** The address of the line in the public repository; null where no public commit is known to hold it. */
  readonly permalink: string | null
}

/** What Kubernetes asks of a host. */
export interface ReportedRequirement {
  /** The requirement, in plain words. */
  readonly says: string
  /** Where that is said: an address, or the part of Kubernetes that checks it. */
  readonly source: string
}

export interface ReportedVerdict {
  readonly id: string
  readonly title: string
  readonly asks: string
  readonly requirement: ReportedRequirement
  readonly byHand: readonly string[]
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly now: ReportedPhase
  readonly afterReboot: ReportedPhase
  readonly nearMisses: readonly ReportedEvidence[]
  readonly searched: {
    readonly tasks: number
    readonly commands: number
    readonly unresolved: readonly ReportedUnresolved[]
    /** Programs known only by what they cannot do. */
    readonly considered: readonly ReportedConsidered[]
    /** How many came near; a recorded release lists only the closest of them. */
    readonly near: number
  }
  readonly notes: readonly ReportedNote[]
}

/** A sentence of kubespray's documentation that its code contradicts. */
export interface ReportedContradiction extends Place {
  /** What the sentence says and what is so, in words of our own. */
  readonly says: string
  /** The problem it is about, by its id. */
  readonly problem: string
}

/** A variable as a report shows it (contract, "Variable"). */
export interface ReportedVariable {
  /** `known`: `value` is all of it; `unknown`: only the run or the host decides; `undefined`: nothing defines it. */
  readonly status: 'known' | 'unknown' | 'undefined'
  /** The value; null where it is not known and no alternatives are. */
  readonly value: Json
  /** Ansible's name of the precedence level of the definition that wins; null where nothing defines it. */
  readonly origin: Origin | null
  /** The file of that definition, relative to the checkout; `-e` and the like for the command line. */
  readonly file: string | null
  /** Its line, from 1. */
  readonly line: Line | null
  /** The definitions it wins over, strongest first. */
  readonly overridden: readonly ReportedDefinition[]
  /** Why the value is not known; null where it is. */
  readonly because: string | null
}

/** One place that defines a variable. */
export interface ReportedDefinition {
  /** Ansible's name of its precedence level. */
  readonly origin: Origin
  /** The file, relative to the checkout; `-e` and the like for the command line. */
  readonly file: string
  /** The line, from 1. */
  readonly line: Line
  /** What it comes to there. */
  readonly value: Json
}

/** What an answer rests on and is not known, with the place that asks for it. */
export interface ReportedUnknown extends Place {
  /** The fact, variable or registered result, or what it is in plain words. */
  readonly name: string
  /** Why it is not known. */
  readonly because: string
}

/** What was wrong with a file that was read. */
export interface ReportedDiagnostic extends Place {
  /** What kind of fault it is: one of a closed set of names, as in `yaml-syntax`. */
  readonly code: DiagnosticCode
  /** `error` where content was lost and what rests on it is unknown, `warning` where it was read all the same. */
  readonly severity: 'error' | 'warning'
  /** The fault in one line for people. */
  readonly message: string
}

/** Where the role code of an answer was read. */
export interface ReportedSource {
  /** A directory as it lies on disk, a revision of a git repository, or a snapshot in kubespray-snapshots/. */
  readonly kind: 'directory' | 'revision' | 'recorded'
  /** The release, as in `v2.31.0`; null where the revision is not named like one. */
  readonly release: string | null
  /** The commit, as 40 hex digits; null where none is known. */
  readonly commit: string | null
  /** The directory or repository on this machine; null for a recorded release. */
  readonly path: string | null
  /** The tag or commit that has this code in kubespray's public repository, which links lead to; null where none is known to. */
  readonly published: string | null
}

/** Everything a report says; a fresh analysis and a recorded snapshot fill it alike, so it knows places, not spans. */
export interface Report {
  readonly source: ReportedSource
  readonly playbook: string
  readonly host: string
  readonly ansible: ReportedAnsible
  /** The playbook's own checks that end the run, in run order. */
  readonly stops: readonly ReportedStop[]
  readonly problems: readonly ReportedVerdict[]
  /** Where kubespray's own documentation says otherwise than its code. */
  readonly contradictions: readonly ReportedContradiction[]
  readonly variables: ReadonlyMap<string, ReportedVariable>
  readonly unknowns: readonly ReportedUnknown[]
  readonly diagnostics: readonly ReportedDiagnostic[]
}

/** Makes the address of a line on the web; null where no known commit holds it. */
export type Permalink = (place: Place) => string | null

/** How a report names a task besides its place: by a link for the web, and by what the task is. */
export interface Naming {
  readonly permalink: Permalink
  readonly addressOf: (task: Task) => TaskAddress | undefined
}

/** Where kubespray is published. */
export const KUBESPRAY_REPOSITORY = 'https://github.com/kubernetes-sigs/kubespray'
const RELEASE = /^v\d+\.\d+\.\d+$/

/** Where the role code came from; the release where the revision is named like one. What `published` costs is paid where it is read. */
export function reportedSource(origin: TreeOrigin, published: () => string | null): ReportedSource {
  const revision = origin.revision
  const reference = once(published)
  return {
    kind: origin.kind,
    release: revision !== undefined && RELEASE.test(revision) ? revision : null,
    commit: origin.commit ?? null,
    path: origin.path,
    get published() {
      return reference()
    },
  }
}

/** Addresses in the public repository, of what is known to stand there. */
export function permalinks(source: ReportedSource): Permalink {
  return ({ file, line }) => {
    // Pseudo files of the command line and paths outside the tree have no address.
    if (file.startsWith('-') || file.startsWith('/') || file.startsWith('..')) return null
    const { published } = source
    return published === null ? null : `${KUBESPRAY_REPOSITORY}/blob/${published}/${encodedPath(file)}#L${line}`
  }
}

/** How tasks of a tree are named. */
export function namingOf(source: ReportedSource, addresses: Pick<Addresses, 'of'>): Naming {
  return { permalink: permalinks(source), addressOf: addresses.of }
}

/** Whether a task runs, in the words of the reports. */
export function runsAnswer(truth: Truth): Runs {
  return decide<Runs>(truth, { true: () => 'yes', false: () => 'no', unknown: () => 'unknown' })
}

/** A verdict with places instead of spans. */
export function reportedVerdict(verdict: Verdict, naming: Naming): ReportedVerdict {
  const { problem, searched } = verdict
  return {
    id: problem.id,
    title: problem.title,
    asks: problem.asks,
    requirement: problem.requirement,
    byHand: problem.byHand,
    fixedBy: verdict.fixedBy,
    condition: verdict.condition,
    now: reportedPhase(verdict.now, naming),
    afterReboot: reportedPhase(verdict.afterReboot, naming),
    nearMisses: verdict.nearMisses.map(each => reportedEvidence(each, naming)),
    searched: {
      tasks: searched.tasks,
      commands: searched.commands,
      unresolved: searched.unresolved.map(({ says, at, couldChange, why }) => ({
        says,
        ...placeOfSpan(at),
        couldChange,
        why,
      })),
      considered: searched.considered,
      near: verdict.nearMisses.length,
    },
    notes: verdict.notes.map(({ says, about }) => {
      const place = about === undefined ? undefined : placeOfSpan(about.effect.at)
      return {
        says,
        file: place?.file ?? null,
        line: place?.line ?? null,
        permalink: place === undefined ? null : naming.permalink(place),
      }
    }),
  }
}

function reportedPhase(phase: PhaseVerdict, naming: Naming): ReportedPhase {
  return {
    fixedBy: phase.fixedBy,
    condition: phase.condition,
    evidence: phase.evidence.map(each => reportedEvidence(each, naming)),
    open: phase.open.map(each => reportedEvidence(each, naming)),
  }
}

/** A piece of evidence with places instead of spans. */
export function reportedEvidence(evidence: Evidence, { permalink, addressOf }: Naming): ReportedEvidence {
  const { task } = evidence
  const address = addressOf(task.task)
  const place = placeOfSpan(task.task.at)
  return {
    play: task.playName,
    role: task.role ?? null,
    task: task.name,
    module: task.task.module,
    ...place,
    effect: evidence.says,
    runs: runsAnswer(evidence.runs),
    condition: evidence.condition,
    via: task.via.map(step => ({ ...placeOfSpan(step.at), kind: step.kind, what: step.what })),
    permalink: permalink(place),
    address: address === undefined ? null : addressText(address),
    ...(evidence.why === undefined ? {} : { why: evidence.why }),
    conditions: conditionsOf(task),
    ...excerptOf(task.task.at),
  }
}

function conditionsOf(task: TaskRun): readonly ReportedCondition[] {
  return task.conditions.map(condition => ({
    text: condition.text,
    ...placeOfSpan(condition.at),
    from: condition.from,
    runs: runsAnswer(condition.truth),
    remains: condition.remains,
    names: condition.names.map(reportedName),
  }))
}

/** A name that a condition looks at, with places instead of spans. */
export function reportedName({ name, value, from = [] }: LookedAt): ReportedName {
  return {
    name,
    value: jsonOf(value),
    because: whyUnknown(value),
    from: from.map(({ origin, at }) => ({ origin, ...placeOfSpan(at) })),
  }
}

const LINES = 12
const LONGEST = 160

/** The first lines of what stands at a place, without their common indentation; none where the text is not at hand. */
function excerptOf({ file, start, end }: Span): { readonly excerpt?: Excerpt } {
  const begin = file.text.lastIndexOf('\n', start - 1) + 1
  const all = file.text.slice(begin, end).split('\n')
  const last = all.findLastIndex(line => !/^\s*(#|$)/.test(line))
  if (last < 0) return {}
  const shown = all.slice(0, Math.min(last + 1, LINES)).map(line => line.trimEnd())
  const indents = shown.filter(line => line !== '').map(line => line.length - line.trimStart().length)
  const indent = Math.min(...indents)
  const lines = shown.map(line => {
    const text = line.slice(indent)
    return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  })
  return { excerpt: { first: positionOf(file, begin).line, lines, more: last + 1 - lines.length } }
}

/** A resolved variable as a report shows it. One of a few alternatives counts as unknown, and `because` tells them. */
export function reportedVariable(variable: ResolvedVariable): ReportedVariable {
  const { value, winner, overridden } = variable
  const status = isFullyKnown(value) ? 'known' : value.kind === 'undefined' ? 'undefined' : 'unknown'
  return {
    status,
    value: value.kind === 'known' || value.kind === 'one-of' ? jsonOf(value) : null,
    origin: winner?.origin ?? null,
    ...(winner === undefined ? { file: null, line: null } : placeOfSpan(winner.at)),
    overridden: overridden.map(each => ({ origin: each.origin, ...placeOfSpan(each.at), value: jsonOf(each.value) })),
    because: whyUnknown(value),
  }
}

/** What the answers rest on that only the host, or nobody yet, can tell: each name once, with the place that asks. */
export function unknownsOf(
  verdicts: readonly Verdict[],
  variables: ReadonlyMap<string, ResolvedVariable>,
): readonly ReportedUnknown[] {
  const unknowns: ReportedUnknown[] = []
  const ofCauses = (causes: readonly Cause[]): void => {
    for (const cause of causes)
      unknowns.push({ name: cause.name ?? cause.says, ...placeOfSpan(cause.at), because: cause.says })
  }
  for (const verdict of verdicts) {
    const phases = [verdict.now, verdict.afterReboot]
    for (const { runs } of phases.flatMap(phase => [
      ...phase.evidence,
      ...(phase.fixedBy === 'unknown' ? phase.open : []),
    ])) {
      if (runs.kind === 'unknown') ofCauses(runs.causes)
    }
    for (const each of verdict.searched.unresolved) {
      if (each.couldChange) unknowns.push({ name: each.says, ...placeOfSpan(each.at), because: each.why })
    }
  }
  for (const [name, { value }] of variables) {
    if (value.kind === 'unknown') {
      for (const cause of value.causes) unknowns.push({ name, ...placeOfSpan(cause.at), because: cause.says })
    }
  }
  const seen = new Set<string>()
  return unknowns.filter(({ name, file, line, because }) => {
    const key = `${name}\0${file}\0${line}\0${because}`
    return seen.has(key) ? false : seen.add(key) !== undefined
  })
}

/** A diagnostic with a place instead of a span. */
export function reportedDiagnostic(diagnostic: Diagnostic): ReportedDiagnostic {
  const { code, severity, message, at } = diagnostic
  return { code, severity, message, ...placeOfSpan(at) }
}

/** The report of a fresh analysis. */
export function reportOf(analysis: {
  readonly source: ReportedSource
  readonly playbook: string
  readonly host: string
  readonly ansible: AnsibleVersion
  readonly checks: readonly Check[]
  readonly verdicts: readonly Verdict[]
  readonly variables: ReadonlyMap<string, ResolvedVariable>
  readonly contradictions?: readonly Contradiction[]
  readonly diagnostics: readonly Diagnostic[]
  readonly addresses: Pick<Addresses, 'of'>
}): Report {
  const { source } = analysis
  const naming = namingOf(source, analysis.addresses)
  return {
    source,
    playbook: analysis.playbook,
    host: analysis.host,
    ansible: reportedAnsible(analysis.ansible),
    stops: stopsOf(analysis.checks),
    problems: analysis.verdicts.map(verdict => reportedVerdict(verdict, naming)),
    contradictions: (analysis.contradictions ?? []).map(({ at, says, problem }) => ({
      ...placeOfSpan(at),
      says,
      problem,
    })),
    variables: new Map([...analysis.variables].map(([name, variable]) => [name, reportedVariable(variable)])),
    unknowns: unknownsOf(analysis.verdicts, analysis.variables),
    diagnostics: analysis.diagnostics.map(reportedDiagnostic),
  }
}
