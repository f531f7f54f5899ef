import { readPlaybook, readRoleMeta } from '../ansible/read-plays.js'
import { readDefinitions } from '../ansible/read-tasks.js'
import {
  ANY_NAME,
  type Block,
  type Definition,
  type Directives,
  type Play,
  type RoleEntry,
  type Statement,
  type Task,
  type Unreadable,
} from '../ansible/statement.js'
import { splitPattern } from '../inventory/patterns.js'
import type { Bound } from '../jinja/names.js'
import { hasTemplate, parseExpression, parseTemplate } from '../jinja/parser.js'
import type { Expression } from '../jinja/syntax.js'
import { type Code, directoryOf, filesUnder, joinPath } from '../run/code.js'
import { playbooksIn } from '../run/playbooks.js'
import { roleDirectories } from '../run/role.js'
import { pathToOpen, type Span } from '../source/text.js'
import type { Origin } from '../variables/resolved.js'
import type { Node, ScalarNode } from '../yaml/node.js'
import { type Asked, askedIn, type OpenName } from './asked.js'

/** A task or block where it is written, whether a run reaches it or not. */
export interface PlacedStatement {
  readonly statement: Task | Block
  /** The role's directory (`roles/kubernetes/node`); undefined in a playbook. */
  readonly role: string | undefined
  /** The file it stands in. */
  readonly path: string
  /** The blocks and the play around it, outermost first. */
  readonly within: readonly Directives[]
  /** Position among the tasks and blocks of its file, from 0. */
  readonly ordinal: number
}

/** What holds a read: the statement, the template, or the definition whose value it stands in. */
export type Owner =
  | { readonly kind: 'statement'; readonly placed: PlacedStatement }
  | { readonly kind: 'play'; readonly play: Play; readonly path: string }
  | { readonly kind: 'role-entry'; readonly entry: RoleEntry; readonly path: string }
  | { readonly kind: 'import'; readonly path: string }
  | { readonly kind: 'template'; readonly path: string }
  | { readonly kind: 'definition'; readonly defined: NameDefinition }

/** A place that reads a variable (or asks for a group). `slot` is the keyword it stands under (`when`, `loop`, `src`). */
export interface NameRead {
  readonly name: string
  readonly at: Span
  readonly owner: Owner
  readonly slot: string
  /** The expression it stands in; undefined for a name in a host pattern. */
  readonly whole: Expression | undefined
}

/** A place that gives a variable a value. */
export interface NameDefinition {
  readonly name: string
  readonly origin: Origin
  readonly at: Span
  /** Undefined where a task registers it. */
  readonly node: Node | undefined
  readonly path: string
  readonly role: string | undefined
}

/** What the role code of a tree defines, reads and does, as written: no condition is looked at. */
export interface RoleIndex {
  /** Directories of all roles. */
  readonly roles: readonly string[]
  readonly playbooks: readonly string[]
  readonly statements: readonly PlacedStatement[]
  readonly plays: readonly { readonly play: Play; readonly path: string }[]
  /** Entries of `roles:` and `dependencies:`. */
  readonly entries: readonly RoleEntry[]
  readonly templates: readonly string[]
  readonly definitions: ReadonlyMap<string, readonly NameDefinition[]>
  readonly reads: ReadonlyMap<string, readonly NameRead[]>
  /** Groups that expressions and `hosts:` name. */
  readonly groups: ReadonlyMap<string, readonly NameRead[]>
  /** Names of groups that are put together at run time, and patterns in `hosts:`. */
  readonly dynamicGroups: readonly (OpenName & { readonly at: Span })[]
  /** Parts of names that are put together at run time (`vars['x_' ~ item]`): the known pieces, null for the others. */
  readonly dynamic: readonly { readonly pieces: readonly (string | null)[]; readonly at: Span }[]
  /** What could not be read. */
  readonly unread: readonly { readonly says: string; readonly at: Span }[]
}

/** Keywords that a statement has as members of its own. */
const readAbove = new Set(['when', 'tags', 'vars', 'name'])

/** Values of these keywords are expressions without braces. */
const expressionKeywords = new Set(['when', 'changed_when', 'failed_when', 'until', 'that', 'break_when'])

/**
 * Reads every role and playbook of a tree: tasks, handlers, defaults, vars, meta and templates, whether the playbook that
 * is audited reaches them or not, since a name that any of them still reads is not gone. `beside` are files of tasks that a run
 * reads besides.
 */
export function indexRoles(code: Code, beside: readonly string[] = []): RoleIndex {
  const roles = roleDirectories(code).filter(directory => !directory.includes('/molecule/'))
  const playbooks = playbooksIn(code)
  const collect = collector()
  for (const directory of roles) indexRole(code, directory, collect)
  for (const path of playbooks) indexPlaybook(code, path, collect)
  const met = new Set([...playbooks, ...collect.found.statements.map(({ path }) => path)])
  for (const path of new Set(beside)) if (!met.has(path)) indexTasks(code, path, undefined, collect)
  return { roles, playbooks, ...collect.found }
}

/**
 * The names that something reads and no role's defaults define, each with the first file that reads it; `*` stands for the
 * parts of a name that is put together at run time. What Ansible itself gives (`ansible_…`, `item`) is left out.
 */
export function readWithoutDefault({ reads, definitions, dynamic }: RoleIndex): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, [first]] of reads) {
    const hasDefault = (definitions.get(name) ?? []).some(({ origin }) => origin === 'role defaults')
    if (first === undefined || hasDefault || /^(?:ansible_.*|item|omit)$/.test(name)) continue
    found.set(name, pathToOpen(first.at.file))
  }
  for (const { pieces, at } of dynamic) {
    if (pieces.some(piece => piece !== null)) {
      found.set(pieces.map(piece => piece ?? '*').join(''), pathToOpen(at.file))
    }
  }
  return found
}

/** Finds a statement by where it starts: a playbook is read once for the run and once for the index. */
export function statementsByPlace({ statements }: RoleIndex): (at: Span) => PlacedStatement | undefined {
  const byFile = new Map<string, Map<number, PlacedStatement>>()
  for (const placed of statements) {
    const { file, start } = placed.statement.at
    const known = byFile.get(file.path)
    if (known === undefined) byFile.set(file.path, new Map([[start, placed]]))
    else known.set(start, placed)
  }
  return at => byFile.get(at.file.path)?.get(at.start)
}

interface Collector {
  readonly found: Omit<RoleIndex, 'roles' | 'playbooks'>
  readonly define: (definition: NameDefinition) => void
  readonly text: (node: ScalarNode, slot: string, owner: Owner, isExpression: boolean) => void
  readonly template: (path: string, text: string, at: Span) => void
  readonly place: (placed: PlacedStatement) => void
  readonly group: (read: NameRead) => void
  readonly dynamicGroup: (name: OpenName, at: Span) => void
  readonly play: (play: Play, path: string) => void
  readonly entry: (entry: RoleEntry) => void
}

function collector(): Collector {
  const statements: PlacedStatement[] = []
  const plays: { play: Play; path: string }[] = []
  const entries: RoleEntry[] = []
  const templates: string[] = []
  const definitions = new Map<string, NameDefinition[]>()
  const reads = new Map<string, NameRead[]>()
  const groups = new Map<string, NameRead[]>()
  const dynamic: { pieces: readonly (string | null)[]; at: Span }[] = []
  const dynamicGroups: (OpenName & { at: Span })[] = []
  const unread: { says: string; at: Span }[] = []
  const add = <T extends { readonly name: string }>(map: Map<string, T[]>, item: T): void => {
    const known = map.get(item.name)
    if (known === undefined) map.set(item.name, [item])
    else known.push(item)
  }
  const ask = (asked: Asked, spanAt: (offset: number) => Span, owner: Owner, slot: string): void => {
    for (const { name, start, whole } of asked.names) add(reads, { name, at: spanAt(start), owner, slot, whole })
    for (const { name, start, whole } of asked.groups) add(groups, { name, at: spanAt(start), owner, slot, whole })
    for (const { start, ...open } of asked.dynamicGroups) dynamicGroups.push({ ...open, at: spanAt(start) })
    for (const { pieces, start } of asked.dynamic) dynamic.push({ pieces, at: spanAt(start) })
  }
  return {
    found: { statements, plays, entries, templates, definitions, reads, groups, dynamicGroups, dynamic, unread },
    define: definition => add(definitions, definition),
    place: placed => statements.push(placed),
    group: read => add(groups, read),
    dynamicGroup: (name, at) => dynamicGroups.push({ ...name, at }),
    play: (play, path) => plays.push({ play, path }),
    entry: entry => entries.push(entry),
    text: (node, slot, owner, isExpression) => {
      if (typeof node.data !== 'string' || node.tag !== undefined) return
      if (!isExpression && !hasTemplate(node.data)) return
      const parsed =
        isExpression && !hasTemplate(node.data)
          ? parseExpression(node.data, node.span)
          : parseTemplate(node.data, node.span)
      if (parsed.kind === 'syntax-problem') unread.push({ says: parsed.says, at: node.span })
      else ask(askedIn(parsed, writtenLoop(owner)), () => node.span, owner, slot)
    },
    template: (path, text, at) => {
      templates.push(path)
      if (!hasTemplate(text)) return
      const parsed = parseTemplate(text, at, { file: true })
      if (parsed.kind === 'syntax-problem') unread.push({ says: parsed.says, at })
      else ask(askedIn(parsed), start => ({ file: at.file, start, end: start }), { kind: 'template', path }, 'text')
    },
  }
}

/** What a task's loop goes through, where that is written out: then `item` is one of these. */
function writtenLoop(owner: Owner): Bound {
  const statement = owner.kind === 'statement' ? owner.placed.statement : undefined
  const terms = statement?.kind === 'task' ? statement.loop?.terms : undefined
  if (terms?.kind !== 'list') return new Map()
  const items = terms.items.flatMap(({ kind, ...rest }) => {
    const data = kind === 'scalar' && 'data' in rest ? rest.data : undefined
    return typeof data === 'string' && !hasTemplate(data)
      ? [{ kind: 'constant', data, start: 0, end: 0, depth: 0 } as const]
      : []
  })
  return items.length === terms.items.length ? new Map([['item', items]]) : new Map()
}

function indexRole(code: Code, directory: string, collect: Collector): void {
  for (const path of filesUnder(code.tree, `${directory}/tasks`)) indexTasks(code, path, directory, collect)
  for (const path of filesUnder(code.tree, `${directory}/handlers`)) indexTasks(code, path, directory, collect)
  for (const path of filesUnder(code.tree, `${directory}/defaults`)) {
    indexDefinitions(readDefinitions(code.document(path)), 'role defaults', path, directory, collect)
  }
  for (const path of filesUnder(code.tree, `${directory}/vars`)) {
    // What is not `main` is there for a task to read in.
    const origin = /^main(?:\.|\/|$)/.test(path.slice(directory.length + '/vars/'.length))
      ? 'role vars'
      : 'include_vars'
    indexDefinitions(readDefinitions(code.document(path)), origin, path, directory, collect)
  }
  for (const path of filesUnder(code.tree, `${directory}/meta`)) {
    if (!/\/main\.(?:ya?ml|json)$/.test(path)) continue
    indexEntries(readRoleMeta(code.document(path), () => {}).dependencies, path, directory, collect)
  }
  for (const path of filesUnder(code.tree, `${directory}/templates`, /./)) {
    const file = code.tree.read(path)
    if (file !== undefined) collect.template(path, file.text, { file, start: 0, end: file.text.length })
  }
}

function indexTasks(code: Code, path: string, role: string | undefined, collect: Collector): void {
  indexStatements(code.statements(path) ?? [], { path, role, within: [], count: { next: 0 } }, collect)
}

interface Around {
  readonly path: string
  readonly role: string | undefined
  readonly within: readonly Directives[]
  readonly count: { next: number }
}

function indexStatements(statements: readonly Statement[], around: Around, collect: Collector): void {
  const { path, role, within, count } = around
  for (const statement of statements) {
    if (statement.kind === 'unreadable') continue
    const placed: PlacedStatement = { statement, role, path, within, ordinal: count.next++ }
    const owner: Owner = { kind: 'statement', placed }
    collect.place(placed)
    indexDirectives(statement, owner, path, role, collect)
    if (statement.kind === 'block') {
      const inner = { ...around, within: [...within, statement] }
      for (const part of [statement.block, statement.rescue, statement.always]) indexStatements(part, inner, collect)
      continue
    }
    const { named, raw, template } = statement.arguments
    for (const [key, node] of named) {
      const isExpression = key === 'that' || (statement.module === 'ansible.builtin.debug' && key === 'var')
      walkTexts(node, (text, inKey) => collect.text(text, key, owner, isExpression && !inKey))
    }
    if (raw !== undefined) walkTexts(raw, text => collect.text(text, 'free-form', owner, false))
    if (template !== undefined) walkTexts(template, text => collect.text(text, 'args', owner, false))
    if (statement.module === 'ansible.builtin.set_fact') {
      for (const [name, node] of named) {
        if (name !== 'cacheable') collect.define({ name, origin: 'set_fact', at: node.span, node, path, role })
      }
    }
  }
}

function indexDirectives(
  directives: Directives,
  owner: Owner,
  path: string,
  role: string | undefined,
  collect: Collector,
): void {
  for (const node of directives.when) walkTexts(node, text => collect.text(text, 'when', owner, true))
  for (const node of directives.tags) walkTexts(node, text => collect.text(text, 'tags', owner, false))
  const varsOrigin = owner.kind === 'play' ? 'play vars' : owner.kind === 'role-entry' ? 'role params' : 'task vars'
  for (const { name, node, at } of directives.vars) {
    if (name !== ANY_NAME) collect.define({ name, origin: varsOrigin, at, node, path, role })
    walkTexts(node, text => collect.text(text, `vars.${name}`, owner, false))
  }
  for (const [keyword, { value }] of directives.keywords) {
    if (readAbove.has(keyword)) continue
    if (keyword === 'register' && value.kind === 'scalar' && typeof value.data === 'string') {
      collect.define({ name: value.data, origin: 'registered vars', at: value.span, node: undefined, path, role })
    }
    const isExpression = expressionKeywords.has(keyword)
    walkTexts(value, (text, inKey) => collect.text(text, keyword, owner, isExpression && !inKey))
  }
  if (directives.name !== undefined && hasTemplate(directives.name)) {
    const node: ScalarNode = { kind: 'scalar', data: directives.name, span: directives.at }
    collect.text(node, 'name', owner, false)
  }
}

function indexDefinitions(
  definitions: readonly Definition[],
  origin: Origin,
  path: string,
  role: string | undefined,
  collect: Collector,
): void {
  for (const { name, node, at } of definitions) {
    if (name === ANY_NAME) continue
    const defined: NameDefinition = { name, origin, at, node, path, role }
    collect.define(defined)
    walkTexts(node, text => collect.text(text, 'value', { kind: 'definition', defined }, false))
  }
}

function indexEntries(
  entries: readonly (RoleEntry | Unreadable)[],
  path: string,
  role: string | undefined,
  collect: Collector,
): void {
  for (const entry of entries) {
    if (!('role' in entry)) continue
    const owner: Owner = { kind: 'role-entry', entry, path }
    collect.entry(entry)
    indexDirectives(entry, owner, path, role, collect)
    for (const { name, node, at } of entry.parameters) {
      if (name === ANY_NAME) continue
      collect.define({ name, origin: 'role params', at, node, path, role })
      walkTexts(node, text => collect.text(text, `vars.${name}`, owner, false))
    }
  }
}

function indexPlaybook(code: Code, path: string, collect: Collector): void {
  const node = code.document(path)
  if (node === undefined) return
  for (const entry of readPlaybook(node, () => {})) {
    if (entry.kind === 'unreadable') continue
    if (entry.kind === 'import-playbook') {
      indexDirectives(entry, { kind: 'import', path }, path, undefined, collect)
      continue
    }
    collect.play(entry, path)
    const owner: Owner = { kind: 'play', play: entry, path }
    indexDirectives(entry, owner, path, undefined, collect)
    if (entry.hosts !== undefined) {
      walkTexts(entry.hosts, text => {
        collect.text(text, 'hosts', owner, false)
        for (const name of groupsInPattern(text.data))
          collect.group({ name, at: text.span, owner, slot: 'hosts', whole: undefined })
        for (const name of openNamesInPattern(text.data)) collect.dynamicGroup(name, text.span)
      })
    }
    indexVarsFiles(code, entry, path, collect)
    indexEntries(entry.roles, path, undefined, collect)
    const around = { path, role: undefined, within: [entry], count: { next: 0 } }
    for (const part of [entry.preTasks, entry.tasks, entry.postTasks, entry.handlers]) {
      indexStatements(part, around, collect)
    }
  }
}

/** Files of variables that a play names by a path that is written out. */
function indexVarsFiles(code: Code, play: Play, path: string, collect: Collector): void {
  const value = play.keywords.get('vars_files')?.value
  if (value === undefined) return
  walkTexts(value, ({ data }) => {
    const file = typeof data === 'string' && !hasTemplate(data) ? joinPath(directoryOf(path), data) : undefined
    if (file === undefined || code.tree.entryKind(file) !== 'file') return
    indexDefinitions(readDefinitions(code.document(file)), 'play vars_files', file, undefined, collect)
  })
}

/** The names in a host pattern (`a:&b:!c[0]`) that are written out. */
function groupsInPattern(data: ScalarNode['data']): readonly string[] {
  return termsOf(data).filter(name => /^[\w.-]+$/.test(name))
}

/** What a host pattern asks for with wildcards (`a*`) or by a regular expression (`~a.+`). */
function openNamesInPattern(data: ScalarNode['data']): readonly OpenName[] {
  return termsOf(data).flatMap((term): readonly OpenName[] => {
    if (term.startsWith('~')) return [{ pieces: [null], regex: `^(?:${term.slice(1)})` }]
    if (!/[*?[]/.test(term)) return []
    const [first = '', ...rest] = term.split(/\*|\?|\[[^\]]*\]/)
    return [{ pieces: [first, ...rest.flatMap(piece => [null, piece])].filter(piece => piece !== '') }]
  })
}

/** The terms of a host pattern without what combines them and without subscripts. */
function termsOf(data: ScalarNode['data']): readonly string[] {
  if (typeof data !== 'string' || hasTemplate(data)) return []
  return splitPattern(data).map(term => {
    const plain = term.replace(/^[!&]/, '')
    return plain.startsWith('~') ? plain : plain.replace(/\[-\d:]*\]$/, '')
  })
}

/** Visits the texts of a value, keys of mappings included. */
export function walkTexts(node: Node, visit: (text: ScalarNode, inKey: boolean) => void): void {
  switch (node.kind) {
    case 'scalar':
      if (typeof node.data === 'string') visit(node, false)
      return
    case 'list':
      for (const item of node.items) walkTexts(item, visit)
      return
    case 'map':
      for (const { key, value } of node.entries) {
        if (typeof key.data === 'string' && hasTemplate(key.data)) visit(key, true)
        walkTexts(value, visit)
      }
      return
    case 'unreadable':
  }
}

const readBy = new WeakMap<RoleIndex, ReadonlyMap<string, ReadonlySet<string>>>()

/** The names that the definitions of a name read. */
export function namesReadBy(index: RoleIndex, name: string): ReadonlySet<string> {
  const known = readBy.get(index) ?? readByDefinition(index)
  readBy.set(index, known)
  return known.get(name) ?? new Set()
}

function readByDefinition({ reads }: RoleIndex): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const read of [...reads.values()].flat()) {
    if (read.owner.kind !== 'definition') continue
    const { name } = read.owner.defined
    const names = found.get(name) ?? new Set()
    found.set(name, names.add(read.name))
  }
  return found
}
