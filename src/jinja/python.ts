import type { Cause, Data, Dict, Failure, Key, List, OneOf, Tuple, Unknown, Value } from './value.js'
import { known, mergeCauses } from './value.js'

/**
 * A Python exception on the way to the operation that turns it into a Failure. Like the two below it is thrown often and
 * always caught here, so it is no Error and records no stack.
 */
export class Raised {
  readonly message: string
  readonly undefined: boolean
  constructor(says: string, isUndefined = false) {
    this.message = says
    this.undefined = isUndefined
  }
}

/** A member that is not known was needed; the operation becomes Unknown for these causes. */
export class Unresolved {
  readonly causes: readonly Cause[]
  /** Words for a cause of our own (a limit, something not modelled); the operation knows the place. */
  readonly says: string | null
  constructor(causes: readonly Cause[], says: string | null = null) {
    this.causes = causes
    this.says = says
  }
}

/** A member with alternatives was needed; the operation is done again for each of them. */
export class Split {
  readonly on: OneOf
  constructor(on: OneOf) {
    this.on = on
  }
}

/** Fails as Python would; only `apply` catches it and makes a Failure of it. */
export function raise(says: string, isUndefined = false): never {
  throw new Raised(says, isUndefined)
}

/** Says that the result cannot be told; only `apply` catches it and makes an Unknown of it. */
export function giveUp(says: string): never {
  throw new Unresolved([], says)
}

/** An inline `if` without `else` is not followed through every operation. */
export const leniency = 'the missing else of an inline if is used in a way that is not modelled'

/** The data of a value an operation needs: anything but known data stops the operation. */
export function dataOf(value: Value): Data {
  switch (value.kind) {
    case 'known':
      return value.data
    case 'undefined':
      return value.lenient === true ? giveUp(leniency) : raise(value.says, true)
    case 'failure':
      return raise(value.says, value.undefined)
    case 'unknown':
      throw new Unresolved(value.causes)
    case 'one-of':
      throw new Split(value)
  }
}

/** Whether this is a tuple, or a view or range that iterates like one. */
export function isTuple(data: Data): data is Tuple {
  return typeof data === 'object' && data !== null && 'kind' in data && data.kind === 'tuple'
}
/** Whether this is a Python list. */
export function isList(data: Data): data is List {
  return Array.isArray(data)
}
/** Whether this is a Python dict. */
export function isDict(data: Data): data is Dict {
  return data instanceof Map
}

/** The name Python's `type()` shows. */
export function typeName(data: Data): string {
  if (data === null) return 'NoneType'
  switch (typeof data) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'float'
    case 'string':
      return 'str'
    default:
  }
  if (isList(data)) return 'list'
  if (isDict(data)) return 'dict'
  if (isTuple(data)) return data.view ?? 'tuple'
  return 'builtin_function_or_method'
}

/** Python's `bool()`. */
export function truthOfData(data: Data): boolean {
  if (data === null) return false
  switch (typeof data) {
    case 'boolean':
      return data
    case 'bigint':
      return data !== 0n
    case 'number':
      return data !== 0
    case 'string':
      return data !== ''
    default:
  }
  if (isList(data)) return data.length > 0
  if (isDict(data)) return data.size > 0
  return isTuple(data) ? data.items.length > 0 : true
}

/** Python's `repr()` of a float: shortest digits, exponent form outside 1e-4 … 1e16. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  if (Object.is(value, -0)) return '-0.0'
  if (value === 0) return '0.0'
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 16) {
    const sign = value < 0 ? '-' : ''
    const digits = mantissa.replace(/[-.]/g, '')
    if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
    const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
    return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
  }
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** Characters Python's `repr()` writes as an escape. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u

function reprOfText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  let result = quote
  for (const char of text) {
    if (char === '\\' || char === quote) result += `\\${char}`
    else if (char === '\n') result += '\\n'
    else if (char === '\r') result += '\\r'
    else if (char === '\t') result += '\\t'
    else if (unprintable.test(char)) {
      const code = char.codePointAt(0) ?? 0
      if (code < 0x100) result += `\\x${code.toString(16).padStart(2, '0')}`
      else if (code < 0x10000) result += `\\u${code.toString(16).padStart(4, '0')}`
      else result += `\\U${code.toString(16).padStart(8, '0')}`
    } else result += char
  }
  return result + quote
}

const longestText = 20_000_000

/** Refuses to build texts and lists that only hostile input asks for. */
export function checkSize(size: number | bigint): void {
  if (size > longestText) giveUp('the result is too large to be worked out')
}

/** Nothing a file holds nests deeper; a variable that holds all variables (`{{ vars }}`) holds itself, without end. */
const deepest = 300

/** Python's `repr()`. */
export function reprOf(data: Data): string {
  return reprWithin(data, 0)
}

function reprWithin(data: Data, depth: number): string {
  if (depth > deepest) giveUp('a value that holds itself has no text')
  if (data === null) return 'None'
  switch (typeof data) {
    case 'boolean':
      return data ? 'True' : 'False'
    case 'bigint':
      return String(data)
    case 'number':
      return floatText(data)
    case 'string':
      return reprOfText(data)
    default:
  }
  const repr = (value: Value): string =>
    value.kind === 'undefined' && value.lenient === true ? 'Undefined' : reprWithin(dataOf(value), depth + 1)
  if (isList(data)) return `[${data.map(repr).join(', ')}]`
  if (isDict(data)) {
    return `{${[...data].map(([key, value]) => `${reprOf(key)}: ${repr(value)}`).join(', ')}}`
  }
  if (isTuple(data)) {
    if (data.view === 'range') return giveUp('the text of a range is not modelled')
    const inside = data.items.map(repr).join(', ')
    if (data.view !== undefined) return `${data.view}([${inside}])`
    return data.items.length === 1 ? `(${inside},)` : `(${inside})`
  }
  return giveUp(`the text of a function (${data.name}) is not modelled`)
}

/** `str()` of a value: the missing `else` of an inline `if` is empty text. */
export function textOfValue(value: Value): string {
  return value.kind === 'undefined' && value.lenient === true ? '' : strOf(dataOf(value))
}

/** Python's `str()`. Members that are not known stop it (see `dataOf`). */
export function strOf(data: Data): string {
  return typeof data === 'string' ? data : reprOf(data)
}

/** `str()` for callers outside: where members are not known an Unknown, where Python would raise a Failure. */
export function textOf(data: Data, at: Failure['at']): string | Unknown | Failure {
  try {
    return strOf(data)
  } catch (error) {
    if (error instanceof Unresolved) return unknownOf(error, at)
    if (error instanceof Split) return { kind: 'unknown', causes: causesIn(error.on) }
    if (error instanceof Raised) return { kind: 'failure', says: error.message, at, undefined: error.undefined }
    throw error
  }
}

/** Whether this counts as a number: int, float, or bool as Python has it. */
export function isNumber(data: Data): data is boolean | bigint | number {
  return typeof data === 'bigint' || typeof data === 'number' || typeof data === 'boolean'
}

function numberOf(data: boolean | bigint | number): bigint | number {
  return typeof data === 'boolean' ? (data ? 1n : 0n) : data
}

function sameNumber(left: bigint | number, right: bigint | number): boolean {
  // Neither is less than the other and neither is NaN: exact between int and float of any size.
  return typeof left === typeof right ? left === right : left <= right && left >= right
}

/**
 * Python's `==`, with members that may be unknown: one pair that surely differs decides, whatever the others are.
 * Stops the operation (see `dataOf`) where it is open.
 */
export function equal(left: Data, right: Data): boolean {
  if (left === right) return true
  if (isNumber(left) && isNumber(right)) return sameNumber(numberOf(left), numberOf(right))
  if (isList(left) && isList(right)) return equalMembers(left, right)
  if (isTuple(left) && isTuple(right)) {
    if (left.view !== right.view) return giveUp('comparing views of a dict is not modelled')
    return equalMembers(left.items, right.items)
  }
  if (isDict(left) && isDict(right)) {
    if (left.size !== right.size) return false
    const mine: Value[] = []
    const other: Value[] = []
    for (const [key, value] of left) {
      const match = lookUp(right, key)
      if (match === undefined) return false
      mine.push(value)
      other.push(match)
    }
    return equalMembers(mine, other)
  }
  return false
}

function equalMembers(left: readonly Value[], right: readonly Value[]): boolean {
  if (left.length !== right.length) return false
  const open: Cause[] = []
  let split: Split | null = null
  for (let index = 0; index < left.length; index++) {
    const a = left[index] as Value
    const b = right[index] as Value
    if (a === b && a.kind === 'known') continue
    try {
      if (!equal(dataOf(a), dataOf(b))) return false
    } catch (error) {
      if (error instanceof Unresolved) open.push(...error.causes)
      else if (error instanceof Split) split ??= error
      else throw error
    }
  }
  if (split !== null) throw split
  if (open.length > 0) throw new Unresolved(open)
  return true
}

/** Python's `<` of two data, raising as Python does for types that have no order. */
export function less(left: Data, right: Data, sign = '<'): boolean {
  if (isNumber(left) && isNumber(right)) return numberOf(left) < numberOf(right)
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right) < 0
  const lists =
    isList(left) && isList(right)
      ? [left, right]
      : isTuple(left) && isTuple(right)
        ? [left.items, right.items]
        : undefined
  if (lists !== undefined) {
    const [a = [], b = []] = lists
    for (let index = 0; index < a.length && index < b.length; index++) {
      const x = dataOf(a[index] as Value)
      const y = dataOf(b[index] as Value)
      if (!equal(x, y)) return less(x, y, sign)
    }
    return a.length < b.length
  }
  return raise(`'${sign}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
}

/** Order by code point, as Python has it. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0
  if (!hasSurrogate(left) && !hasSurrogate(right)) return left < right ? -1 : 1
  const a = [...left]
  const b = [...right]
  for (let index = 0; index < a.length && index < b.length; index++) {
    const difference = ((a[index] as string).codePointAt(0) ?? 0) - ((b[index] as string).codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function hasSurrogate(text: string): boolean {
  return /[\ud800-\udfff]/.test(text)
}

/** The characters Python counts: code points. */
export function charactersOf(text: string): readonly string[] {
  return hasSurrogate(text) ? [...text] : text.split('')
}

/** A dict's value for a key, where `1`, `1.0` and `true` are one key as in Python. */
export function lookUp(dict: Dict, key: Data): Value | undefined {
  const hashed = keyOf(key, dict)
  return hashed === undefined ? undefined : dict.get(hashed)
}

/** The key as it stands in this dict, if it is there. Raises for what Python cannot hash. */
export function keyOf(data: Data, dict: Dict): Key | undefined {
  if (isTuple(data)) {
    for (const item of data.items) dataOf(item)
    return undefined
  }
  if (typeof data === 'object' && data !== null) return raise(`unhashable type: '${typeName(data)}'`)
  if (dict.has(data)) return data
  if (isNumber(data)) {
    for (const same of sameNumbers(data)) if (dict.has(same)) return same
  }
  return undefined
}

function sameNumbers(data: boolean | bigint | number): readonly Key[] {
  const number = numberOf(data)
  const asFloat = Number(number)
  const same: Key[] = [asFloat]
  if (Number.isInteger(asFloat)) same.push(BigInt(asFloat))
  if (asFloat === 1 || asFloat === 0) same.push(asFloat === 1)
  return same
}

/** Puts a value under a key, as a Python dict does: an equal key that is already there stays. */
export function put(dict: Map<Key, Value>, key: Data, value: Value): void {
  if (isTuple(key)) giveUp('a tuple as a key is not modelled')
  const hashed = keyOf(key, dict)
  dict.set(hashed === undefined ? (key as Key) : hashed, value)
}

/** The members a `for` loop, `list` or `join` goes through; raises where Python cannot iterate. */
export function membersOf(data: Data): readonly Value[] {
  if (isList(data)) return data
  if (typeof data === 'string') return charactersOf(data).map(char => known(char))
  if (isDict(data)) return [...data.keys()].map(key => known(key))
  if (isTuple(data)) return data.items
  return raise(`'${typeName(data)}' object is not iterable`)
}

/** Python's `len()`. */
export function lengthOf(data: Data): number {
  if (typeof data === 'string') return hasSurrogate(data) ? [...data].length : data.length
  if (isList(data)) return data.length
  if (isDict(data)) return data.size
  if (isTuple(data)) return data.items.length
  return raise(`object of type '${typeName(data)}' has no len()`)
}

/** Python's `in`. A member that surely equals decides, whatever the unknown ones are. */
export function contains(container: Data, data: Data): boolean {
  if (typeof container === 'string') {
    if (typeof data !== 'string') {
      return raise(`'in <string>' requires string as left operand, not ${typeName(data)}`)
    }
    return container.includes(data)
  }
  if (isDict(container)) return keyOf(data, container) !== undefined
  if (!isList(container) && !isTuple(container)) {
    return raise(`argument of type '${typeName(container)}' is not iterable`)
  }
  const open: Cause[] = []
  let split: Split | null = null
  for (const member of membersOf(container)) {
    try {
      if (equal(dataOf(member), data)) return true
    } catch (error) {
      if (error instanceof Unresolved) open.push(...error.causes)
      else if (error instanceof Split) split ??= error
      else throw error
    }
  }
  if (split !== null) throw split
  if (open.length > 0) throw new Unresolved(open)
  return false
}

/** Whether nothing in the value, at any depth, is unknown, undefined, failing or open between alternatives. */
export function isFullyKnown(value: Value): boolean {
  return isKnownWithin(value, 0)
}

function isKnownWithin(value: Value, depth: number): boolean {
  if (value.kind !== 'known' || depth > deepest) return false
  const { data } = value
  if (typeof data !== 'object' || data === null) return true
  const isKnown = (inner: Value): boolean => isKnownWithin(inner, depth + 1)
  if (isList(data)) return data.every(isKnown)
  if (isDict(data)) return [...data.values()].every(isKnown)
  return isTuple(data) ? data.items.every(isKnown) : false
}

/** The causes of everything unknown inside a value, at any depth. */
export function causesIn(value: Value): readonly Cause[] {
  const causes: Cause[] = []
  let depth = 0
  let endless = false
  const visit = (inner: Value): void => {
    depth += 1
    endless ||= depth > deepest
    if (!endless) look(inner)
    depth -= 1
  }
  const look = (inner: Value): void => {
    if (inner.kind === 'unknown') causes.push(...inner.causes)
    else if (inner.kind === 'one-of') {
      for (const option of inner.options) {
        causes.push(...option.because)
        visit(option.value)
      }
    } else if (inner.kind === 'known' && typeof inner.data === 'object' && inner.data !== null) {
      if (isList(inner.data)) inner.data.forEach(visit)
      else if (isDict(inner.data)) [...inner.data.values()].forEach(visit)
      else if (isTuple(inner.data)) inner.data.items.forEach(visit)
    }
  }
  visit(value)
  return mergeCauses(causes)
}

/**
 * Plain JSON of a value for output: integers beyond the safe range become text, what is not known becomes null.
 * Ask `isFullyKnown` first where the difference matters.
 */
export function toJson(value: Value): unknown {
  return value.kind === 'known' ? jsonOf(value.data) : null
}

function jsonOf(data: Data): unknown {
  if (typeof data === 'bigint') {
    const number = Number(data)
    return Number.isSafeInteger(number) ? number : String(data)
  }
  if (typeof data === 'number') return Number.isFinite(data) ? data : floatText(data)
  if (typeof data !== 'object' || data === null) return data
  if (isList(data)) return data.map(toJson)
  if (isDict(data)) {
    // defineProperty, so that a key named __proto__ is only a key.
    const plain: Record<string, unknown> = {}
    for (const [key, value] of data) {
      const name = key === null ? 'null' : typeof key === 'boolean' ? String(key) : strOf(key)
      Object.defineProperty(plain, name, { value: toJson(value), enumerable: true, configurable: true, writable: true })
    }
    return plain
  }
  return isTuple(data) ? data.items.map(toJson) : null
}

/** Data of plain JSON: whole numbers become int, others float. Absent and unserialisable parts become None. */
export function fromJson(json: unknown): Data {
  switch (typeof json) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return json
    case 'number':
      return Number.isInteger(json) ? BigInt(json) : json
    case 'object':
      if (json === null) return null
      if (Array.isArray(json)) return json.map(item => known(fromJson(item)))
      return new Map(Object.entries(json).map(([key, value]) => [key, known(fromJson(value))]))
    default:
      return null
  }
}

/** A Failure of what a Python operation raised, or null for errors that are not Python's. */
export function failureOf(error: unknown, at: Failure['at']): Failure | null {
  return error instanceof Raised ? { kind: 'failure', says: error.message, at, undefined: error.undefined } : null
}

/** The Unknown that an unresolved member stands for. */
export function unknownOf(error: Unresolved, at: Failure['at']): Unknown {
  const causes = error.says === null ? error.causes : [...error.causes, { says: error.says, at }]
  return { kind: 'unknown', causes: mergeCauses(causes) }
}
