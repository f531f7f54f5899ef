import type { Span } from '../source/text.js'
import type { ListNode, MapEntry, Node, ScalarData, ScalarNode } from '../yaml/node.js'

/** Ansible fails on such a value: Python raises an error that the INI plugin does not expect (`{[]: 1}`). */
export interface Unhashable {
  readonly kind: 'unhashable'
}

/** What a Python literal can be beyond YAML's data: kept apart, since a variable of such a value is not modelled. */
type Parsed =
  | { readonly kind: 'scalar'; readonly data: ScalarData }
  | { readonly kind: 'bytes'; readonly data: string }
  | { readonly kind: 'list' | 'tuple'; readonly items: readonly Parsed[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Parsed, Parsed])[] }
  | { readonly kind: 'other'; readonly says: string }

/** The cursor of one reading. `broken` is set where the text is no literal: the value is then the text itself. */
interface Cursor {
  readonly text: string
  at: number
  depth: number
  broken: boolean
  unhashable: boolean
}

/** Python refuses more than 200 brackets in each other; its error makes the value a text. */
const DEEPEST = 200

const NOT_A_LITERAL: Parsed = { kind: 'other', says: '' }

/**
 * Reads a value of an INI inventory as Ansible does: with Python's `ast.literal_eval`, and as the text it is where that
 * fails. All nodes get the span given, the place of the value in the file. A tuple becomes a list; a value that is no
 * plain data (a set, a complex number, an ellipsis) is unreadable with that reason.
 * Source of the rule: Ansible's `ini` inventory plugin; semantics checked against ansible-core 2.14 and 2.18.
 */
export function readLiteral(text: string, span: Span): Node | Unhashable {
  const cursor: Cursor = { text, at: 0, depth: 0, broken: false, unhashable: false }
  const parsed = parseWhole(cursor)
  if (cursor.broken) return { kind: 'scalar', data: text, span }
  if (cursor.unhashable) return { kind: 'unhashable' }
  // Ansible turns bytes into text at the top only.
  if (parsed.kind === 'bytes') return { kind: 'scalar', data: parsed.data, span }
  return nodeFrom(parsed, span)
}

function nodeFrom(parsed: Parsed, span: Span): Node {
  switch (parsed.kind) {
    case 'scalar':
      return { kind: 'scalar', data: parsed.data, span }
    case 'list':
    case 'tuple': {
      const list: ListNode = { kind: 'list', items: parsed.items.map(item => nodeFrom(item, span)), span }
      return list
    }
    case 'map': {
      const entries = new Map<string, MapEntry>()
      for (const [key, value] of parsed.entries) {
        const keyNode = nodeFrom(key, span)
        if (keyNode.kind !== 'scalar') return { kind: 'unreadable', says: 'a mapping with a key that is no text', span }
        entries.set(identityOf(keyNode), { key: keyNode, value: nodeFrom(value, span) })
      }
      return { kind: 'map', entries: [...entries.values()], span }
    }
    case 'bytes':
      return { kind: 'unreadable', says: 'bytes inside a Python value', span }
    case 'other':
      return { kind: 'unreadable', says: parsed.says, span }
  }
}

/** Python's dict holds 1, 1.0 and True as one key. */
function identityOf(key: ScalarNode): string {
  const { data } = key
  if (typeof data === 'boolean') return `number ${Number(data)}`
  if (typeof data === 'bigint' || typeof data === 'number') return `number ${data}`
  return `${typeof data} ${data}`
}

function parseWhole(cursor: Cursor): Parsed {
  skipBlanks(cursor)
  if (cursor.at >= cursor.text.length) return fail(cursor)
  const first = parseExpression(cursor)
  if (cursor.broken) return first
  const value = peek(cursor) === ',' ? parseTupleRest(cursor, first, '') : first
  skipBlanks(cursor)
  return cursor.at < cursor.text.length ? fail(cursor) : value
}

function fail(cursor: Cursor): Parsed {
  cursor.broken = true
  return NOT_A_LITERAL
}

function peek(cursor: Cursor): string {
  skipBlanks(cursor)
  return cursor.text[cursor.at] ?? ''
}

/** Blanks, and a comment to the end of the line. A line end is a blank only inside brackets. */
function skipBlanks(cursor: Cursor): void {
  for (;;) {
    const char = cursor.text[cursor.at]
    if (char === ' ' || char === '\t' || char === '\f') cursor.at++
    else if ((char === '\n' || char === '\r') && cursor.depth > 0) cursor.at++
    else if (char === '#') {
      const end = cursor.text.indexOf('\n', cursor.at)
      cursor.at = end === -1 ? cursor.text.length : end
    } else return
  }
}

function parseExpression(cursor: Cursor): Parsed {
  const first = parseSigned(cursor)
  if (cursor.broken) return first
  const operator = peek(cursor)
  if (operator !== '+' && operator !== '-') return first
  // The only sum that is a literal: a number and an imaginary number.
  cursor.at++
  skipBlanks(cursor)
  const second = parseNumber(cursor)
  if (cursor.broken || !isNumber(first) || second.kind !== 'other') return fail(cursor)
  return second
}

function isNumber(parsed: Parsed): boolean {
  return parsed.kind === 'scalar' && (typeof parsed.data === 'bigint' || typeof parsed.data === 'number')
}

function parseSigned(cursor: Cursor): Parsed {
  const sign = peek(cursor)
  if (sign !== '-' && sign !== '+') return parseAtom(cursor)
  cursor.at++
  skipBlanks(cursor)
  const number = cursor.text[cursor.at] === '(' ? parseAtom(cursor) : parseNumber(cursor)
  if (cursor.broken || number.kind === 'other') return number
  if (number.kind !== 'scalar' || !isNumber(number)) return fail(cursor)
  if (sign === '+') return number
  return { kind: 'scalar', data: typeof number.data === 'bigint' ? -number.data : -Number(number.data) }
}

function parseAtom(cursor: Cursor): Parsed {
  const char = peek(cursor)
  if (char === '[') return parseList(cursor)
  if (char === '(') return parseGroup(cursor)
  if (char === '{') return parseBraces(cursor)
  if (char === '"' || char === "'") return parseStrings(cursor)
  if (/[0-9]/.test(char) || (char === '.' && /[0-9]/.test(cursor.text[cursor.at + 1] ?? ''))) return parseNumber(cursor)
  if (cursor.text.startsWith('...', cursor.at)) {
    cursor.at += 3
    return { kind: 'other', says: 'a Python ellipsis' }
  }
  return parseWord(cursor)
}

function parseWord(cursor: Cursor): Parsed {
  const start = cursor.at
  while (/[\p{L}\p{N}_]/u.test(cursor.text[cursor.at] ?? '')) cursor.at++
  const word = cursor.text.slice(start, cursor.at)
  const quote = cursor.text[cursor.at]
  if ((quote === '"' || quote === "'") && /^(?:[bu]|r|br|rb)$/i.test(word)) {
    cursor.at = start
    return parseStrings(cursor)
  }
  switch (word) {
    case 'True':
      return { kind: 'scalar', data: true }
    case 'False':
      return { kind: 'scalar', data: false }
    case 'None':
      return { kind: 'scalar', data: null }
    case 'set':
      if (peek(cursor) !== '(') return fail(cursor)
      cursor.at++
      if (peek(cursor) !== ')') return fail(cursor)
      cursor.at++
      return { kind: 'other', says: 'a Python set' }
    default:
      return fail(cursor)
  }
}

/** Enters a bracket; false where there are too many. */
function enter(cursor: Cursor): boolean {
  cursor.at++
  cursor.depth++
  return cursor.depth <= DEEPEST
}

function leave(cursor: Cursor, close: string): boolean {
  if (peek(cursor) !== close) return false
  cursor.at++
  cursor.depth--
  return true
}

function parseItems(cursor: Cursor, items: Parsed[], close: string): boolean {
  while (peek(cursor) !== close) {
    const item = parseExpression(cursor)
    if (cursor.broken) return false
    items.push(item)
    if (peek(cursor) !== ',') break
    cursor.at++
  }
  return true
}

function parseList(cursor: Cursor): Parsed {
  const items: Parsed[] = []
  if (!enter(cursor) || !parseItems(cursor, items, ']') || !leave(cursor, ']')) return fail(cursor)
  return { kind: 'list', items }
}

function parseTupleRest(cursor: Cursor, first: Parsed, close: string): Parsed {
  cursor.at++
  const items = [first]
  return parseItems(cursor, items, close) ? { kind: 'tuple', items } : fail(cursor)
}

function parseGroup(cursor: Cursor): Parsed {
  if (!enter(cursor)) return fail(cursor)
  if (peek(cursor) === ')') return leave(cursor, ')') ? { kind: 'tuple', items: [] } : fail(cursor)
  const first = parseExpression(cursor)
  if (cursor.broken) return first
  const value = peek(cursor) === ',' ? parseTupleRest(cursor, first, ')') : first
  if (cursor.broken || !leave(cursor, ')')) return fail(cursor)
  return value
}

function parseBraces(cursor: Cursor): Parsed {
  if (!enter(cursor)) return fail(cursor)
  if (peek(cursor) === '}') return leave(cursor, '}') ? { kind: 'map', entries: [] } : fail(cursor)
  const first = parseExpression(cursor)
  if (cursor.broken) return first
  if (peek(cursor) !== ':') return parseSetRest(cursor, first)
  const entries: [Parsed, Parsed][] = []
  let key = first
  for (;;) {
    if (peek(cursor) !== ':') return fail(cursor)
    cursor.at++
    const value = parseExpression(cursor)
    if (cursor.broken) return value
    if (!hashable(key)) cursor.unhashable = true
    entries.push([key, value])
    if (peek(cursor) === ',') cursor.at++
    else break
    if (peek(cursor) === '}') break
    key = parseExpression(cursor)
    if (cursor.broken) return key
  }
  return leave(cursor, '}') ? { kind: 'map', entries } : fail(cursor)
}

function parseSetRest(cursor: Cursor, first: Parsed): Parsed {
  const items = [first]
  if (peek(cursor) === ',') {
    cursor.at++
    if (!parseItems(cursor, items, '}')) return fail(cursor)
  }
  if (!leave(cursor, '}')) return fail(cursor)
  if (!items.every(hashable)) cursor.unhashable = true
  return { kind: 'other', says: 'a Python set' }
}

function hashable(parsed: Parsed): boolean {
  if (parsed.kind === 'tuple') return parsed.items.every(hashable)
  if (parsed.kind === 'other') return parsed.says !== 'a Python set'
  return parsed.kind === 'scalar' || parsed.kind === 'bytes'
}

/** A decimal number may have a point, an exponent and the mark of an imaginary one. */
const NUMBER =
  /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:((?:[0-9](?:_?[0-9])*)?\.(?:[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?|[0-9](?:_?[0-9])*[eE][+-]?[0-9](?:_?[0-9])*)|[0-9](?:_?[0-9])*)([jJ]?)/y

function parseNumber(cursor: Cursor): Parsed {
  NUMBER.lastIndex = cursor.at
  const match = NUMBER.exec(cursor.text)
  if (match === null || match[0] === '.') return fail(cursor)
  cursor.at += match[0].length
  if (/[\p{L}\p{N}_]/u.test(cursor.text[cursor.at] ?? '')) return fail(cursor)
  if (match[2]) return { kind: 'other', says: 'a Python complex number' }
  const digits = match[0].replaceAll('_', '')
  if (match[1] !== undefined) return { kind: 'scalar', data: Number(digits) }
  // `0644` is a syntax error for Python 3, `00` is zero. Python refuses to read more than 4300 decimal digits.
  if (/^0+[1-9]/.test(digits)) return fail(cursor)
  if (/^[0-9]+$/.test(digits) && digits.length > 4300) return fail(cursor)
  return { kind: 'scalar', data: BigInt(digits) }
}

/** One or more string literals that stand next to each other. */
function parseStrings(cursor: Cursor): Parsed {
  let text = ''
  let bytes: boolean | undefined
  let unnamed = false
  for (;;) {
    skipBlanks(cursor)
    const prefix = /(?:[bu]|r|br|rb)?(?=["'])/iy
    prefix.lastIndex = cursor.at
    const match = prefix.exec(cursor.text)
    if (match === null) break
    const isBytes = /b/i.test(match[0])
    if (bytes !== undefined && bytes !== isBytes) return fail(cursor)
    bytes = isBytes
    cursor.at += match[0].length
    const piece = parseString(cursor, /r/i.test(match[0]), isBytes)
    if (piece === undefined) return fail(cursor)
    if (piece === 'unnamed') unnamed = true
    else text += piece.text
  }
  if (unnamed) return { kind: 'other', says: 'a character written by its Unicode name' }
  return bytes ? { kind: 'bytes', data: text } : { kind: 'scalar', data: text }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\n': '',
}

/** The text of one string literal at the cursor, past its prefix; undefined where it is not well formed. */
function parseString(cursor: Cursor, raw: boolean, bytes: boolean): { text: string } | 'unnamed' | undefined {
  const { text } = cursor
  const quote = text[cursor.at] ?? ''
  const close = text.startsWith(quote.repeat(3), cursor.at) ? quote.repeat(3) : quote
  let at = cursor.at + close.length
  let result = ''
  let unnamed = false
  while (!text.startsWith(close, at)) {
    const char = text[at]
    if (char === undefined || (char === '\n' && close.length === 1)) return undefined
    if (bytes && char > '\x7f') return undefined
    if (char !== '\\') {
      result += char
      at++
      continue
    }
    const next = text[at + 1]
    if (next === undefined) return undefined
    if (raw) {
      result += char + next
      at += 2
      continue
    }
    const escaped = parseEscape(text, at, bytes)
    if (escaped === undefined) return undefined
    if (escaped.text === undefined) unnamed = true
    else result += escaped.text
    at = escaped.end
  }
  cursor.at = at + close.length
  return unnamed ? 'unnamed' : { text: result }
}

function parseEscape(text: string, at: number, bytes: boolean): { text: string | undefined; end: number } | undefined {
  const next = text[at + 1] ?? ''
  const simple = ESCAPES[next]
  if (simple !== undefined) return { text: simple, end: at + 2 }
  const octal = /^[0-7]{1,3}/.exec(text.slice(at + 1, at + 4))
  if (octal) {
    const code = Number.parseInt(octal[0], 8)
    return { text: String.fromCharCode(bytes ? code & 0xff : code), end: at + 1 + octal[0].length }
  }
  const width = { x: 2, u: 4, U: 8 }[next]
  if (width !== undefined && (next === 'x' || !bytes)) {
    const digits = text.slice(at + 2, at + 2 + width)
    if (digits.length < width || !/^[0-9a-fA-F]+$/.test(digits)) return undefined
    const code = Number.parseInt(digits, 16)
    return code > 0x10ffff ? undefined : { text: String.fromCodePoint(code), end: at + 2 + width }
  }
  if (next === 'N' && !bytes) {
    const end = text.indexOf('}', at)
    return text[at + 2] === '{' && end !== -1 ? { text: undefined, end: end + 1 } : undefined
  }
  // Python keeps an escape it does not know.
  return { text: `\\${next}`, end: at + 2 }
}
