import { printExpression } from './print.js'
import {
  type Body,
  type Constant,
  childrenOf,
  type Expression,
  type Parameter,
  type Target,
  type Template,
} from './syntax.js'

/** Names that are bound at a place; of a loop over values that are written out those values, else null. */
export type Bound = ReadonlyMap<string, readonly Constant[] | null>

/** Called with each expression that stands for itself, and the names that are bound where it stands. */
type Visit = (expression: Expression, bound: Bound) => void

/**
 * The names an expression or template reads from outside itself, in order of first use, each once. A name that the
 * template sets, loops over or takes as a parameter before reading it is not one of them; global functions
 * (`lookup`, `range`, …) are, since a variable of that name would win.
 */
export function namesIn(read: Expression | Template): readonly string[] {
  const names = new Set<string>()
  visitFree(read, part => {
    if (part.kind === 'name') names.add(part.name)
  })
  return [...names]
}

/**
 * Visits each part of an expression or template, in order, that is not a name bound inside it; parts of parts too.
 * `part.start` is an offset into the text that was parsed; `whole` is the expression the part stands in.
 */
export function visitFree(
  read: Expression | Template,
  visit: (part: Expression, bound: Bound, whole: Expression) => void,
): void {
  const each: Visit = (whole, bound) => {
    const within = (part: Expression): void => {
      if (part.kind === 'name' && bound.has(part.name)) return
      visit(part, bound, whole)
      for (const child of childrenOf(part)) within(child)
    }
    within(whole)
  }
  if (read.kind === 'template') visitBody(read.body, new Map(), each)
  else each(read, new Map())
}

/** The paths an expression reads, as written: `ansible_facts.kernel`, `result.stat['exists']`; each once. */
export function pathsIn(expression: Expression): readonly string[] {
  const paths = new Set<string>()
  const visit = (part: Expression): void => {
    if (isPath(part)) paths.add(printExpression(part))
    else for (const child of childrenOf(part)) visit(child)
  }
  visit(expression)
  return [...paths]
}

function isPath(expression: Expression): boolean {
  if (expression.kind === 'attribute') return isPath(expression.of)
  if (expression.kind === 'item') return expression.index.kind === 'constant' && isPath(expression.of)
  return expression.kind === 'name'
}

function bind(target: Target, bound: Map<string, readonly Constant[] | null>): void {
  if (target.kind === 'name') bound.set(target.name, null)
  else if (target.kind === 'tuple') for (const item of target.items) bind(item, bound)
}

/** The items of a list that is written out. */
function writtenItems(over: Expression): readonly Constant[] | undefined {
  if (over.kind !== 'list' && over.kind !== 'tuple') return undefined
  const items = over.items.filter(item => item.kind === 'constant')
  return items.length === over.items.length ? items : undefined
}

function bindParameters(
  parameters: readonly Parameter[],
  bound: Map<string, readonly Constant[] | null>,
  visit: Visit,
): Map<string, readonly Constant[] | null> {
  const inner = new Map(bound)
  for (const parameter of parameters) {
    if (parameter.fallback !== null) visit(parameter.fallback, bound)
    inner.set(parameter.name, null)
  }
  return inner
}

function visitBody(body: Body, bound: Map<string, readonly Constant[] | null>, visit: Visit): void {
  for (const statement of body) {
    switch (statement.kind) {
      case 'output':
      case 'do':
        visit(statement.expression, bound)
        break
      case 'if':
        for (const branch of statement.branches) {
          visit(branch.test, bound)
          // What only some branches set may still be read from outside afterwards.
          visitBody(branch.body, new Map(bound), visit)
        }
        visitBody(statement.otherwise, new Map(bound), visit)
        break
      case 'for': {
        visit(statement.over, bound)
        const inner = new Map(bound)
        bind(statement.target, inner)
        const written = writtenItems(statement.over)
        if (statement.target.kind === 'name' && written !== undefined) inner.set(statement.target.name, written)
        inner.set('loop', null)
        if (statement.only !== null) visit(statement.only, inner)
        visitBody(statement.body, inner, visit)
        visitBody(statement.otherwise, new Map(bound), visit)
        break
      }
      case 'set':
        visit(statement.value, bound)
        bind(statement.target, bound)
        break
      case 'set-block':
        if (statement.filter !== null) visit(statement.filter, bound)
        visitBody(statement.body, new Map(bound), visit)
        bind(statement.target, bound)
        break
      case 'with': {
        const inner = new Map(bound)
        for (const binding of statement.bindings) {
          visit(binding.value, bound)
          bind(binding.target, inner)
        }
        visitBody(statement.body, inner, visit)
        break
      }
      case 'filter-block':
        visit(statement.filter, bound)
        visitBody(statement.body, new Map(bound), visit)
        break
      case 'macro': {
        const inner = bindParameters(statement.parameters, bound, visit)
        for (const name of ['varargs', 'kwargs', 'caller']) inner.set(name, null)
        visitBody(statement.body, inner, visit)
        bound.set(statement.name, null)
        break
      }
      case 'call-block':
        visit(statement.call, bound)
        visitBody(statement.body, bindParameters(statement.parameters, bound, visit), visit)
        break
      case 'block':
        visitBody(statement.body, new Map(bound), visit)
        break
      case 'other-file':
        visit(statement.source, bound)
        for (const name of statement.binds) bound.set(name, null)
        break
      default:
        break
    }
  }
}
