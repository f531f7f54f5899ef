import { causeText, membersOf, optionsOf } from '../effects/argument.js'
import { describeEffect } from '../effects/describe.js'
import type { Effect, Power } from '../effects/effect.js'
import { type Occurrence, type RunEffects, runsOf } from '../effects/run-effects.js'
import { joinAnd, type Standing } from '../effects/standing.js'
import { type Cause, mergeCauses, type Truth, type Value } from '../jinja/value.js'
import type { TaskRun } from '../run/task-run.js'
import { placeOf, type Span } from '../source/text.js'
import { type Standed, type StandedRun, standedRun } from './at-start.js'
import { absorbed, anyClause, bothClauses, type Clause, implies } from './clauses.js'
import type { Note, Part, Problem, Rule } from './problem.js'

/** Who has to act; `unknown` where it truly cannot be told. */
export type FixedBy = 'kubespray' | 'operator' | 'unknown'

/** A task's effect as part of a verdict. */
export interface Evidence {
  readonly task: TaskRun
  readonly effect: Effect
  /** The effect in words. */
  readonly says: string
  readonly runs: Truth
  /** What the host decides, in Ansible's words; null where nothing is left. */
  readonly condition: string | null
  /** Why it does not count, for what came near; why it is open, for what could count. */
  readonly why: string | undefined
  /** Of what came near, what a reader would ask about first. */
  readonly closest: boolean
}

/** Who fixes it at one time: on the running host, or after a reboot. */
export interface PhaseVerdict {
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly evidence: readonly Evidence[]
  /** Effects that might settle it, and why that is not known. */
  readonly open: readonly Evidence[]
}

/** Something in the run that could not be read, and whether it could have changed this verdict. */
export interface Unresolved {
  readonly says: string
  readonly at: Span
  readonly couldChange: boolean
  readonly why: string
}

/** Programs that are known only by what they cannot do, counted. */
export interface Considered {
  readonly program: string
  readonly calls: number
  readonly why: string
}

export interface Verdict {
  readonly problem: Problem
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly now: PhaseVerdict
  readonly afterReboot: PhaseVerdict
  readonly nearMisses: readonly Evidence[]
  readonly searched: {
    readonly tasks: number
    readonly commands: number
    readonly unresolved: readonly Unresolved[]
    readonly considered: readonly Considered[]
  }
  readonly notes: readonly Note[]
}

/**
 * Who fixes a problem, from everything a run does. `kubespray`: an effect settles it (under `condition` where only the host
 * decides whether its task runs). `operator`: nothing does, and everything that was not read could not have. `unknown`:
 * something might, and this program cannot tell. The problem as a whole is kubespray's only if both times are.
 */
export function judge(problem: Problem, effects: RunEffects): Verdict {
  return judgeWith(problem, effects, standedRun(effects))
}

/** Every problem over one run; what becomes of each effect is worked out once. */
export function judgeAll(problems: readonly Problem[], effects: RunEffects): readonly Verdict[] {
  const standed = standedRun(effects)
  return problems.map(problem => judgeWith(problem, effects, standed))
}

function judgeWith(problem: Problem, effects: RunEffects, standed: StandedRun): Verdict {
  const duringRun = unresolvedFor(problem, effects, standed.now)
  const unresolved = withoutSame([...duringRun, ...unresolvedIn(problem, standed.atBoot)])
  const isBlocked = (left: readonly Unresolved[]): boolean => left.some(each => each.couldChange)
  const now = judgePhase([[problem.now, standed.now]], effects, isBlocked(duringRun))
  // What settles it on the running host does so at each boot where a unit does it then.
  const afterReboot = judgePhase(
    [
      [problem.afterReboot, standed.now],
      [problem.now, standed.atBoot],
    ],
    effects,
    isBlocked(unresolved),
  )
  const isOperators = [now, afterReboot].some(({ verdict }) => verdict.fixedBy === 'operator')
  const left = isOperators ? withoutSame([...unresolved, ...passedOver(problem, standed.now)]) : unresolved
  const fixedBy = bothPhases(now.verdict.fixedBy, afterReboot.verdict.fixedBy)
  return {
    problem,
    fixedBy,
    condition: fixedBy === 'kubespray' ? bothTimes(now.under, afterReboot.under) : null,
    now: now.verdict,
    afterReboot: afterReboot.verdict,
    nearMisses: withoutRepeats([...now.near, ...afterReboot.near]).toSorted(closestFirst),
    searched: {
      tasks: effects.run.tasks.length,
      commands: effects.commands,
      unresolved: left,
      considered: consideredFor(problem, standed.now),
    },
    notes:
      problem.notes?.(
        standed.now
          .filter(each => each.shown === undefined && (each.standing.kind !== 'never' || isRescue(each)))
          .map(({ occurrence }) => occurrence),
        effects,
      ) ?? [],
  }
}

/** The conditions of both times together; one that the other brings with it is not said again. */
function bothTimes(now: readonly Clause[], afterReboot: readonly Clause[]): string | null {
  const times = [now, afterReboot].filter(each => each.length > 0)
  if (implies(now, afterReboot)) return anyClause(now)
  if (implies(afterReboot, now)) return anyClause(afterReboot)
  return times.length === 0 ? null : joinAnd([...new Set(times.map(anyClause))])
}

function isRescue(each: Standed): boolean {
  return each.standing.kind === 'never' && each.standing.because === 'failure'
}

function bothPhases(now: FixedBy, afterReboot: FixedBy): FixedBy {
  if (now === 'operator' || afterReboot === 'operator') return 'operator'
  return now === 'kubespray' && afterReboot === 'kubespray' ? 'kubespray' : 'unknown'
}

interface Settling {
  readonly occurrence: Occurrence
  readonly index: number
  readonly conditions: readonly Clause[]
  readonly part: Part | undefined
}

/** The condition of one that settles, null where nothing is left; one that covers a part has that as well. */
function conditionOfSettling({ conditions, part }: Settling): Clause | null {
  const all = part?.condition === undefined ? conditions : [...conditions, single(part.condition)]
  return all.length === 0 ? null : bothClauses(all)
}

function single(text: string): Clause {
  return { text, conjuncts: [text] }
}

/**
 * The condition under which effects for every case settle together: each case by one of its effects. Undefined where a
 * case has none.
 */
function conditionTogether(settled: readonly Settling[], of: readonly string[]): Clause | null | undefined {
  const parts: Clause[] = []
  for (const name of of) {
    const ofCase = settled.filter(each => each.part?.name === name)
    if (ofCase.length === 0) return undefined
    const clauses = ofCase.map(each => (each.conditions.length === 0 ? null : bothClauses(each.conditions)))
    const conditions = clauses.filter(each => each !== null)
    if (conditions.length < clauses.length) continue
    const [first, ...others] = absorbed(conditions)
    if (first !== undefined) parts.push(others.length === 0 ? first : single(anyClause(conditions)))
  }
  return parts.length === 0 ? null : bothClauses(parts)
}

/** For a part that settles nothing alone: the parts that nothing settles beside it. */
function missingBeside({ part }: Settling, settled: readonly Settling[]): readonly string[] {
  if (part === undefined || part.condition !== undefined) return []
  return part.of.filter(name => !settled.some(each => each.part?.name === name))
}

/** The conditions under which something settles, any of them; null: without one. */
function conditionsOf(settled: readonly Settling[]): readonly (Clause | null)[] {
  const cases = settled.flatMap(each => (each.part === undefined ? [] : [each.part.of]))
  const together = new Map(
    [...new Map(cases.map(of => [of.join('\0'), of]))].map(([key, of]) => [key, conditionTogether(settled, of)]),
  )
  return settled.map(each => {
    const joined = each.part === undefined ? undefined : together.get(each.part.of.join('\0'))
    return joined === undefined ? conditionOfSettling(each) : joined
  })
}

interface JudgedPhase {
  readonly verdict: PhaseVerdict
  readonly near: readonly Evidence[]
  /** The conditions of the verdict, any of them; empty without one. */
  readonly under: readonly Clause[]
}

function judgePhase(
  asked: readonly (readonly [rules: readonly Rule[], standed: readonly Standed[]])[],
  effects: RunEffects,
  blocked: boolean,
): JudgedPhase {
  const all: Settling[] = []
  const open: Evidence[] = []
  const near: Evidence[] = []
  for (const [rules, standed] of asked) {
    for (const rule of rules) judgeRule(rule, effects, standed, all, open, near)
  }
  const settled = all
    .filter(each => missingBeside(each, all).length === 0)
    .toSorted((left, right) => left.index - right.index)
  for (const each of all) {
    const missing = missingBeside(each, all)
    if (missing.length === 0) continue
    const why = `settles only ${each.part?.name}; nothing settles ${missing.join(', ')}`
    near.push(evidenceOf(each.occurrence, conditionOfSettling(each)?.text ?? null, why))
  }
  const found = conditionsOf(settled)
  const evidence = withoutRepeats(
    settled.map(({ occurrence }, index) => {
      // A unit may be started more than once: then any of the conditions is enough.
      const same = found.filter((_, at) => settled[at]?.occurrence === occurrence)
      const clauses = same.filter(each => each !== null)
      const condition = same.length === 1 ? (found[index]?.text ?? null) : anyClause(clauses)
      return evidenceOf(occurrence, clauses.length < same.length ? null : condition, undefined)
    }),
  )
  const certain = found.includes(null)
  const conditions = absorbed(found.filter(each => each !== null))
  const verdict = (fixedBy: FixedBy, condition: string | null): PhaseVerdict => ({ fixedBy, condition, evidence, open })
  if (certain) return { verdict: verdict('kubespray', null), near, under: [] }
  if (conditions.length > 0) {
    return { verdict: verdict('kubespray', anyClause(conditions)), near, under: conditions }
  }
  return { verdict: verdict(open.length > 0 || blocked ? 'unknown' : 'operator', null), near, under: [] }
}

function judgeRule(
  rule: Rule,
  effects: RunEffects,
  standed: readonly Standed[],
  settled: Settling[],
  open: Evidence[],
  near: Evidence[],
): void {
  for (const [index, { occurrence: acting, standing, shown }] of standed.entries()) {
    const match = rule.matches(acting.effect, acting, effects)
    if (match.kind === 'no') continue
    const occurrence = shown ?? acting
    if (match.kind === 'near') {
      // A unit that only comes near is not the place to look at.
      if (shown !== undefined) continue
      const why = standing.kind === 'never' ? `${match.why}; besides, it ${standing.why}` : match.why
      near.push({ ...evidenceOf(occurrence, conditionOf(standing), why), closest: match.closest === true })
      continue
    }
    if (standing.kind === 'never') {
      if (match.kind === 'settles') near.push(evidenceOf(occurrence, null, standing.why))
      continue
    }
    if (match.kind === 'could') {
      open.push(evidenceOf(occurrence, conditionOf(standing), because(match.says, match.causes)))
      continue
    }
    if (standing.kind === 'unread') {
      open.push(evidenceOf(occurrence, null, because('whether it happens is not known', standing.causes)))
      continue
    }
    const conditions = [
      ...(standing.kind === 'host-decides' ? [{ text: standing.condition, conjuncts: standing.conjuncts }] : []),
      ...(match.condition === undefined ? [] : [single(match.condition)]),
    ]
    const outcome = afterLater(rule, effects, standed, index, conditions)
    if (outcome.kind === 'undone') near.push(evidenceOf(occurrence, null, outcome.why))
    else if (outcome.kind === 'open') open.push(evidenceOf(occurrence, null, outcome.why))
    else {
      settled.push({
        occurrence,
        index,
        conditions: [...conditions, ...outcome.conditions.map(single)],
        part: match.part,
      })
    }
  }
}

type Outcome =
  | { readonly kind: 'stays'; readonly conditions: readonly string[] }
  | { readonly kind: 'undone'; readonly why: string }
  | { readonly kind: 'open'; readonly why: string }

/**
 * What later effects of the run leave of one that settles: the last in run order decides. One in a `rescue` takes it back
 * only where a task of its block has failed; it cannot settle anything, since a run without failures never gets there.
 */
function afterLater(
  rule: Rule,
  effects: RunEffects,
  standed: readonly Standed[],
  index: number,
  under: readonly Clause[],
): Outcome {
  const { undoneBy } = rule
  const conditions: string[] = []
  const settling = standed[index]
  if (undoneBy === undefined || settling === undefined) return { kind: 'stays', conditions }
  for (const { occurrence, standing } of standed.slice(index + 1)) {
    const rescue = standing.kind === 'never' && standing.because === 'failure'
    if (standing.kind === 'never' && !rescue) continue
    const undone = undoneBy(settling.occurrence.effect, occurrence.effect, occurrence, effects)
    if (undone.kind === 'false') continue
    const later = `${describeEffect(occurrence.effect)} (${placeOf(occurrence.effect.at)})`
    if (undone.kind === 'unknown' || standing.kind === 'unread') {
      const causes = undone.kind === 'unknown' ? undone.causes : standing.kind === 'unread' ? standing.causes : []
      return { kind: 'open', why: because(`a later task may take it back: ${later}`, causes) }
    }
    if (standing.kind === 'never') {
      conditions.push(`no task of the block around ${placeOf(occurrence.effect.at)} fails`)
      continue
    }
    if (standing.kind === 'happens') return { kind: 'undone', why: `taken back later: ${later}` }
    if (
      under.length > 0 &&
      implies([bothClauses(under)], [{ text: standing.condition, conjuncts: standing.conjuncts }])
    ) {
      if (isDecidedAlike(standing, settling.standing)) return { kind: 'undone', why: `taken back later: ${later}` }
      return { kind: 'open', why: `a later task takes it back if the condition still holds then: ${later}` }
    }
    conditions.push(`not (${standing.condition})`)
  }
  return { kind: 'stays', conditions: [...new Set(conditions)] }
}

/** Whether what decides the later condition decided the earlier one as well: not a result that was registered anew. */
function isDecidedAlike(later: Standing, earlier: Standing): boolean {
  if (later.kind !== 'host-decides' || earlier.kind !== 'host-decides') return false
  const places = new Set(earlier.causes.map(({ at }) => placeOf(at)))
  return later.causes.every(({ at }) => places.has(placeOf(at)))
}

function because(says: string, causes: readonly Cause[]): string {
  const reasons = mergeCauses(causes).slice(0, 3).map(causeText)
  return reasons.length === 0 ? says : `${says}: ${reasons.join('; ')}`
}

function conditionOf(standing: Standing): string | null {
  return standing.kind === 'host-decides' ? standing.condition : null
}

/** An effect as evidence, under a condition or for a reason why it does not count. */
export function evidenceOf(occurrence: Occurrence, condition: string | null, why: string | undefined): Evidence {
  const { task, effect } = occurrence
  return { task, effect, says: describeEffect(effect), runs: runsOf(occurrence), condition, why, closest: false }
}

const RANK = { true: 0, unknown: 1, false: 2 } as const

/** What a reader would ask about first, then what happens, what may, and what does not; each in run order. */
function closestFirst(left: Evidence, right: Evidence): number {
  return Number(right.closest) - Number(left.closest) || RANK[left.runs.kind] - RANK[right.runs.kind]
}

/** Each task's effect once, for each reason why it does not count. */
function withoutRepeats(evidence: readonly Evidence[]): readonly Evidence[] {
  const seen = new Set<string>()
  return evidence.filter(each => {
    const key = `${each.task.order}\0${each.says}\0${each.why ?? ''}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** What was not read: gaps of the run, unreadable commands, unmodelled modules, unfamiliar programs. */
function unresolvedFor(problem: Problem, effects: RunEffects, standed: readonly Standed[]): readonly Unresolved[] {
  const gaps = effects.run.gaps
    .filter(({ runs }) => runs.kind !== 'false')
    .map(({ says, at }) => ({ says, at, couldChange: true, why: 'tasks may be missing from the run' }))
  return withoutSame([...gaps, ...unresolvedIn(problem, standed)])
}

function unresolvedIn(problem: Problem, standed: readonly Standed[]): readonly Unresolved[] {
  return standed.flatMap(({ occurrence, standing }): readonly Unresolved[] => {
    if (standing.kind === 'never') return []
    const { effect } = occurrence
    const { at } = effect
    const says = describeEffect(effect)
    if (effect.kind === 'unreadable-command' || effect.kind === 'unmodelled-module') {
      return [{ says, at, couldChange: true, why: 'it could do anything' }]
    }
    if (effect.kind !== 'command') return []
    const could = shared(effect.powers, problem.powers)
    if (!effect.unfamiliar && could.length === 0) return []
    const why = effect.unfamiliar
      ? `${effect.program ?? 'a program whose name is not known'} is not a program this knows`
      : `${effect.program ?? 'it'} is known only by what it may do: ${inWords(could)}`
    return [{ says, at, couldChange: could.length > 0, why }]
  })
}

/**
 * What acts on something of which nothing is known before the run, where the problem is about such things: it is not taken
 * for each one there is, and where nobody else fixes the problem a reader has to know.
 */
function passedOver(problem: Problem, standed: readonly Standed[]): readonly Unresolved[] {
  return standed.flatMap(({ occurrence: { effect }, standing }): readonly Unresolved[] => {
    const what = standing.kind === 'never' ? undefined : hostsChoice(effect, problem)
    if (what === undefined) return []
    const why = `which ${what} that is only the host can say: it is not taken for each there is`
    return [{ says: describeEffect(effect), at: effect.at, couldChange: false, why }]
  })
}

/** Problems that a file can settle, by what they ask for. */
const IN_FILES: readonly Power[] = [
  'changes-swap',
  'changes-modules',
  'changes-sysctl',
  'changes-hostname',
  'changes-network',
  'changes-selinux',
  'changes-boot',
]

function hostsChoice(effect: Effect, { powers, removals }: Problem): string | undefined {
  const concerns = (asked: readonly Power[]): boolean => shared(asked, powers).length > 0
  switch (effect.kind) {
    case 'unit':
      return concerns(['stops-units', 'starts-units']) && isHostsOwn(effect.unit) ? 'unit' : undefined
    case 'package':
      return concerns(['changes-packages']) &&
        optionsOf(effect.names).some(({ value }) => membersOf(value).some(isHostsOwn))
        ? 'package'
        : undefined
    case 'file': {
      const matters =
        effect.change === 'removed'
          ? removals === true
          : ['written', 'line', 'unpacked'].includes(effect.change) && concerns(IN_FILES)
      return matters && isHostsOwn(effect.path) ? 'file' : undefined
    }
    default:
      return undefined
  }
}

function isHostsOwn(value: Value): boolean {
  return optionsOf(value).some(
    ({ value: single }) =>
      single.kind === 'unknown' &&
      single.text?.some(piece => piece !== null) !== true &&
      !single.causes.some(cause => cause.unread),
  )
}

function withoutSame(unresolved: readonly Unresolved[]): readonly Unresolved[] {
  const seen = new Set<string>()
  return unresolved.filter(each => {
    const key = `${each.says}\0${placeOf(each.at)}`
    return seen.has(key) ? false : seen.add(key) !== undefined
  })
}

function consideredFor(problem: Problem, standed: readonly Standed[]): readonly Considered[] {
  const programs = new Map<string, { calls: number; powers: readonly Power[] }>()
  for (const { occurrence, standing } of standed) {
    const { effect } = occurrence
    if (standing.kind === 'never' || effect.kind !== 'command' || effect.unfamiliar || effect.powers.length === 0)
      continue
    if (shared(effect.powers, problem.powers).length > 0) continue
    const program = effect.program ?? '…'
    const before = programs.get(program)
    programs.set(program, { calls: (before?.calls ?? 0) + 1, powers: effect.powers })
  }
  return [...programs].map(([program, { calls, powers }]) => ({
    program,
    calls,
    why: `${inWords(powers)}; nothing that could change this answer`,
  }))
}

/** `stops-units` is `stops units`. */
function inWords(powers: readonly Power[]): string {
  return powers.map(power => power.replace('-', ' ')).join(', ')
}

function shared(left: readonly Power[], right: readonly Power[]): readonly Power[] {
  return left.filter(power => right.includes(power))
}

/** What would have to be known for an `unknown` verdict to become definite, one line each. */
export function whatWouldDecide(verdict: Verdict): readonly string[] {
  const open = [...verdict.now.open, ...verdict.afterReboot.open].map(each => `${each.says}: ${each.why ?? ''}`)
  const unresolved = verdict.searched.unresolved
    .filter(each => each.couldChange)
    .map(each => `${each.says} (${placeOf(each.at)})`)
  return [...new Set([...open, ...unresolved])]
}
