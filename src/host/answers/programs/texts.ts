import { textOfFile } from '../paths.js'
import { readWords } from './options.js'
import {
  type Call,
  complains,
  ends,
  joined,
  notKnown,
  type Outcome,
  type Printed,
  type Program,
  prints,
} from './outcome.js'
import { type Grammar, posixPattern } from './posix-pattern.js'

/** A text longer than this is not gone through. */
const LONGEST = 1_000_000

/** What a program that reads files or its input has before it; `missing`: one of the files is not there. */
interface Input {
  readonly text: Printed
  readonly missing: boolean
}

/** The texts of files one after the other, or what is piped in; undefined where one cannot be told. */
function inputOf(call: Call, files: readonly string[]): Input | Outcome | undefined {
  if (files.length === 0 || (files.length === 1 && files[0] === '-')) {
    return call.stdin === undefined ? undefined : { text: call.stdin, missing: false }
  }
  let text: Printed = ''
  let missing = false
  for (const file of files) {
    if (!file.startsWith('/')) return undefined
    const found = textOfFile(call.moment, file)
    if (found === undefined) return undefined
    if (found === 'directory' || found.kind === 'absent') missing = true
    else if (found.kind === 'unknown') return notKnown(found.because)
    else text = joined(text, found.value)
  }
  return { text, missing }
}

/** Goes through the lines of the input; `change` gives the lines that come out. */
function ofLines(
  call: Call,
  files: readonly string[],
  change: (lines: readonly string[]) => readonly string[],
): Outcome | undefined {
  const input = inputOf(call, files)
  if (input === undefined || 'kind' in input) return input
  const { text, missing } = input
  const stdout = typeof text === 'string' ? withLines(text, change) : { because: text.because }
  if (stdout === undefined) return undefined
  return missing ? complains(1, stdout) : prints(stdout)
}

function withLines(text: string, change: (lines: readonly string[]) => readonly string[]): string | undefined {
  if (text.length > LONGEST) return undefined
  const lines = text.split('\n')
  // A last line without its end is printed with one by some programs and without by others.
  if (lines.pop() !== '') return undefined
  return change(lines)
    .map(line => `${line}\n`)
    .join('')
}

const cat: Program = call => {
  const read = readWords(call.words, { flags: 'u' })
  const input = read && inputOf(call, read.operands)
  if (input === undefined || 'kind' in input) return input
  return input.missing ? complains(1, input.text) : prints(input.text)
}

const head: Program = call => {
  const [first = '', ...rest] = call.words
  // `head -3`
  const words = /^-\d+$/.test(first) ? ['-n', first.slice(1), ...rest] : call.words
  const read = readWords(words, { values: 'n', longValues: { lines: 'n' } })
  const count = Number(read?.values.get('n') ?? 10)
  if (read === undefined || !Number.isInteger(count) || count < 0 || read.operands.length > 1) return undefined
  return ofLines(call, read.operands, lines => lines.slice(0, count))
}

const tail: Program = call => {
  const [first = '', ...rest] = call.words
  const words = /^-\d+$/.test(first) ? ['-n', first.slice(1), ...rest] : call.words
  const read = readWords(words, { values: 'n', longValues: { lines: 'n' } })
  const given = read?.values.get('n') ?? '10'
  if (read === undefined || !/^\+?\d+$/.test(given) || read.operands.length > 1) return undefined
  const count = Number(given.replace('+', ''))
  return ofLines(call, read.operands, lines =>
    given.startsWith('+') ? lines.slice(Math.max(0, count - 1)) : count === 0 ? [] : lines.slice(-count),
  )
}

const tac: Program = call => {
  const read = readWords(call.words, {})
  return read && ofLines(call, read.operands, lines => [...lines].reverse())
}

const wc: Program = call => {
  const read = readWords(call.words, { flags: 'l' })
  if (read === undefined || !read.flags.has('l') || read.operands.length > 0) return undefined
  const { stdin } = call
  if (typeof stdin !== 'string') return stdin && notKnown(stdin.because)
  return prints(`${stdin.split('\n').length - 1}\n`)
}

const cut: Program = call => {
  const read = readWords(call.words, { flags: 's', values: 'df', longValues: { delimiter: 'd', fields: 'f' } })
  const delimiter = read?.values.get('d') ?? '\t'
  const field = Number(read?.values.get('f'))
  if (read === undefined || delimiter.length !== 1 || !Number.isInteger(field) || field < 1) return undefined
  return ofLines(call, read.operands, lines =>
    lines.flatMap(line => {
      const parts = line.split(delimiter)
      if (parts.length === 1) return read.flags.has('s') ? [] : [line]
      return [parts[field - 1] ?? '']
    }),
  )
}

const tr: Program = call => {
  const [option, characters = '', ...more] = call.words
  if (option !== '-d' || more.length > 0 || !/^(?:[^\\[-]|\[\]|\\[nrt])+$/.test(characters)) return undefined
  const { stdin } = call
  if (typeof stdin !== 'string') return stdin && notKnown(stdin.because)
  const dropped = new Set(characters.replaceAll('\\n', '\n').replaceAll('\\r', '\r').replaceAll('\\t', '\t'))
  return prints([...stdin].filter(char => !dropped.has(char)).join(''))
}

/** `sed 's/pattern/text/'` and its like: one substitution a line. */
const sed: Program = call => {
  const read = readWords(call.words, { flags: 'rEn', values: 'e', long: { 'regexp-extended': 'E', quiet: 'n' } })
  if (read === undefined) return undefined
  const { flags, values, operands } = read
  const script = values.get('e') ?? operands[0]
  const files = values.has('e') ? operands : operands.slice(1)
  const parts = script === undefined ? undefined : substitution(script)
  if (parts === undefined || flags.has('n')) return undefined
  // Which of several ways a pattern matches is another in POSIX where it has alternatives.
  if (/\|/.test(parts.pattern)) return undefined
  const grammar = flags.has('r') || flags.has('E') ? 'extended' : 'basic'
  const pattern = posixPattern(parts.pattern, grammar, parts.flags)
  if (pattern === undefined) return undefined
  return ofLines(call, files, lines =>
    lines.map(line => line.replace(pattern, (...found) => replaced(parts.text, found))),
  )
}

function substitution(
  script: string,
): { readonly pattern: string; readonly text: string; readonly flags: string } | undefined {
  const found = /^s([/|,#:!@])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1([gI]*)$/.exec(script)
  if (found === null) return undefined
  const [, separator = '', pattern = '', text = '', flags = ''] = found
  // An escaped separator is the plain character, but for one that is an operator.
  if (separator !== '/' && pattern.includes(`\\${separator}`)) return undefined
  if (/\\[^0-9&\\/n]/.test(text)) return undefined
  return { pattern: pattern.replaceAll('\\/', '/'), text, flags: flags.replace('I', 'i') }
}

/** The text a match is replaced by: `&` is all of it, `\1` what the first brackets took. */
function replaced(text: string, found: readonly unknown[]): string {
  return text.replaceAll(/\\(.)|&/g, (whole, escaped: string | undefined) => {
    if (whole === '&') return String(found[0])
    if (escaped !== undefined && /\d/.test(escaped))
      return typeof found[Number(escaped)] === 'string' ? String(found[Number(escaped)]) : ''
    return escaped === 'n' ? '\n' : (escaped ?? '')
  })
}

const grepWith =
  (usual: Grammar): Program =>
  call => {
    const read = readWords(call.words, {
      flags: 'qsiEFGwxvch',
      values: 'e',
      long: {
        quiet: 'q',
        silent: 'q',
        'no-messages': 's',
        'ignore-case': 'i',
        'extended-regexp': 'E',
        'fixed-strings': 'F',
        'word-regexp': 'w',
        'line-regexp': 'x',
        'invert-match': 'v',
        count: 'c',
        'no-filename': 'h',
      },
      longValues: { regexp: 'e' },
    })
    if (read === undefined) return undefined
    const { flags, values, operands } = read
    const pattern = values.get('e') ?? operands[0]
    const files = values.has('e') ? operands : operands.slice(1)
    if (pattern === undefined || pattern.includes('\n')) return undefined
    // The name of the file stands before each line where there are several.
    if (files.length > 1 && !flags.has('h') && !flags.has('q')) return undefined
    const grammar = flags.has('F') ? 'fixed' : flags.has('E') ? 'extended' : usual
    const compiled = posixPattern(pattern, grammar, flags.has('i') ? 'i' : '')
    if (compiled === undefined) return undefined
    const input = inputOf(call, files)
    if (input === undefined || 'kind' in input) return input
    if (typeof input.text !== 'string') return notKnown(input.text.because)
    // By some locales a text beyond ASCII is no text.
    if (input.text.length > LONGEST || /[^\x00-\x7f]/.test(input.text)) return undefined
    const lines = input.text.split('\n')
    if (lines.at(-1) === '') lines.pop()
    const matching = lines.filter(line => matches(compiled, line, flags) !== flags.has('v'))
    if (flags.has('q') && matching.length > 0) return input.missing && !flags.has('s') ? complains(0) : ends(0)
    const status = input.missing ? 2 : matching.length > 0 ? 0 : 1
    const stdout = flags.has('q')
      ? ''
      : flags.has('c')
        ? `${matching.length}\n`
        : matching.map(line => `${line}\n`).join('')
    return input.missing && !flags.has('s') ? complains(status, stdout) : { ...ends(status), stdout }
  }

function matches(pattern: RegExp, line: string, flags: ReadonlySet<string>): boolean {
  if (!flags.has('w') && !flags.has('x')) return pattern.test(line)
  const edge = flags.has('x') ? ['^(?:', ')$'] : ['(?<![A-Za-z0-9_])(?:', ')(?![A-Za-z0-9_])']
  return new RegExp(`${edge[0]}${pattern.source}${edge[1]}`, pattern.flags).test(line)
}

/** `awk '{print $2}'`: one field of each line. */
const awk: Program = call => {
  const read = readWords(call.words, { values: 'F' })
  const [script, ...files] = read?.operands ?? []
  const field = Number(/^\s*\{\s*print\s+\$(\d)\s*;?\s*\}\s*$/.exec(script ?? '')?.[1])
  const separator = read?.values.get('F')
  if (Number.isNaN(field) || (separator !== undefined && !/^[^ \\^$.*+?()[\]{}|]$|^: $/.test(separator)))
    return undefined
  return ofLines(call, files, lines =>
    lines.map(line => {
      if (field === 0) return line
      const parts = separator === undefined ? line.trim().split(/[ \t]+/) : line.split(separator)
      return parts[field - 1] ?? ''
    }),
  )
}

/** Programs that pass on text: of files, or of what is piped into them. */
export const textPrograms: Readonly<Record<string, Program>> = {
  awk,
  cat,
  cut,
  egrep: grepWith('extended'),
  fgrep: grepWith('fixed'),
  grep: grepWith('basic'),
  head,
  sed,
  tac,
  tail,
  tr,
  wc,
}
