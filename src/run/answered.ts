import type { Task } from '../ansible/statement.js'
import { known, type Truth, unknown, type Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import { storedValue } from '../variables/stored.js'
import type { Node } from '../yaml/node.js'
import { isTrue, textOf } from './action.js'
import { allOf, evaluateWhen } from './conditions.js'
import { type Frame, inheritedKeyword } from './frame.js'
import type { Answered } from './host-view.js'
import { answeredValue } from './results.js'
import type { Invocation } from './task-run.js'
import type { Walk } from './walk.js'

/** The result of one execution as the host gives it. */
export interface AnsweredResult {
  /** As `failed_when` sees it. */
  readonly looked: Answered
  /** As it is registered. */
  readonly final: Answered
  /** Whether the task fails by it; false also where nothing else is said. */
  readonly failed: Truth
}

/** One execution of a task that may be answered: what its loop binds is in `bound`. */
interface Asked {
  readonly walk: Walk
  readonly task: Task
  readonly frame: Frame
  readonly invocation: Invocation
  readonly bound: ReadonlyMap<string, Value>
}

/**
 * What the host answers to one execution, and what the task's own `changed_when`, `failed_when` and `until` make of it, in
 * Ansible's order. Undefined where the host says nothing: also of what runs elsewhere, later (`async`), or not as root. That
 * tasks run as root unless `become` says otherwise is how kubespray is run.
 * Source: `TaskExecutor._execute` of ansible-core.
 */
export function answeredResult(asked: Asked): AnsweredResult | undefined {
  const { walk, task, frame, invocation, bound } = asked
  const view = walk.state.options.hostView
  if (view === undefined || invocation.runs.kind === 'false') return undefined
  if (!isPlainlyRun(task, frame, invocation, walk.scopes.ofTask(frame, task, bound))) return undefined
  const answer = view.answer(task, invocation)
  if (answer === undefined) return undefined
  const registered = textOfNode(task.keywords.get('register')?.value)
  const scopeWith = (result: Answered): Scope => {
    if (registered === undefined) return walk.scopes.ofTask(frame, task, bound)
    const value = storedValue(answeredValue(task, registered, invocation.item, result))
    return walk.scopes.ofTask(frame, task, new Map([...bound, [registered, value]]))
  }
  const until = task.keywords.get('until')?.value
  const retries = task.keywords.get('retries')?.value
  // The first attempt is the only one that is looked at: a second one may find something else.
  const attempt: [string, Value][] = until === undefined && retries === undefined ? [] : [['attempts', known(1n)]]
  let result = withMembers(answer, [
    ...(memberOf(answer, 'failed') === undefined ? [['failed', failedBy(answer)] as const] : []),
    ...(memberOf(answer, 'changed') === undefined ? [['changed', known(false)] as const] : []),
    ...(until === undefined ? [] : attempt),
  ])
  const changed = judged(task.keywords.get('changed_when')?.value, scopeWith(result))
  if (changed !== undefined) result = withMembers(result, [['changed', asValue(changed.truth)]])
  const looked = result
  const failed = judged(task.keywords.get('failed_when')?.value, scopeWith(result))
  if (failed?.fails === true) {
    const open = unknown([{ says: 'failed_when cannot be evaluated', at: task.at }])
    result = withMembers(result, [
      ['failed', known(true)],
      ['failed_when_result', open],
    ])
  } else if (failed !== undefined) {
    const value = asValue(failed.truth)
    result = withMembers(result, [
      ['failed', value],
      ['failed_when_result', value],
    ])
  }
  if (until !== undefined && judged(until, scopeWith(result))?.truth.kind !== 'true') return undefined
  const fails = truthOf(memberOf(result, 'failed'), task)
  if (until === undefined && retries !== undefined) {
    // From 2.16 on a task with `retries` alone is done again until it succeeds.
    if (fails.kind !== 'false') return undefined
    const open = unknown([{ says: 'whether attempts are counted depends on the version of ansible-core', at: task.at }])
    result = withMembers(result, [['attempts', open]])
  }
  return { looked, final: result, failed: fails }
}

/** Whether the module is run as it stands: here, now, as root, with the arguments that are seen. */
function isPlainlyRun(task: Task, frame: Frame, invocation: Invocation, scope: Scope): boolean {
  const { delegateTo, openArguments, checkMode, sentBy } = invocation
  if (delegateTo !== undefined || sentBy !== undefined || openArguments !== undefined) return false
  if (checkMode !== undefined && !isFalse(checkMode)) return false
  const given = (name: string): Node | undefined => inheritedKeyword(frame, task, name)
  if (['async', 'connection', 'module_defaults'].some(name => given(name) !== undefined)) return false
  const become = given('become')
  if (become !== undefined && !isTrue(evaluateNode(become, scope))) return false
  const user = given('become_user')
  return user === undefined || textOf(evaluateNode(user, scope)) === 'root'
}

function isFalse(value: Value): boolean {
  return (
    value.kind === 'known' && (value.data === false || value.data === 0n || /^(no|false)$/i.test(String(value.data)))
  )
}

/** All conditions together, up to the first that is false or cannot be evaluated. */
function judged(node: Node | undefined, scope: Scope): { readonly truth: Truth; readonly fails: boolean } | undefined {
  if (node === undefined) return undefined
  const truths: Truth[] = []
  for (const each of node.kind === 'list' ? node.items : [node]) {
    const { truth, fails } = evaluateWhen(each, 'task', scope)
    if (fails === true) return { truth, fails: truths.every(({ kind }) => kind === 'true') }
    truths.push(truth)
    if (truth.kind === 'false') break
  }
  return { truth: allOf(truths), fails: false }
}

/** A module that does not say whether it failed: its exit status does. */
function failedBy(answer: Answered): Value {
  const rc = memberOf(answer, 'rc')
  if (rc === undefined) return known(false)
  if (rc.kind === 'known') return known(rc.data !== 0n)
  if (rc.kind !== 'one-of') return rc
  const ways = new Set(rc.options.map(({ value }) => (value.kind === 'known' ? value.data === 0n : undefined)))
  if (ways.size === 1 && !ways.has(undefined)) return known(ways.has(false))
  return unknown(rc.options.flatMap(({ because }) => because))
}

/** A member of an answer; undefined where it has none of that name, or nobody knows. */
export function memberOf(answer: Answered, name: string): Value | undefined {
  if (answer.kind === 'fields') return answer.fields.get(name)
  const { value } = answer
  return value.kind === 'known' && value.data instanceof Map ? value.data.get(name) : undefined
}

function withMembers(answer: Answered, members: readonly (readonly [string, Value])[]): Answered {
  if (members.length === 0) return answer
  if (answer.kind === 'fields') return { kind: 'fields', fields: new Map([...answer.fields, ...members]) }
  const { value } = answer
  if (value.kind !== 'known' || !(value.data instanceof Map)) return answer
  return { kind: 'whole', value: known(new Map([...value.data, ...members])) }
}

function asValue(truth: Truth): Value {
  return truth.kind === 'unknown' ? truth : known(truth.kind === 'true')
}

function truthOf(value: Value | undefined, { at }: Task): Truth {
  if (value?.kind === 'known') return { kind: value.data === true ? 'true' : 'false' }
  return value?.kind === 'unknown' ? unknown(value.causes) : unknown([{ says: 'whether it fails is not known', at }])
}

function textOfNode(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.data === 'string' ? node.data : undefined
}
