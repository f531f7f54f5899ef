import type { FixedBy } from '../verdicts/judge.js'
import type { ReportedAnsible } from './ansible-rules.js'
import { jsonText } from './json-text.js'
import type { Count, Line } from './place.js'
import type {
  Report,
  ReportedConsidered,
  ReportedContradiction,
  ReportedDiagnostic,
  ReportedEvidence,
  ReportedNote,
  ReportedPhase,
  ReportedSource,
  ReportedUnknown,
  ReportedUnresolved,
  ReportedVariable,
  ReportedVerdict,
  Runs,
} from './report.js'
import { outputs } from './schemas.js'
import type { ReportedStop } from './stops.js'

/** Who fixes each problem a host has before Kubernetes runs on it, with evidence. */
export interface ReportJson {
  /** The address of the schema this report follows. */
  readonly schema: typeof outputs.report.schema
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** The host the answers are about, as the inventory names it. */
  readonly host: string
  /** Every problem that was judged, in the order of the catalogue. */
  readonly problems: readonly ProblemJson[]
  /** Variables that the lab's files ask for, by name, as they are where their role runs first. */
  readonly variables: Readonly<Record<string, ReportedVariable>>
  /** What the answers rest on and only the host, or nobody yet, can tell. */
  readonly unknowns: readonly ReportedUnknown[]
  /** Where kubespray's own documentation says otherwise than its code. */
  readonly contradictions: readonly ReportedContradiction[]
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** The playbook's own checks that end the run for this host, in run order. */
  readonly stops: readonly ReportedStop[]
  /** What was wrong with the files that were read. */
  readonly diagnostics: readonly ReportedDiagnostic[]
}

/** One problem of a host, and who fixes it. */
export interface ProblemJson {
  /** The problem's name in the catalogue, as in `swap`. */
  readonly id: string
  /** The problem in a few words. */
  readonly title: string
  /** Who has to fix it for good: `kubespray` only where the run fixes it now and it stays fixed after a reboot. */
  readonly fixedBy: FixedBy
  /** Under which condition `fixedBy` holds, in Ansible's words: what only the host can decide. Null where it always holds. */
  readonly condition: string | null
  /** Who fixes it on the running host. */
  readonly now: PhaseJson
  /** Who keeps it fixed when the host has booted again. */
  readonly afterReboot: PhaseJson
  /** What looks as if it settled the problem, each with `why` it does not. A recorded release holds the closest of them. */
  readonly nearMisses: readonly EvidenceJson[]
  /** What the answer rests on. */
  readonly searched: SearchedJson
  /** What is to be known beside the answer. */
  readonly notes: readonly ReportedNote[]
}

/** Who fixes a problem at one time, now or after a reboot. */
export interface PhaseJson {
  /** Who fixes it at that time. */
  readonly fixedBy: FixedBy
  /** Under which condition, in Ansible's words: what only the host can decide. Null where it always holds. */
  readonly condition: string | null
  /** The tasks that settle it. Empty where none does: then `searched` is the proof. */
  readonly evidence: readonly EvidenceJson[]
  /** Tasks that might settle it, each with `why` that is not known. */
  readonly open: readonly EvidenceJson[]
}

/** What a task does to the host, where that task stands and how the run gets there. */
export interface EvidenceJson {
  /** The name of the play. */
  readonly play: string
  /** The role, as its path under `roles/`; null for a task of the play itself. */
  readonly role: string | null
  /** The name of the task. */
  readonly task: string
  /** The Ansible module, by the name it is called by. */
  readonly module: string
  /** The file of the task, relative to the checkout. */
  readonly file: string
  /** The line of the task's first key, from 1. */
  readonly line: Line
  /** What the task does to the host, in plain words. */
  readonly effect: string
  /** Whether the conditions of the task hold for this host. */
  readonly runs: Runs
  /** What remains of those conditions for the host to decide, in Ansible's words; null where they are decided. */
  readonly condition: string | null
  /** The address of the line in the public repository; null where no public commit is known to hold it. */
  readonly permalink: string | null
  /** The task's stable address (docs/citations.md); null where it has none, as tasks that Ansible makes by itself. */
  readonly address: string | null
  /** Why it does not count, for a near miss; why that is not known, for what is open. */
  readonly why?: string
  /** The chain that leads to the task: playbook, play, role, imports and includes, outermost first. */
  readonly via: readonly StepJson[]
}

/** One link of the chain that leads to a task. */
export interface StepJson {
  /** The file in which the link stands, relative to the checkout. */
  readonly file: string
  /** Its line, from 1. */
  readonly line: Line
  /** What stands there, as in `role kubernetes/preinstall`. */
  readonly what: string
}

/** What was searched for an answer: "nobody does it" is a claim about all of it. */
export interface SearchedJson {
  /** How many task runs of the playbook were looked at. */
  readonly tasks: Count
  /** How many shell commands of those tasks were parsed. */
  readonly commands: Count
  /** How many places could not be read; each of them is in `unresolved`. */
  readonly unreadable: Count
  /** How many effects came near; a recorded release lists only the closest of them. */
  readonly near: Count
  /** What could not be read, with its place. */
  readonly unresolved: readonly ReportedUnresolved[]
  /** Programs that are known only by what they cannot do. */
  readonly considered: readonly ReportedConsidered[]
}

/** The report for machines (contract, "report --format json"). */
export function renderReportJson(report: Report): string {
  return jsonText(reportJson(report))
}

/** The report in its outside form, members in the order in which they are written. */
export function reportJson(report: Report): ReportJson {
  const { source, playbook, host, ansible, stops, problems, contradictions, variables, unknowns, diagnostics } = report
  return {
    schema: outputs.report.schema,
    source,
    playbook,
    host,
    problems: problems.map(problemJson),
    variables: Object.fromEntries(variables),
    unknowns,
    contradictions,
    ansible,
    stops,
    diagnostics,
  }
}

function problemJson(problem: ReportedVerdict): ProblemJson {
  return {
    id: problem.id,
    title: problem.title,
    fixedBy: problem.fixedBy,
    condition: problem.condition,
    now: phaseJson(problem.now),
    afterReboot: phaseJson(problem.afterReboot),
    nearMisses: problem.nearMisses.map(evidenceJson),
    searched: searchedJson(problem),
    notes: problem.notes,
  }
}

/** What was searched; `unreadable` is how many of it could not be read, each of them in `unresolved`. */
export function searchedJson({ searched }: ReportedVerdict): SearchedJson {
  const { tasks, commands, near, unresolved, considered } = searched
  return { tasks, commands, unreadable: unresolved.length, near, unresolved, considered }
}

function phaseJson(phase: ReportedPhase): PhaseJson {
  return {
    fixedBy: phase.fixedBy,
    condition: phase.condition,
    evidence: phase.evidence.map(evidenceJson),
    open: phase.open.map(evidenceJson),
  }
}

/** One piece of evidence; the conditions with their values and the lines of code belong to `explain`. */
export function evidenceJson(evidence: ReportedEvidence): EvidenceJson {
  const { play, role, task, module, file, line, effect, runs, condition, permalink, address, why, via } = evidence
  const chain = via.map(step => ({ file: step.file, line: step.line, what: step.what }))
  const head = { play, role, task, module, file, line, effect, runs, condition }
  return { ...head, permalink, address, ...(why === undefined ? {} : { why }), via: chain }
}
