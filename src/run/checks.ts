import type { Task } from '../ansible/statement.js'
import { evaluateCondition } from '../jinja/condition.js'
import { strOf } from '../jinja/python.js'
import { FALSE, TRUE, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import { type Action, effective, itemsOf } from './action.js'
import { chainOf } from './frame.js'
import { bindItem } from './loops.js'
import { looksAtNothing, stopAt } from './stops.js'
import type { AppliedCondition, Check } from './task-run.js'

/** `assert`: what it says of each of its conditions, item by item where it has a loop. */
export function assertCheck(action: Action): void {
  const { walk, task, frame, run, invocations } = action
  const failed: Asked[] = []
  const open: AppliedCondition[] = []
  const hints = new Set<string>()
  for (const [index, invocation] of invocations.entries()) {
    const runs = effective(action, invocation)
    const { item } = invocation
    if (runs.kind === 'false') continue
    const scope =
      item === undefined ? action.scope : walk.scopes.ofTask(frame, task, bindItem(task, item, index, itemsOf(action)))
    for (const condition of conditionsOf(action, scope)) {
      if (condition.truth.kind === 'true') continue
      const decided = condition.truth.kind === 'false' || condition.isError
      if (decided && runs.kind === 'true') failed.push(condition)
      else open.push(condition)
      if (!decided) continue
      for (const hint of hintsFor(condition, task, scope)) hints.add(hint)
      break
    }
  }
  record(action, {
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
  record(action, { task: action.run, outcome, conditions: [], message, final, hints: [] })
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
      return { ...shown, text: strOf(data), truth, remains, names, isError: failure !== undefined }
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
