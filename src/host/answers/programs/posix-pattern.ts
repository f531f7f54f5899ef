import { compileRegex } from '../../../inventory/regex.js'
import { ownEntry } from '../../../source/own-entry.js'

export type Grammar = 'basic' | 'extended' | 'fixed'

/** A pattern of `grep` or `sed` as a regular expression for one line; undefined where it is not translated. */
export function posixPattern(pattern: string, grammar: Grammar, flags: string): RegExp | undefined {
  const source = grammar === 'fixed' ? escaped(pattern) : translated(pattern, grammar)
  if (source === undefined) return undefined
  const compiled = compileRegex(source, `${flags}u`)
  return typeof compiled === 'string' ? undefined : compiled
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  digit: '0-9',
  lower: 'a-z',
  space: '\\s',
  upper: 'A-Z',
  xdigit: 'A-Fa-f0-9',
}

/** Letters that mean something behind a backslash in both grammars of GNU. */
const GNU_ESCAPES: Readonly<Record<string, string>> = {
  s: '\\s',
  S: '\\S',
  w: '[A-Za-z0-9_]',
  W: '[^A-Za-z0-9_]',
  b: '\\b',
}

function translated(pattern: string, grammar: 'basic' | 'extended'): string | undefined {
  let out = ''
  // What a repetition would repeat; at the start of an expression there is nothing.
  let isStart = true
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at)
    const next = pattern.charAt(at + 1)
    const isEscaped = char === '\\'
    if (isEscaped && next === '') return undefined
    const shown = isEscaped ? next : char
    // In a basic expression the operators have a backslash, in an extended one the letters do.
    const isOperator = '(){}+?|'.includes(shown) && isEscaped === (grammar === 'basic')
    if (isEscaped) at++
    if (isOperator) {
      if (shown === '{' || shown === '}') return undefined
      if (isStart && (shown === '+' || shown === '?')) return undefined
      out += shown
      isStart = shown === '(' || shown === '|'
    } else if (isEscaped && /[A-Za-z0-9<>`']/.test(next)) {
      const known = GNU_ESCAPES[next]
      if (known === undefined) return undefined
      out += known
      isStart = false
    } else if (!isEscaped && char === '[') {
      const end = bracketEnd(pattern, at)
      const inner = end === undefined ? undefined : bracketOf(pattern.slice(at + 1, end))
      if (end === undefined || inner === undefined) return undefined
      out += inner
      at = end
      isStart = false
    } else if (!isEscaped && char === '*') {
      if (isStart && grammar === 'extended') return undefined
      out += isStart ? '\\*' : '*'
      isStart = false
    } else if (!isEscaped && char === '^') {
      if (!isStart) return undefined
      out += '^'
    } else if (!isEscaped && char === '$') {
      if (at !== pattern.length - 1) return undefined
      out += '$'
    } else if (!isEscaped && char === '.') {
      out += '.'
      isStart = false
    } else {
      out += escaped(shown)
      isStart = false
    }
  }
  return out
}

/** Where a bracket expression ends: a `]` that is its first member does not end it. */
function bracketEnd(pattern: string, start: number): number | undefined {
  let at = start + 1
  if (pattern.charAt(at) === '^') at++
  if (pattern.charAt(at) === ']') at++
  for (; at < pattern.length; at++) {
    if (pattern.charAt(at) === '[' && ':.='.includes(pattern.charAt(at + 1))) {
      const close = pattern.indexOf(`${pattern.charAt(at + 1)}]`, at + 2)
      if (close === -1) return undefined
      at = close + 1
    } else if (pattern.charAt(at) === ']') return at
  }
  return undefined
}

function bracketOf(inside: string): string | undefined {
  const negated = inside.startsWith('^')
  let out = ''
  let rest = negated ? inside.slice(1) : inside
  while (rest !== '') {
    const named = /^\[:(\w+):\]/.exec(rest)
    if (named !== null) {
      const found = ownEntry(CLASSES, named[1] ?? '')
      if (found === undefined) return undefined
      out += found
      rest = rest.slice(named[0].length)
      continue
    }
    const range = /^([A-Za-z0-9])-([A-Za-z0-9])/.exec(rest)
    // What lies between two letters depends on the locale, but within one alphabet.
    if (range !== null) {
      const [whole, low = '', high = ''] = range
      if (low > high || ![/[a-z]/, /[A-Z]/, /[0-9]/].some(each => each.test(low) && each.test(high))) return undefined
      out += whole
      rest = rest.slice(whole.length)
      continue
    }
    // GNU sed reads `\s` in brackets as it does outside; grep reads two characters.
    if (rest.startsWith('\\') || rest.startsWith('[.') || rest.startsWith('[=')) return undefined
    out += rest
      .charAt(0)
      .replace(/[\\^\]\-[&~!#%,:;<=>@`]/, '\\$&')
      .replace(/\\([!#%,:;<=>@`&~])/, '$1')
    rest = rest.slice(1)
  }
  return `[${negated ? '^' : ''}${out}]`
}
