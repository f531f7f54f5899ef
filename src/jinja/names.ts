import { printExpression } from './print.js'
import { type Body, childrenOf, type Expression, type Parameter, type Target, type Template } from './syntax.js'

/**
 * The names an expression or template reads from outside itself, in order of first use, each once. A name that the
 * template sets, loops over or takes as a parameter before reading it is not one of them; global functions
 * (`lookup`, `range`, …) are, since a variable of that name would win.
 */
export function namesIn(read: Expression | Template): readonly string[] {
  const names = new Set<string>()
  if (read.kind === 'template') collectFromBody(read.body, new Set(), names)
  else collect(read, new Set(), names)
  return [...names]
}

function collect(expression: Expression, bound: ReadonlySet<string>, names: Set<string>): void {
  if (expression.kind === 'name') {
    if (!bound.has(expression.name)) names.add(expression.name)
    return
  }
  for (const child of childrenOf(expression)) collect(child, bound, names)
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

function bind(target: Target, bound: Set<string>): void {
  if (target.kind === 'name') bound.add(target.name)
  else if (target.kind === 'tuple') for (const item of target.items) bind(item, bound)
}

function bindParameters(parameters: readonly Parameter[], bound: Set<string>, names: Set<string>): Set<string> {
  const inner = new Set(bound)
  for (const parameter of parameters) {
    if (parameter.fallback !== null) collect(parameter.fallback, bound, names)
    inner.add(parameter.name)
  }
  return inner
}

function collectFromBody(body: Body, bound: Set<string>, names: Set<string>): void {
  for (const statement of body) {
    switch (statement.kind) {
      case 'output':
      case 'do':
        collect(statement.expression, bound, names)
        break
      case 'if':
        for (const branch of statement.branches) {
          collect(branch.test, bound, names)
          // What only some branches set may still be read from outside afterwards.
          collectFromBody(branch.body, new Set(bound), names)
        }
        collectFromBody(statement.otherwise, new Set(bound), names)
        break
      case 'for': {
        collect(statement.over, bound, names)
        const inner = new Set(bound)
        bind(statement.target, inner)
        inner.add('loop')
        if (statement.only !== null) collect(statement.only, inner, names)
        collectFromBody(statement.body, inner, names)
        collectFromBody(statement.otherwise, new Set(bound), names)
        break
      }
      case 'set':
        collect(statement.value, bound, names)
        bind(statement.target, bound)
        break
      case 'set-block':
        if (statement.filter !== null) collect(statement.filter, bound, names)
        collectFromBody(statement.body, new Set(bound), names)
        bind(statement.target, bound)
        break
      case 'with': {
        const inner = new Set(bound)
        for (const binding of statement.bindings) {
          collect(binding.value, bound, names)
          bind(binding.target, inner)
        }
        collectFromBody(statement.body, inner, names)
        break
      }
      case 'filter-block':
        collect(statement.filter, bound, names)
        collectFromBody(statement.body, new Set(bound), names)
        break
      case 'macro': {
        const inner = bindParameters(statement.parameters, bound, names)
        for (const name of ['varargs', 'kwargs', 'caller']) inner.add(name)
        collectFromBody(statement.body, inner, names)
        bound.add(statement.name)
        break
      }
      case 'call-block':
        collect(statement.call, bound, names)
        collectFromBody(statement.body, bindParameters(statement.parameters, bound, names), names)
        break
      case 'block':
        collectFromBody(statement.body, new Set(bound), names)
        break
      case 'other-file':
        collect(statement.source, bound, names)
        for (const name of statement.binds) bound.add(name)
        break
      default:
        break
    }
  }
}
