import type { Task } from '../ansible/statement.js'
import { conjunctsOf, evaluateCondition, failing, type NamedValue } from '../jinja/condition.js'
import { type Cause, FALSE, mergeCauses, TRUE, type Truth, unknown } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { Scope } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import { chainOf, type Frame } from './frame.js'
import type { AppliedCondition, LookedAt } from './task-run.js'

/** All conditions of a statement together. */
export interface Conditions {
  readonly truth: Truth
  readonly remains: string | null
  /** What of `remains` has to hold, one by one; empty when decided. */
  readonly conjuncts: readonly string[]
  readonly applied: readonly AppliedCondition[]
  /** The names the conditions read, also through other variables. */
  readonly reads: ReadonlySet<string>
}

/**
 * Evaluates what applies to a task: the conditions of what it stands in, outermost first, then its own; the first that is
 * false ends it (rules 90 to 92). Those of a dynamic include were decided when the run got there. `before` is what must have
 * come out for the run to get here at all.
 */
export function evaluateConditions(
  frame: Frame,
  task: Task,
  scope: Scope,
  before: readonly AppliedCondition[] = [],
): Conditions {
  const applied: AppliedCondition[] = [...before]
  const { reads } = scope.withReads(() => {
    for (const { from, node, decided } of conditionsOf(frame, task)) {
      const condition = decided ?? (node && evaluateWhen(node, from, scope))
      if (condition === undefined) continue
      applied.push(condition)
      if (condition.truth.kind === 'false' || failingCondition(applied) !== undefined) break
    }
  })
  const rest = restOf(applied)
  return {
    truth: allOf(applied.map(({ truth }) => truth)),
    remains: joined(rest.map(({ text }) => text)),
    conjuncts: [...new Set(rest.flatMap(({ text, at }) => conjunctsOf(text, at)))],
    applied,
    reads,
  }
}

interface Pending {
  readonly from: AppliedCondition['from']
  readonly node?: Node
  readonly decided?: AppliedCondition
}

function* conditionsOf(frame: Frame, task: Task): Generator<Pending> {
  for (const { kind, directives, include } of chainOf(frame)) {
    if (include) {
      for (const decided of include.conditions) yield { from: decided.from, decided }
      for (const node of include.apply?.when ?? []) yield { from: 'include', node }
    } else for (const node of directives.when) yield { from: kind, node }
  }
  for (const node of task.when) yield { from: 'task', node }
}

/** One item of a `when` (rules 118 to 120): YAML booleans and numbers count as they are, nothing counts as true; from 2.19 on only booleans do. */
export function evaluateWhen(node: Node, from: AppliedCondition['from'], scope: Scope): AppliedCondition {
  const at = node.span
  if (node.kind === 'scalar' && node.tag !== 'vault') {
    if (typeof node.data !== 'string') {
      if (scope.rules?.booleanConditions && typeof node.data !== 'boolean') {
        const { truth } = failing('Conditional expressions must be strings.', at)
        return { text: String(node.data ?? ''), at, from, truth, remains: null, names: [], fails: true }
      }
      const truth = node.data === null || node.data ? TRUE : FALSE
      return { text: String(node.data ?? ''), at, from, truth, remains: null, names: [] }
    }
    const { truth, remains, names, failure } = evaluateCondition(node.data, at, scope)
    const lookedAt = withPlaces(names, scope)
    const condition = { text: node.data, at, from, truth, remains, names: lookedAt }
    return failure === undefined ? condition : { ...condition, fails: true }
  }
  const says = node.kind === 'unreadable' ? node.says : 'a condition has to be an expression'
  return { text: '', at, from, truth: unknown([{ says, at, unread: true }]), remains: null, names: [] }
}

/** The condition at which evaluation certainly fails: all before it hold. Those of an include were its own to fail at. */
export function failingCondition(applied: readonly AppliedCondition[]): AppliedCondition | undefined {
  const first = applied.find(({ truth }) => truth.kind !== 'true')
  return first?.fails === true && first.from !== 'include' ? first : undefined
}

/** Names a condition looks at, each with the places that give it its value. */
export function withPlaces(names: readonly NamedValue[], scope: Scope): readonly LookedAt[] {
  return names.map(each => ({ ...each, from: scope.placesOf(rootOf(each.name)) }))
}

/** The variable a path begins with: `result` of `result.stat['exists']`. */
function rootOf(path: string): string {
  return /^\w+/.exec(path)?.[0] ?? path
}

/** The conditions of an `assert`, up to the first that is false: a text, or a list of them. */
export function evaluateAsserted(that: Node, scope: Scope): readonly AppliedCondition[] {
  const asserted: AppliedCondition[] = []
  for (const node of that.kind === 'list' ? that.items : [that]) {
    const condition = evaluateWhen(node, 'task', scope)
    asserted.push(condition)
    if (condition.truth.kind === 'false') break
  }
  return asserted
}

/** True when all are, false when one is, unknown for all the reasons otherwise. */
export function allOf(truths: readonly Truth[]): Truth {
  const causes: Cause[] = []
  for (const truth of truths) {
    if (truth.kind === 'false') return FALSE
    if (truth.kind === 'unknown') causes.push(...truth.causes)
  }
  return causes.length === 0 ? TRUE : unknown(mergeCauses(causes))
}

/** True when one is, false when all are. */
export function anyOf(truths: readonly Truth[]): Truth {
  const causes: Cause[] = []
  for (const truth of truths) {
    if (truth.kind === 'true') return TRUE
    if (truth.kind === 'unknown') causes.push(...truth.causes)
  }
  return causes.length === 0 ? FALSE : unknown(mergeCauses(causes))
}

interface Remaining {
  readonly text: string
  readonly at: Span
}

/** What the host decides of the conditions, each text once; nothing where one is false. */
function restOf(applied: readonly AppliedCondition[]): readonly Remaining[] {
  if (applied.some(({ truth }) => truth.kind === 'false')) return []
  const rest = new Map<string, Remaining>()
  for (const { remains, at } of applied) if (remains !== null) rest.set(remains, { text: remains, at })
  return [...rest.values()]
}

function joined(rest: readonly string[]): string | null {
  if (rest.length < 2) return rest[0] ?? null
  return rest.map(text => (/\bor\b|\bif\b/.test(text) ? `(${text})` : text)).join(' and ')
}
