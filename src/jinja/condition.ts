import type { Span } from '../source/text.js'
import { alternatives } from './apply.js'
import type { Environment } from './environment.js'
import {
  evaluateIn,
  inEachWorld,
  isBoolean,
  type Judgement,
  judge,
  type Rest,
  type Scope,
  scopeOf,
  truthOfValue,
} from './evaluate.js'
import { hasTemplate, parseExpression } from './parser.js'
import { printExpression } from './print.js'
import { isDict, isList, isTuple, reprOf, strOf, typeName } from './python.js'
import type { Expression } from './syntax.js'
import { evaluateTemplateTraced } from './template.js'
import type { Cause, Failure, Known, Truth, Value } from './value.js'
import { FALSE, failure, TRUE, unknown } from './value.js'

/** A variable a condition looked at, by the path as written (`ansible_facts.os_family`). */
export interface NamedValue {
  readonly name: string
  readonly value: Value
}

export interface Condition {
  readonly truth: Truth
  /**
   * The part only the host or the run can decide, in Ansible's words: known conjuncts that hold (and disjuncts that do
   * not) are dropped, the source text of the rest is kept. Null when decided.
   */
  readonly remains: string | null
  readonly names: readonly NamedValue[]
  /** Set where evaluation surely fails; `truth` is then unknown with that cause. */
  readonly failure?: Failure
}

/**
 * A raw `when` text (rules 118–122): Python truth of the expression. A text with `{{ }}` is
 * templated first; a bool is taken as is, empty text is false, anything else is put as text into the condition.
 */
export function evaluateCondition(text: string, at: Span, environment: Environment): Condition {
  if (text === '') {
    if (environment.rules?.booleanConditions) return failing('Empty conditional expressions are not allowed.', at)
    return { truth: TRUE, remains: null, names: [] }
  }
  const looks: { name: string; value: Value; because: readonly Cause[] }[] = []
  const worlds = inEachWorld(environment, world => {
    const seen = new Map<string, Value>()
    const source = { text }
    const trace = (path: Expression, value: Value): void => {
      seen.set(pathText(path, source.text), value)
    }
    return { judged: judgeText(text, at, world, trace, source), seen }
  })
  for (const { result, because } of worlds) {
    for (const [name, value] of result.seen) looks.push({ name, value, because })
  }
  return {
    ...settle(
      worlds.map(({ result, because }) => ({ ...result.judged, because })),
      text,
    ),
    names: mergeNames(looks),
  }
}

/** What has to hold together for a condition to hold, as its source has it; the whole text where that is not an `and`. */
export function conjunctsOf(text: string, at: Span): readonly string[] {
  const parsed = parseExpression(text, at, { inStatement: true })
  if (parsed.kind !== 'and') return [text]
  const found: string[] = []
  const pending: Expression[] = [parsed]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.kind === 'and') pending.push(part.right, part.left)
    else found.push(text.slice(part.start, part.end))
  }
  return found
}

/** A condition that is an error whatever the values. */
export function failing(says: string, at: Span): Condition {
  const failed = failure(says, at)
  return { truth: failedTruth(failed), remains: null, names: [], failure: failed }
}

/**
 * Python's truth of a value. Undefined and Failure are unknown with that as the cause ("evaluation fails: …"): the run
 * would stop there.
 */
export function truthOf(value: Value, at: Span): Truth {
  return truthOfValue(value, at)
}

interface Judged {
  readonly truth: Truth
  readonly failure: Failure | null
  readonly remains: string | null
}

function judgeText(
  text: string,
  at: Span,
  world: Environment,
  trace: NonNullable<Scope['trace']>,
  source: { text: string },
): Judged {
  if (!hasTemplate(text)) return judgeBare(text, at, world, trace)
  // Paths inside a template are written as they stand there; a printed tree reads the same.
  source.text = ''
  const value = evaluateTemplateTraced(text, at, world, trace)
  switch (value.kind) {
    case 'known': {
      const { data } = value
      if (typeof data === 'boolean') return { truth: data ? TRUE : FALSE, failure: null, remains: null }
      if (world.rules?.booleanConditions) return failedJudgement(notBoolean(value, at), text)
      if (data === '' || data === null) return { truth: FALSE, failure: null, remains: null }
      const again = isList(data) || isDict(data) || isTuple(data) ? reprOfKnown(value) : strOf(data)
      if (again === null)
        return {
          truth: unknown([{ says: 'members of the condition are not known', at }]),
          failure: null,
          remains: text,
        }
      source.text = again
      const judged = judgeBare(again, at, world, trace)
      return judged.remains === null ? judged : { ...judged, remains: text }
    }
    case 'undefined':
    case 'failure': {
      const failed = value.kind === 'failure' ? value : failure(value.says, at, true)
      return fallenBack(failed, text, world) ?? failedJudgement(failed, text)
    }
    case 'unknown':
      return { truth: unknown(value.causes), failure: null, remains: text }
    case 'one-of': {
      const causes = value.options.flatMap(option => option.because)
      return { truth: unknown(causes), failure: null, remains: text }
    }
  }
}

function reprOfKnown(value: Value): string | null {
  try {
    return value.kind === 'known' ? reprOf(value.data) : null
  } catch {
    return null
  }
}

function failedTruth(failed: Failure): Truth {
  return unknown([{ says: `evaluation fails: ${failed.says}`, at: failed.at, unread: true }])
}

function failedJudgement(failed: Failure, text: string): Judged {
  return { truth: failedTruth(failed), failure: failed, remains: text }
}

/** From 2.19 on a condition has to come to a boolean (`TemplateEngine.evaluate_conditional`). */
function notBoolean(value: Known, at: Span): Failure {
  const truth = truthOfValue(value, at).kind === 'true' ? 'True' : 'False'
  return failure(
    `Conditional result (${truth}) was derived from value of type '${typeName(value.data)}'. Conditionals must have a boolean result.`,
    at,
  )
}

const definedTest = /(hostvars\[.+\]|\w+)\s+(not\s+is|is|is\s+not)\s+(defined|undefined)/g

/**
 * Up to 2.14: a condition that fails on an undefined name, and somewhere asks whether that name is defined, comes out as
 * that question is answered; everything else in it is passed over (`Conditional._check_conditional`).
 */
function fallenBack(failed: Failure, text: string, world: Environment): Judged | undefined {
  if (world.rules?.undefinedConditions !== 'fall back' || !failed.undefined) return undefined
  const missing = /'(hostvars\[.+\]|\w+)' is undefined/.exec(failed.says)?.[1]
  if (missing === undefined) return undefined
  for (const [, name = '', logic = '', state = ''] of text.matchAll(definedTest)) {
    if (name.replaceAll("'", '"') !== missing.replaceAll("'", '"')) continue
    const shouldExist = logic.includes('not') !== (state === 'defined')
    return { truth: shouldExist ? FALSE : TRUE, failure: null, remains: null }
  }
  return undefined
}

function judgeBare(text: string, at: Span, world: Environment, trace: Scope['trace']): Judged {
  const expression = parseExpression(text, at, { inStatement: true })
  if (expression.kind === 'syntax-problem') {
    const failed = failure(`template error while templating string: ${expression.says}`, at)
    return { truth: failedTruth(failed), failure: failed, remains: text }
  }
  const scope = scopeOf(world, at, trace)
  const judged: Judgement = judge(expression, scope)
  const { spoiled } = scope.changes
  if (spoiled.length > 0 && judged.failure === null) return { truth: unknown(spoiled), failure: null, remains: text }
  if (judged.failure !== null) {
    const fallen = fallenBack(judged.failure, text, world)
    if (fallen !== undefined) return fallen
  }
  if (world.rules?.booleanConditions && !isBoolean(expression)) {
    const value = evaluateIn(expression, scopeOf(world, at))
    if (value.kind === 'known' && typeof value.data !== 'boolean') return failedJudgement(notBoolean(value, at), text)
  }
  const remains =
    judged.truth.kind !== 'unknown' ? null : judged.rest === null ? text : restText(judged.rest, text, 'or')
  return { truth: judged.truth, failure: judged.failure, remains }
}

/** What stays open, as source; brackets where a rest of `or` stands inside `and`, or anything joined inside `not`. */
function restText(rest: Rest, source: string, inside: 'or' | 'and' | 'not'): string {
  switch (rest.kind) {
    case 'piece':
      return source.slice(rest.expression.start, rest.expression.end)
    case 'not':
      return `not ${restText(rest.part, source, 'not')}`
    case 'and':
    case 'or': {
      const { kind } = rest
      const text = rest.parts.map(part => restText(part, source, kind)).join(` ${kind} `)
      return inside === 'not' || (inside === 'and' && kind === 'or') ? `(${text})` : text
    }
  }
}

function asRead({ unread: _, ...cause }: Cause): Cause {
  return cause
}

/** One answer out of the worlds: only where all agree it is decided. */
function settle(worlds: readonly (Judged & { because: readonly Cause[] })[], text: string): Omit<Condition, 'names'> {
  const [first] = worlds
  if (first === undefined) throw new Error('a condition without a world')
  const failed = worlds.every(world => world.failure !== null) ? first.failure : null
  if (failed !== null) return { truth: first.truth, remains: first.remains ?? text, failure: failed }
  if (first.truth.kind !== 'unknown' && worlds.every(world => world.truth.kind === first.truth.kind)) {
    return { truth: first.truth, remains: null }
  }
  // Where it fails in some of the worlds only, what decides for the world decides whether the run stops there: that is read.
  const causes = worlds.flatMap(({ truth, failure: failed, because }) =>
    truth.kind === 'unknown' ? [...because, ...(failed === null ? truth.causes : truth.causes.map(asRead))] : because,
  )
  const isOne = worlds.every(world => world.remains === first.remains)
  return { truth: unknown(causes), remains: isOne ? (first.remains ?? text) : text }
}

function mergeNames(
  looks: readonly { name: string; value: Value; because: readonly Cause[] }[],
): readonly NamedValue[] {
  const byName = new Map<string, { value: Value; because: readonly Cause[] }[]>()
  for (const { name, value, because } of looks) {
    const known = byName.get(name)
    if (known === undefined) byName.set(name, [{ value, because }])
    else known.push({ value, because })
  }
  return [...byName].map(([name, values]) => ({ name, value: alternatives(values) }))
}

function pathText(path: Expression, source: string): string {
  return source === '' ? printExpression(path) : source.slice(path.start, path.end)
}
