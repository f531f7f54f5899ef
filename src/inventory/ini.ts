import type { SourceFile, Span } from '../source/text.js'
import { type Draft, defineFor, draftGroup, draftHost, type Fault, fault, joinGroups } from './draft.js'
import { expandHosts } from './host-range.js'
import type { Definition } from './inventory.js'
import { readLiteral } from './literal.js'
import { splitShellWords } from './shell-words.js'

/** The line ends of Python's str.splitlines, and what its str.strip takes away. */
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g
const BLANK = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** The header of a section: its group, and `vars` or `children` behind a colon. */
export const SECTION = /^\[([^:\]\s]+)(?::([\p{L}\p{M}\p{N}_]+))?\]\s*(?:#.*)?$/u
/** A line under `[group:children]`. */
export const GROUP_NAME = /^([^:\]\s]+)\s*(?:#.*)?$/

/** Beyond any real line, and still quick to take apart. */
const LONGEST_LINE = 256 * 1024

/** A line without the blanks around it, and where it starts. */
export interface Line {
  readonly text: string
  readonly start: number
}

/** A group that was named (as a child, or by its variables) before anything declared it. */
interface Pending {
  readonly state: 'children' | 'vars'
  readonly parents: string[]
  readonly at: Span
}

/**
 * Reads an INI inventory into a draft. One line that cannot be read makes Ansible refuse the whole file: then that
 * line's fault is the answer, and the draft is to be thrown away. `source` is the path hosts remember as their file.
 * Source of the rules: Ansible's `ini` inventory plugin, checked against ansible-core 2.14 and 2.18.
 */
export function readIni(draft: Draft, file: SourceFile, source: string): Fault | undefined {
  if (file.text.startsWith('\ufeff')) {
    return fault('expected an inventory without a byte order mark', { file, start: 0, end: 1 })
  }
  const pending = new Map<string, Pending>()
  let group = 'ungrouped'
  let state = 'hosts'
  for (const line of linesOf(file.text)) {
    if (line.text === '' || line.text.startsWith('#') || line.text.startsWith(';')) continue
    const at: Span = { file, start: line.start, end: line.start + line.text.length }
    if (line.text.length > LONGEST_LINE) return fault(`expected lines of at most ${LONGEST_LINE} characters`, at)
    const section = SECTION.exec(line.text)
    let problem: Fault | undefined
    if (section?.[1] !== undefined) {
      group = section[1]
      state = section[2] ?? 'hosts'
      problem = openSection(draft, pending, group, state, at)
    } else if (line.text.startsWith('[') && line.text.endsWith(']')) {
      problem = fault(`expected a section like [group], [group:vars] or [group:children], got ${quoted(line.text)}`, at)
    } else if (state === 'hosts') problem = readHostLine(draft, group, line, file, source)
    else if (state === 'vars') problem = readVariableLine(draft, group, line, file)
    else problem = readChildLine(draft, pending, group, line, at)
    if (problem) return problem
  }
  for (const [name, { state: wanted, parents, at }] of pending) {
    return wanted === 'vars'
      ? fault(`section [${name}:vars] is about a group that is defined nowhere: expected a section [${name}]`, at)
      : fault(
          `section [${parents.at(-1)}:children] names group ${name}, which is defined nowhere: expected a section [${name}]`,
          at,
        )
  }
  return undefined
}

/** The lines of an INI inventory, as Python takes them apart. */
export function linesOf(text: string): readonly Line[] {
  const lines: Line[] = []
  let start = 0
  for (const end of text.matchAll(LINE_END)) {
    lines.push(stripped(text, start, end.index))
    start = end.index + end[0].length
  }
  lines.push(stripped(text, start, text.length))
  return lines
}

function stripped(text: string, from: number, to: number): Line {
  let start = from
  let end = to
  while (start < end && BLANK.test(text[start] ?? '')) start++
  while (end > start && BLANK.test(text[end - 1] ?? '')) end--
  return { text: text.slice(start, end), start }
}

function quoted(text: string): string {
  return `'${text.length > 80 ? `${text.slice(0, 77)}...` : text}'`
}

function openSection(
  draft: Draft,
  pending: Map<string, Pending>,
  group: string,
  state: string,
  at: Span,
): Fault | undefined {
  if (state !== 'hosts' && state !== 'children' && state !== 'vars') {
    return fault(`expected [${group}], [${group}:vars] or [${group}:children], got [${group}:${state}]`, at)
  }
  // [group:vars] alone does not declare a group; another section may do so later.
  if (state === 'vars' && !draft.groups.has(group) && !pending.has(group)) {
    pending.set(group, { state, parents: [], at })
  }
  draftGroup(draft, group)
  if (state === 'vars') return undefined
  const awaited = pending.get(group)
  pending.delete(group)
  for (const parent of awaited?.parents ?? []) {
    const problem = joinGroups(draft, parent, group, awaited?.at ?? at)
    if (problem) return problem
  }
  return undefined
}

function readChildLine(
  draft: Draft,
  pending: Map<string, Pending>,
  group: string,
  line: Line,
  at: Span,
): Fault | undefined {
  const child = GROUP_NAME.exec(line.text)?.[1]
  if (child === undefined) return fault(`expected the name of a group, got ${quoted(line.text)}`, at)
  if (draft.groups.has(child)) return joinGroups(draft, group, child, at)
  const awaited = pending.get(child)
  if (awaited) awaited.parents.push(group)
  else pending.set(child, { state: 'children', parents: [group], at })
  return undefined
}

function readVariableLine(draft: Draft, group: string, line: Line, file: SourceFile): Fault | undefined {
  const at: Span = { file, start: line.start, end: line.start + line.text.length }
  const equals = line.text.indexOf('=')
  if (equals === -1) return fault(`expected key=value, got ${quoted(line.text)}`, at)
  const name = stripped(line.text, 0, equals).text
  const { text, start } = stripped(line.text, equals + 1, line.text.length)
  const definition = readDefinition(name, text, at, {
    file,
    start: line.start + start,
    end: line.start + start + text.length,
  })
  return definition.kind === 'fault' ? definition : defineFor(draft, group, definition.definition)
}

function readDefinition(
  name: string,
  value: string,
  at: Span,
  valueAt: Span,
): { readonly kind: 'definition'; readonly definition: Definition } | Fault {
  const node = readLiteral(value, valueAt)
  if (node.kind === 'unhashable') {
    return fault(`expected texts or numbers as keys in the value of ${name}, got ${quoted(value)}`, at)
  }
  return { kind: 'definition', definition: { name, node, at } }
}

function readHostLine(draft: Draft, group: string, line: Line, file: SourceFile, source: string): Fault | undefined {
  const at: Span = { file, start: line.start, end: line.start + line.text.length }
  const words = splitShellWords(line.text)
  if (typeof words === 'string') return fault(`${words} in the host line ${quoted(line.text)}`, at)
  const [pattern, ...assignments] = words
  if (pattern === undefined) return fault('expected the name of a host', at)
  const expanded = expandHosts(pattern.text)
  if (typeof expanded === 'string') return fault(expanded, at)
  if (pattern.text.trim().endsWith(':') && expanded.port === undefined) {
    return fault(`expected a port after the colon of ${quoted(pattern.text)}`, at)
  }
  if (expanded.hosts.some(host => host.trim() === '---')) {
    return fault("expected an INI inventory, got '---', which begins a YAML document", at)
  }
  if (expanded.hosts.includes('')) return fault('expected the name of a host, got an empty one', at)

  const definitions: Definition[] = []
  for (const word of assignments) {
    const equals = word.text.indexOf('=')
    if (equals === -1) return fault(`expected key=value after the host, got ${quoted(word.text)}`, at)
    const end = line.start + (word.offsets.at(-1) ?? 0)
    const definition = readDefinition(
      word.text.slice(0, equals),
      word.text.slice(equals + 1),
      { file, start: line.start + (word.offsets[0] ?? 0), end },
      { file, start: line.start + (word.offsets[equals] ?? 0) + 1, end },
    )
    if (definition.kind === 'fault') return definition
    definitions.push(definition.definition)
  }
  const portAt: Span = {
    file,
    start: line.start + (pattern.offsets[0] ?? 0),
    end: line.start + (pattern.offsets.at(-1) ?? 0),
  }
  const port = portDefinition(expanded.port, portAt)
  for (const host of expanded.hosts) {
    draftHost(draft, host, group, source, port)
    for (const definition of definitions) {
      const problem = defineFor(draft, host, definition)
      if (problem) return problem
    }
  }
  return undefined
}

/** `host:2222` says which port to connect to. Port 0 says nothing. */
export function portDefinition(port: number | undefined, at: Span): Definition | undefined {
  return port ? { name: 'ansible_port', node: { kind: 'scalar', data: BigInt(port), span: at }, at } : undefined
}
