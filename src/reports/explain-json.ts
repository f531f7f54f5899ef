import type { FixedBy } from '../verdicts/judge.js'
import type { ReportedAnsible } from './ansible-rules.js'
import { jsonText } from './json-text.js'
import type {
  Excerpt,
  Report,
  ReportedCondition,
  ReportedContradiction,
  ReportedEvidence,
  ReportedNote,
  ReportedPhase,
  ReportedRequirement,
  ReportedSource,
  ReportedStep,
  ReportedVerdict,
} from './report.js'
import { type EvidenceJson, evidenceJson, type SearchedJson, searchedJson } from './report-json.js'
import { outputs } from './schemas.js'
import type { ReportedStop } from './stops.js'

/** The proof of one verdict. */
export interface ExplainJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.explain.schema
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** The host the answer is about, as the inventory names it. */
  readonly host: string
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** The playbook's own checks that end the run for this host, in run order. */
  readonly stops: readonly ReportedStop[]
  /** Where kubespray's own documentation says otherwise of this problem than its code. */
  readonly contradictions: readonly ReportedContradiction[]
  /** The problem, and who fixes it. */
  readonly problem: ExplainedProblemJson
}

/** A problem and who fixes it, with the proof. */
export interface ExplainedProblemJson {
  /** The problem's name in the catalogue, as in `swap`. */
  readonly id: string
  /** The problem in a few words. */
  readonly title: string
  /** The question that the verdict answers. */
  readonly asks: string
  /** What Kubernetes asks of a host here, and where that is said. */
  readonly requirement: ReportedRequirement
  /** What the operator has to do where kubespray does not, a step each. */
  readonly byHand: readonly string[]
  /** Who has to fix it for good: `kubespray` only where the run fixes it now and it stays fixed after a reboot. */
  readonly fixedBy: FixedBy
  /** Under which condition `fixedBy` holds, in Ansible's words: what only the host can decide. Null where it always holds. */
  readonly condition: string | null
  /** Who fixes it on the running host. */
  readonly now: ExplainedPhaseJson
  /** Who keeps it fixed when the host has booted again. */
  readonly afterReboot: ExplainedPhaseJson
  /** What looks as if it settled the problem, each with `why` it does not. A recorded release holds the closest of them. */
  readonly nearMisses: readonly ExplainedEvidenceJson[]
  /** What the answer rests on. */
  readonly searched: SearchedJson
  /** What is to be known beside the answer. */
  readonly notes: readonly ReportedNote[]
}

/** Who fixes a problem at one time, now or after a reboot, with the proof. */
export interface ExplainedPhaseJson {
  /** Who fixes it at that time. */
  readonly fixedBy: FixedBy
  /** Under which condition, in Ansible's words: what only the host can decide. Null where it always holds. */
  readonly condition: string | null
  /** The tasks that settle it. Empty where none does: then `searched` is the proof. */
  readonly evidence: readonly ExplainedEvidenceJson[]
  /** Tasks that might settle it, each with `why` that is not known. */
  readonly open: readonly ExplainedEvidenceJson[]
}

/** What a task does to the host, with every condition on the way to it. */
export interface ExplainedEvidenceJson extends EvidenceJson {
  /** The chain that leads to the task: playbook, play, role, imports and includes, outermost first. */
  readonly via: readonly ReportedStep[]
  /** The conditions, outermost first, up to the first that is false. Empty for a recorded release, which keeps none. */
  readonly conditions: readonly ReportedCondition[]
  /** The first lines of the task; absent for a recorded release, which holds no role code. */
  readonly excerpt?: Excerpt
}

/** The proof for machines: the verdict with every condition and value. */
export function renderExplainJson(report: Report, verdict: ReportedVerdict): string {
  return jsonText(explainJson(report, verdict))
}

/** The proof in its outside form, members in the order in which they are written. */
export function explainJson(report: Report, verdict: ReportedVerdict): ExplainJson {
  return {
    schema: outputs.explain.schema,
    source: report.source,
    playbook: report.playbook,
    host: report.host,
    ansible: report.ansible,
    stops: report.stops,
    contradictions: report.contradictions.filter(({ problem }) => problem === verdict.id),
    problem: {
      id: verdict.id,
      title: verdict.title,
      asks: verdict.asks,
      requirement: verdict.requirement,
      byHand: verdict.byHand,
      fixedBy: verdict.fixedBy,
      condition: verdict.condition,
      now: explainedPhase(verdict.now),
      afterReboot: explainedPhase(verdict.afterReboot),
      nearMisses: verdict.nearMisses.map(explainedEvidence),
      searched: searchedJson(verdict),
      notes: verdict.notes,
    },
  }
}

function explainedPhase({ fixedBy, condition, evidence, open }: ReportedPhase): ExplainedPhaseJson {
  return { fixedBy, condition, evidence: evidence.map(explainedEvidence), open: open.map(explainedEvidence) }
}

function explainedEvidence(evidence: ReportedEvidence): ExplainedEvidenceJson {
  const { via, conditions = [], excerpt } = evidence
  return { ...evidenceJson(evidence), via, conditions, ...(excerpt === undefined ? {} : { excerpt }) }
}
