import { ownEntry } from '../../source/own-entry.js'

/**
 * Whether a pattern of the shell matches a whole text (`*`, `?`, `[a-z]`, `[!a]`, `\x`). With `path`, no part of it matches a
 * slash, as in glob(3); without, as fnmatch(3) without flags. Takes no more than length × length steps.
 */
export function matchesPattern(pattern: string, text: string, { path }: { readonly path: boolean }): boolean {
  let [at, from] = [0, 0]
  let star: { readonly at: number; from: number } | undefined
  while (from < text.length) {
    const piece = pieceAt(pattern, at)
    const char = text.charAt(from)
    if (piece !== undefined && piece.kind === 'any') {
      star = { at: piece.end, from }
      at = piece.end
    } else if (piece !== undefined && matchesChar(piece, char, path)) {
      at = piece.end
      from += 1
    } else if (star !== undefined && !(path && text.charAt(star.from) === '/')) {
      star.from += 1
      at = star.at
      from = star.from
    } else return false
  }
  for (let piece = pieceAt(pattern, at); piece?.kind === 'any'; piece = pieceAt(pattern, at)) at = piece.end
  return at === pattern.length
}

type Piece =
  | { readonly kind: 'any'; readonly end: number }
  | { readonly kind: 'one'; readonly end: number }
  | { readonly kind: 'char'; readonly char: string; readonly end: number }
  | { readonly kind: 'set'; readonly has: (char: string) => boolean; readonly end: number }

function matchesChar(piece: Piece, char: string, path: boolean): boolean {
  if (piece.kind === 'char') return piece.char === char
  if (path && char === '/') return false
  return piece.kind === 'one' || (piece.kind === 'set' && piece.has(char))
}

function pieceAt(pattern: string, at: number): Piece | undefined {
  if (at >= pattern.length) return undefined
  const char = pattern.charAt(at)
  if (char === '*') return { kind: 'any', end: at + 1 }
  if (char === '?') return { kind: 'one', end: at + 1 }
  if (char === '\\' && at + 1 < pattern.length) return { kind: 'char', char: pattern.charAt(at + 1), end: at + 2 }
  if (char === '[') return setAt(pattern, at) ?? { kind: 'char', char, end: at + 1 }
  return { kind: 'char', char, end: at + 1 }
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
}

/** A set in brackets; undefined where it is not closed: then the bracket is a character. */
function setAt(pattern: string, start: number): Piece | undefined {
  let at = start + 1
  const negated = pattern.charAt(at) === '!' || pattern.charAt(at) === '^'
  if (negated) at += 1
  const tests: ((char: string) => boolean)[] = []
  for (let first = true; ; first = false) {
    const char = pattern.charAt(at)
    if (char === '') return undefined
    if (char === ']' && !first) break
    const named = /^\[:(\w+):\]/.exec(pattern.slice(at, at + 12))
    const known = named?.[1] === undefined ? undefined : ownEntry(CLASSES, named[1])
    if (named !== null && known !== undefined) {
      tests.push(tested => known.test(tested))
      at += named[0].length
      continue
    }
    const low = char === '\\' ? pattern.charAt(at + 1) : char
    at += char === '\\' ? 2 : 1
    if (pattern.charAt(at) === '-' && pattern.charAt(at + 1) !== ']' && pattern.charAt(at + 1) !== '') {
      const high = pattern.charAt(at + 1)
      tests.push(tested => low <= tested && tested <= high)
      at += 2
    } else tests.push(tested => tested === low)
  }
  return { kind: 'set', has: char => tests.some(test => test(char)) !== negated, end: at + 1 }
}

const MOST_ALTERNATIVES = 256

/** What `{a,b}` in a pattern stands for (glob(3) with GLOB_BRACE): one pattern each; undefined where they are too many. */
export function expandBraces(pattern: string): readonly string[] | undefined {
  const done: string[] = []
  const open = [pattern]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const braces = bracesIn(each)
    if (braces === undefined) done.push(each)
    else open.push(...braces)
    if (done.length + open.length > MOST_ALTERNATIVES) return undefined
  }
  return done
}

/** The first braces of a text taken apart. */
function bracesIn(text: string): readonly string[] | undefined {
  const start = text.indexOf('{')
  if (start === -1) return undefined
  let depth = 0
  let from = start + 1
  const parts: string[] = []
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '\\') at++
    else if (char === '{') depth += 1
    else if (depth === 1 && (char === ',' || char === '}')) {
      parts.push(text.slice(from, at))
      from = at + 1
      if (char === '}') return parts.map(part => `${text.slice(0, start)}${part}${text.slice(at + 1)}`)
    } else if (char === '}') depth -= 1
  }
  return undefined
}
