import type { HostAnswer } from '../host/look.js'
import type { HostPlace, Moment, OperatorStep } from '../host/moment.js'
import type { Evidence } from '../verdicts/judge.js'
import type { HostMoments, HostVerdict } from '../verdicts/on-host.js'
import type { ReportedAnsible } from './ansible-rules.js'
import type { Place } from './place.js'
import { type Naming, type ReportedEvidence, type ReportedSource, reportedEvidence } from './report.js'

/** How a host stands to a problem at one time; a problem that this host need not mind counts as `ok`, and `says` tells why. */
export type HostCondition = 'ok' | 'problem' | 'unknown'

/** A host's condition at one time, with what says so. */
export interface ReportedHostAnswer {
  readonly state: HostCondition
  /** What is so, as in `net.ipv4.ip_forward is 0`; for `unknown` why it is not known. */
  readonly says: string
  /** Files of the host that say so, the deciding one first. */
  readonly places: readonly HostPlace[]
}

/** One problem on one host. */
export interface ReportedHostProblem {
  readonly id: string
  readonly title: string
  readonly now: ReportedHostAnswer
  readonly afterRun: ReportedHostAnswer
  readonly afterReboot: ReportedHostAnswer
  /** Who has to act: empty where nobody has to. */
  readonly acts: readonly ('kubespray' | 'operator')[]
  /** What the operator does, in order. */
  readonly steps: readonly OperatorStep[]
  /** The tasks of the run that mend it on this host. */
  readonly evidence: readonly ReportedEvidence[]
}

/** A kernel setting over time; null where the kernel has no such setting, undefined where the value is not known. */
export interface ReportedSetting {
  readonly key: string
  readonly now: string | null | undefined
  readonly afterRun: string | null | undefined
  readonly afterReboot: string | null | undefined
  /** The file and line that decide at boot; null where none does, or where that is not known. */
  readonly decidedBy: HostPlace | null
  /** Why a value is not known; null where all are. */
  readonly because: string | null
}

/** What the run does to one file of the host. */
export interface ReportedFileChange {
  /** Absolute on the host. */
  readonly path: string
  /** A unified diff; null where the new text is not known. */
  readonly patch: string | null
  /** Why it is not known; beside a patch: what else may change in it; null where nothing is open. */
  readonly because: string | null
}

/** A host that a report is about. */
export interface ReportedHostName {
  readonly host: string
  /** Where its evidence was read; null where there is none. */
  readonly evidence: string | null
  /** What stands for this host in the place of placeholders (`⟦name⟧`) in the texts of the group; absent where there are none. */
  readonly own?: ReadonlyMap<string, string>
}

/** Where the run ends for a host, or may: a check of the playbook, or a task that fails because of what the host is. */
export interface ReportedHostStop extends Place {
  readonly task: string
  /** What decides, as in `ansible_facts.memtotal_mb is 1400, minimal_master_memory_mb is 1500`. */
  readonly because: string
}

/** One host before and after a run, with those that have the very same answers. */
export interface ReportedHost {
  /** At least one; the answers were worked out for the first. */
  readonly hosts: readonly ReportedHostName[]
  /** Checks of the playbook and tasks that end the run for it, in run order. */
  readonly stops: readonly ReportedHostStop[]
  /** Checks of which it is not known whether they do. */
  readonly open: readonly ReportedHostStop[]
  readonly problems: readonly ReportedHostProblem[]
  readonly settings: readonly ReportedSetting[]
  readonly changes: readonly ReportedFileChange[]
}

/** Role code and hosts together: what the run mends on each, and what its operator has to do. */
export interface PreflightReport {
  readonly source: ReportedSource
  readonly playbook: string
  readonly ansible: ReportedAnsible
  readonly hosts: readonly ReportedHost[]
}

/** A problem of a host with places instead of spans. */
export function reportedHostProblem(found: HostVerdict, naming: Naming): ReportedHostProblem {
  const { verdict, now, afterRun, afterReboot, acts, steps } = found
  const { problem } = verdict
  const settling = acts.includes('kubespray') ? [...verdict.now.evidence, ...verdict.afterReboot.evidence] : []
  return {
    id: problem.id,
    title: problem.title,
    now: reportedAnswer(now),
    afterRun: reportedAnswer(afterRun),
    afterReboot: reportedAnswer(afterReboot),
    acts,
    steps,
    evidence: uniqueTasks(settling).map(each => reportedEvidence(each, naming)),
  }
}

/** A task that settles a problem for now and for later is shown for each effect once. */
function uniqueTasks(evidence: readonly Evidence[]): readonly Evidence[] {
  const seen = new Set<string>()
  return evidence.filter(({ task, says }) => {
    const key = `${task.order} ${says}`
    return !seen.has(key) && seen.add(key)
  })
}

function reportedAnswer({ state, says, places }: HostAnswer): ReportedHostAnswer {
  return { state: state === 'unneeded' ? 'ok' : state, says, places }
}

/** What becomes of kernel settings on a host, each key once. */
export function reportedSettings(keys: Iterable<string>, moments: HostMoments): readonly ReportedSetting[] {
  return [...new Set(keys)].map(key => {
    const settingAt = (moment: Moment) => moment.sysctl(key)
    const [now, afterRun, afterReboot] = [
      settingAt(moments.now),
      settingAt(moments.afterRun),
      settingAt(moments.afterReboot),
    ]
    const text = (seen: ReturnType<typeof settingAt>): string | null | undefined =>
      seen.kind === 'known' ? seen.value : seen.kind === 'absent' ? null : undefined
    const open = [now, afterRun, afterReboot].find(each => each.kind === 'unknown')
    return {
      key,
      now: text(now),
      afterRun: text(afterRun),
      afterReboot: text(afterReboot),
      decidedBy: afterReboot.decidedBy ?? null,
      because: open?.kind === 'unknown' ? open.because : null,
    }
  })
}
