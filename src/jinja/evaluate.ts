import type { Span } from '../source/text.js'
import { alternatives, apply, optionLimit, type Single } from './apply.js'
import { attributeOf, isMethod, itemOf, sliceOf } from './attributes.js'
import type { Context } from './call.js'
import type { Environment } from './environment.js'
import { filterNamed } from './filters.js'
import { globalNamed, recursions } from './globals.js'
import { type Changes, changeInPlace, claimedCopy, freshResult, isChange, ownCopy, startChanges } from './in-place.js'
import { observed } from './observed.js'
import { compare, operate, sign } from './operators.js'
import { dataOf, giveUp, isDict, isList, membersOf, put, raise, truthOfData, typeName } from './python.js'
import type { Arguments, Expression, Template } from './syntax.js'
import { testNamed } from './tests.js'
import type { Cause, Data, Failure, Key, OneOf, Truth, Undefined, Unknown, Value } from './value.js'
import { FALSE, failure, known, mergeCauses, TRUE, unknown } from './value.js'

/** Where an expression is evaluated: names of the template around it, then the environment. */
export interface Scope {
  readonly at: Span
  readonly environment: Environment
  readonly context: Context
  readonly local: (name: string) => Value | undefined
  /** Told each variable that was looked at, by the outermost path as written. */
  readonly trace: ((path: Expression, value: Value) => void) | null
  /** Work left, and how deep macros are called; hostile input must end. */
  readonly budget: { left: number; calls: number }
  /** What the template changes in place. */
  readonly changes: Changes
}

const noLocals = (): undefined => undefined
const workLimit = 400_000

/** The scope an expression starts in: no local names, the whole budget of work. */
export function scopeOf(
  environment: Environment,
  at: Span,
  trace: Scope['trace'] = null,
  template: Template | null = null,
): Scope {
  const context: Context = {
    at,
    environment,
    filter: (name, input, positional, named) => applyFilter(name, input, positional, named, context),
    test: (name, input, positional, named) => applyTest(name, input, positional, named, context),
  }
  const budget = { left: workLimit, calls: 0 }
  return { at, environment, context, local: noLocals, trace, budget, changes: startChanges(template) }
}

/**
 * Evaluates an expression as Jinja2 under Ansible does, with unknowns: unknown operands give Unknown with all causes,
 * alternatives are worked out one by one, and an error Ansible would raise is a Failure. Nothing is printed: this is the
 * value before `{{ }}` turns it into text (see `evaluateTemplate`). Rules 114, 138–141.
 */
export function evaluate(expression: Expression, environment: Environment, at: Span = nowhere): Value {
  return alternatives(
    inEachWorld(environment, world => {
      const scope = scopeOf(world, at)
      return unlessSpoiled(scope, evaluateIn(expression, scope))
    }).map(({ result, because }) => ({
      value: result,
      because,
    })),
  )
}

/** A result is unknown where something was changed in place and that could not be followed. */
export function unlessSpoiled(scope: Scope, result: Value): Value {
  const { spoiled } = scope.changes
  return spoiled.length > 0 && result.kind !== 'failure' ? unknown(spoiled) : result
}

/** Does work that may or may not happen in the run. */
export function openly<T>(scope: Scope, work: () => T): T {
  scope.changes.open++
  try {
    return work()
  } finally {
    scope.changes.open--
  }
}

/** An expression knows its offsets, not its file: callers that want a place in causes and failures give one. */
const nowhere: Span = { file: { path: '', text: '' }, start: 0, end: 0 }

/** A variable with alternatives was read; the whole is evaluated again with each of them in its place. No error: it needs no stack. */
class VariableSplit {
  readonly variable: string
  readonly choice: OneOf
  constructor(variable: string, choice: OneOf) {
    this.variable = variable
    this.choice = choice
  }
}

export interface World<T> {
  readonly result: T
  readonly because: readonly Cause[]
}

/**
 * Does the work once for each combination of alternatives of the variables it reads, so that one variable read twice
 * has one value. Beyond the limit a further variable is simply unknown.
 */
export function inEachWorld<T>(environment: Environment, work: (world: Environment) => T): readonly World<T>[] {
  return explore(environment, work, new Map(), [], 1)
}

function explore<T>(
  environment: Environment,
  work: (world: Environment) => T,
  fixed: ReadonlyMap<string, Value>,
  because: readonly Cause[],
  weight: number,
): readonly World<T>[] {
  const world: Environment = {
    ...(environment.rules && { rules: environment.rules }),
    variable: name => {
      const value = fixed.get(name) ?? environment.variable(name)
      if (value.kind === 'one-of') throw new VariableSplit(name, value)
      return value
    },
    variableNames: () => environment.variableNames(),
    lookup: (plugin, terms, options, at) => environment.lookup(plugin, terms, options, at),
    template: (text, at) => environment.template(text, at),
    readYaml: (text, at) => environment.readYaml(text, at),
    unmodelled: (says, at) => environment.unmodelled?.(says, at),
  }
  try {
    return [{ result: work(world), because }]
  } catch (error) {
    if (!(error instanceof VariableSplit)) throw error
    const { variable: name, choice } = error
    const total = weight * choice.options.length
    if (total > optionLimit) {
      const open = unknown(choice.options.flatMap(option => [...option.because, ...causesOfOption(option.value)]))
      return explore(environment, work, new Map(fixed).set(name, open), because, weight)
    }
    return choice.options.flatMap(option =>
      explore(environment, work, new Map(fixed).set(name, option.value), [...because, ...option.because], total),
    )
  }
}

function causesOfOption(value: Value): readonly Cause[] {
  return value.kind === 'unknown' ? value.causes : []
}

/** A variable whose own template hits an undefined name counts as undefined (rule 114); other failures stay. */
function asRead(value: Value): Value {
  return value.kind === 'failure' && value.undefined ? { kind: 'undefined', says: value.says, at: value.at } : value
}

/** The value of a name: a local one of the template, else the environment's, else a global function. */
export function readName(name: string, scope: Scope): Value {
  const local = scope.local(name)
  if (local !== undefined) return local
  const value = asRead(scope.environment.variable(name))
  if (value.kind !== 'undefined') return scope.changes.isPossible ? ownVariable(name, value, scope.changes) : value
  return globalNamed(name, scope.context) ?? value
}

/** Jinja2 reads a variable once, so what is changed in it stays changed; inside loops and macros it reads it again. */
function ownVariable(name: string, value: Value, changes: Changes): Value {
  if (!changes.atTop.has(name)) return value
  const before = changes.copies.get(name)
  if (before !== undefined) return before
  const copy = ownCopy(value, changes)
  changes.copies.set(name, copy)
  return copy
}

/** Evaluates within a scope. Failures come back as values; nothing but our own bugs is thrown. */
export function evaluateIn(expression: Expression, scope: Scope): Value {
  if (--scope.budget.left < 0) return unknown([{ says: 'the template is too much work to evaluate', at: scope.at }])
  switch (expression.kind) {
    case 'constant':
      return known(expression.data)
    case 'name':
    case 'attribute':
    case 'item': {
      const value = evaluatePath(expression, scope)
      if (scope.trace !== null) scope.trace(expression, value)
      return value
    }
    case 'slice':
      return evaluateAll([expression.of, expression.from, expression.to, expression.step], scope, values =>
        observed(
          'slice',
          '',
          values,
          apply(values, scope.at, ([of, from, to, step]) =>
            of?.kind === 'undefined' ? of : sliceOf(of as Single, [from, to, step] as readonly Single[], scope.at),
          ),
        ),
      )
    case 'list':
    case 'tuple':
      return evaluateAll(expression.items, scope, items =>
        known(expression.kind === 'list' ? own(items, scope) : { kind: 'tuple', items }),
      )
    case 'dict':
      return evaluateDict(expression.entries, scope)
    case 'call':
      return evaluateCall(expression.of, expression.args, scope)
    case 'filter': {
      if (expression.of === null) throw new Error('a filter without input stands only in filter blocks')
      const input = evaluateIn(expression.of, scope)
      return input.kind === 'failure' ? input : evaluateFilter(expression, input, scope)
    }
    case 'test': {
      const input = evaluateIn(expression.of, scope)
      if (input.kind === 'failure') return input
      return withArguments(expression.args, scope, (positional, named) =>
        applyTest(expression.name, input, positional, named, scope.context),
      )
    }
    case 'not':
    case 'comparison':
      return valueOfJudgement(judge(expression, scope))
    case 'and':
    case 'or':
      return evaluateLogical(expression, scope)
    case 'sign':
      return sign(expression.operator, evaluateIn(expression.of, scope), scope.at)
    case 'binary': {
      const left = evaluateIn(expression.left, scope)
      if (left.kind === 'failure') return left
      const result = operate(expression.operator, left, evaluateIn(expression.right, scope), scope.at)
      return scope.changes.isPossible ? claimedCopy(result, scope.changes) : result
    }
    case 'conditional': {
      const test = judge(expression.test, scope)
      if (test.failure !== null) return test.failure
      const chosen = (): Value => evaluateIn(expression.chosen, scope)
      const otherwise = (): Value =>
        expression.otherwise === null
          ? {
              kind: 'undefined',
              says: 'the inline if-expression evaluated to false and no else section was defined.',
              at: scope.at,
              lenient: true,
            }
          : evaluateIn(expression.otherwise, scope)
      switch (test.truth.kind) {
        case 'true':
          return chosen()
        case 'false':
          return otherwise()
        case 'unknown': {
          const { causes } = test.truth
          return openly(scope, () =>
            alternatives([
              { value: chosen(), because: causes },
              { value: otherwise(), because: causes },
            ]),
          )
        }
      }
    }
  }
}

/** A filter node applied to an input worked out before (the body of a filter block). */
export function evaluateFilter(filter: Expression & { kind: 'filter' }, input: Value, scope: Scope): Value {
  const result = withArguments(filter.args, scope, (positional, named) =>
    applyFilter(filter.name, input, positional, named, scope.context),
  )
  return scope.changes.isPossible ? freshResult(filter.name, result, scope.changes) : result
}

function own<T extends object>(container: T, scope: Scope): T {
  if (scope.changes.isPossible) scope.changes.own.add(container)
  return container
}

function evaluatePath(expression: Expression, scope: Scope): Value {
  switch (expression.kind) {
    case 'name':
      return readName(expression.name, scope)
    case 'attribute': {
      const of = evaluateBase(expression.of, scope)
      return apply(
        [of],
        scope.at,
        ([base]) =>
          knownField(base, expression.name) ??
          named(base as Single, expression.of, `.${expression.name}`, () =>
            attributeOf(base as Single, expression.name, scope.at),
          ),
      )
    }
    case 'item': {
      const of = evaluateBase(expression.of, scope)
      if (of.kind === 'failure') return of
      const index = evaluateIn(expression.index, scope)
      const result = apply([of, index], scope.at, ([base, key]) => {
        if (key?.kind === 'undefined') return indexedByUndefined(base as Single, key, scope.at)
        const field = key?.kind === 'known' && typeof key.data === 'string' ? knownField(base, key.data) : undefined
        if (field !== undefined) return field
        const step = key?.kind === 'known' ? stepText(key.data) : null
        return named(base as Single, expression.of, step, () => itemOf(base as Single, key as Single, scope.at))
      })
      return observed('item', '', [of, index], result)
    }
    default:
      return evaluateIn(expression, scope)
  }
}

/** Of a mapping that is not known as a whole, the member that is. */
function knownField(base: Single | undefined, name: string): Value | undefined {
  return base?.kind === 'unknown' ? base.fields?.get(name) : undefined
}

/** Only a dict looks at its key (and fails at an undefined one); elsewhere there is just no such element. */
function indexedByUndefined(base: Single, key: Undefined, at: Span): Value {
  if (base.kind === 'undefined') return base
  if (base.kind === 'unknown') return unknown(base.causes)
  return base.kind === 'known' && isDict(base.data) ? failure(key.says, at, true) : { ...key, at }
}

/** The base of a path is not traced on its own; what is not a path is. */
function evaluateBase(expression: Expression, scope: Scope): Value {
  return isPath(expression) ? evaluatePath(expression, scope) : evaluateIn(expression, scope)
}

function isPath(expression: Expression): boolean {
  return expression.kind === 'name' || expression.kind === 'attribute' || expression.kind === 'item'
}

function stepText(data: Data): string | null {
  if (typeof data === 'string') return /^[A-Za-z_]\w*$/.test(data) ? `.${data}` : `['${data}']`
  return typeof data === 'bigint' ? `[${data}]` : null
}

/** The path as a cause would name it: constants only, else null. */
function pathText(expression: Expression): string | null {
  if (expression.kind === 'name') return expression.name
  if (expression.kind === 'attribute') {
    const of = pathText(expression.of)
    return of === null ? null : `${of}.${expression.name}`
  }
  if (expression.kind === 'item' && expression.index.kind === 'constant') {
    const of = pathText(expression.of)
    const step = stepText(expression.index.data)
    return of === null || step === null ? null : of + step
  }
  return null
}

/** A member of an unknown variable is unknown for the same reason; its cause names the longer path. */
function named(base: Single, written: Expression, step: string | null, read: () => Value): Value {
  if (base.kind !== 'unknown') return read()
  const path = pathText(written)
  const causes =
    path === null || step === null
      ? base.causes
      : base.causes.map(cause => (cause.name === path ? { ...cause, name: path + step } : cause))
  return unknown(causes)
}

function evaluateAll(
  expressions: readonly (Expression | null)[],
  scope: Scope,
  work: (values: readonly Value[]) => Value,
): Value {
  const values: Value[] = []
  for (const expression of expressions) {
    const value = expression === null ? known(null) : evaluateIn(expression, scope)
    if (value.kind === 'failure') return value
    values.push(value)
  }
  return work(values)
}

function evaluateDict(entries: readonly { key: Expression; value: Expression }[], scope: Scope): Value {
  const keys = entries.map(entry => entry.key)
  return evaluateAll([...keys, ...entries.map(entry => entry.value)], scope, values =>
    apply(values.slice(0, keys.length), scope.at, given => {
      const dict = new Map<Key, Value>()
      given.forEach((key, index) => {
        put(dict, dataOf(key), values[keys.length + index] as Value)
      })
      return known(own(dict, scope))
    }),
  )
}

function withArguments(
  args: Arguments,
  scope: Scope,
  work: (positional: readonly Value[], named: ReadonlyMap<string, Value>) => Value,
): Value {
  const expressions = [...args.positional, ...args.named.map(argument => argument.value), args.spread, args.spreadNamed]
  return evaluateAll(expressions, scope, values => {
    const positional = values.slice(0, args.positional.length)
    const named = new Map(
      args.named.map((argument, index) => [argument.name, values[args.positional.length + index] as Value]),
    )
    if (args.spread === null && args.spreadNamed === null) return work(positional, named)
    return apply(values.slice(-2), scope.at, ([spread, spreadNamed]) => {
      const more = args.spread === null ? [] : membersOf(dataOf(spread as Single))
      const all = new Map(named)
      if (args.spreadNamed !== null) {
        const dict = dataOf(spreadNamed as Single)
        if (!isDict(dict)) return raise(`argument after ** must be a mapping, not ${typeName(dict)}`)
        for (const [key, value] of dict) all.set(String(key), value)
      }
      return work([...positional, ...more], all)
    })
  })
}

function evaluateCall(of: Expression, args: Arguments, scope: Scope): Value {
  if (of.kind === 'attribute') {
    const base = evaluateIn(of.of, scope)
    if (base.kind === 'failure') return base
    if (isChange(of.name) && mayChange(base)) return change(base, of.name, args, scope)
    return apply([base], scope.at, ([single]) => {
      const receiver = single as Single
      // A method of an unknown value: its cause is the value, not the method.
      if (receiver.kind === 'unknown') {
        if (isMethod(of.name)) return withArguments(args, scope, () => unknown(receiver.causes))
      }
      return callValue(attributeOf(receiver, of.name, scope.at), args, scope)
    })
  }
  return callValue(evaluateIn(of, scope), args, scope)
}

/** Text, numbers and undefined values have no methods that change them. */
function mayChange(base: Value): boolean {
  if (base.kind === 'known') return isList(base.data) || isDict(base.data)
  return base.kind !== 'undefined'
}

/** A method that changes a list or dict in place; one that cannot be followed spoils the rendering. */
function change(base: Value, name: string, args: Arguments, scope: Scope): Value {
  return withArguments(args, scope, (positional, named) => {
    const done = apply([], scope.at, () => {
      const { changes } = scope
      const result = base.kind === 'known' ? changeInPlace(base.data, name, [positional, named], changes) : undefined
      return result ?? giveUp(`.${name}() changes a value in place, which is not followed here`)
    })
    if (done.kind === 'unknown') scope.changes.spoiled.push(...done.causes, ...causesOfOption(base))
    return done
  })
}

function callValue(callee: Value, args: Arguments, scope: Scope): Value {
  return apply([callee], scope.at, ([single]) => {
    const target = single as Single
    // Python works the arguments out before it finds that there is nothing to call.
    if (target.kind === 'undefined') return withArguments(args, scope, () => failure(target.says, scope.at, true))
    if (target.kind === 'unknown') return withArguments(args, scope, () => unknown(target.causes))
    const data = dataOf(target)
    const recursion = isDict(data) ? recursions.get(data) : undefined
    if (recursion !== undefined) {
      return withArguments(args, scope, ([over]) =>
        over === undefined ? raise('loop() misses what to loop over') : recursion(over),
      )
    }
    if (typeof data !== 'object' || data === null || !('call' in data)) {
      return raise(`'${typeName(data)}' object is not callable`)
    }
    return withArguments(args, scope, (positional, named) => data.call(positional, named, scope.at))
  })
}

/** Applies a filter by name; one that is not modelled gives Unknown with that cause, never a guess. */
export function applyFilter(
  name: string,
  input: Value,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
  context: Context,
): Value {
  const filter = filterNamed(name)
  if (filter === undefined) return notModelled('filter', name, input, context)
  const names = [...named.keys()]
  const operands = [input, ...positional, ...named.values()]
  const result = apply(operands, context.at, ([first, ...rest]) =>
    filter(first as Single, {
      positional: rest.slice(0, positional.length),
      named: new Map(names.map((key, index) => [key, rest[positional.length + index] as Single])),
      context,
    }),
  )
  return observed('filter', name, operands, result, names)
}

/** Applies a test by name, see `applyFilter`. */
export function applyTest(
  name: string,
  input: Value,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
  context: Context,
): Value {
  const test = testNamed(name)
  if (test === undefined) return notModelled('test', name, input, context)
  const names = [...named.keys()]
  const operands = [input, ...positional, ...named.values()]
  const result = apply(operands, context.at, ([first, ...rest]) =>
    test(first as Single, {
      positional: rest.slice(0, positional.length),
      named: new Map(names.map((key, index) => [key, rest[positional.length + index] as Single])),
      context,
    }),
  )
  return observed('test', name, operands, result, names)
}

function notModelled(what: string, name: string, input: Value, { environment, at }: Context): Unknown {
  const says = `${what} ${name} is not modelled`
  environment.unmodelled?.(says, at)
  return unknown([{ says, at, unread: true }, ...causesOfOption(input)])
}

/** The part of a condition that stays open: a piece of the source, or such pieces under `and`, `or`, `not`. */
export type Rest =
  | { readonly kind: 'piece'; readonly expression: Expression }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Rest[] }
  | { readonly kind: 'not'; readonly part: Rest }

export interface Judgement {
  readonly truth: Truth
  /** Set where evaluation surely fails; `truth` is chosen unknown. */
  readonly failure: Failure | null
  readonly rest: Rest | null
}

const holds: Judgement = { truth: TRUE, failure: null, rest: null }
const fails: Judgement = { truth: FALSE, failure: null, rest: null }

/**
 * Whether an expression holds. `unknown and false` is false and `unknown or true` is true: Ansible evaluates the
 * unknown side first and could only fail there, and then the task does not run either.
 */
export function judge(expression: Expression, scope: Scope): Judgement {
  switch (expression.kind) {
    case 'not': {
      const inner = judge(expression.of, scope)
      if (inner.failure !== null) return inner
      if (inner.truth.kind === 'true') return fails
      if (inner.truth.kind === 'false') return holds
      return { ...inner, rest: inner.rest === null ? null : { kind: 'not', part: inner.rest } }
    }
    case 'and':
    case 'or': {
      const decisive = expression.kind === 'and' ? 'false' : 'true'
      const left = judge(expression.left, scope)
      if (left.failure !== null || left.truth.kind === decisive) return left
      if (left.truth.kind !== 'unknown') return judge(expression.right, scope)
      const right = openly(scope, () => judge(expression.right, scope))
      if (right.truth.kind === decisive) return right
      if (right.truth.kind !== 'unknown') return left
      return open([...left.truth.causes, ...right.truth.causes], joinRests(expression.kind, left.rest, right.rest))
    }
    case 'comparison':
      return judgeComparison(expression, scope)
    case 'conditional': {
      const test = judge(expression.test, scope)
      if (test.truth.kind !== 'unknown') {
        if (test.truth.kind === 'true') return judge(expression.chosen, scope)
        return expression.otherwise === null
          ? judgeValue(evaluateIn(expression, scope), expression, scope)
          : judge(expression.otherwise, scope)
      }
      if (test.failure !== null) return test
      const chosen = openly(scope, () => judge(expression.chosen, scope))
      const rest = expression.otherwise
      const otherwise = rest === null ? fails : openly(scope, () => judge(rest, scope))
      if (
        chosen.truth.kind !== 'unknown' &&
        chosen.truth.kind === otherwise.truth.kind &&
        expression.otherwise !== null
      ) {
        return chosen
      }
      const causes = [test.truth, chosen.truth, otherwise.truth].flatMap(truth =>
        truth.kind === 'unknown' ? truth.causes : [],
      )
      return open(causes, { kind: 'piece', expression })
    }
    default:
      return judgeValue(evaluateIn(expression, scope), expression, scope)
  }
}

function open(causes: readonly Cause[], rest: Rest | null): Judgement {
  return { truth: unknown(causes), failure: null, rest }
}

function joinRests(kind: 'and' | 'or', left: Rest | null, right: Rest | null): Rest | null {
  if (left === null || right === null) return left ?? right
  const parts = [left, right].flatMap(rest => (rest.kind === kind ? rest.parts : [rest]))
  return { kind, parts }
}

function judgeValue(value: Value, expression: Expression, scope: Scope): Judgement {
  const read = value.kind === 'undefined' && value.lenient !== true ? failure(value.says, scope.at, true) : value
  const truth = truthOfValue(read, scope.at)
  if (truth.kind === 'true') return holds
  if (truth.kind === 'false') return fails
  return { truth, failure: read.kind === 'failure' ? read : null, rest: { kind: 'piece', expression } }
}

function judgeComparison(expression: Expression & { kind: 'comparison' }, scope: Scope): Judgement {
  let left = evaluateIn(expression.first, scope)
  const causes: Cause[] = []
  for (const link of expression.links) {
    if (left.kind === 'failure')
      return causes.length > 0 ? open(causes, piece(expression)) : judgeValue(left, expression, scope)
    const right = evaluateIn(link.right, scope)
    const result = judgeValue(compare(link.comparator, left, right, scope.at), expression, scope)
    if (result.failure !== null && causes.length === 0) return result
    if (result.truth.kind === 'false') return fails
    if (result.truth.kind === 'unknown') causes.push(...result.truth.causes)
    left = right
  }
  return causes.length > 0 ? open(causes, piece(expression)) : holds
}

function piece(expression: Expression): Rest {
  return { kind: 'piece', expression }
}

function valueOfJudgement(judgement: Judgement): Value {
  if (judgement.failure !== null) return judgement.failure
  switch (judgement.truth.kind) {
    case 'true':
      return known(true)
    case 'false':
      return known(false)
    case 'unknown':
      return judgement.truth
  }
}

/**
 * Whether a text of which parts are known is one that is true: something stands in it, and whatever else does, it becomes no
 * list, dict, boolean or null.
 */
function isCertainlyText(pieces: readonly (string | null)[]): boolean {
  const [first] = pieces
  return (
    typeof first === 'string' && /^[^\s[{]/.test(first) && pieces.some(piece => piece !== null && /[\n/]/.test(piece))
  )
}

/**
 * Python's truth of a value. Undefined and Failure are unknown with that as the cause ("evaluation fails: …"): the run
 * would stop there. Alternatives that agree decide.
 */
export function truthOfValue(value: Value, at: Span): Truth {
  switch (value.kind) {
    case 'known':
      return truthOfData(value.data) ? TRUE : FALSE
    case 'unknown':
      return value.text !== undefined && isCertainlyText(value.text) ? TRUE : value
    case 'undefined':
      if (value.lenient === true) return FALSE
      return unknown([{ says: `evaluation fails: ${value.says}`, at: value.at, unread: true }])
    case 'failure':
      return unknown([{ says: `evaluation fails: ${value.says}`, at: value.at, unread: true }])
    case 'one-of': {
      const truths = value.options.map(option => truthOfValue(option.value, at))
      const [first] = truths
      if (first !== undefined && first.kind !== 'unknown' && truths.every(truth => truth.kind === first.kind))
        return first
      return unknown(
        mergeCauses(
          value.options.flatMap((option, index) => {
            const truth = truths[index]
            return truth?.kind === 'unknown' ? [...option.because, ...truth.causes] : option.because
          }),
        ),
      )
    }
  }
}

/** Whether the expression can only give a bool, by its form. */
export function isBoolean(expression: Expression): boolean {
  switch (expression.kind) {
    case 'not':
    case 'comparison':
      return true
    case 'test':
      return true
    case 'and':
    case 'or':
      return isBoolean(expression.left) && isBoolean(expression.right)
    case 'constant':
      return typeof expression.data === 'boolean'
    default:
      return false
  }
}

function evaluateLogical(expression: Expression & { kind: 'and' | 'or' }, scope: Scope): Value {
  const wanted = expression.kind === 'and'
  return apply([evaluateIn(expression.left, scope)], scope.at, ([single]) => {
    const left = single as Single
    if (left.kind === 'undefined') {
      if (left.lenient !== true) return failure(left.says, scope.at, true)
      return wanted ? left : evaluateIn(expression.right, scope)
    }
    if (left.kind === 'known') return truthOfData(left.data) === wanted ? evaluateIn(expression.right, scope) : left
    const right = openly(scope, () => evaluateIn(expression.right, scope))
    const decided = right.kind === 'known' && right.data === !wanted && isBoolean(expression.left)
    if (decided) return right
    return unknown([...causesOfOption(left), ...causesOfOption(right)])
  })
}
