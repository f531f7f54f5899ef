import { put, Raised, Unresolved } from './python.js'
import type { Data, Key, Value } from './value.js'
import { known } from './value.js'

const maximumDepth = 90

interface Reader {
  readonly text: string
  at: number
  depth: number
}

/**
 * Python's `ast.literal_eval` of a text, with `true`, `false` and `null` as Ansible maps them before (rule 135).
 * Undefined where it is no literal: Ansible then keeps the text.
 */
export function parseLiteral(text: string): Data | undefined {
  const reader: Reader = { text, at: 0, depth: 0 }
  try {
    const items: Value[] = []
    for (;;) {
      const data = readLiteral(reader)
      if (data === undefined) return undefined
      skipBlank(reader)
      if (reader.at === text.length)
        return items.length === 0 ? data : { kind: 'tuple', items: [...items, known(data)] }
      // `[1], [2]` is a tuple without brackets, to Python.
      if (text[reader.at] !== ',') return undefined
      reader.at++
      items.push(known(data))
      skipBlank(reader)
      if (reader.at === text.length) return { kind: 'tuple', items }
    }
  } catch (error) {
    if (error instanceof Raised || error instanceof Unresolved) return undefined
    throw error
  }
}

const words: ReadonlyMap<string, Data> = new Map<string, Data>([
  ['True', true],
  ['False', false],
  ['None', null],
  ['true', true],
  ['false', false],
  ['null', null],
])
const blank = /(?:[ \t\f\n\r]|\\\n|#[^\n]*)*/y
const word = /[A-Za-z_][A-Za-z_0-9]*/y
const number =
  /(?:0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)|(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.?)(?:[eE][+-]?\d(?:_?\d)*)?/y

function match(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)?.[0] ?? ''
  reader.at += found.length
  return found
}

function skipBlank(reader: Reader): void {
  match(reader, blank)
}

function readLiteral(reader: Reader): Data | undefined {
  if (++reader.depth > maximumDepth) return undefined
  try {
    return readInner(reader)
  } finally {
    reader.depth--
  }
}

function readInner(reader: Reader): Data | undefined {
  skipBlank(reader)
  const char = reader.text[reader.at]
  if (char === undefined) return undefined
  if (char === '[') {
    const items = readSequence(reader, ']')
    return items?.items
  }
  if (char === '(') {
    const read = readSequence(reader, ')')
    if (read === undefined) return undefined
    const only = read.items[0]
    if (read.items.length === 1 && !read.comma && only?.kind === 'known') return only.data
    return { kind: 'tuple', items: read.items }
  }
  if (char === '{') return readDict(reader)
  if (char === "'" || char === '"' || /[uUrR]/.test(char)) {
    const text = readStrings(reader)
    if (text !== undefined) return text
  }
  if (char === '-' || char === '+') {
    reader.at++
    const operand = readLiteral(reader)
    if (typeof operand === 'bigint' || typeof operand === 'number') return char === '-' ? -operand : operand
    return undefined
  }
  if (/[\d.]/.test(char)) return readNumber(reader)
  const name = match(reader, word)
  return words.get(name)
}

function readNumber(reader: Reader): Data | undefined {
  const written = match(reader, number)
  if (written === '' || /[\w.]/.test(reader.text[reader.at] ?? ' ')) return undefined
  const plain = written.replaceAll('_', '')
  if (/^0[xXoObB]/.test(plain)) return BigInt(plain)
  if (/^\d+$/.test(plain)) return /^0+[1-9]/.test(plain) ? undefined : BigInt(plain)
  return Number(plain)
}

function readStrings(reader: Reader): string | undefined {
  let result: string | undefined
  for (;;) {
    const start = reader.at
    const prefix = /[uUrR]/.test(reader.text[reader.at] ?? '') ? (reader.text[reader.at++] as string) : ''
    const quote = reader.text[reader.at]
    if (quote !== "'" && quote !== '"') {
      reader.at = start
      return result
    }
    const piece = readString(reader, quote, prefix === 'r' || prefix === 'R')
    if (piece === undefined) {
      reader.at = start
      return undefined
    }
    result = (result ?? '') + piece
    skipBlank(reader)
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

function readString(reader: Reader, quote: string, isRaw: boolean): string | undefined {
  const { text } = reader
  const triple = text.startsWith(quote.repeat(3), reader.at)
  const close = triple ? quote.repeat(3) : quote
  let at = reader.at + close.length
  const pieces: string[] = []
  let from = at
  for (;;) {
    const char = text[at]
    if (char === undefined || (char === '\n' && !triple)) return undefined
    if (text.startsWith(close, at)) break
    if (char !== '\\') {
      at++
      continue
    }
    if (isRaw) {
      at += 2
      continue
    }
    pieces.push(text.slice(from, at))
    const rest = text.slice(at + 1, at + 11)
    const coded = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3}))/.exec(rest)
    const simple = escapes.get(rest[0] ?? '')
    if (coded !== null) {
      const digits = coded[1] ?? coded[2] ?? coded[3]
      const point = digits === undefined ? Number.parseInt(coded[4] ?? '0', 8) : Number.parseInt(digits, 16)
      if (point > 0x10ffff) return undefined
      pieces.push(String.fromCodePoint(point))
      at += 1 + coded[0].length
    } else if (simple !== undefined) {
      pieces.push(simple)
      at += 2
    } else if (/^[xuUN]/.test(rest)) return undefined
    else {
      pieces.push(`\\${rest[0] ?? ''}`)
      at += 2
    }
    from = at
  }
  pieces.push(text.slice(from, at))
  reader.at = at + close.length
  return pieces.join('')
}

function readSequence(reader: Reader, close: string): { items: Value[]; comma: boolean } | undefined {
  reader.at++
  const items: Value[] = []
  let comma = false
  for (;;) {
    skipBlank(reader)
    if (reader.text[reader.at] === close) {
      reader.at++
      return { items, comma }
    }
    if (items.length > 0 && !comma) return undefined
    const item = readLiteral(reader)
    if (item === undefined) return undefined
    items.push(known(item))
    skipBlank(reader)
    comma = reader.text[reader.at] === ','
    if (comma) reader.at++
  }
}

function readDict(reader: Reader): Data | undefined {
  reader.at++
  const dict = new Map<Key, Value>()
  for (;;) {
    skipBlank(reader)
    if (reader.text[reader.at] === '}') {
      reader.at++
      return dict
    }
    const key = readLiteral(reader)
    if (key === undefined) return undefined
    skipBlank(reader)
    // A set literal, or no literal at all.
    if (reader.text[reader.at] !== ':') return undefined
    reader.at++
    const value = readLiteral(reader)
    if (value === undefined) return undefined
    put(dict, key, known(value))
    skipBlank(reader)
    if (reader.text[reader.at] === ',') reader.at++
    else if (reader.text[reader.at] !== '}') return undefined
  }
}
