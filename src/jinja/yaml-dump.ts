import {
  compareText,
  dataOf,
  floatText,
  giveUp,
  isDict,
  isList,
  isTuple,
  less,
  membersOf,
  raise,
  strOf,
  typeName,
} from './python.js'
import type { Data, Key, Value } from './value.js'

/** `flow` null lets each collection of scalars be written in flow style, as PyYAML's default does. */
export interface YamlStyle {
  readonly indent: number
  readonly flow: boolean | null
  readonly width: number
  readonly sortKeys: boolean
  readonly explicitStart: boolean
  readonly explicitEnd: boolean
}

interface Emitter {
  readonly style: YamlStyle
  readonly step: number
  readonly width: number
  readonly seen: Set<object>
  out: string
  column: number
  indent: number
  flowLevel: number
  /** The last thing written was blank, or indentation only. */
  whitespace: boolean
  indention: boolean
}

type Position = 'root' | 'sequence' | 'mapping' | 'key'

/**
 * The text PyYAML (on libyaml, as Ansible uses it) dumps: its quoting, line folding and indentation. Shapes that are not
 * reproduced exactly (shared containers, which become anchors, and rare characters) give up.
 */
export function dumpYaml(data: Data, style: YamlStyle): string {
  const step = style.indent >= 2 && style.indent <= 9 ? style.indent : 2
  const width =
    style.width >= 0 && style.width <= step * 2 ? 80 : style.width < 0 ? Number.POSITIVE_INFINITY : style.width
  const emitter: Emitter = {
    style,
    step,
    width,
    seen: new Set(),
    out: '',
    column: 0,
    indent: -1,
    flowLevel: 0,
    whitespace: true,
    indention: true,
  }
  if (style.explicitStart) {
    writeIndicator(emitter, '---', true, false, false)
    if (typeof data === 'object' && data !== null && !isFlow(emitter, data)) writeIndent(emitter)
  }
  emitNode(emitter, data, 'root', 0)
  if (emitter.column > 0) lineBreak(emitter)
  if (style.explicitEnd) emitter.out += '...\n'
  return emitter.out
}

function write(emitter: Emitter, text: string): void {
  emitter.out += text
  emitter.column += text.length
}

function lineBreak(emitter: Emitter): void {
  emitter.out += '\n'
  emitter.column = 0
}

function writeIndent(emitter: Emitter): void {
  const indent = Math.max(emitter.indent, 0)
  const mustBreak = !emitter.indention || emitter.column > indent || (emitter.column === indent && !emitter.whitespace)
  if (mustBreak) lineBreak(emitter)
  if (emitter.column < indent) write(emitter, ' '.repeat(indent - emitter.column))
  emitter.whitespace = true
  emitter.indention = true
}

function writeIndicator(
  emitter: Emitter,
  mark: string,
  needsSpace: boolean,
  isSpace: boolean,
  isIndention: boolean,
): void {
  if (needsSpace && !emitter.whitespace) write(emitter, ' ')
  write(emitter, mark)
  emitter.whitespace = isSpace
  emitter.indention = emitter.indention && isIndention
}

function increaseIndent(emitter: Emitter, isFlow: boolean, indentless: boolean): number {
  const before = emitter.indent
  if (before < 0) emitter.indent = isFlow ? emitter.step : 0
  else if (!indentless) emitter.indent += emitter.step
  return before
}

function isCollection(data: Data): boolean {
  return isList(data) || isDict(data) || isTuple(data)
}

function isFlow(emitter: Emitter, data: Data): boolean {
  const members = isDict(data) ? [...data.values()] : membersOf(data)
  if (members.length === 0) return true
  return emitter.style.flow ?? members.every(member => !isCollection(dataOf(member)))
}

function emitNode(emitter: Emitter, data: Data, position: Position, depth: number): void {
  if (depth > 300) raise('maximum recursion depth exceeded')
  if (!isCollection(data)) {
    const before = increaseIndent(emitter, true, false)
    emitScalar(emitter, data, position === 'key')
    emitter.indent = before
    return
  }
  const identity = data as object
  const isEmpty = isDict(data) ? data.size === 0 : membersOf(data).length === 0
  if (emitter.seen.has(identity) && !isEmpty)
    giveUp('a value used twice is dumped with an anchor, which is not modelled')
  emitter.seen.add(identity)
  const flow = emitter.flowLevel > 0 || isFlow(emitter, data)
  if (isDict(data)) {
    const entries = sorted([...data], emitter.style.sortKeys)
    if (flow) emitFlowMapping(emitter, entries, depth)
    else emitBlockMapping(emitter, entries, depth)
  } else if (isTuple(data) && data.view !== undefined) raise(`cannot represent an object: ${typeName(data)}`)
  else if (flow) emitFlowSequence(emitter, membersOf(data), depth)
  else emitBlockSequence(emitter, membersOf(data), position, depth)
}

function sorted(entries: [Key, Value][], sortKeys: boolean): readonly (readonly [Key, Value])[] {
  if (!sortKeys) return entries
  try {
    return entries.sort(([a], [b]) =>
      typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : less(a, b) ? -1 : 1,
    )
  } catch {
    // Keys of several types have no order; PyYAML then keeps the order they stand in.
    return entries
  }
}

function emitFlowSequence(emitter: Emitter, items: readonly Value[], depth: number): void {
  writeIndicator(emitter, '[', true, true, false)
  const before = increaseIndent(emitter, true, false)
  emitter.flowLevel++
  items.forEach((item, index) => {
    if (index > 0) writeIndicator(emitter, ',', false, false, false)
    if (emitter.column > emitter.width) writeIndent(emitter)
    emitNode(emitter, dataOf(item), 'sequence', depth + 1)
  })
  emitter.flowLevel--
  emitter.indent = before
  writeIndicator(emitter, ']', false, false, false)
}

function emitFlowMapping(emitter: Emitter, entries: readonly (readonly [Key, Value])[], depth: number): void {
  writeIndicator(emitter, '{', true, true, false)
  const before = increaseIndent(emitter, true, false)
  emitter.flowLevel++
  entries.forEach(([key, value], index) => {
    if (index > 0) writeIndicator(emitter, ',', false, false, false)
    if (emitter.column > emitter.width) writeIndent(emitter)
    if (!isSimpleKey(key)) giveUp('a long key is not dumped')
    emitNode(emitter, key, 'key', depth + 1)
    writeIndicator(emitter, ':', false, false, false)
    emitNode(emitter, dataOf(value), 'mapping', depth + 1)
  })
  emitter.flowLevel--
  emitter.indent = before
  writeIndicator(emitter, '}', false, false, false)
}

function emitBlockSequence(emitter: Emitter, items: readonly Value[], position: Position, depth: number): void {
  const before = increaseIndent(emitter, false, position === 'mapping' && !emitter.indention)
  for (const item of items) {
    writeIndent(emitter)
    writeIndicator(emitter, '-', true, false, true)
    emitNode(emitter, dataOf(item), 'sequence', depth + 1)
  }
  emitter.indent = before
}

function emitBlockMapping(emitter: Emitter, entries: readonly (readonly [Key, Value])[], depth: number): void {
  const before = increaseIndent(emitter, false, false)
  for (const [key, value] of entries) {
    writeIndent(emitter)
    if (!isSimpleKey(key)) giveUp('a long key is not dumped')
    emitNode(emitter, key, 'key', depth + 1)
    writeIndicator(emitter, ':', false, false, false)
    emitNode(emitter, dataOf(value), 'mapping', depth + 1)
  }
  emitter.indent = before
}

function isSimpleKey(key: Key): boolean {
  return typeof key !== 'string' || (Buffer.byteLength(key) <= 120 && !key.includes('\n'))
}

const implicitTypes: readonly RegExp[] = [
  /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  /^<<$/,
  /^(?:~|null|Null|NULL|)$/,
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/,
  /^=$/,
  /^[!&*]$/,
]

function floatScalar(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value < 0 ? '-.inf' : '.inf'
  const text = floatText(value)
  return text.includes('.') ? text : text.replace('e', '.0e')
}

function emitScalar(emitter: Emitter, data: Data, isKey: boolean): void {
  if (data === null) writePlain(emitter, 'null', !isKey)
  else if (typeof data === 'boolean') writePlain(emitter, data ? 'true' : 'false', !isKey)
  else if (typeof data === 'bigint') writePlain(emitter, strOf(data), !isKey)
  else if (typeof data === 'number') writePlain(emitter, floatScalar(data), !isKey)
  else if (typeof data === 'string') emitText(emitter, data, isKey)
  else raise(`cannot represent an object: ${typeName(data)}`)
}

function emitText(emitter: Emitter, text: string, isKey: boolean): void {
  if (/[\r\x85\u2028\u2029\ufeff\ud800-\udfff]/.test(text)) giveUp('a text with rare characters is not dumped')
  const { flowPlain, blockPlain, single } = analyze(text)
  const fits = emitter.flowLevel > 0 ? flowPlain : blockPlain
  const isImplicit = !implicitTypes.some(type => type.test(text))
  const emptyNeedsQuotes = text === '' && (emitter.flowLevel > 0 || isKey)
  if (fits && isImplicit && !emptyNeedsQuotes && !(isKey && text.includes('\n'))) writePlain(emitter, text, !isKey)
  else if (single && !(isKey && text.includes('\n'))) writeSingleQuoted(emitter, text, !isKey)
  else writeDoubleQuoted(emitter, text, !isKey)
}

const leadingIndicators = new Set('#,[]{}&*!|>\'"%@`')

/** libyaml's analysis of a text: which styles can hold it. */
function analyze(text: string): { flowPlain: boolean; blockPlain: boolean; single: boolean } {
  if (text === '') return { flowPlain: false, blockPlain: true, single: true }
  let block = /^(?:---|\.\.\.)/.test(text)
  let flow = block
  let special = false
  let breakSpace = false
  let spaceBreak = false
  const isBlank = (char: string | undefined): boolean =>
    char === undefined || char === ' ' || char === '\t' || char === '\n'
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    const followed = isBlank(text[at + 1])
    if (at === 0) {
      if (leadingIndicators.has(char)) flow = block = true
      if (char === '?' || char === ':') {
        flow = true
        if (followed) block = true
      }
      if (char === '-' && followed) flow = block = true
    } else {
      if (/[,?[\]{}]/.test(char)) flow = true
      if (char === ':') {
        flow = true
        if (followed) block = true
      }
      if (char === '#' && isBlank(text[at - 1])) flow = block = true
    }
    if (/[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]/.test(char)) special = true
    if (char === ' ' && text[at - 1] === '\n') breakSpace = true
    if (char === '\n' && text[at - 1] === ' ') spaceBreak = true
  }
  const edges = /^[ \n]|[ \n]$/.test(text)
  const plain = !edges && !breakSpace && !spaceBreak && !special && !text.includes('\n')
  return {
    flowPlain: plain && !flow,
    blockPlain: plain && !block,
    single: !breakSpace && !spaceBreak && !special,
  }
}

function writePlain(emitter: Emitter, text: string, allowBreaks: boolean): void {
  if (!emitter.whitespace && (text !== '' || emitter.flowLevel > 0)) write(emitter, ' ')
  let spaces = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === ' ') {
      if (allowBreaks && !spaces && emitter.column > emitter.width && text[at + 1] !== ' ') writeIndent(emitter)
      else write(emitter, char)
      spaces = true
    } else {
      write(emitter, char)
      emitter.indention = false
      spaces = false
    }
  }
  emitter.whitespace = false
  emitter.indention = false
}

function writeSingleQuoted(emitter: Emitter, text: string, allowBreaks: boolean): void {
  writeIndicator(emitter, "'", true, false, false)
  let spaces = false
  let breaks = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === ' ') {
      const fold =
        allowBreaks &&
        !spaces &&
        emitter.column > emitter.width &&
        at !== 0 &&
        at !== text.length - 1 &&
        text[at + 1] !== ' '
      if (fold) writeIndent(emitter)
      else write(emitter, char)
      spaces = true
    } else if (char === '\n') {
      if (!breaks) lineBreak(emitter)
      lineBreak(emitter)
      emitter.indention = true
      breaks = true
    } else {
      if (breaks) writeIndent(emitter)
      write(emitter, char === "'" ? "''" : char)
      emitter.indention = false
      spaces = false
      breaks = false
    }
  }
  if (breaks) writeIndent(emitter)
  writeIndicator(emitter, "'", false, false, false)
  emitter.whitespace = false
  emitter.indention = false
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\xa0', '\\_'],
])

function writeDoubleQuoted(emitter: Emitter, text: string, allowBreaks: boolean): void {
  writeIndicator(emitter, '"', true, false, false)
  let spaces = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    const mustEscape = /["\\]|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]/.test(char)
    if (mustEscape) {
      const code = char.charCodeAt(0).toString(16).toUpperCase()
      write(
        emitter,
        escapes.get(char) ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`),
      )
      spaces = false
    } else if (char === ' ') {
      const fold = allowBreaks && !spaces && emitter.column > emitter.width && at !== 0 && at !== text.length - 1
      if (fold) {
        writeIndent(emitter)
        if (text[at + 1] === ' ') write(emitter, '\\')
      } else write(emitter, char)
      spaces = true
    } else {
      write(emitter, char)
      spaces = false
    }
  }
  writeIndicator(emitter, '"', false, false, false)
  emitter.whitespace = false
  emitter.indention = false
}
