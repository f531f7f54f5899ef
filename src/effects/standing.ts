import { type Cause, decide, type Value } from '../jinja/value.js'
import type { AppliedCondition, TaskRun } from '../run/task-run.js'
import { placeOf } from '../source/text.js'
import { causesOf, isSet, optionsOf, showValue, textOf } from './argument.js'
import { runsOf, type TaskEffect } from './run-effects.js'

/** Whether an effect comes about: it does; the host decides; this program cannot tell; it does not. */
export type Standing =
  | { readonly kind: 'happens' }
  | {
      readonly kind: 'host-decides'
      readonly condition: string
      readonly conjuncts: readonly string[]
      readonly causes: readonly Cause[]
    }
  | { readonly kind: 'unread'; readonly causes: readonly Cause[] }
  | {
      readonly kind: 'never'
      readonly why: string
      readonly because: 'condition' | 'failure' | 'handler' | 'elsewhere' | 'excluded' | 'check'
    }

/** What becomes of an effect, from its task's place in the run, its conditions, its loop and its own conditions. */
export function standingOf(occurrence: TaskEffect): Standing {
  const { task, invocation, effect } = occurrence
  if (task.excluded !== undefined) return { kind: 'never', why: `does not run: ${task.excluded}`, because: 'excluded' }
  if (occurrence.asWritten && task.runs.kind !== 'false') {
    return { kind: 'never', why: 'does not run: its loop has no items', because: 'condition' }
  }
  const elsewhere = delegatedElsewhere(occurrence)
  if (elsewhere?.kind === 'never') return elsewhere
  const onlyChecks = isSet(invocation.checkMode, false)
  if (onlyChecks.kind === 'true') {
    return { kind: 'never', why: 'only checks what it would change (`check_mode`)', because: 'check' }
  }
  const standing = decide<Standing>(runsOf(occurrence), {
    true: () => ({ kind: 'happens' }),
    false: () => ({ kind: 'never', why: whyNot(task, occurrence), because: 'condition' }),
    unknown: causes => open(causes, invocation.remains ?? task.remains, invocation.conjuncts),
  })
  if (standing.kind === 'never') return standing
  if (task.part === 'rescue') {
    return { kind: 'never', why: 'runs only after a task of its block has failed', because: 'failure' }
  }
  const parts: Standing[] = [standing]
  if (elsewhere !== undefined) parts.push(elsewhere)
  if (onlyChecks.kind === 'unknown') parts.push(open(onlyChecks.causes, 'its `check_mode` is false'))
  if (task.part === 'handler') {
    const notified = notification(task)
    if (notified.kind === 'never') return notified
    parts.push(notified)
  }
  // A result of which some is known is certainly one item.
  if (invocation.item?.kind === 'unknown' && invocation.item.fields === undefined)
    parts.push(open(invocation.item.causes, 'its loop has such an item'))
  if (effect.unread !== undefined) {
    parts.push({ kind: 'unread', causes: [{ says: effect.unread, at: effect.at, unread: true }] })
  }
  if (effect.onlyIf !== undefined) parts.push(open([{ says: effect.onlyIf, at: effect.at }], effect.onlyIf))
  return together(parts)
}

/** Left open by these causes: for the host to decide, unless one of them is this program's own limit. */
function open(causes: readonly Cause[], remains: string | null, conjuncts: readonly string[] = []): Standing {
  if (causes.some(cause => cause.unread)) return { kind: 'unread', causes }
  const condition = remains ?? causes.map(cause => cause.says).join(' and ')
  return { kind: 'host-decides', condition, conjuncts: conjuncts.length === 0 ? [condition] : conjuncts, causes }
}

/** All of these have to hold; the first that never does decides. */
export function together(parts: readonly Standing[]): Standing {
  const never = parts.find(part => part.kind === 'never')
  if (never !== undefined) return never
  const unread = parts.flatMap(part => (part.kind === 'unread' ? part.causes : []))
  if (unread.length > 0) return { kind: 'unread', causes: unread }
  const conditions: string[] = []
  const conjuncts = new Set<string>()
  const causes: Cause[] = []
  for (const part of parts) {
    if (part.kind !== 'host-decides') continue
    if (!conditions.includes(part.condition)) conditions.push(part.condition)
    for (const each of part.conjuncts) conjuncts.add(each)
    causes.push(...part.causes)
  }
  return conditions.length === 0
    ? { kind: 'happens' }
    : { kind: 'host-decides', condition: joinAnd(conditions), conjuncts: [...conjuncts], causes }
}

/** Conditions joined with `and`, each that holds an `or` in parentheses. */
export function joinAnd(conditions: readonly string[]): string {
  if (conditions.length === 1) return conditions[0] ?? ''
  return conditions.map(condition => (/\bor\b/.test(condition) ? `(${condition})` : condition)).join(' and ')
}

const CONTROLLER = new Set(['localhost', '127.0.0.1', '::1'])

/** A delegated task acts on another host: on the controller certainly not on this one. */
function delegatedElsewhere(occurrence: TaskEffect): Standing | undefined {
  const { task, invocation } = occurrence
  const given = invocation.delegateTo
  const host = textOf(given)
  if (task.task.action === 'local_action' || (host !== undefined && CONTROLLER.has(host))) {
    return { kind: 'never', why: 'acts on the host Ansible runs on, not on this one', because: 'elsewhere' }
  }
  if (given !== undefined && optionsOf(given).every(({ value }) => textOf(value) !== undefined)) {
    // Known: the run says whether it is this host by leaving the field out.
    return { kind: 'never', why: `acts on ${showValue(given)}, not on this host`, because: 'elsewhere' }
  }
  if (given === undefined) return undefined
  return open(causesOf(given), `it is delegated to this host`)
}

function notification(task: TaskRun): Standing {
  const notifiers = task.notifiedBy.filter(
    notifier => notifier.runs.kind !== 'false' && notifier.excluded === undefined,
  )
  if (notifiers.length === 0) {
    const why =
      task.notifiedBy.length === 0 ? 'a handler nothing notifies' : 'a handler notified only by tasks that do not run'
    return { kind: 'never', why, because: 'handler' }
  }
  const names = notifiers.slice(0, 3).map(notifier => `\`${notifier.name}\``)
  const more = notifiers.length > 3 ? ` or one of ${notifiers.length - 3} more` : ''
  const condition = `${names.join(' or ')}${more} changes something`
  return {
    kind: 'host-decides',
    condition,
    conjuncts: [condition],
    causes: notifiers.map(each => ({ says: `${each.name} changes something`, at: each.task.at })),
  }
}

function whyNot(task: TaskRun, occurrence: TaskEffect): string {
  const decided = task.conditions.find(condition => condition.truth.kind === 'false')
  if (decided !== undefined) return `does not run: ${describeCondition(decided)}`
  const item = occurrence.invocation.item
  return item === undefined ? 'does not run' : `does not run for the item ${showValue(item)}`
}

/** ``\`not dns_late\` is false (dns_late is true), roles/x/tasks/main.yml:6``. */
export function describeCondition(condition: AppliedCondition): string {
  const truth = decide(condition.truth, { true: () => 'true', false: () => 'false', unknown: () => 'not decided' })
  const names = condition.names
    .slice(0, 6)
    .map(
      ({ name, value }) =>
        `${name} is ${value.kind === 'undefined' ? 'undefined' : value.kind === 'unknown' ? 'unknown' : shown(value)}`,
    )
  const values = names.length === 0 ? '' : ` (${names.join(', ')})`
  // A snapshot keeps no expressions: then the place has to do.
  const quoted = condition.text === '' ? 'its condition' : `\`${condition.text}\``
  return `${quoted} is ${truth}${values}, ${placeOf(condition.at)}`
}

function shown(value: Value): string {
  if (value.kind === 'known') {
    if (value.data === true) return 'true'
    if (value.data === false) return 'false'
    if (value.data === null) return 'null'
    if (value.data === '') return "''"
  }
  const text = showValue(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
