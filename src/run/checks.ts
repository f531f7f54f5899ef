import type { Task } from '../ansible/statement.js'
import { evaluateCondition } from '../jinja/condition.js'
import { strOf } from '../jinja/python.js'
import { FALSE, TRUE, type Truth, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import { storedValue } from '../variables/stored.js'
import type { Node } from '../yaml/node.js'
import { type Action, effective, itemsOf } from './action.js'
import { type AnsweredResult, memberOf } from './answered.js'
import { allOf, evaluateWhen, failingCondition, withPlaces } from './conditions.js'
import { chainOf } from './frame.js'
import { bindItem } from './loops.js'
import { answeredValue, resultOf } from './results.js'
import { looksAtNothing, stopAt } from './stops.js'
import type { AppliedCondition, Check, CheckedItem, Invocation, LookedAt } from './task-run.js'

/** `assert`: what it says of each of its conditions, item by item where it has a loop. */
export function assertCheck(action: Action): void {
  const { walk, task, frame, run, invocations } = action
  const failed: Asked[] = []
  const open: AppliedCondition[] = []
  const items: CheckedItem[] = []
  const hints = new Set<string>()
  for (const [index, invocation] of invocations.entries()) {
    const runs = effective(action, invocation)
    const { item } = invocation
    const ofItem = item === undefined ? {} : { item }
    if (runs.kind === 'false') {
      items.push({ ...ofItem, outcome: 'skipped', asked: action.applied[index] ?? [] })
      continue
    }
    const scope =
      item === undefined ? action.scope : walk.scopes.ofTask(frame, task, bindItem(task, item, index, itemsOf(action)))
    const asked: AppliedCondition[] = []
    let outcome: CheckedItem['outcome'] = 'passes'
    for (const condition of conditionsOf(action, scope)) {
      asked.push(condition)
      if (condition.truth.kind === 'true') continue
      const decided = condition.truth.kind === 'false' || condition.isError
      // Behind one that is open, the first that fails decides all the same.
      outcome = decided && runs.kind === 'true' ? 'stops' : 'unknown'
      if (decided && runs.kind === 'true') failed.push(condition)
      else open.push(condition)
      if (!decided) continue
      for (const hint of hintsFor(condition, task, scope)) hints.add(hint)
      break
    }
    items.push({ ...ofItem, outcome, asked })
  }
  record(action, {
    kind: 'assert',
    items,
    task: run,
    outcome: outcomeOf(action, failed.length > 0 ? 'true' : open.length > 0 ? 'unknown' : 'false'),
    conditions: failed.length > 0 ? failed : open,
    message: messageOf(action, ['fail_msg', 'msg']),
    final: failed.some(({ isError }) => isError) || (looksAtNothing(failed) && looksAtNothing(action.run.conditions)),
    hints: [...hints],
  })
}

/** `fail`: it stops the run wherever the run gets there. */
export function failCheck(action: Action): void {
  const outcome = outcomeOf(action, 'true')
  const message = messageOf(action, ['msg'])
  const final = looksAtNothing(action.run.conditions)
  const items = action.invocations.map((invocation, index): CheckedItem => {
    const { kind } = effective(action, invocation)
    return {
      ...(invocation.item === undefined ? {} : { item: invocation.item }),
      outcome: kind === 'true' ? 'stops' : kind === 'false' ? 'skipped' : 'unknown',
      asked: action.applied[index] ?? [],
    }
  })
  record(action, { kind: 'fail', task: action.run, outcome, conditions: [], items, message, final, hints: [] })
}

/**
 * A task that only looks and fails the run by what it finds: `failed_when` over its result, or a command whose result is not
 * registered, so that all it can do is to fail. `failed_when` that is certainly true counts for every task, and so does what
 * the host answers (`answers`, one for each invocation). Not told: what `until` waits for, and commands whose result is
 * looked at later.
 */
export function resultCheck(action: Action, answers: readonly (AnsweredResult | undefined)[] = []): void {
  const { task, run } = action
  if (notByResult.has(task.module)) return
  const judge = task.keywords.get('failed_when')?.value
  if (judge === undefined) {
    const changed = task.keywords.get('changed_when')?.value
    const saysSo = commands.has(task.module) && changed?.kind === 'scalar' && changed.data === false
    const isAlone = !['register', 'until', 'notify', 'async'].some(name => task.keywords.has(name))
    const isTold = (saysSo && isAlone) || answers.some(answer => answer?.failed.kind === 'true')
    if (isTold && run.failureIgnored.kind !== 'true') statusCheck(action, answers, saysSo && isAlone)
    return
  }
  if (judge.kind === 'scalar' && judge.data === false) return
  const items = action.invocations.map((invocation, index) =>
    judgedItem(action, judge, invocation, index, answers[index]),
  )
  const worst = items.find(({ outcome }) => outcome === 'stops') ?? items.find(({ outcome }) => outcome === 'unknown')
  const outcome = outcomeOf(action, worst === undefined ? 'false' : worst.outcome === 'stops' ? 'true' : 'unknown')
  // What a module that does something fails at is no check; only where it is certain to fail that is told.
  if (outcome !== 'stops' && (!mayOnlyLook(action) || run.failureIgnored.kind === 'true')) return
  if (outcome === 'passes' && task.keywords.has('until')) return
  const conditions = (worst?.asked ?? []).filter(({ truth }) => worst?.outcome === 'stops' || truth.kind !== 'true')
  record(action, {
    kind: 'failed_when',
    task: run,
    outcome,
    conditions,
    items,
    message: run.name === '' ? undefined : run.name,
    final: looksAtNothing(conditions) && looksAtNothing(run.conditions),
    hints: [],
  })
}

/** These fail by what they ask, not by a result; what an include brings in is judged by itself. */
const notByResult: ReadonlySet<string> = new Set(
  ['assert', 'fail', 'meta', 'include', 'include_tasks', 'include_role'].map(name => `ansible.builtin.${name}`),
)

const commands: ReadonlySet<string> = new Set(['command', 'shell', 'raw'].map(name => `ansible.builtin.${name}`))

/** Modules that change nothing. */
const looking: ReadonlySet<string> = new Set(
  ['stat', 'slurp', 'find', 'getent', 'service_facts', 'package_facts', 'wait_for'].map(
    name => `ansible.builtin.${name}`,
  ),
)

/** Whether a task may be one that changes nothing; of a command its program decides, which is told later. */
function mayOnlyLook({ task, invocations }: Action): boolean {
  if (looking.has(task.module) || commands.has(task.module)) return true
  if (task.module !== 'ansible.builtin.uri') return false
  return invocations.every(({ arguments: given }) => {
    const method = given.get('method')
    return method === undefined || (method.kind === 'known' && /^(?:get|head)$/i.test(String(method.data)))
  })
}

/** `failed_when` for one execution: its result goes by the name it is registered as, and all conditions together decide. */
function judgedItem(
  action: Action,
  judge: Node,
  invocation: Invocation,
  index: number,
  answer: AnsweredResult | undefined,
): CheckedItem {
  const { walk, task, frame } = action
  const { item } = invocation
  const ofItem = item === undefined ? {} : { item }
  const runs = effective(action, invocation)
  if (runs.kind === 'false') return { ...ofItem, outcome: 'skipped', asked: action.applied[index] ?? [] }
  const bound = new Map(item === undefined ? [] : bindItem(task, item, index, itemsOf(action)))
  const name = task.keywords.get('register')?.value
  const registered = name?.kind === 'scalar' && typeof name.data === 'string' ? name.data : undefined
  if (registered !== undefined) {
    const result =
      answer === undefined
        ? resultOf(task, registered, item, undefined)
        : answeredValue(task, registered, item, answer.looked)
    bound.set(registered, storedValue(result))
  }
  const scope = walk.scopes.ofTask(frame, task, bound)
  const asked: AppliedCondition[] = []
  for (const node of judge.kind === 'list' ? judge.items : [judge]) {
    const condition = evaluateWhen(node, 'task', scope)
    asked.push({ ...condition, names: condition.names.map(each => asRegistered(each, registered, task)) })
    if (condition.truth.kind === 'false' || condition.fails) break
  }
  const fails = allOf(asked.map(({ truth }) => truth))
  if (fails.kind === 'false') return { ...ofItem, outcome: 'passes', asked }
  const isCertain = fails.kind === 'true' || failingCondition(asked) !== undefined
  return { ...ofItem, outcome: isCertain && runs.kind === 'true' ? 'stops' : 'unknown', asked }
}

/** A result is no item of a loop, though it is bound like one. */
function asRegistered(looked: LookedAt, registered: string | undefined, { at }: Task): LookedAt {
  const isResult = registered !== undefined && /^\w+/.exec(looked.name)?.[0] === registered
  return isResult ? { ...looked, from: [{ origin: 'registered vars', at }] } : looked
}

/**
 * A task that only looks, and fails by what it finds: a command whose exit status is all it is run for (`isAlone`), or one
 * of which the host says that it fails.
 */
function statusCheck(action: Action, answers: readonly (AnsweredResult | undefined)[], isAlone: boolean): void {
  const { task, run } = action
  const items = action.invocations.map((invocation, index): CheckedItem => {
    const ofItem = invocation.item === undefined ? {} : { item: invocation.item }
    const runs = effective(action, invocation)
    if (runs.kind === 'false') return { ...ofItem, outcome: 'skipped', asked: action.applied[index] ?? [] }
    const answer = answers[index]
    const text = deedOf(invocation, task)
    const open = unknown([{ says: `whether ${text} succeeds on the host`, at: task.at }])
    const failed: Truth = answer?.failed ?? open
    const truth = failed.kind === 'unknown' ? failed : failed.kind === 'true' ? FALSE : TRUE
    const asked: AppliedCondition = {
      text: `${text} succeeds`,
      at: task.at,
      from: 'task',
      truth,
      remains: truth.kind === 'unknown' ? `${text} succeeds` : null,
      names: answer === undefined ? [] : foundBy(answer, task),
    }
    const outcome =
      truth.kind === 'true' ? 'passes' : truth.kind === 'false' && runs.kind === 'true' ? 'stops' : 'unknown'
    return { ...ofItem, outcome, asked: [asked] }
  })
  const failing = items.filter(({ outcome }) => outcome === 'stops')
  const open = items.filter(({ outcome }) => outcome === 'unknown')
  const outcome = outcomeOf(action, failing.length > 0 ? 'true' : open.length > 0 ? 'unknown' : 'false')
  // What something takes the failure of, and what is looked at later, is told only where it is all the task is for.
  if (!isAlone && outcome !== 'stops') return
  record(action, {
    kind: 'command',
    task: run,
    outcome,
    conditions: (failing.length > 0 ? failing : open).flatMap(({ asked }) => asked),
    items,
    message: run.name === '' ? undefined : run.name,
    final: false,
    hints: [],
  })
}

/** What a task does, for people: its command line, or its module with what that looks at. */
function deedOf({ raw, arguments: given }: Invocation, { module }: Task): string {
  const line = raw ?? given.get('cmd')
  if (commands.has(module)) return line?.kind === 'known' ? `\`${strOf(line.data)}\`` : 'the command'
  const path = given.get('src') ?? given.get('path') ?? given.get('name')
  const name = module.replace(/^ansible\.builtin\./, '')
  return path?.kind === 'known' ? `\`${name}\` of ${strOf(path.data)}` : `\`${name}\``
}

/** What an answered task found that decides whether it failed. */
function foundBy({ final }: AnsweredResult, { keywords, at }: Task): readonly LookedAt[] {
  const register = keywords.get('register')?.value
  const prefix = register?.kind === 'scalar' && typeof register.data === 'string' ? `${register.data}.` : ''
  const name = ['rc', 'msg'].find(each => memberOf(final, each)?.kind === 'known')
  const value = name === undefined ? undefined : memberOf(final, name)
  if (name === undefined || value === undefined) return []
  return [{ name: `${prefix}${name}`, value, from: [{ origin: 'registered vars', at }] }]
}

function record({ walk, run, part }: Action, check: Check): void {
  const isFinal = check.final && check.outcome === 'stops'
  walk.state.checks.push({ ...check, final: isFinal })
  if (isFinal && part !== 'handler' && run.onceOn === undefined && walk.inPlay.kind === 'true') stopAt(walk, run)
}

function outcomeOf(action: Action, stops: 'true' | 'false' | 'unknown'): Check['outcome'] {
  const { run, runs } = action
  if (runs.kind === 'false') return 'skipped'
  if (stops === 'false' || run.failureIgnored.kind === 'true' || isRescued(action)) return 'passes'
  return stops === 'true' && runs.kind === 'true' && run.failureIgnored.kind === 'false' ? 'stops' : 'unknown'
}

/** Whether a block around the task has a `rescue` that takes its failure. */
function isRescued({ frame, part }: Action): boolean {
  if (part !== 'block') return false
  return chainOf(frame).some(
    ({ kind, directives }) => kind === 'block' && 'rescue' in directives && (directives.rescue as unknown[]).length > 0,
  )
}

/** One condition of `that`. Where evaluating it is an error the task fails too. */
interface Asked extends AppliedCondition {
  readonly isError: boolean
}

/** The conditions of `that`: a list of texts, or one. What holds a template is templated first, as any argument. */
function conditionsOf({ task }: Action, scope: Scope): readonly Asked[] {
  const node = task.arguments.named.get('that')
  if (node === undefined) return []
  const items = node.kind === 'list' ? node.items : [node]
  return items.flatMap(item => {
    const value = evaluateNode(item, scope)
    const members = value.kind === 'known' && Array.isArray(value.data) ? (value.data as readonly Value[]) : [value]
    return members.map(member => conditionOf(member, item.kind === 'scalar' ? item.data : '', item.span, scope))
  })
}

function conditionOf(value: Value, written: unknown, at: Span, scope: Scope): Asked {
  const shown = { at, from: 'task', remains: null, names: [], isError: false } as const
  const text = String(written ?? '')
  if (value.kind === 'known') {
    const { data } = value
    if (typeof data === 'boolean') return { ...shown, text, truth: data ? TRUE : FALSE }
    if (typeof data === 'string' || typeof data === 'bigint') {
      const { truth, remains, names, failure } = evaluateCondition(strOf(data), at, scope)
      const looked = withPlaces(names, scope)
      return { ...shown, text: strOf(data), truth, remains, names: looked, isError: failure !== undefined }
    }
  }
  if (value.kind === 'failure' || value.kind === 'undefined') {
    const causes = [{ says: `evaluation fails: ${value.says}`, at, unread: true as const }]
    return { ...shown, text, truth: unknown(causes), isError: true }
  }
  const causes = value.kind === 'unknown' ? value.causes : [{ says: 'what it asks is not known', at }]
  return { ...shown, text, truth: unknown(causes) }
}

/** `true`, `no`, `12`: what people who write `-e NAME=…` mean as a boolean or number, and Ansible takes as text. */
const typed = /^(?:true|false|yes|no|on|off|-?\d+(?:\.\d+)?)$/i

/** What to write instead where a condition, or the item it is about, rests on `-e NAME=true`: its value is a text. */
function hintsFor({ text, at, names }: AppliedCondition, { loop }: Task, scope: Scope): readonly string[] {
  const { reads } = scope.withReads(() => {
    evaluateCondition(text, at, scope)
    if (loop !== undefined) evaluateNode(loop.terms, scope)
  })
  return [...reads].flatMap(name => {
    const { winner, value } = scope.resolve(name)
    if (winner?.origin !== 'extra vars' || value.kind !== 'known' || typeof value.data !== 'string') return []
    const { data } = value
    const isAsked = loop === undefined || names.some(each => each.value.kind === 'known' && each.value.data === data)
    return isAsked ? (typedHint(name, data, winner.at) ?? []) : []
  })
}

/** The hint for one variable of `-e`; undefined where its text is one on purpose. */
export function typedHint(name: string, text: string, at: Span): string | undefined {
  if (at.file.path !== '-e' || /^\s*[{[]/.test(at.file.text) || !typed.test(text)) return undefined
  const meant = /^(?:true|yes|on)$/i.test(text) ? 'true' : /^(?:false|no|off)$/i.test(text) ? 'false' : text
  return `-e ${name}=${text} gives the text '${text}'; use -e '{"${name}": ${meant}}'`
}

function messageOf({ run, invocations }: Action, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = invocations[0]?.arguments.get(name)
    if (value?.kind === 'known' && typeof value.data === 'string') return value.data.trim()
  }
  return run.name === '' ? undefined : run.name
}
