import type { Report } from '../source/diagnostic.js'
import type { Span } from '../source/text.js'
import type { MapEntry, MapNode, Node, ScalarNode } from '../yaml/node.js'
import { entryOf } from '../yaml/node.js'
import { readFreeForm, splitArguments } from './arguments.js'
import { blockKeywords, includeKeywords, taskKeywords } from './keywords.js'
import { fullModuleName, takesFreeForm, takesRawText } from './modules.js'
import {
  ANY_NAME,
  type Block,
  type Definition,
  type Directives,
  type ModuleArguments,
  type Statement,
  type Task,
  type Unreadable,
} from './statement.js'

/**
 * Reads a list of tasks and blocks (a task file's document, `tasks:`, `block:`, …). What cannot be read becomes an
 * `unreadable` statement in its place and is reported; the rest is read all the same.
 */
export function readStatements(node: Node | undefined, report: Report): readonly Statement[] {
  if (node === undefined || (node.kind === 'scalar' && node.data === null)) return []
  if (node.kind === 'unreadable') return [unreadable(node.says, node.span)]
  if (node.kind !== 'list') return [refuse('a list of tasks', node, report)]
  return node.items.map(item => readStatement(item, report))
}

function readStatement(node: Node, report: Report): Statement {
  if (node.kind === 'unreadable') return unreadable(node.says, node.span)
  if (node.kind !== 'map') return refuse('a task or a block (a mapping)', node, report)
  return entryOf(node, 'block') ? readBlock(node, report) : readTask(node, report)
}

function readBlock(node: MapNode, report: Report): Block {
  for (const { key } of node.entries) {
    if (typeof key.data === 'string' && blockKeywords.has(key.data)) continue
    report({
      code: 'task-malformed',
      severity: 'warning',
      message: `'${key.data}' is no keyword of a block`,
      at: key.span,
    })
  }
  return {
    kind: 'block',
    ...readDirectives(node, blockKeywords),
    block: readStatements(entryOf(node, 'block')?.value, report),
    rescue: readStatements(entryOf(node, 'rescue')?.value, report),
    always: readStatements(entryOf(node, 'always')?.value, report),
  }
}

/** The keywords plays, roles, blocks and tasks share; `keywords` says which keys of the mapping are any. */
export function readDirectives(node: MapNode, keywords: ReadonlySet<string>): Directives {
  const found = new Map<string, MapEntry>()
  for (const entry of node.entries) {
    if (typeof entry.key.data === 'string' && keywords.has(entry.key.data)) found.set(entry.key.data, entry)
  }
  const name = found.get('name')?.value
  const when = found.get('when')?.value
  return {
    name: name?.kind === 'scalar' && name.data !== null ? String(name.data) : undefined,
    when: when === undefined ? [] : when.kind === 'list' ? when.items : [when],
    tags: nodesOf(found.get('tags')?.value),
    vars: readDefinitions(found.get('vars')?.value),
    keywords: found,
    at: statementSpan(node),
  }
}

/** The one node of a keyword, as it is written; none where it is not there. */
function nodesOf(node: Node | undefined): readonly Node[] {
  return node === undefined ? [] : [node]
}

/** A statement's place begins at its first key, which is the line Ansible and editors show. */
function statementSpan(node: MapNode): Span {
  const first = node.entries[0]?.key.span
  return first === undefined ? node.span : { file: first.file, start: first.start, end: node.span.end }
}

/** The variables a mapping (or a list of mappings) defines, in order. What cannot be read may define any: ANY_NAME. */
export function readDefinitions(node: Node | undefined): readonly Definition[] {
  if (node === undefined || (node.kind === 'scalar' && node.data === null)) return []
  switch (node.kind) {
    case 'list':
      return node.items.flatMap(readDefinitions)
    case 'map':
      return node.entries.map(({ key, value }) => definition(key, value))
    case 'unreadable':
      return [{ name: ANY_NAME, node, at: node.span }]
    case 'scalar': {
      const says = `expected a mapping of variables, found ${describe(node)}`
      return [{ name: ANY_NAME, node: { kind: 'unreadable', says, span: node.span }, at: node.span }]
    }
  }
}

/** A variable as a mapping defines it, from the start of its name to the end of its value. */
export function definition(key: ScalarNode, value: Node): Definition {
  return {
    name: String(key.data),
    node: value,
    at: { file: key.span.file, start: key.span.start, end: Math.max(key.span.end, value.span.end) },
  }
}

function readTask(node: MapNode, report: Report): Task | Unreadable {
  const actions = node.entries.filter(
    ({ key }) => typeof key.data === 'string' && !taskKeywords.has(key.data) && !key.data.startsWith('with_'),
  )
  const spoken = ['action', 'local_action'].flatMap(key => entryOf(node, key) ?? [])
  const candidates = [...spoken, ...actions]
  const [chosen, second] = candidates
  if (chosen === undefined) return refuseTask('no module: a task needs exactly one action', node, report)
  if (second !== undefined) {
    const names = candidates.map(({ key }) => key.data).join(', ')
    return refuseTask(`conflicting action statements: ${names}`, node, report)
  }
  const call = spoken.length > 0 ? readAction(chosen.value) : { action: String(chosen.key.data), given: chosen.value }
  if (call === undefined) return refuseTask(`'${chosen.key.data}' names no module`, node, report)
  const module = fullModuleName(call.action)
  const args = readArguments(module, call.given, entryOf(node, 'args')?.value)
  if ('problem' in args) return refuseTask(args.problem, node, report)
  const directives = readDirectives(node, taskKeywords)
  if (module === 'ansible.builtin.include_tasks' || module === 'ansible.builtin.include_role') {
    for (const [name, { key }] of directives.keywords) {
      if (includeKeywords.has(name)) continue
      const message = `'${name}' cannot stand beside ${call.action}`
      report({ code: 'task-malformed', severity: 'error', message, at: key.span })
    }
  }
  return {
    kind: 'task',
    ...directives,
    keywords:
      chosen.key.data === 'local_action'
        ? new Map(directives.keywords).set('delegate_to', localhost(chosen))
        : directives.keywords,
    action: call.action,
    module,
    arguments: args,
    loop: readLoop(node),
  }
}

/** `local_action` is the plain form with `delegate_to: localhost` (rule 110). */
function localhost(entry: MapEntry): MapEntry {
  return { key: entry.key, value: { kind: 'scalar', data: 'localhost', span: entry.key.span } }
}

/** `action: copy src=a` and `action: {module: copy, src: a}`. */
function readAction(node: Node): { action: string; given: Node } | undefined {
  if (node.kind === 'map') {
    const module = entryOf(node, 'module')?.value
    if (module?.kind !== 'scalar' || typeof module.data !== 'string') return undefined
    const [action = '', ...rest] = splitArguments(module.data) ?? []
    const entries = node.entries.filter(({ key }) => key.data !== 'module')
    if (rest.length === 0) return { action, given: { ...node, entries } }
    return { action, given: { ...module, data: rest.join(' ') } }
  }
  if (node.kind !== 'scalar' || typeof node.data !== 'string') return undefined
  // The module itself may be a template: its braces hold blanks that end nothing.
  const [action, ...rest] = splitArguments(node.data) ?? []
  if (action === undefined) return undefined
  return { action, given: { ...node, data: rest.length === 0 ? null : rest.join(' ') } }
}

function readArguments(module: string, given: Node, more: Node | undefined): ModuleArguments | { problem: string } {
  const named = new Map<string, Node>()
  let template: Node | undefined
  if (more?.kind === 'map') for (const { key, value } of more.entries) named.set(String(key.data), value)
  else if (more?.kind === 'unreadable' || (more?.kind === 'scalar' && typeof more.data === 'string')) template = more
  let raw = named.get('_raw_params')
  if (given.kind === 'map') for (const { key, value } of given.entries) named.set(String(key.data), value)
  else if (given.kind === 'scalar' && typeof given.data === 'string') {
    const text = readFreeForm(given.data, takesRawText(module))
    if ('problem' in text) return text
    for (const [name, value] of text.options) named.set(name, { ...given, data: value })
    if (text.raw !== undefined) {
      // A whole `"{{ dict }}"` may stand for the arguments of any module.
      if (!takesFreeForm(module) && !given.data.includes('{{')) {
        return { problem: `'${text.raw}' is no argument: ${module} takes only key=value pairs` }
      }
      if (takesFreeForm(module)) raw = { ...given, data: text.raw }
      else template = given
    }
  } else if (given.kind === 'unreadable') return { problem: given.says }
  else if (given.kind !== 'scalar' || given.data !== null) {
    return { problem: `the arguments of ${module} have to be a mapping or text` }
  }
  if (raw === undefined && takesRawText(module)) raw = named.get('cmd')
  named.delete('_raw_params')
  return { named, raw, template }
}

function readLoop(node: MapNode): Task['loop'] {
  for (const { key, value } of node.entries) {
    if (key.data === 'loop') return { plugin: '', terms: value }
    if (typeof key.data === 'string' && key.data.startsWith('with_')) return { plugin: key.data.slice(5), terms: value }
  }
  return undefined
}

function refuse(expected: string, node: Node, report: Report): Unreadable {
  const message = `expected ${expected}, found ${describe(node)}`
  report({ code: 'task-malformed', severity: 'error', message, at: node.span })
  return unreadable(message, node.span)
}

function refuseTask(message: string, node: MapNode, report: Report): Unreadable {
  const at = statementSpan(node)
  report({ code: 'task-malformed', severity: 'error', message, at })
  return unreadable(message, at)
}

function unreadable(says: string, at: Span): Unreadable {
  return { kind: 'unreadable', says, at }
}

/** What a node is, for messages. */
export function describe(node: Node): string {
  switch (node.kind) {
    case 'map':
      return 'a mapping'
    case 'list':
      return 'a list'
    case 'unreadable':
      return 'unreadable text'
    case 'scalar':
      return node.data === null
        ? 'nothing'
        : typeof node.data === 'string'
          ? `the text '${node.data.slice(0, 40)}'`
          : `'${node.data}'`
  }
}
