import { binaryLevels, precedence } from './parser.js'
import { floatText } from './python.js'
import type { Arguments, Constant, Expression } from './syntax.js'

/**
 * The expression as Jinja2 source, with no more brackets than needed: parsing it again gives the same tree. String
 * literals are written with Jinja2's escapes, so it belongs into a condition or a template file.
 */
export function printExpression(expression: Expression): string {
  return printAt(expression, precedence.conditional)
}

function printAt(expression: Expression, level: number): string {
  const text = printBare(expression)
  return levelOf(expression) < level ? `(${text})` : text
}

function levelOf(expression: Expression): number {
  switch (expression.kind) {
    case 'conditional':
      return precedence.conditional
    case 'or':
      return precedence.or
    case 'and':
      return precedence.and
    case 'not':
      return precedence.not
    case 'comparison':
      return precedence.comparison
    case 'binary':
      return binaryLevels.get(expression.operator) as number
    case 'filter':
    case 'test':
      return precedence.filtered
    case 'sign':
      return precedence.sign
    default:
      return precedence.primary
  }
}

function printBare(expression: Expression): string {
  switch (expression.kind) {
    case 'constant':
      return printConstant(expression)
    case 'name':
      return expression.name
    case 'list':
      return `[${expression.items.map(printExpression).join(', ')}]`
    case 'tuple': {
      const inside = expression.items.map(printExpression).join(', ')
      return expression.items.length === 1 ? `(${inside},)` : `(${inside})`
    }
    case 'dict':
      return `{${expression.entries.map(({ key, value }) => `${printExpression(key)}: ${printExpression(value)}`).join(', ')}}`
    case 'attribute':
      return `${printBase(expression.of)}.${expression.name}`
    case 'item':
      return `${printBase(expression.of)}[${printExpression(expression.index)}]`
    case 'slice': {
      const part = (bound: Expression | null): string => (bound === null ? '' : printExpression(bound))
      const step = expression.step === null ? '' : `:${printExpression(expression.step)}`
      return `${printBase(expression.of)}[${part(expression.from)}:${part(expression.to)}${step}]`
    }
    case 'call':
      return `${printBase(expression.of)}(${printArguments(expression.args)})`
    case 'filter': {
      const of = expression.of === null ? '' : `${printAt(expression.of, precedence.filtered)} | `
      const args = printArguments(expression.args)
      return of + expression.name + (args === '' ? '' : `(${args})`)
    }
    case 'test':
      // With brackets always, so that a call after the test is not read as its arguments.
      return `${printAt(expression.of, precedence.filtered)} is ${expression.name}(${printArguments(expression.args)})`
    case 'not':
      return `not ${printAt(expression.of, precedence.not)}`
    case 'sign':
      return `${expression.operator}${printAt(expression.of, precedence.sign)}`
    case 'binary': {
      const level = levelOf(expression)
      return `${printAt(expression.left, level)} ${expression.operator} ${printAt(expression.right, level + 1)}`
    }
    case 'comparison': {
      const links = expression.links.map(link => `${link.comparator} ${printAt(link.right, precedence.sum)}`)
      return [printAt(expression.first, precedence.sum), ...links].join(' ')
    }
    case 'and':
    case 'or': {
      const level = levelOf(expression)
      return `${printAt(expression.left, level)} ${expression.kind} ${printAt(expression.right, level + 1)}`
    }
    case 'conditional': {
      const chosen = printAt(expression.chosen, precedence.or)
      const test = printAt(expression.test, precedence.or)
      return expression.otherwise === null
        ? `${chosen} if ${test}`
        : `${chosen} if ${test} else ${printAt(expression.otherwise, precedence.conditional)}`
    }
  }
}

/** What stands before `.`, `[` or `(`: numbers need brackets there, since `1.x` reads as a float. */
function printBase(expression: Expression): string {
  const isNumber =
    expression.kind === 'constant' && (typeof expression.data === 'bigint' || typeof expression.data === 'number')
  return isNumber ? `(${printBare(expression)})` : printAt(expression, precedence.primary)
}

function printArguments(args: Arguments): string {
  const parts = [
    ...args.positional.map(printExpression),
    ...args.named.map(argument => `${argument.name}=${printExpression(argument.value)}`),
  ]
  if (args.spread !== null) parts.push(`*${printExpression(args.spread)}`)
  if (args.spreadNamed !== null) parts.push(`**${printExpression(args.spreadNamed)}`)
  return parts.join(', ')
}

function printConstant({ data }: Constant): string {
  if (data === null) return 'none'
  if (typeof data === 'boolean' || typeof data === 'bigint') return String(data)
  if (typeof data === 'number') return printFloat(data)
  return `'${data.replace(/[\\'\n\r\t\x00-\x1f\x7f-\uffff]/g, escapeCharacter)}'`
}

function escapeCharacter(char: string): string {
  if (char === '\\' || char === "'") return `\\${char}`
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  const code = char.charCodeAt(0)
  if (code < 0x20 || code === 0x7f || code === 0x0d) return `\\x${code.toString(16).padStart(2, '0')}`
  return char
}

/** Literals have no infinity; `1e999` reads as one. */
function printFloat(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '1e999'
  return floatText(value)
}
