import { giveUp, raise } from './python.js'
import type { Data, Key, Value } from './value.js'
import { known } from './value.js'

const blank = /[ \t\n\r]*/y
const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y
const text = /"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"/y

interface Reader {
  readonly source: string
  at: number
}

/** Python's `json.loads`: integers of any size, duplicate keys last, NaN and Infinity allowed. Raises in its words. */
export function parseJson(source: string): Data {
  const reader: Reader = { source, at: 0 }
  const data = readValue(reader, 0)
  skip(reader)
  if (reader.at < source.length) refuse(reader, 'Extra data')
  return data
}

function refuse(reader: Reader, what: string): never {
  const before = reader.source.slice(0, reader.at)
  const line = before.split('\n').length
  const column = reader.at - before.lastIndexOf('\n')
  return raise(`${what}: line ${line} column ${column} (char ${reader.at})`)
}

function skip(reader: Reader): void {
  blank.lastIndex = reader.at
  reader.at += blank.exec(reader.source)?.[0].length ?? 0
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at
  const match = pattern.exec(reader.source)
  if (match !== null) reader.at += match[0].length
  return match
}

const words: readonly (readonly [string, Data])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]

function readValue(reader: Reader, depth: number): Data {
  if (depth > 500) return giveUp('JSON that nests this deeply is not read')
  skip(reader)
  const char = reader.source[reader.at]
  if (char === '"') return readText(reader)
  if (char === '[') return readList(reader, depth)
  if (char === '{') return readDict(reader, depth)
  const word = words.find(([name]) => reader.source.startsWith(name, reader.at))
  if (word !== undefined) {
    reader.at += word[0].length
    return word[1]
  }
  const match = take(reader, number)
  if (match === null || match[0] === '') return refuse(reader, 'Expecting value')
  return match[1] === undefined && match[2] === undefined ? BigInt(match[0]) : Number(match[0])
}

function readText(reader: Reader): string {
  const match = take(reader, text)
  // Python accepts what JSON.parse accepts here, given that control characters are refused by both.
  return match === null ? refuse(reader, 'Unterminated string starting at') : (JSON.parse(match[0]) as string)
}

function readList(reader: Reader, depth: number): Data {
  reader.at++
  const items: Value[] = []
  skip(reader)
  if (reader.source[reader.at] === ']') {
    reader.at++
    return items
  }
  for (;;) {
    items.push(known(readValue(reader, depth + 1)))
    skip(reader)
    const mark = reader.source[reader.at]
    if (mark !== ',' && mark !== ']') return refuse(reader, "Expecting ',' delimiter")
    reader.at++
    if (mark === ']') return items
  }
}

function readDict(reader: Reader, depth: number): Data {
  reader.at++
  const dict = new Map<Key, Value>()
  skip(reader)
  if (reader.source[reader.at] === '}') {
    reader.at++
    return dict
  }
  for (;;) {
    skip(reader)
    if (reader.source[reader.at] !== '"') return refuse(reader, 'Expecting property name enclosed in double quotes')
    const key = readText(reader)
    skip(reader)
    if (reader.source[reader.at] !== ':') return refuse(reader, "Expecting ':' delimiter")
    reader.at++
    dict.set(key, known(readValue(reader, depth + 1)))
    skip(reader)
    const mark = reader.source[reader.at]
    if (mark !== ',' && mark !== '}') return refuse(reader, "Expecting ',' delimiter")
    reader.at++
    if (mark === '}') return dict
  }
}
