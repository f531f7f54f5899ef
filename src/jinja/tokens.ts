/** What a piece of a template is. `operator` covers all punctuation inside tags. */
export type TokenKind =
  | 'text'
  | 'variable-begin'
  | 'variable-end'
  | 'block-begin'
  | 'block-end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'end'

/** `value` is the decoded text of a string, the digits of a number, else the text itself. */
export interface Token {
  readonly kind: TokenKind
  readonly value: string
  readonly start: number
  readonly end: number
}

export interface LexicalProblem {
  readonly says: string
  readonly offset: number
}

export interface Lexed {
  readonly tokens: readonly Token[]
  readonly problem: LexicalProblem | null
}

/**
 * `literalBackslashes`: inside `{{ }}` a backslash in a string literal stands for itself, because Ansible doubles them
 * in YAML values before Jinja2 sees the text. In template files, blocks and conditions Jinja2's escapes apply.
 */
export interface LexOptions {
  readonly literalBackslashes: boolean
  /** The newline right after a block or comment is dropped (on in Ansible). */
  readonly trimBlocks: boolean
  /** Blanks before a block that starts its line are dropped (off in Ansible, but a file's first line can ask for it). */
  readonly lstripBlocks: boolean
}

const openers: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
])
const blank = /\s+/y
const float = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y
const integer = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y
const name = /[\p{L}\p{N}\p{M}_]+/uy
const identifier = /^[\p{L}\p{Nl}_][\p{L}\p{N}\p{M}_]*$/u
const operator = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y
const tagBegin = /\{[{%#]/g
const rawBegin = /\{%[-+]?\s*raw\s*(?:-%\}\s*|%\})/y
const rawEnd = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\})/g
const commentEnd = /\+#\}|-#\}\s*|#\}/g
const blockEnd = /\+%\}|-%\}\s*|%\}/y
const variableEnd = /-\}\}\s*|\}\}/y

/** Cuts a whole template (text and tags) into tokens, as Jinja2 does with trim_blocks on and lstrip_blocks off. */
export function lexTemplate(text: string, options: LexOptions): Lexed {
  const tokens: Token[] = []
  const stop = (says: string, offset: number): Lexed => ({ tokens, problem: { says, offset } })
  const addText = (start: number, end: number, sign: string, isBlock: boolean): void => {
    let piece = text.slice(start, end)
    if (sign === '-') piece = piece.trimEnd()
    else if (options.lstripBlocks && isBlock && sign !== '+') {
      const line = piece.lastIndexOf('\n') + 1
      const startsLine = line > 0 || start === 0 || text[start - 1] === '\n'
      if (startsLine && piece.slice(line).trim() === '') piece = piece.slice(0, line)
    }
    if (piece !== '') tokens.push({ kind: 'text', value: piece, start, end: start + piece.length })
  }
  /** Behind a closing mark: the newline after a plain one goes with it. */
  const behind = (end: number, closing: string): number =>
    options.trimBlocks && !closing.startsWith('+') && !closing.startsWith('-') && text[end] === '\n' ? end + 1 : end
  let at = 0
  while (at < text.length) {
    tagBegin.lastIndex = at
    const found = tagBegin.exec(text)
    if (found === null) {
      addText(at, text.length, '', false)
      at = text.length
      break
    }
    const begin = found.index
    const tag = found[0]
    const sign = text[begin + 2] ?? ''
    const raw = tag === '{%' ? matchAt(rawBegin, text, begin) : null
    addText(at, begin, sign, tag !== '{{')
    if (raw !== null) {
      rawEnd.lastIndex = begin + raw.length
      const end = rawEnd.exec(text)
      if (end === null) return stop('Missing end of raw directive', begin)
      addText(begin + raw.length, end.index, end[1] ?? '', true)
      const closing = /[-+]?%\}\s*$/.exec(end[0])?.[0] ?? ''
      at = behind(end.index + end[0].length, closing)
      continue
    }
    if (tag === '{#') {
      commentEnd.lastIndex = begin + 2
      const end = commentEnd.exec(text)
      if (end === null) return stop('Missing end of comment tag', begin)
      at = behind(end.index + end[0].length, end[0])
      continue
    }
    const isBlock = tag === '{%'
    let inside = begin + 2
    if (text[inside] === '-' || text[inside] === '+') inside++
    tokens.push({ kind: isBlock ? 'block-begin' : 'variable-begin', value: tag, start: begin, end: inside })
    const literal = options.literalBackslashes && !isBlock
    const end = lexInside(text, inside, isBlock ? blockEnd : variableEnd, literal, tokens)
    if (typeof end !== 'number') return stop(end.says, end.offset)
    if (end === -1) {
      // Jinja2 reads on to the end of the text and lets the parser complain about what it misses.
      at = text.length
      break
    }
    const closing = matchAt(isBlock ? blockEnd : variableEnd, text, end) ?? ''
    tokens.push({
      kind: isBlock ? 'block-end' : 'variable-end',
      value: isBlock ? '%}' : '}}',
      start: end,
      end: end + closing.length,
    })
    at = isBlock ? behind(end + closing.length, closing) : end + closing.length
  }
  tokens.push({ kind: 'end', value: '', start: text.length, end: text.length })
  return { tokens, problem: null }
}

/** Cuts a bare expression (a `when` text) into tokens. */
export function lexExpression(text: string, literalBackslashes: boolean): Lexed {
  const tokens: Token[] = []
  const end = lexInside(text, 0, null, literalBackslashes, tokens)
  const problem = typeof end === 'number' ? null : end
  tokens.push({ kind: 'end', value: '', start: text.length, end: text.length })
  return { tokens, problem }
}

/** Reads tokens of a tag until its closing mark outside brackets; the offset of that mark, or -1 at the end of the text. */
function lexInside(
  text: string,
  from: number,
  closing: RegExp | null,
  literalBackslashes: boolean,
  tokens: Token[],
): number | LexicalProblem {
  const brackets: string[] = []
  let at = from
  while (at < text.length) {
    if (closing !== null && brackets.length === 0 && matchAt(closing, text, at) !== null) return at
    const space = matchAt(blank, text, at)
    if (space !== null) {
      at += space.length
      continue
    }
    const add = (kind: TokenKind, value: string, length: number): void => {
      tokens.push({ kind, value, start: at, end: at + length })
      at += length
    }
    const first = text[at] as string
    if (first === "'" || first === '"') {
      const read = readString(text, at, literalBackslashes)
      if ('says' in read) return read
      add('string', read.value, read.length)
      continue
    }
    const real = text[at - 1] === '.' ? null : matchAt(float, text, at)
    if (real !== null) {
      add('float', real.replaceAll('_', ''), real.length)
      continue
    }
    const whole = matchAt(integer, text, at)
    if (whole !== null) {
      add('integer', whole.replaceAll('_', ''), whole.length)
      continue
    }
    const word = matchAt(name, text, at)
    if (word !== null) {
      if (!identifier.test(word)) return { says: 'Invalid character in identifier', offset: at }
      add('name', word, word.length)
      continue
    }
    const mark = matchAt(operator, text, at)
    if (mark === null) return { says: `unexpected char '${first}' at ${at}`, offset: at }
    const closer = openers.get(mark)
    if (closer !== undefined) brackets.push(closer)
    else if (mark === ')' || mark === ']' || mark === '}') {
      const expected = brackets.pop()
      if (expected === undefined) return { says: `unexpected '${mark}'`, offset: at }
      if (expected !== mark) return { says: `unexpected '${mark}', expected '${expected}'`, offset: at }
    }
    add('operator', mark, mark.length)
  }
  return -1
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}

function readString(
  text: string,
  start: number,
  literalBackslashes: boolean,
): { value: string; length: number } | LexicalProblem {
  const quote = text[start] as string
  let end = start + 1
  let escaped = false
  while (end < text.length && text[end] !== quote) {
    if (text[end] === '\\') {
      escaped = true
      end++
    }
    end++
  }
  if (end >= text.length) return { says: `unexpected char '${quote}' at ${start}`, offset: start }
  if (!escaped) return { value: text.slice(start + 1, end), length: end + 1 - start }
  if (literalBackslashes) {
    // With every backslash doubled no quote is escaped any more, so the first one ends the literal.
    const close = text.indexOf(quote, start + 1)
    return { value: text.slice(start + 1, close), length: close + 1 - start }
  }
  const value = decodeEscapes(text.slice(start + 1, end))
  return value === null
    ? { says: 'truncated escape in a string literal', offset: start }
    : { value, length: end + 1 - start }
}

const simpleEscapes: ReadonlyMap<string, string> = new Map([
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

/** Python's `unicode-escape`; null where it refuses (a cut-off `\x`, `\u`, `\U` or any `\N{…}`, which is not modelled). */
function decodeEscapes(text: string): string | null {
  let result = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char !== '\\') {
      result += char
      continue
    }
    const next = text[++at]
    if (next === undefined) return null
    const simple = simpleEscapes.get(next)
    if (simple !== undefined) {
      result += simple
      continue
    }
    const octal = /^[0-7]{1,3}/.exec(text.slice(at, at + 3))
    if (octal !== null) {
      result += String.fromCharCode(Number.parseInt(octal[0], 8))
      at += octal[0].length - 1
      continue
    }
    const digits = next === 'x' ? 2 : next === 'u' ? 4 : next === 'U' ? 8 : 0
    if (digits > 0) {
      const code = text.slice(at + 1, at + 1 + digits)
      if (code.length < digits || !/^[\da-fA-F]+$/.test(code)) return null
      const point = Number.parseInt(code, 16)
      if (point > 0x10ffff) return null
      result += String.fromCodePoint(point)
      at += digits
      continue
    }
    if (next === 'N') return null
    result += `\\${next}`
  }
  return result
}
