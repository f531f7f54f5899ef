import { giveUp } from './python.js'

export interface RegexFlags {
  readonly ignoreCase?: boolean
  readonly multiLine?: boolean
}

/** A Python pattern that can be searched here. Offsets are UTF-16. */
export interface Matcher {
  readonly match: (text: string) => RegExpExecArray | null
  readonly search: (text: string) => RegExpExecArray | null
  readonly all: (text: string) => readonly RegExpExecArray[]
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
}

const cache = new Map<string, Matcher | string>()

/**
 * Compiles a Python `re` pattern. What JavaScript cannot do the same way (possessive quantifiers, conditionals,
 * inline flags in the middle, …) gives up with that cause; so does a pattern that could take exponential time.
 */
export function matcherOf(pattern: string, flags: RegexFlags): Matcher {
  const key = `${flags.ignoreCase === true ? 'i' : ''}${flags.multiLine === true ? 'm' : ''}/${pattern}`
  let compiled = cache.get(key)
  if (compiled === undefined) {
    compiled = compile(pattern, flags)
    if (cache.size > 2000) cache.clear()
    cache.set(key, compiled)
  }
  return typeof compiled === 'string' ? giveUp(compiled) : compiled
}

function compile(pattern: string, flags: RegexFlags): Matcher | string {
  const open = (why: string): string => `the regular expression ${JSON.stringify(pattern)} ${why}`
  const translated = translate(pattern, flags)
  if (typeof translated === 'string') return open(translated)
  if (isExplosive(translated.source)) return open('could take exponential time')
  try {
    const sticky = new RegExp(translated.source, `${translated.flags}y`)
    const global = new RegExp(translated.source, `${translated.flags}g`)
    const from = (regex: RegExp, text: string, at: number): RegExpExecArray | null => {
      regex.lastIndex = at
      return regex.exec(text)
    }
    return {
      match: (text: string) => from(sticky, checked(text), 0),
      search: (text: string) => from(global, checked(text), 0),
      all: (text: string) => [...checked(text).matchAll(global)],
      groups: translated.groups,
      names: translated.names,
    }
  } catch {
    return open('is not modelled')
  }
}

function checked(text: string): string {
  return text.length > 200_000 ? giveUp('the text is too long to be searched') : text
}

interface Translated {
  readonly source: string
  readonly flags: string
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
}

const inlineFlags = /^\(\?([aiLmsux]+)\)/
/** Python's `\w`, `\d`, `\s` know all of Unicode. */
const classes: Readonly<Record<string, string>> = {
  w: '\\p{L}\\p{N}_',
  d: '\\p{Nd}',
  s: '\\s\\x1c-\\x1f\\x85',
}

function translate(pattern: string, flags: RegexFlags): Translated | string {
  let ignoreCase = flags.ignoreCase === true
  let multiLine = flags.multiLine === true
  let dotAll = false
  let source = ''
  let groups = 0
  const names = new Map<string, number>()
  let at = 0
  for (
    let inline = inlineFlags.exec(pattern.slice(at));
    inline !== null;
    inline = inlineFlags.exec(pattern.slice(at))
  ) {
    const letters = inline[1] as string
    if (/[aLx]/.test(letters)) return `uses the flag (?${letters}), which is not modelled`
    ignoreCase ||= letters.includes('i')
    multiLine ||= letters.includes('m')
    dotAll ||= letters.includes('s')
    at += inline[0].length
  }
  while (at < pattern.length) {
    const rest = pattern.slice(at, at + 40)
    const char = pattern[at] as string
    if (char === '\\') {
      const next = pattern[at + 1]
      if (next === undefined) return 'ends in a backslash'
      const coded = escapeOutside(next, rest)
      if (coded === null) return `uses \\${next}, which is not modelled`
      source += coded.source
      at += coded.length
    } else if (char === '[') {
      const set = translateSet(pattern, at)
      if (typeof set === 'string') return set
      source += set.source
      at += set.length
    } else if (char === '(') {
      const name = /^\(\?P<([A-Za-z_]\w*)>/.exec(rest)
      const back = /^\(\?P=([A-Za-z_]\w*)\)/.exec(rest)
      const comment = /^\(\?#/.test(rest)
      if (name !== null) {
        names.set(name[1] as string, ++groups)
        source += `(?<${name[1]}>`
        at += name[0].length
      } else if (back !== null) {
        source += `\\k<${back[1]}>`
        at += back[0].length
      } else if (comment) {
        const end = pattern.indexOf(')', at)
        if (end === -1) return 'has an unclosed comment'
        at = end + 1
      } else if (/^\(\?(?::|=|!|<=|<!)/.test(rest)) {
        const head = /^\(\?(?::|=|!|<=|<!)/.exec(rest)?.[0] as string
        source += head
        at += head.length
      } else if (rest.startsWith('(?')) return `uses ${rest.slice(0, 4)}…, which is not modelled`
      else {
        groups++
        source += '('
        at++
      }
    } else if (char === '$') {
      // Python's $ also matches before a newline at the very end.
      source += multiLine ? '(?=\\n|$)' : '(?=\\n?$)'
      at++
    } else if (char === '^') {
      source += multiLine ? '(?<=^|\\n)' : '^'
      at++
    } else if (char === '.') {
      source += dotAll ? '[^]' : '[^\\n]'
      at++
    } else if (char === '{' && !/^\{\d*(?:,\d*)?\}/.test(rest)) {
      source += '\\{'
      at++
    } else if (char === '{' && /^\{,?\}/.test(rest)) {
      source += rest.startsWith('{}') ? '\\{\\}' : '*'
      at += rest.startsWith('{}') ? 2 : 3
    } else if (char === '{' && rest[1] === ',') {
      source += '{0'
      at++
    } else if (char === '}' || char === ']') {
      const counted = char === '}' && /\{\d+(?:,\d*)?$/.test(source)
      source += counted ? '}' : `\\${char}`
      at++
    } else if (/[*+?]/.test(char) && pattern[at + 1] === '+')
      return 'uses a possessive quantifier, which is not modelled'
    else {
      const whole = String.fromCodePoint(pattern.codePointAt(at) ?? 0)
      source += whole === '/' ? '\\/' : whole
      at += whole.length
    }
  }
  return { source, flags: `u${ignoreCase ? 'i' : ''}`, groups, names }
}

function escapeOutside(next: string, rest: string): { source: string; length: number } | null {
  if (next in classes && /[wds]/.test(next)) return { source: `[${classes[next]}]`, length: 2 }
  if (/[WDS]/.test(next)) return { source: `[^${classes[next.toLowerCase()]}]`, length: 2 }
  if (next === 'A') return { source: '(?<![^])', length: 2 }
  if (next === 'Z') return { source: '(?![^])', length: 2 }
  if (next === 'b' || next === 'B') {
    const word = `[${classes.w}]`
    const edge = `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`
    return { source: next === 'b' ? edge : `(?!${edge})`, length: 2 }
  }
  const back = /^\\([1-9]\d?)/.exec(rest)
  if (back !== null) return { source: `(?:\\${back[1]})`, length: back[0].length }
  return escapeCommon(next, rest)
}

function escapeCommon(next: string, rest: string): { source: string; length: number } | null {
  if (/[nrtfv]/.test(next)) return { source: `\\${next}`, length: 2 }
  if (next === 'a') return { source: '\\x07', length: 2 }
  const coded = /^\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4})/.exec(rest)
  if (coded !== null) return { source: coded[0], length: coded[0].length }
  const octal = /^\\0[0-7]{0,2}/.exec(rest)
  if (octal !== null) {
    return {
      source: `\\x${Number.parseInt(octal[0].slice(1), 8).toString(16).padStart(2, '0')}`,
      length: octal[0].length,
    }
  }
  if (/[A-Za-z0-9]/.test(next)) return null
  const whole = String.fromCodePoint(rest.codePointAt(1) ?? 0)
  return {
    source: /[\^$\\.*+?()[\]{}|/]/.test(whole) ? `\\${whole}` : whole === '-' ? '\\x2d' : whole,
    length: 1 + whole.length,
  }
}

function translateSet(pattern: string, start: number): { source: string; length: number } | string {
  let at = start + 1
  let source = '['
  if (pattern[at] === '^') {
    source += '^'
    at++
  }
  for (let first = true; ; first = false) {
    const char = pattern[at]
    if (char === undefined) return 'has an unterminated character set'
    if (char === ']' && !first) return { source: `${source}]`, length: at + 1 - start }
    if (char === '\\') {
      const next = pattern[at + 1] ?? ''
      const rest = pattern.slice(at, at + 10)
      if (next !== '' && /[wds]/.test(next)) source += classes[next]
      else if (next !== '' && /[WDS]/.test(next)) {
        source += next === 'S' ? '\\S' : next === 'D' ? '\\P{Nd}' : ''
        if (next === 'W') return 'uses \\W in a set, which is not modelled'
      } else if (next === 'b') source += '\\b'
      else {
        const coded = escapeCommon(next, rest)
        if (coded === null || next === '') return `uses \\${next} in a set, which is not modelled`
        source += coded.source
        at += coded.length
        continue
      }
      at += 2
      continue
    }
    const whole = String.fromCodePoint(pattern.codePointAt(at) ?? 0)
    source += /[[\]^/(){}|&]/.test(whole) ? `\\${whole}`.replace('\\&', '&') : whole
    at += whole.length
  }
}

/**
 * Whether a repeated group holds a repetition or alternation of its own (`(a+)+`, `(a|aa)*`): the shape behind
 * exponential backtracking. Too careful rather than too bold.
 */
function isExplosive(source: string): boolean {
  const stack: { repeats: boolean }[] = []
  let escaped = false
  let inSet = false
  let last: { repeats: boolean } | null = null
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string
    if (escaped) {
      escaped = false
      last = null
      continue
    }
    if (char === '\\') escaped = true
    else if (inSet) inSet = char !== ']'
    else if (char === '[') {
      inSet = true
      last = null
    } else if (char === '(') stack.push({ repeats: false })
    else if (char === ')') {
      last = stack.pop() ?? null
      const outer = stack[stack.length - 1]
      if (last?.repeats === true && outer !== undefined) outer.repeats = true
    } else if (char === '*' || char === '+' || (char === '{' && /^\{\d+,\d*\}/.test(source.slice(at)))) {
      // Behind the last repetition of all nothing can fail, so nothing is tried again.
      const isLast = stack.length === 0 && at === source.length - 1
      if (last?.repeats === true && !isLast && !isDelimited(source, at) && !isOneLine(source, at)) return true
      const top = stack[stack.length - 1]
      if (top !== undefined) top.repeats = true
      last = null
    } else if (char === '|') {
      const top = stack[stack.length - 1]
      if (top !== undefined) top.repeats = true
    } else if (char !== '?') last = null
  }
  return false
}

/** A repeated group that begins or ends with a literal (`(?:\.\d+)*`) cannot match one text in many ways. */
function isDelimited(source: string, quantifier: number): boolean {
  let depth = 0
  for (let at = quantifier - 1; at >= 0; at--) {
    const char = source[at]
    if (source[at - 1] === '\\') continue
    if (char === ')') depth++
    else if (char === '(' && --depth === 0) {
      const body = source.slice(at).replace(/^\((?:\?:|\?<\w+>)?/, '')
      if (body.slice(0, quantifier - at).includes('|')) return false
      return /^(?:\\[.\-/:,_@#]|[-,:;/@_ #=a-zA-Z0-9](?![*+?{]))/.test(body)
    }
  }
  return false
}

/** A repeated group that is one whole line each time (`(?:(?!end).*\n)*`), whatever may not stand at its beginning. */
function isOneLine(source: string, quantifier: number): boolean {
  const line = ['[^\\n]*\n)', '[^\\n]*\\n)'].find(each => source.slice(0, quantifier).endsWith(each))
  if (line === undefined) return false
  const before = source.slice(0, quantifier - line.length)
  if (/\((\?:)?$/.test(before)) return true
  let depth = 0
  for (let at = before.length - 1; at >= 0; at--) {
    if (before[at] === ')') depth++
    else if (before[at] === '(' && --depth === 0)
      return before.startsWith('(?!', at) && /\((\?:)?$/.test(before.slice(0, at)) && !/[+*{]/.test(before.slice(at))
    if (depth === 0) return false
  }
  return false
}

/** Puts a match into a Python replacement text: `\1`, `\g<1>`, `\g<name>`, `\n`. */
export function expandReplacement(replacement: string, match: RegExpExecArray, matcher: Matcher): string {
  return replacement.replace(/\\(?:g<([^>]*)>|([1-9]\d?)|([\s\S]?))/g, (_all, name, digits, other) => {
    const group: string | undefined = name ?? digits
    if (group !== undefined) {
      const index = /^\d+$/.test(group) ? Number(group) : matcher.names.get(group)
      if (index === undefined || index > matcher.groups)
        return giveUp(`the replacement names a group ${group} that is not there`)
      return match[index] ?? ''
    }
    switch (other) {
      case 'n':
        return '\n'
      case 't':
        return '\t'
      case 'r':
        return '\r'
      case '\\':
        return '\\'
      default:
        return /[A-Za-z0-9]/.test(other) || other === '' ? giveUp(`the replacement uses \\${other}`) : `\\${other}`
    }
  })
}
