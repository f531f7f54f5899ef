import type { Span } from '../source/text.js'
import { apply, applyToData, type Single } from './apply.js'
import { formatPercent } from './format.js'
import { observed } from './observed.js'
import {
  checkSize,
  contains,
  equal,
  giveUp,
  isDict,
  isList,
  isNumber,
  isTuple,
  less,
  membersOf,
  raise,
  strOf,
  typeName,
  Unresolved,
} from './python.js'
import type { BinaryOperator, Comparator } from './syntax.js'
import type { Cause, Data, Failure, Unknown, Value } from './value.js'
import { failure, known, unknown } from './value.js'

type Numeric = bigint | number

function numeric(data: Data): Numeric | undefined {
  if (typeof data === 'boolean') return data ? 1n : 0n
  return typeof data === 'bigint' || typeof data === 'number' ? data : undefined
}

function unsupported(operator: string, left: Data, right: Data): never {
  return raise(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`)
}

function arithmetic(
  operator: string,
  left: Data,
  right: Data,
  whole: (a: bigint, b: bigint) => Data,
  real: (a: number, b: number) => Data,
): Data {
  const a = numeric(left)
  const b = numeric(right)
  if (a === undefined || b === undefined) return unsupported(operator, left, right)
  if (typeof a === 'bigint' && typeof b === 'bigint') return whole(a, b)
  return real(Number(a), Number(b))
}

function add(left: Data, right: Data): Data {
  if (typeof left === 'string') {
    if (typeof right !== 'string') return raise(`can only concatenate str (not "${typeName(right)}") to str`)
    checkSize(left.length + right.length)
    return left + right
  }
  if (isList(left)) {
    if (!isList(right)) return raise(`can only concatenate list (not "${typeName(right)}") to list`)
    checkSize(left.length + right.length)
    return [...left, ...right]
  }
  if (isTuple(left) && left.view === undefined) {
    if (!isTuple(right) || right.view !== undefined) {
      return raise(`can only concatenate tuple (not "${typeName(right)}") to tuple`)
    }
    return { kind: 'tuple', items: [...left.items, ...right.items] }
  }
  return arithmetic(
    '+',
    left,
    right,
    (a, b) => a + b,
    (a, b) => a + b,
  )
}

function multiply(left: Data, right: Data): Data {
  for (const [sequence, count] of [
    [left, right],
    [right, left],
  ] as const) {
    const times = typeof count === 'number' ? undefined : numeric(count)
    if (typeof times !== 'bigint') continue
    const repeat = times < 0n ? 0n : times
    if (typeof sequence === 'string') {
      checkSize(repeat * BigInt(sequence.length))
      return sequence.repeat(Number(sequence === '' ? 0n : repeat))
    }
    const items = isList(sequence)
      ? sequence
      : isTuple(sequence) && sequence.view === undefined
        ? sequence.items
        : undefined
    if (items === undefined) continue
    checkSize(repeat * BigInt(items.length) * 20n)
    const all = items.length === 0 ? [] : Array.from({ length: Number(repeat) }, () => items).flat()
    return isList(sequence) ? all : { kind: 'tuple', items: all }
  }
  return arithmetic(
    '*',
    left,
    right,
    (a, b) => {
      checkSize(a.toString(16).length + b.toString(16).length)
      return a * b
    },
    (a, b) => a * b,
  )
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

function floorModulo(a: number, b: number): number {
  const rest = a % b
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest
}

function divideBy(b: Numeric, says: string): void {
  if (Number(b) === 0) raise(says)
}

function power(left: Data, right: Data): Data {
  return arithmetic(
    '** or pow()',
    left,
    right,
    (a, b) => {
      if (b < 0n) {
        divideBy(a, '0.0 cannot be raised to a negative power')
        return Number(a) ** Number(b)
      }
      if (a > 1n || a < -1n) checkSize(b * BigInt(a.toString(16).length))
      return a === 1n || a === 0n || a === -1n ? (b === 0n ? 1n : a === -1n && b % 2n === 0n ? 1n : a) : a ** b
    },
    (a, b) => {
      if (a === 0 && b < 0) raise('0.0 cannot be raised to a negative power')
      if (a < 0 && !Number.isInteger(b)) return giveUp('complex numbers are not modelled')
      return a ** b
    },
  )
}

const binaryOperators: Readonly<Record<BinaryOperator, (left: Data, right: Data) => Data>> = {
  '+': add,
  '-': (left, right) =>
    arithmetic(
      '-',
      left,
      right,
      (a, b) => a - b,
      (a, b) => a - b,
    ),
  '~': (left, right) => strOf(left) + strOf(right),
  '*': multiply,
  '/': (left, right) => {
    const divide = (a: Numeric, b: Numeric): number => {
      divideBy(b, typeof a === 'bigint' && typeof b === 'bigint' ? 'division by zero' : 'float division by zero')
      return Number(a) / Number(b)
    }
    return arithmetic('/', left, right, divide, divide)
  },
  '//': (left, right) =>
    arithmetic(
      '//',
      left,
      right,
      (a, b) => {
        divideBy(b, 'integer division or modulo by zero')
        return floorDivide(a, b)
      },
      (a, b) => {
        divideBy(b, 'float floor division by zero')
        // The quotient of what is left without the remainder, as Python has it: `1 // 0.1` is 9.
        const rest = a % b
        const whole = Math.round((a - rest) / b)
        return rest !== 0 && rest < 0 !== b < 0 ? whole - 1 : whole
      },
    ),
  '%': (left, right) => {
    if (typeof left === 'string') return formatPercent(left, right)
    return arithmetic(
      '%',
      left,
      right,
      (a, b) => {
        divideBy(b, 'integer division or modulo by zero')
        return a - floorDivide(a, b) * b
      },
      (a, b) => {
        divideBy(b, 'float modulo')
        return floorModulo(a, b)
      },
    )
  },
  '**': power,
}

/** A binary operator as Python (and for `~` Jinja2) has it. A text with unknown parts keeps its known pieces. */
export function operate(operator: BinaryOperator, left: Value, right: Value, at: Span): Value {
  return observed('operator', operator, [left, right], operateOn(operator, left, right, at))
}

function operateOn(operator: BinaryOperator, left: Value, right: Value, at: Span): Value {
  if (operator === '~' || operator === '+') {
    return apply([left, right], at, singles => {
      const open = singles.some(single => single.kind === 'unknown')
      if (operator === '~' || (open && singles.some(isText) && singles.every(single => single.kind !== 'undefined')))
        return joinTexts(singles, at)
      return applyToData(singles, at, ([a, b]) => known(add(a as Data, b as Data)))
    })
  }
  return applyToData([left, right], at, ([a, b]) => known(binaryOperators[operator](a as Data, b as Data)))
}

/** A text `+` anything can only be a text (or fail), so the known piece of it is kept. */
function isText(value: Value): boolean {
  return (
    (value.kind === 'known' && typeof value.data === 'string') || (value.kind === 'unknown' && value.text !== undefined)
  )
}

/** One text out of values of which some are unknown: the known pieces stay where they stand. Call it under `apply`. */
export function joinTexts(values: readonly Single[], at: Span): Value {
  const pieces: (string | null)[] = []
  const causes: Cause[] = []
  for (const value of values) {
    const piece = asText(value)
    if (typeof piece === 'string') {
      appendText(pieces, piece)
      continue
    }
    if (piece.kind === 'failure') return { ...piece, at }
    for (const part of piece.text ?? [null]) {
      if (part !== null) appendText(pieces, part)
      else if (pieces.length === 0 || pieces[pieces.length - 1] !== null) pieces.push(null)
    }
    causes.push(...piece.causes)
  }
  if (!pieces.includes(null)) return known(pieces.join(''))
  return pieces.length === 1 ? unknown(causes) : unknown(causes, pieces)
}

function asText(value: Single): string | Unknown | Failure {
  switch (value.kind) {
    case 'unknown':
    case 'failure':
      return value
    case 'undefined':
      return value.lenient === true ? '' : failure(value.says, value.at, true)
    case 'known':
      try {
        return strOf(value.data)
      } catch (error) {
        if (error instanceof Unresolved && error.says === null) return unknown(error.causes)
        throw error
      }
  }
}

function appendText(pieces: (string | null)[], text: string): void {
  if (text === '') return
  const last = pieces[pieces.length - 1]
  if (typeof last === 'string') pieces[pieces.length - 1] = last + text
  else pieces.push(text)
}

const comparisons: Readonly<Record<Comparator, (left: Data, right: Data) => boolean>> = {
  '==': equal,
  '!=': (left, right) => !equal(left, right),
  '<': (left, right) => less(left, right, '<'),
  '>': (left, right) => lessSwapped(left, right, '>'),
  '<=': (left, right) => less(left, right, '<=') || equal(left, right),
  '>=': (left, right) => lessSwapped(left, right, '>=') || equal(left, right),
  in: (left, right) => contains(right, left),
  'not in': (left, right) => !contains(right, left),
}

/** `a > b` is `b < a`, but the words of a type error name the operands as written. */
function lessSwapped(left: Data, right: Data, sign: string): boolean {
  if (isNumber(left) && isNumber(right)) return less(right, left)
  if (typeName(left) !== typeName(right) || isDict(left)) {
    return raise(`'${sign}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
  }
  return less(right, left, sign)
}

/** One link of a comparison; always a bool, Unknown or a Failure. */
export function compare(comparator: Comparator, left: Value, right: Value, at: Span): Value {
  if (left.kind === 'undefined' && left.lenient !== true && (comparator === 'in' || comparator === 'not in')) {
    return applyToData([right], at, ([container]) => {
      // The container is asked first: an empty one compares nothing, and what is none fails by itself.
      const members = isList(container as Data) || isTuple(container as Data) ? membersOf(container as Data) : null
      if (members?.length === 0) return known(comparator === 'not in')
      if (members === null && typeof container !== 'string' && !isDict(container as Data))
        contains(container as Data, null)
      return failure(left.says, at, true)
    })
  }
  const result = applyToData([left, right], at, ([a, b]) => known(comparisons[comparator](a as Data, b as Data)))
  return observed('comparison', comparator, [left, right], result)
}

/** Unary minus and plus. */
export function sign(operator: '-' | '+', operand: Value, at: Span): Value {
  return applyToData([operand], at, ([data]) => {
    const number = numeric(data as Data)
    if (number === undefined) return raise(`bad operand type for unary ${operator}: '${typeName(data as Data)}'`)
    return known(operator === '-' ? -number : number)
  })
}

/** Adds up as Python's `sum` does. */
export function sum(items: Data, start: Data): Data {
  let total = start
  for (const item of membersOf(items)) {
    if (item.kind !== 'known') throw new Error('sum of members that are not data')
    total = add(total, item.data)
  }
  return total
}
