import type { Task } from '../ansible/statement.js'
import { type Cause, FALSE, TRUE, type Truth, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import { isTrue } from './action.js'
import { actions } from './actions.js'
import { type AnsweredResult, answeredResult, memberOf } from './answered.js'
import { resultCheck } from './checks.js'
import type { Compiled, CompiledPlay, Compiler } from './compile.js'
import { allOf, anyOf, type Conditions, evaluateConditions, evaluateWhen } from './conditions.js'
import { sendersOf } from './delegation.js'
import { chainOf, type Frame, includeOf, inheritedKeyword, stepsOf } from './frame.js'
import { gapsIn, type Handler, handlersIn, neverChanges, notifiedNames, notify } from './handlers.js'
import { invocationsOf } from './invocations.js'
import { bindItem, evaluateLoop, type Items } from './loops.js'
import { registeredEntry } from './results.js'
import type { Role } from './role.js'
import type { Scopes } from './scopes.js'
import { ownerOf, settings } from './settings.js'
import type { RunState } from './state.js'
import { type FailedEvaluation, failedEvaluation, isPerhapsTaken, stopAtEvaluation } from './stops.js'
import { leftOutByTags, tagsOf } from './tags.js'
import type { AppliedCondition, Gap, Invocation, TaskRun } from './task-run.js'

/** What the walk through one play works with. */
export interface Walk {
  readonly state: RunState
  readonly compiler: Compiler
  readonly scopes: Scopes
  readonly play: CompiledPlay
  readonly number: number
  readonly hosts: readonly string[]
  /** Whether the host takes part in the play. */
  readonly inPlay: Truth
  readonly tasks: TaskRun[]
  readonly gaps: Gap[]
  readonly roleStarts: (role: Role, scope: Scope) => void
  /** Goes on with what a dynamic include brings in. */
  readonly visit: (compiled: Compiled) => void
  /** Runs the handlers notified so far. */
  readonly flush: () => void
  handlers: Handler[]
  /** Roles of `roles:` and of dependencies that are through, by what makes them equal (rule 86). */
  readonly rolesDone: Set<string>
  /** Why what follows is not run: the play was ended, or the role it stands in already ran. */
  skipping: string | undefined
  /** Whether `skipping` is about a role that already ran. */
  repeats: boolean
  ended: boolean
  /** Conditions of all that follows in the play, or the role that is walked: what may have ended it. */
  open: readonly { readonly ends: 'play' | 'role'; readonly condition: AppliedCondition }[]
}

/** Runs a compiled play on paper, in Ansible's order (rule 81). */
export function walkPlay(walk: Walk): void {
  const { play, scopes } = walk
  walk.handlers = [...handlersIn(play.handlers, scopes.ofFrame)]
  for (const gap of gapsIn(play.handlers)) walk.visit(gap)
  for (const section of [play.preTasks, [...play.roles, ...play.tasks], play.postTasks]) {
    for (const statement of section) walkCompiled(walk, statement)
    flushHandlers(walk)
  }
  for (const handler of walk.handlers) {
    if (!handler.ran) recordUnnotified(walk, handler)
  }
}

function recordUnnotified(walk: Walk, { task, frame }: Handler): void {
  const scope = walk.scopes.ofTask(frame, task, new Map())
  const conditions = conditionsOf(walk, frame, task, scope)
  const decided = {
    conditions,
    runs: conditions.truth,
    invocations: [],
    dependsOnSetFact: readsSetFact(walk, conditions),
  }
  const excluded = 'nothing notifies it'
  record(walk, task, frame, 'handler', {
    ...faceOf(task, frame, scope),
    excluded,
    decided,
    notifiedBy: [],
    onceOn: undefined,
  })
}

/** Runs one compiled statement, and what stands in it, on paper. */
export function walkCompiled(walk: Walk, compiled: Compiled): void {
  switch (compiled.kind) {
    case 'task':
      walkTask(walk, compiled.task, compiled.frame, compiled.part, [])
      break
    case 'block': {
      const before = walk.state.stopped
      for (const part of [compiled.block, compiled.rescue]) {
        for (const statement of part) walkCompiled(walk, statement)
      }
      // Where the block failed, its `always` is still done.
      const { stopped } = walk.state
      walk.state.stopped = before
      for (const statement of compiled.always) walkCompiled(walk, statement)
      walk.state.stopped = stopped ?? walk.state.stopped
      break
    }
    case 'role':
      walkRole(walk, compiled.role, compiled.frame, compiled.body)
      break
    case 'gap': {
      const { says, at, frame } = compiled
      const scope = walk.scopes.ofFrame(frame)
      const conditions = conditionsOf(walk, frame, nothing(at), scope)
      walk.gaps.push({ says, at, via: stepsOf(frame), runs: allOf([walk.inPlay, conditions.truth]) })
      break
    }
  }
}

function walkRole(walk: Walk, role: Role, frame: Frame, body: readonly Compiled[]): void {
  walk.roleStarts(role, walk.scopes.ofFrame(frame))
  const before = walk.skipping
  const { open } = walk
  // Only what `roles:` and dependencies name is run once; imports and includes of roles run every time.
  const counted = frame.parent?.kind === 'play' || frame.parent?.kind === 'role'
  if (counted && walk.rolesDone.has(role.key) && !role.code.allowDuplicates) {
    walk.repeats ||= walk.skipping === undefined
    walk.skipping ??= `role ${role.name} already ran in this play with the same parameters`
  }
  for (const statement of body) walkCompiled(walk, statement)
  if (counted) walk.rolesDone.add(role.key)
  walk.open = walk.open.filter(each => each.ends === 'play' || open.includes(each))
  if (walk.skipping !== before && !walk.ended) {
    walk.skipping = before
    walk.repeats = false
  }
}

/** The conditions of a statement, with what may have ended the play or role before it. */
function conditionsOf(walk: Walk, frame: Frame, task: Task, scope: Scope): Conditions {
  return evaluateConditions(
    frame,
    task,
    scope,
    walk.open.map(({ condition }) => condition),
  )
}

/** Runs the handlers that were notified since they last ran, in the order they are defined (rule 100). */
export function flushHandlers(walk: Walk): void {
  for (const handler of walk.handlers) {
    if (handler.notifiedBy.length === 0) continue
    const { task, frame, notifiedBy, perhaps } = handler
    handler.notifiedBy = []
    handler.perhaps = []
    handler.ran = true
    const before = walk.open
    if (perhaps.length > 0) walk.open = [...before, { ends: 'role', condition: isNotified(task, perhaps) }]
    walkTask(walk, task, frame, 'handler', notifiedBy)
    walk.open = walk.open.filter(each => each.ends === 'play' || before.includes(each))
  }
}

/** Of a handler that is notified by a name that is not known. */
function isNotified({ at }: Task, causes: readonly Cause[]): AppliedCondition {
  const text = 'it is the handler that is notified'
  return { text, at, from: 'task', truth: unknown(causes), remains: text, names: [] }
}

/** What is known of a task: whether and how often it runs, with what. */
interface Decided {
  readonly conditions: Conditions
  readonly items: Items | undefined
  readonly invocations: readonly Invocation[]
  readonly applied: readonly (readonly AppliedCondition[])[]
  readonly runs: Truth
  readonly dependsOnSetFact: boolean
  /** What of it certainly cannot be evaluated, where that is so. */
  readonly fails?: FailedEvaluation | undefined
}

function walkTask(walk: Walk, task: Task, frame: Frame, part: TaskRun['part'], notifiedBy: readonly TaskRun[]): void {
  const tooMuch = walk.state.invocations.exhausted(task.at)
  if (tooMuch !== undefined) {
    if (walk.gaps.at(-1)?.says !== tooMuch)
      walk.gaps.push({ says: tooMuch, at: task.at, via: stepsOf(frame), runs: TRUE })
    return
  }
  const scope = walk.scopes.ofTask(frame, task, new Map())
  const face = faceOf(task, frame, scope)
  const isRunOnce = isOnce(task, frame, scope)
  const senders = walk.inPlay.kind === 'false' ? sendersOf(walk, task, frame, isRunOnce) : []
  const own = senders.length === 0
  const excluded = exclusion(walk, face.tags, part, own)
  // A rescue section is only reached after a failure that may never come.
  const reach: Truth =
    part === 'rescue' ? unknown([{ says: 'runs only after a task of its block failed', at: task.at }]) : TRUE
  // What a delegated task registers belongs to the host that sends it.
  const set = excluded === undefined ? settings[task.module] : undefined
  const [first] = walk.hosts
  const once = isRunOnce || onlyOnce.has(task.module) ? first : undefined
  const runsElsewhere = once !== undefined && once !== walk.state.options.host && own
  const asOwn = (items: ReadonlyMap<string, Value>): Scope =>
    runsElsewhere ? walk.scopes.ofHost(once, frame, task, items) : walk.scopes.ofTask(frame, task, items)
  const { host: self } = walk.state.options
  /** What an invocation sets for this host: of its own tasks, and of those of others that delegate facts to it. */
  const madeBy =
    (by: string): Made =>
    (invocation, inner, itemsKnown) => {
      const truth = allOf([reach, invocation.runs])
      const setting = { walk, task, frame, scope: inner, invocation, truth, itemsKnown, by, once: isRunOnce }
      if (truth.kind !== 'false' && (by === self || ownerOf(setting).host === self)) set?.(setting)
    }
  const decidedBy = (host: string, made: Made): Decided =>
    decide(walk, { task, frame, once }, items => walk.scopes.ofHost(host, frame, task, items), TRUE, made)
  const decided = own
    ? decide(walk, { task, frame, once }, asOwn, walk.inPlay, madeBy(self))
    : together(
        senders.map(host => decidedBy(host, madeBy(host))),
        task,
      )
  walk.state.invocations.spend(Math.max(1, decided.invocations.length))
  const runs = excluded === undefined ? decided.runs : FALSE
  const others = excluded === undefined && own && once === undefined ? sendersOf(walk, task, frame, isRunOnce) : []
  const shown = withSent(
    decided,
    others.map(host => ({ host, decided: decidedBy(host, madeBy(host)) })),
  )
  const onceOn = runsElsewhere ? once : undefined
  const isSure = own && !runsElsewhere && excluded === undefined && walk.inPlay.kind === 'true'
  // Behind a check that stops the run, what it asks to be mended may be why.
  const isStopped = walk.state.checks.some(({ outcome }) => outcome === 'stops')
  const isReached = isSure && reach.kind === 'true' && part !== 'handler' && !isStopped
  const fails = isReached && decided.fails && !isPerhapsTaken(walk, task, frame) ? decided.fails : undefined
  const given = { ...face, excluded, decided: shown, notifiedBy, onceOn }
  const undone = fails === undefined || fails.isLater ? undefined : `it fails: ${fails.says}`
  const run = record(walk, task, frame, part, undone === undefined ? given : { ...given, excluded: undone })
  const reached = allOf([runs, reach])
  if (fails !== undefined) stopAtEvaluation(walk, run, fails)
  // What add_host makes is there for all plays, also where this host has no part in making it.
  const isAway = task.module === 'ansible.builtin.add_host' && walk.inPlay.kind === 'false'
  const away = isAway && first !== undefined && exclusion(walk, face.tags, part, false) === undefined
  const acting = away ? decidedBy(first, () => {}) : decided
  const { invocations, applied } = acting
  const itemsKnown = acting.items?.kind !== 'unknown'
  const runsHere = away ? allOf([acting.runs, reach]) : reached
  // What an include brings in is run by the host that includes it.
  if (!(runsElsewhere && includes.has(task.module))) {
    actions[task.module]?.({ walk, task, frame, part, run, scope, runs: runsHere, invocations, applied, itemsKnown })
  }
  // What is registered, and whether the task fails, is what the host says at this moment.
  const isAnswered = own && !runsElsewhere && excluded === undefined && reached.kind !== 'false'
  const answers = isAnswered ? answersOf(walk, task, frame, decided) : []
  if (isAnswered) gatherFacts(walk, task, reached, answers)
  const registered = task.keywords.get('register')?.value
  if (
    registered?.kind === 'scalar' &&
    typeof registered.data === 'string' &&
    excluded === undefined &&
    own &&
    (!runsElsewhere || isRunOnce) &&
    isLoaded(frame)
  ) {
    const { facts: given, host } = walk.state.options
    const facts = given.get(host) ?? given.get('*')
    const name = registered.data
    const conditions = decided.conditions.applied
    const { items } = decided
    const { invocations, applied } = decided
    const finals = answers.map(answer => answer?.final)
    const entry = registeredEntry({
      task,
      name,
      runs: reached,
      conditions,
      invocations,
      applied,
      items,
      facts,
      answers: finals,
    })
    walk.state.store.set(name, isRunOnce ? { ...entry, everyHost: true } : entry)
  }
  if (own && fails === undefined) {
    const judged = { walk, task, frame, part, run, scope, runs: runsHere, invocations, applied, itemsKnown }
    resultCheck(judged, answers)
  }
  if (runs.kind !== 'false' && !runsElsewhere && !neverChanges(task))
    notify(walk.handlers, notifiedNames(task, frame, scope), run)
  walk.state.options.hostView?.ran(run)
}

/** What the host answers to each execution of a task. */
function answersOf(
  walk: Walk,
  task: Task,
  frame: Frame,
  { invocations, items }: Decided,
): readonly (AnsweredResult | undefined)[] {
  if (walk.state.options.hostView === undefined) return []
  const all = items?.kind === 'known' ? items.items : undefined
  return invocations.map((invocation, index) => {
    const { item } = invocation
    const bound = item === undefined ? new Map<string, Value>() : bindItem(task, item, index, all)
    return answeredResult({ walk, task, frame, invocation, bound })
  })
}

/** Facts that an answered task gathers (`service_facts`) are the host's from then on. */
function gatherFacts(walk: Walk, task: Task, reached: Truth, answers: readonly (AnsweredResult | undefined)[]): void {
  for (const answer of answers) {
    const facts = answer === undefined ? undefined : memberOf(answer.final, 'ansible_facts')
    if (facts?.kind !== 'known' || !(facts.data instanceof Map)) continue
    const { state } = walk
    const says = `whether "${task.name ?? task.action}" gathers it is not known`
    const gathered = [...facts.data].map(([name, value]): [string, Value] => [
      String(name),
      reached.kind === 'true' ? value : unknown([{ says, at: task.at }]),
    ])
    state.gathered = new Map([...state.gathered, ...gathered])
    for (const name of ['ansible_facts', 'hostvars', ...gathered.map(([each]) => each)]) state.changes.note(name)
  }
}

/** Modules that Ansible runs for the first host of a play only, whatever `run_once` says. */
const onlyOnce: ReadonlySet<string> = new Set(['ansible.builtin.add_host', 'ansible.builtin.pause'])

const includes: ReadonlySet<string> = new Set(
  ['include', 'include_tasks', 'include_role'].map(name => `ansible.builtin.${name}`),
)

function isOnce(task: Task, frame: Frame, scope: Scope): boolean {
  const once = inheritedKeyword(frame, task, 'run_once')
  return once !== undefined && isTrue(evaluateNode(once, scope))
}

/** A task behind an include that is certainly skipped is never seen by Ansible: it registers nothing. */
function isLoaded(frame: Frame): boolean {
  return !chainOf(frame).some(({ include }) => include?.conditions.some(({ truth }) => truth.kind === 'false'))
}

/** The same task as several hosts send it. */
function together(all: readonly Decided[], task: Task): Decided {
  const shown = all.find(({ runs }) => runs.kind !== 'false') ?? all[0]
  if (shown === undefined) throw new Error(`nobody delegates ${task.action}`)
  return {
    ...shown,
    invocations: all.flatMap(({ invocations }) => invocations),
    applied: all.flatMap(({ applied }) => applied),
    runs: anyOf(all.map(({ runs }) => runs)),
  }
}

/** What a host decided, with what others of its play delegate to it. */
function withSent(own: Decided, sent: readonly { readonly host: string; readonly decided: Decided }[]): Decided {
  const isOpen = (invocation: Invocation): boolean => invocation.delegateTo?.kind === 'unknown'
  // Where it is not known whom a task is delegated to, its own invocation already stands for that.
  const leaveOpen = own.invocations.some(isOpen)
  const arrived = sent.flatMap(({ host, decided }) =>
    decided.invocations.flatMap((invocation, index) => {
      if (invocation.runs.kind === 'false') return []
      if (invocation.delegateTo !== undefined && (leaveOpen || !isOpen(invocation))) return []
      return [{ decided, applied: decided.applied[index] ?? [], invocation: { ...invocation, sentBy: host } }]
    }),
  )
  const [first] = arrived
  if (first === undefined) return own
  return {
    ...(own.runs.kind === 'false' ? first.decided : own),
    invocations: [...own.invocations, ...arrived.map(({ invocation }) => invocation)],
    applied: [...own.applied, ...arrived.map(({ applied }) => applied)],
    runs: anyOf([own.runs, ...arrived.map(({ invocation }) => invocation.runs)]),
  }
}

function exclusion(walk: Walk, tags: readonly string[], part: TaskRun['part'], own: boolean): string | undefined {
  if (walk.inPlay.kind === 'false' && own) return `${walk.state.options.host} is not among the hosts of the play`
  if (walk.skipping !== undefined) return walk.skipping
  if (walk.state.stopped !== undefined && own) return walk.state.stopped
  // A handler that is notified runs whatever its tags.
  if (part === 'handler') return undefined
  return leftOutByTags(tags, walk.state.options.tags, walk.state.options.skipTags)
}

/** Is told of each invocation. */
type Made = (invocation: Invocation, scope: Scope, itemsKnown: boolean) => void

/**
 * Decides a task, item by item where it has a loop. `made` is told of each invocation before the next item is looked at, so
 * that what it sets is seen there.
 */
function decide(
  walk: Walk,
  { task, frame, once }: { readonly task: Task; readonly frame: Frame; readonly once: string | undefined },
  scopeOf: (items: ReadonlyMap<string, Value>) => Scope,
  inPlay: Truth,
  made: Made,
): Decided {
  const scope = scopeOf(new Map())
  const conditions = conditionsOf(walk, frame, task, scope)
  const dependsOnSetFact = readsSetFact(walk, conditions)
  if (conditions.truth.kind === 'false') {
    // Its items are only looked at for the result, where each of them is skipped.
    const items = task.keywords.has('register') ? evaluateLoop(task, frame, scope, walk.state) : undefined
    const fails = task.loop === undefined ? failedEvaluation(task, undefined, [], [conditions]) : undefined
    return { conditions, items, invocations: [], applied: [], runs: FALSE, dependsOnSetFact, fails }
  }
  const execution = { state: walk.state, once, task, frame }
  const items = evaluateLoop(task, frame, scope, walk.state)
  if (items === undefined) {
    const runs = allOf([inPlay, conditions.truth])
    const invocations = invocationsOf({ ...execution, ...conditions, scope, runs })
    for (const invocation of invocations) made(invocation, scope, true)
    const applied = invocations.map(() => conditions.applied)
    const executions = invocations.map(invocation => ({ applied: conditions.applied, invocation }))
    const fails = failedEvaluation(task, items, conditions.applied, executions)
    return { conditions, items, invocations, applied, runs, dependsOnSetFact, fails }
  }
  const itemsKnown = items.kind === 'known'
  const single = itemsKnown ? items.items : [items.item]
  const some: Truth = itemsKnown ? TRUE : unknown(items.causes)
  const rows = single.flatMap((item, index) => {
    const inner = scopeOf(bindItem(task, item, index, itemsKnown ? single : undefined))
    const own = conditionsOf(walk, frame, task, inner)
    const dependent = readsSetFact(walk, own)
    const runs = allOf([inPlay, own.truth, some])
    const invocations = invocationsOf({ ...execution, ...own, scope: inner, runs, item })
    for (const invocation of invocations) made(invocation, inner, itemsKnown)
    return invocations.map(invocation => ({ own, invocation, dependent }))
  })
  // How many items there are decides what is done, not whether the conditions hold.
  const truths = rows.length === 0 ? [conditions.truth] : rows.map(row => row.own.truth)
  const runs = allOf([inPlay, anyOf(truths)])
  const shown = rows.find(row => row.own.truth.kind === runs.kind) ??
    rows[0] ?? { own: conditions, dependent: dependsOnSetFact }
  const executions = rows.map(({ own: { applied }, invocation }) => ({ applied, invocation }))
  return {
    fails: failedEvaluation(task, items, conditions.applied, executions),
    conditions: shown.own,
    items,
    invocations: rows.map(row => row.invocation),
    applied: rows.map(row => row.own.applied),
    runs,
    dependsOnSetFact: shown.dependent,
  }
}

/** What a task shows of itself before anything of it is done. */
interface Face {
  readonly name: string
  readonly tags: readonly string[]
  readonly failureIgnored: Truth
}

function faceOf(task: Task, frame: Frame, scope: Scope): Face {
  return {
    name: nameOf(task, scope),
    tags: tagsOf(frame, task, scope),
    failureIgnored: failureIgnored(task, frame, scope),
  }
}

interface Recorded extends Face {
  readonly excluded: string | undefined
  readonly decided: Pick<Decided, 'conditions' | 'runs' | 'invocations' | 'dependsOnSetFact'>
  readonly notifiedBy: readonly TaskRun[]
  readonly onceOn: string | undefined
}

function record(walk: Walk, task: Task, frame: Frame, part: TaskRun['part'], what: Recorded): TaskRun {
  const { name, tags, decided, excluded } = what
  const { conditions, runs: ownRuns } = decided
  const run: TaskRun = {
    order: walk.tasks.length,
    task,
    name,
    play: walk.number,
    playName: walk.play.play.name ?? '',
    role: frame.role?.code.path,
    roleName: frame.role?.name,
    part,
    tags,
    via: stepsOf(frame),
    includedBy: includeOf(frame)?.directives.at,
    runs: excluded === undefined ? ownRuns : FALSE,
    conditions: conditions.applied,
    remains: excluded === undefined && ownRuns.kind === 'unknown' ? conditions.remains : null,
    excluded,
    holds: ownRuns,
    alreadyRan: walk.repeats,
    leftOutByTags: leftOutByTags(tags, walk.state.options.tags, walk.state.options.skipTags) !== undefined,
    dependsOnSetFact: decided.dependsOnSetFact,
    invocations: excluded === undefined ? decided.invocations : [],
    onceOn: what.onceOn,
    notifiedBy: what.notifiedBy,
    failureIgnored: what.failureIgnored,
  }
  walk.tasks.push(run)
  return run
}

function readsSetFact(walk: Walk, { reads }: Conditions): boolean {
  for (const name of reads) {
    if (walk.state.store.entries(name).some(({ origin }) => origin === 'set_fact')) return true
  }
  return false
}

function nameOf(task: Task, scope: Scope): string {
  if (task.name === undefined) return task.action
  const value = scope.template(task.name, task.at)
  return value.kind === 'known' && typeof value.data === 'string' ? value.data : task.name
}

/** `ignore_errors` of the task or what it stands in, or a `failed_when` that never fails. */
function failureIgnored(task: Task, frame: Frame, scope: Scope): Truth {
  const ignore = inheritedKeyword(frame, task, 'ignore_errors')
  const ignored = ignore === undefined ? FALSE : evaluateWhen(ignore, 'task', scope).truth
  const failed = task.keywords.get('failed_when')?.value
  const never = failed?.kind === 'scalar' && failed.data === false ? TRUE : FALSE
  return anyOf([ignored, never])
}

/** A statement without keywords, for asking what the frames around a place say. */
function nothing(at: Span): Task {
  return {
    kind: 'task',
    name: undefined,
    when: [],
    tags: [],
    vars: [],
    keywords: new Map(),
    at,
    action: '',
    module: '',
    arguments: { named: new Map(), raw: undefined, template: undefined },
    loop: undefined,
  }
}
