import { joinedPieces } from './argument.js'
import { EVERY_POWER, type Power } from './effect.js'

/** Words after which a `/` begins a regular expression; after any other word it divides. */
const KEYWORDS = new Set('print printf in return else do case if while'.split(' '))

/** Where what awk prints is kept nowhere. */
const NOWHERE = new Set(['/dev/stdout', '/dev/stderr', '/dev/null'])

/**
 * What an awk program may do beside printing (POSIX awk, gawk): `system()` and pipes run commands, so do gawk's `@` (included
 * files, functions called by a name that is made); `print >` writes a file. null stands for a piece of the text that is not
 * known: inside a string or a regular expression it is taken for part of that. Where the text can be read in two ways
 * (a `/` between brackets of a regular expression) it could do anything.
 */
export function powersOfAwk(pieces: readonly (string | null)[]): readonly Power[] {
  const text = joinedPieces(pieces)
  const powers = new Set<Power>()
  let depth = 0
  /** The depth of brackets that a `print` stands at, while its `>` is a redirection. */
  let printing: number | undefined
  /** Whether the last token ends an operand, so that a `/` divides. */
  let operand = false
  let at = 0
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === ' ' || char === '\t' || char === '\r') at++
    else if (char === '\\' && text.charAt(at + 1) === '\n') at += 2
    else if (char === '#') at = endOfLine(text, at)
    else if (char === '"') {
      at = afterQuoted(text, at, '"')
      operand = true
    } else if (char === '/' && !operand) {
      const end = afterQuoted(text, at, '/')
      if (text.slice(at, end).includes('[') && hasSlashInBrackets(text, at)) return EVERY_POWER
      at = end
      operand = true
    } else if (/[A-Za-z_]/.test(char)) {
      const word = /^\w+/.exec(text.slice(at, at + 64))?.[0] ?? char
      if (word === 'system') return EVERY_POWER
      if (word === 'print' || word === 'printf') printing = depth
      operand = !KEYWORDS.has(word)
      at += word.length
    } else if (/[0-9.]/.test(char)) {
      operand = true
      at++
    } else if (char === '\0' || char === '@') return EVERY_POWER
    else if (char === '|') {
      if (text.charAt(at + 1) !== '|') return EVERY_POWER
      operand = false
      at += 2
    } else if (char === '>') {
      const appends = text.charAt(at + 1) === '>'
      if ((appends || printing === depth) && !isNowhere(text, at + (appends ? 2 : 1))) powers.add('writes-files')
      operand = false
      at += appends ? 2 : 1
    } else {
      if (char === '(' || char === '[') depth++
      if (char === ')' || char === ']') depth--
      if (char === ';' || char === '\n' || char === '}' || char === '{') printing = undefined
      const isDoubled = (char === '+' || char === '-') && text.charAt(at + 1) === char
      // After `)`, `]`, `x++` a `/` divides; where it does not, the regular expression is read as code, which only finds more.
      operand = char === ')' || char === ']' || isDoubled
      at += isDoubled ? 2 : 1
    }
  }
  return [...powers]
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Behind the quote that ends a string or a regular expression. */
function afterQuoted(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === quote) return at + 1
  }
  return text.length
}

/** Whether the regular expression that begins here has a `/` between brackets, where it may or may not end. */
function hasSlashInBrackets(text: string, from: number): boolean {
  let isInside = false
  for (let at = from + 1; at < text.length && text.charAt(at) !== '\n'; at++) {
    const char = text.charAt(at)
    if (char === '\\') at++
    else if (char === '[') isInside = true
    else if (char === ']') isInside = false
    else if (char === '/') return isInside
  }
  return false
}

function isNowhere(text: string, from: number): boolean {
  const target = /^[ \t]*"([^"\\]*)"/.exec(text.slice(from, from + 64))?.[1]
  return target !== undefined && NOWHERE.has(target)
}
