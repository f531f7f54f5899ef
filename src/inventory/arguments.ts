/** One `key=value` of a command line, and where it stands in the text. */
export interface Assignment {
  readonly name: string
  readonly value: string
  readonly start: number
  readonly end: number
}

/**
 * Splits `k=v k2='v w'` as Ansible does: at blanks outside quotes and `{{ }}`, with Python's escapes decoded and the
 * quotes around a value removed. Values stay text. Returns what is wrong where a part is no assignment or a quote or
 * template is left open (Ansible keeps such a part as a nameless parameter, which is of no use here).
 * Source of the rule: Ansible's `parse_kv`, checked against ansible-core 2.14.
 */
export function splitAssignments(text: string): readonly Assignment[] | string {
  const words = splitWords(text)
  if (typeof words === 'string') return words
  const assignments: Assignment[] = []
  for (const { start, end, text: word } of words) {
    const decoded = decodeEscapes(word)
    const equals = assignmentAt(decoded)
    if (equals === -1) return `expected NAME=VALUE, got '${word.trim()}'`
    const name = decoded.slice(0, equals).trim()
    assignments.push({ name, value: unquoted(decoded.slice(equals + 1).trim()), start, end })
  }
  return assignments
}

/** The first `=` that is not escaped; one at the very start is none. */
function assignmentAt(word: string): number {
  let at = word.indexOf('=', 1)
  while (at !== -1 && word[at - 1] === '\\') at = word.indexOf('=', at + 1)
  return at
}

function unquoted(value: string): string {
  const first = value[0]
  const quoted = value.length > 1 && (first === '"' || first === "'") && value.endsWith(first) && value.at(-2) !== '\\'
  return quoted ? value.slice(1, -1) : value
}

interface Word {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Opening and closing marks of templates; blanks between them do not split. */
const MARKS: readonly (readonly [string, string])[] = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['{#', '#}'],
]

function splitWords(text: string): readonly Word[] | string {
  const words: Word[] = []
  let quote = ''
  const depths = MARKS.map(() => 0)
  let start: number | undefined
  // Pieces between blanks; a piece is part of the word before it while a quote or template is open.
  for (const piece of text.matchAll(/[^ \n]+/g)) {
    const inside = quote !== '' || depths.some(depth => depth > 0)
    if (!inside) {
      if (piece[0] === '\\') continue
      start = piece.index
    }
    quote = quoteAfter(piece[0], quote)
    MARKS.forEach(([open, close], kind) => {
      const difference = piece[0].split(open).length - piece[0].split(close).length
      depths[kind] = Math.max(0, (depths[kind] ?? 0) + difference)
    })
    if (quote !== '' || depths.some(depth => depth > 0)) continue
    const end = piece.index + piece[0].length
    words.push({ text: text.slice(start ?? piece.index, end), start: start ?? piece.index, end })
  }
  if (quote !== '') return `expected a closing ${quote}`
  const open = depths.findIndex(depth => depth > 0)
  return open === -1 ? words : `expected a closing ${MARKS[open]?.[1]}`
}

/** Which quote is open behind a piece. A backslash before a quote makes it a character like any other. */
function quoteAfter(piece: string, before: string): string {
  let quote = before
  for (let at = 0; at < piece.length; at++) {
    const char = piece[at] ?? ''
    if ((char !== '"' && char !== "'") || piece[at - 1] === '\\') continue
    if (quote === '') quote = char
    else if (quote === char) quote = ''
  }
  return quote
}

const ESCAPE = /\\(?:U([0-9a-fA-F]{8})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\\'"abfnrtv]))/g

const CHARACTERS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function decodeEscapes(word: string): string {
  return word.replace(ESCAPE, (whole, long, short, byte, char) => {
    if (char !== undefined) return CHARACTERS[char] ?? char
    const code = Number.parseInt(long ?? short ?? byte, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
