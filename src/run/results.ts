import type { Task } from '../ansible/statement.js'
import { type Cause, type Dict, type Key, known, type Truth, unknown, type Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import type { Entry } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import type { Answered } from './host-view.js'
import { debugResult, knownResult } from './known-results.js'
import { type Items, loopVariable } from './loops.js'
import type { AppliedCondition, Invocation } from './task-run.js'

/** What `register` stores for a task that was skipped (rule 103); Ansible names the condition from 2.16 on. */
function skipped(conditions: readonly AppliedCondition[]): Value {
  const members: [Key, Value][] = [
    ['changed', known(false)],
    ['skipped', known(true)],
    ['skip_reason', known('Conditional result was False')],
  ]
  const failed = conditions.find(({ truth }) => truth.kind !== 'true')
  if (failed?.truth.kind === 'false') members.push(['false_condition', asWritten(failed)])
  if (failed?.truth.kind === 'unknown') {
    const says = 'which condition is false is not known'
    members.push(['false_condition', unknown([{ says, at: failed.at }])])
  }
  return known(new Map(members))
}

/** `when: false` is a boolean in the result too. */
function asWritten({ text, names }: AppliedCondition): Value {
  return known(text === 'false' && names.length === 0 ? false : text)
}

/**
 * The result of one execution: not known before the run, but for what the task itself says of it (its item, and that it
 * was not skipped).
 */
export function resultOf(
  task: Task,
  name: string,
  item: Value | undefined,
  facts: ReadonlyMap<string, Value> | undefined,
): Value {
  const says = `${name} is the result of "${task.name ?? task.action}" (${placeOf(task.at)})`
  const notSkipped: Value = {
    kind: 'undefined',
    says: `${name} has no 'skipped': the task was not skipped`,
    at: task.at,
  }
  // A module that cannot tell what it would do says that it was skipped.
  const isRun = isSwitchedOff(task.keywords.get('check_mode')?.value)
  const fields = new Map<string, Value>([
    ...(isRun ? [['skipped', notSkipped] as const] : []),
    ...judgedBeforehand(task),
    ...(facts ?? []),
  ])
  if (item !== undefined) fields.set(loopVariable(task), item).set('ansible_loop_var', known(loopVariable(task)))
  const causes: Cause[] = [{ says, at: task.at, name }]
  return { kind: 'unknown', causes, fields }
}

/** Whether a keyword is not there, or says no. */
function isSwitchedOff(node: Node | undefined): boolean {
  return node === undefined || (node.kind === 'scalar' && node.data === false)
}

/** What the task itself says of its result, whatever it did: `changed_when: false`, `failed_when: false`. */
function judgedBeforehand(task: Task): readonly (readonly [string, Value])[] {
  return (['changed', 'failed'] as const).flatMap(name => {
    const judge = task.keywords.get(`${name}_when`)?.value
    const isSaid = judge?.kind === 'scalar' && typeof judge.data === 'boolean'
    return isSaid ? [[name, known(judge.data)] as const] : []
  })
}

/** The value of a result as the host answered it, under the name it is registered as. */
export function answeredValue(task: Task, name: string, item: Value | undefined, answer: Answered): Value {
  if (answer.kind === 'whole') return withItem(answer.value, task, item)
  const fields = new Map([...answer.fields].map(([key, value]) => [key, underName(value, `${name}.${key}`)] as const))
  return resultOf(task, name, item, fields)
}

/** What is not known of a result goes by the path that leads to it, so that it can be asked for. */
function underName(value: Value, name: string): Value {
  if (value.kind !== 'unknown') return value
  const causes = value.causes.map(cause => (cause.name === undefined ? { ...cause, name } : cause))
  if (value.fields === undefined) return { ...value, causes }
  const fields = new Map([...value.fields].map(([key, member]) => [key, underName(member, `${name}.${key}`)] as const))
  return { ...value, causes, fields }
}

/** A task that registers its result, as it was decided. */
export interface Registration {
  readonly task: Task
  readonly name: string
  readonly runs: Truth
  readonly conditions: readonly AppliedCondition[]
  readonly invocations: readonly Invocation[]
  /** The conditions of each invocation. */
  readonly applied: readonly (readonly AppliedCondition[])[]
  readonly items: Items | undefined
  readonly facts: Dict | undefined
  /** What the host answers to each invocation. */
  readonly answers: readonly (Answered | undefined)[]
}

/** The entry `register: name` makes. */
export function registeredEntry(registration: Registration): Entry {
  const { task } = registration
  const value = task.loop === undefined ? single(registration) : looped(registration)
  return { origin: 'registered vars', at: task.at, content: { value } }
}

function single({ task, name, runs, conditions, invocations, facts, answers }: Registration): Value {
  if (runs.kind === 'false') return skipped(conditions)
  const [only] = invocations
  const [answer] = answers
  const result =
    (only && debugResult(task, only)) ??
    (answer && invocations.length === 1 ? answeredValue(task, name, undefined, answer) : undefined) ??
    resultOf(task, name, undefined, only && knownResult(task, only, facts))
  return runs.kind === 'true' ? result : either(result, skipped(conditions), runs.causes)
}

function looped({ task, name, runs, conditions, invocations, applied, items, answers }: Registration): Value {
  const itemsKnown = items?.kind !== 'unknown'
  const says = `${name} holds the results of "${task.name ?? task.action}" (${placeOf(task.at)})`
  const causes: Cause[] = [{ says, at: task.at, name }]
  if (runs.kind === 'false' && items !== undefined) {
    if (items.kind === 'unknown') return skippedLoop({ kind: 'unknown', causes })
    if (items.items.length > 0 && invocations.length === 0) {
      return skippedLoop(known(items.items.map(item => withItem(skipped(conditions), task, item))))
    }
  }
  if (itemsKnown && invocations.length === 0 && runs.kind !== 'unknown') return emptyLoop()
  if (!itemsKnown) return { kind: 'unknown', causes }
  const results = invocations.map((invocation, index) => {
    const { item, runs: itemRuns } = invocation
    const said = debugResult(task, invocation)
    const answer = answers[index]
    const path = `${name}.results.${index}`
    const own =
      said !== undefined
        ? withItem(said, task, item)
        : answer === undefined
          ? resultOf(task, path, item, undefined)
          : answeredValue(task, path, item, answer)
    if (itemRuns.kind === 'true') return own
    const skip = withItem(skipped(applied[index] ?? []), task, item)
    return itemRuns.kind === 'false' ? skip : either(own, skip, itemRuns.causes)
  })
  const kinds = new Set(invocations.map(({ runs: itemRuns }) => itemRuns.kind))
  if (kinds.size === 1 && kinds.has('false')) return skippedLoop(known(results))
  const fields = new Map<string, Value>([['results', known(results)]])
  if (kinds.has('true')) fields.set('skipped', known(false))
  for (const [flag, value] of flagsOfAll(registrationFlags(invocations, answers), task)) fields.set(flag, value)
  return { kind: 'unknown', causes, fields }
}

/** The flags of each item that is not skipped; undefined where one of them is not answered. */
function registrationFlags(
  invocations: readonly Invocation[],
  answers: readonly (Answered | undefined)[],
): readonly ReadonlyMap<string, Value>[] | undefined {
  const flags: ReadonlyMap<string, Value>[] = []
  for (const [index, { runs }] of invocations.entries()) {
    if (runs.kind === 'false') continue
    const answer = answers[index]
    if (runs.kind !== 'true' || answer?.kind !== 'fields') return undefined
    flags.push(answer.fields)
  }
  return flags.length === 0 ? undefined : flags
}

/** `changed` and `failed` of a loop: as soon as one item is; one that never failed has no `failed` as a whole. */
function flagsOfAll(
  all: readonly ReadonlyMap<string, Value>[] | undefined,
  { at }: Task,
): readonly (readonly [string, Value])[] {
  if (all === undefined) return []
  return ['changed', 'failed'].flatMap(flag => {
    const each = all.map(fields => fields.get(flag))
    if (each.some(value => value?.kind === 'known' && value.data === true)) return [[flag, known(true)] as const]
    if (!each.every(value => value?.kind === 'known' && value.data === false)) return []
    const missing: Value = { kind: 'undefined', says: `no item of the loop ${flag}`, at }
    return [[flag, flag === 'changed' ? known(false) : missing] as const]
  })
}

/** What is registered where the loop has no items. */
function emptyLoop(): Value {
  return known(
    new Map<Key, Value>([
      ['changed', known(false)],
      ['skipped', known(true)],
      ['skipped_reason', known('No items in the list')],
      ['results', known([])],
    ]),
  )
}

function skippedLoop(results: Value): Value {
  return known(
    new Map<Key, Value>([
      ['results', results],
      ['skipped', known(true)],
      ['msg', known('All items skipped')],
      ['changed', known(false)],
    ]),
  )
}

/** The result of one item says which it was. */
function withItem(value: Value, task: Task, item: Value | undefined): Value {
  if (item === undefined || value.kind !== 'known' || !(value.data instanceof Map)) return value
  const name = loopVariable(task)
  return known(new Map<Key, Value>([...value.data, [name, item], ['ansible_loop_var', known(name)]]))
}

function either(yes: Value, no: Value, because: readonly Cause[]): Value {
  if (yes.kind === 'one-of' || no.kind === 'one-of') return unknown(because)
  return {
    kind: 'one-of',
    options: [
      { value: yes, because },
      { value: no, because },
    ],
  }
}
