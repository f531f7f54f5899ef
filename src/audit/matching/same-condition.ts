import { parseExpression } from '../../jinja/parser.js'
import { printExpression } from '../../jinja/print.js'
import type { Expression } from '../../jinja/syntax.js'

/** A condition as far as `and`, `or` and `not` go; what they join is text, written in one way. */
export type Formula =
  | { readonly kind: 'constant'; readonly holds: boolean }
  | { readonly kind: 'atom'; readonly text: string }
  | { readonly kind: 'not'; readonly of: Formula }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Formula[] }

/** The other name that something has by now: a registered result, a file. */
export type Renamed = (name: string) => string

/** What conditions ask, with `or` between alternatives of which each is conditions that hold together. */
export function formulaOf(alternatives: readonly (readonly string[])[], renamed: Renamed): Formula {
  return {
    kind: 'or',
    parts: alternatives.map(conjuncts => ({ kind: 'and', parts: conjuncts.map(text => read(text, renamed)) })),
  }
}

/** More atoms than this are not gone through value by value. */
const maxAtoms = 12

/**
 * Whether two conditions ask the same. How it is said does not matter: `!=` or `not ==`, one list or two comparisons,
 * `ansible_facts.x` or `ansible_x`, the order of the parts. Where there is too much to go through, as written.
 */
export function isSameCondition(left: Formula, right: Formula): boolean {
  const atoms = [...new Set([...atomsOf(left), ...atomsOf(right)])]
  if (atoms.length > maxAtoms) return printFormula(left) === printFormula(right)
  const values = new Map<string, boolean>()
  for (let row = 0; row < 2 ** atoms.length; row += 1) {
    for (const [index, atom] of atoms.entries()) values.set(atom, (row & (1 << index)) !== 0)
    if (holds(left, values) !== holds(right, values)) return false
  }
  return true
}

function holds(formula: Formula, values: ReadonlyMap<string, boolean>): boolean {
  switch (formula.kind) {
    case 'constant':
      return formula.holds
    case 'atom':
      return values.get(formula.text) === true
    case 'not':
      return !holds(formula.of, values)
    case 'and':
      return formula.parts.every(part => holds(part, values))
    case 'or':
      return formula.parts.some(part => holds(part, values))
  }
}

function atomsOf(formula: Formula): readonly string[] {
  switch (formula.kind) {
    case 'constant':
      return []
    case 'atom':
      return [formula.text]
    case 'not':
      return atomsOf(formula.of)
    default:
      return formula.parts.flatMap(atomsOf)
  }
}

function printFormula(formula: Formula): string {
  switch (formula.kind) {
    case 'constant':
      return String(formula.holds)
    case 'atom':
      return formula.text
    case 'not':
      return `not (${printFormula(formula.of)})`
    default:
      return `(${[...new Set(formula.parts.map(printFormula))].toSorted().join(` ${formula.kind} `)})`
  }
}

/** Conditions in words (`a file was included`) are no expressions: they stand for themselves. */
function read(text: string, renamed: Renamed): Formula {
  const span = { file: { path: '', text }, start: 0, end: text.length }
  const parsed = parseExpression(text, span)
  if (parsed.kind === 'syntax-problem') return { kind: 'atom', text: respell(text, renamed) }
  return formulaFrom(parsed, renamed)
}

function formulaFrom(expression: Expression, renamed: Renamed): Formula {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return {
        kind: expression.kind,
        parts: [formulaFrom(expression.left, renamed), formulaFrom(expression.right, renamed)],
      }
    case 'not':
      return not(formulaFrom(expression.of, renamed))
    case 'constant':
      return typeof expression.data === 'boolean'
        ? { kind: 'constant', holds: expression.data }
        : atom(expression, renamed)
    case 'filter': {
      // They change what it is, not whether it holds; an undefined name does not hold either way.
      const [given] = expression.args.positional
      const isFalse = given?.kind === 'constant' && (given.data === false || given.data === '')
      const isDefault = expression.name === 'default' || expression.name === 'd'
      if (expression.of !== null && (expression.name === 'bool' || (isDefault && isFalse))) {
        return formulaFrom(expression.of, renamed)
      }
      return atom(expression, renamed)
    }
    case 'test':
      return expression.name === 'undefined'
        ? not(atom({ ...expression, name: 'defined' }, renamed))
        : atom(expression, renamed)
    case 'comparison':
      return comparison(expression, renamed)
    default:
      return atom(expression, renamed)
  }
}

function comparison(expression: Expression & { kind: 'comparison' }, renamed: Renamed): Formula {
  const [link, ...more] = expression.links
  if (link === undefined || more.length > 0) return atom(expression, renamed)
  const { first: left } = expression
  const { comparator, right } = link
  switch (comparator) {
    case '==':
      return equal(left, right, renamed)
    case '!=':
      return not(equal(left, right, renamed))
    case 'in':
      return among(left, right, renamed)
    case 'not in':
      return not(among(left, right, renamed))
    case '<':
      return ordered(left, right, renamed)
    case '>=':
      return not(ordered(left, right, renamed))
    case '>':
      return ordered(right, left, renamed)
    case '<=':
      return not(ordered(right, left, renamed))
  }
}

function ordered(left: Expression, right: Expression, renamed: Renamed): Formula {
  return { kind: 'atom', text: `${spelled(left, renamed)} < ${spelled(right, renamed)}` }
}

function equal(left: Expression, right: Expression, renamed: Renamed): Formula {
  const sides = [spelled(left, renamed), spelled(right, renamed)].toSorted()
  return { kind: 'atom', text: sides.join(' == ') }
}

function among(left: Expression, right: Expression, renamed: Renamed): Formula {
  const isList = right.kind === 'list' || right.kind === 'tuple'
  if (isList) return { kind: 'or', parts: right.items.map(item => equal(left, item, renamed)) }
  const group = groupAsked(left, right)
  const text =
    group === undefined ? `${spelled(left, renamed)} in ${spelled(right, renamed)}` : `${group} in group_names`
  return { kind: 'atom', text }
}

/** The group that `inventory_hostname in groups['x']` asks for: the same as `'x' in group_names`. */
function groupAsked(left: Expression, right: Expression): string | undefined {
  if (left.kind !== 'name' || left.name !== 'inventory_hostname') return undefined
  if (right.kind === 'filter' && right.of !== null) return groupAsked(left, right.of)
  if (right.kind !== 'item' && right.kind !== 'attribute') return undefined
  if (right.of.kind !== 'name' || right.of.name !== 'groups') return undefined
  const name = right.kind === 'attribute' ? right.name : right.index.kind === 'constant' ? right.index.data : undefined
  return typeof name === 'string' ? `'${name}'` : undefined
}

function not(of: Formula): Formula {
  return { kind: 'not', of }
}

function atom(expression: Expression, renamed: Renamed): Formula {
  return { kind: 'atom', text: spelled(expression, renamed) }
}

function spelled(expression: Expression, renamed: Renamed): string {
  return respell(printExpression(expression), renamed)
}

/** Facts under one name, results under the new one; what stands in quotes stays. */
function respell(text: string, renamed: Renamed): string {
  return text.replace(
    /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\bansible_facts(?:\.(\w+)|\[(['"])(\w+)\2\])|(?<!\.)[A-Za-z_]\w*/g,
    (found, attribute: string | undefined, _quote, key: string | undefined) => {
      const fact = attribute ?? key
      if (fact !== undefined) return fact.startsWith('ansible_') ? fact : `ansible_${fact}`
      return /^['"]/.test(found) ? found : renamed(found)
    },
  )
}
