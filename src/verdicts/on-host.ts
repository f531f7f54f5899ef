import type { RunEffects } from '../effects/run-effects.js'
import type { HostAnswer, Phase } from '../host/look.js'
import type { Moment, OperatorStep } from '../host/moment.js'
import type { PhaseVerdict, Verdict } from './judge.js'

/** A captured host before the run and after it, each as it is and as the next boot would make it. */
export interface HostMoments {
  readonly now: Moment
  /** Booted as it is, without the run. */
  readonly booted: Moment
  readonly afterRun: Moment
  readonly afterReboot: Moment
}

/** How a host stands to one problem over time, and who has to act for it to be gone and to stay so. */
export interface HostVerdict {
  /** What role code alone says about it. */
  readonly verdict: Verdict
  readonly now: HostAnswer
  readonly afterRun: HostAnswer
  readonly afterReboot: HostAnswer
  /**
   * `kubespray` where the run mends what would be a problem without it, `operator` where it still is one after the run or
   * after the boot; both where the run mends only part of it; nobody where it is none, or where that is not known.
   */
  readonly acts: readonly ('kubespray' | 'operator')[]
  /**
   * What the operator does, in order; empty where that is not the operator's part. Where it is not known whether the problem
   * is still there, what is done to be sure.
   */
  readonly steps: readonly OperatorStep[]
}

/** How a host stands to each problem that can be looked for on it. */
export function judgeHost(
  verdicts: readonly Verdict[],
  moments: HostMoments,
  effects: RunEffects,
  groups: ReadonlySet<string>,
): readonly HostVerdict[] {
  return verdicts.flatMap(verdict => {
    const look = verdict.problem.onHost
    if (look === undefined) return []
    const answer = (moment: Moment, phase: Phase): HostAnswer =>
      look({ moment, phase, before: moments.now, effects, groups })
    const now = answer(moments.now, 'now')
    const booted = answer(moments.booted, 'afterReboot')
    const afterRun = unlessUnread(answer(moments.afterRun, 'afterRun'), verdict.now, verdict)
    const afterReboot = unlessUnread(answer(moments.afterReboot, 'afterReboot'), verdict.afterReboot, verdict)
    const acts: ('kubespray' | 'operator')[] = []
    if (isMended(now, afterRun) || isMended(booted, afterReboot)) acts.push('kubespray')
    if (afterRun.state === 'problem' || afterReboot.state === 'problem') acts.push('operator')
    const isOpen = [afterRun, afterReboot].some(({ state }) => state === 'unknown')
    const told = acts.includes('operator') || isOpen ? stepsOf(afterRun, afterReboot) : []
    // Where the host does not say what would mend it, there is what mends it in general.
    const steps = acts.includes('operator') && told.length === 0 ? byHand(verdict) : told
    return [{ verdict, now, afterRun, afterReboot, acts, steps }]
  })
}

/** A problem that something this program could not read may settle is not known to stay; what it did read was followed. */
function unlessUnread(answer: HostAnswer, { fixedBy }: PhaseVerdict, { searched }: Verdict): HostAnswer {
  const unread = searched.unresolved.find(({ couldChange }) => couldChange)
  if (answer.state !== 'problem' || fixedBy !== 'unknown' || unread === undefined) return answer
  const says = `${answer.says}, unless the run changes that: ${unread.says}`
  return { ...answer, state: 'unknown', says, steps: [] }
}

function byHand({ problem }: Verdict): readonly OperatorStep[] {
  return problem.byHand.map(command => ({ says: `in general (whofixes rules ${problem.id})`, command }))
}

function isMended(before: HostAnswer, after: HostAnswer): boolean {
  return before.state === 'problem' && (after.state === 'ok' || after.state === 'unneeded')
}

/** Each command once: what mends it for the next boot often mends it now. */
function stepsOf(...answers: readonly HostAnswer[]): readonly OperatorStep[] {
  const steps = new Map<string, OperatorStep>()
  for (const { state, steps: own } of answers) {
    if (state === 'problem' || state === 'unknown')
      for (const step of own) if (!steps.has(step.command)) steps.set(step.command, step)
  }
  return [...steps.values()]
}
