import { posix } from 'node:path'
import { fullModuleName } from '../ansible/modules.js'
import { type PlaybookEntry, readPlaybook, readRoleMeta } from '../ansible/read-plays.js'
import { readDefinitions, readStatements } from '../ansible/read-tasks.js'
import { ANY_NAME, type Definition, type Directives, type Statement, type Task } from '../ansible/statement.js'
import { hasTemplate, parseTemplate } from '../jinja/parser.js'
import { directoryOf } from '../run/code.js'
import type { RoleFiles } from '../run/role.js'
import type { Span } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Node } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'

/** A name or path that the wrapper writes. */
interface Written {
  /** What is written out of it: the end, where a template stands before. */
  readonly name: string
  readonly isTemplated: boolean
  readonly at: Span
  /** The file it stands in. */
  readonly path: string
}

/** A role that the wrapper runs, with files it takes instead of `main`. */
export interface RoleReference extends Written {
  readonly from: readonly { readonly folder: keyof RoleFiles; readonly file: string; readonly at: Span }[]
}

/** A path in a value. */
export interface PathReference extends Written {
  /** An `import_playbook`: then a bare file name is a path too. */
  readonly isPlaybook: boolean
}

/** The user's own playbooks and roles around kubespray. */
export interface Wrapper {
  readonly tree: SourceTree
  /** Every file of its own: a checkout of kubespray inside is none. */
  readonly paths: readonly string[]
  /** Checkouts of kubespray inside it. */
  readonly checkouts: readonly string[]
  readonly roles: readonly RoleReference[]
  readonly files: readonly PathReference[]
  readonly definitions: readonly Definition[]
}

/** Beyond any wrapper; a home directory given by mistake must not take for ever. */
const mostFiles = 20_000
const deepest = 16

/** Directories of other people's code. */
const foreign = new Set(['ansible_collections', 'node_modules', 'site-packages', 'venv'])

const wrappers = new WeakMap<SourceTree, Wrapper>()

/** Reads every YAML file of a wrapper, a tree once. What cannot be read names nothing. */
export function readWrapper(tree: SourceTree): Wrapper {
  const known = wrappers.get(tree)
  if (known !== undefined) return known
  const wrapper = readFiles(tree)
  wrappers.set(tree, wrapper)
  return wrapper
}

function readFiles(tree: SourceTree): Wrapper {
  const { paths, checkouts } = listWrapper(tree)
  const collect: Collect = { roles: [], files: [], definitions: [], variableFiles: new Set() }
  const nodes = new Map<string, Node>()
  for (const path of paths) {
    const file = /\.ya?ml$/.test(path) ? tree.read(path) : undefined
    if (file !== undefined)
      nodes.set(
        path,
        readYamlFile(file, () => {}),
      )
  }
  const playbookDirectories = new Set<string>()
  for (const [path, node] of nodes) {
    walkPaths(node, path, collect)
    if (node.kind === 'map' && /(?:^|\/)meta\/main\.ya?ml$/.test(path)) {
      for (const entry of readRoleMeta(node, () => {}).dependencies) if ('role' in entry) addEntry(entry, path, collect)
    } else if (isPlaybook(node)) {
      playbookDirectories.add(directoryOf(path))
      readPlaybook(node, () => {}).forEach((entry, number) => {
        addPlay(entry, node.items[number], path, collect)
      })
    } else if (node.kind === 'list')
      addStatements(
        readStatements(node, () => {}),
        path,
        collect,
      )
  }
  for (const [path, node] of nodes) {
    if (node.kind !== 'map' || !setsVariables(path, playbookDirectories, collect.variableFiles)) continue
    define(readDefinitions(node), collect)
  }
  const { roles, files, definitions } = collect
  return { tree, paths, checkouts, roles, files, definitions }
}

function listWrapper(tree: SourceTree): Pick<Wrapper, 'paths' | 'checkouts'> {
  const paths: string[] = []
  const checkouts: string[] = []
  const walk = (directory: string, depth: number): void => {
    for (const name of tree.list(directory)) {
      if (paths.length >= mostFiles) return
      if (name.startsWith('.') || foreign.has(name)) continue
      const path = directory === '' ? name : `${directory}/${name}`
      const kind = tree.entryKind(path)
      if (kind === 'file') paths.push(path)
      else if (kind === 'directory' && isCheckout(tree, path)) checkouts.push(path)
      else if (kind === 'directory' && depth < deepest) walk(path, depth + 1)
    }
  }
  walk('', 0)
  return { paths, checkouts }
}

/** A checkout of kubespray (a submodule, mostly) inside the wrapper. */
function isCheckout(tree: SourceTree, directory: string): boolean {
  return ['kubespray_defaults', 'kubespray-defaults'].some(
    role => tree.entryKind(`${directory}/roles/${role}`) === 'directory',
  )
}

interface Collect {
  readonly roles: RoleReference[]
  readonly files: PathReference[]
  readonly definitions: Definition[]
  /** Paths named by `vars_files` and `include_vars`. */
  readonly variableFiles: Set<string>
}

function isPlaybook(node: Node): node is Node & { kind: 'list' } {
  return (
    node.kind === 'list' &&
    node.items.some(
      item =>
        item.kind === 'map' &&
        item.entries.some(({ key }) => key.data === 'hosts' || importsPlaybook(String(key.data))),
    )
  )
}

function importsPlaybook(key: string): boolean {
  return fullModuleName(key) === 'ansible.builtin.import_playbook'
}

function addPlay(entry: PlaybookEntry, node: Node | undefined, path: string, collect: Collect): void {
  if (entry.kind === 'unreadable') return
  define(entry.vars, collect)
  if (entry.kind === 'import-playbook') {
    const value =
      node?.kind === 'map' ? node.entries.find(({ key }) => importsPlaybook(String(key.data)))?.value : undefined
    addPath(entry.file, value?.span ?? entry.at, path, true, collect)
    return
  }
  for (const role of entry.roles) if ('role' in role) addEntry(role, path, collect)
  const files = entry.keywords.get('vars_files')?.value
  if (files !== undefined) eachText(files, text => collect.variableFiles.add(joined(directoryOf(path), text)))
  for (const part of [entry.preTasks, entry.tasks, entry.postTasks, entry.handlers]) {
    addStatements(part, path, collect)
  }
}

function addEntry(
  entry: Directives & { readonly role: string; readonly parameters: readonly Definition[] },
  path: string,
  collect: Collect,
): void {
  collect.roles.push({ ...writtenEnd(entry.role, entry.at), at: entry.at, path, from: [] })
  define([...entry.vars, ...entry.parameters], collect)
}

function addStatements(statements: readonly Statement[], path: string, collect: Collect): void {
  for (const statement of statements) {
    if (statement.kind === 'unreadable') continue
    define(statement.vars, collect)
    if (statement.kind === 'task') addTask(statement, path, collect)
    else for (const part of [statement.block, statement.rescue, statement.always]) addStatements(part, path, collect)
  }
}

const folders: readonly (keyof RoleFiles)[] = ['tasks', 'vars', 'defaults', 'handlers']

function addTask(task: Task, path: string, collect: Collect): void {
  const { named, raw } = task.arguments
  switch (task.module) {
    case 'ansible.builtin.import_role':
    case 'ansible.builtin.include_role': {
      const name = textOf(named.get('name') ?? named.get('role'))
      if (name === undefined) return
      const from = folders.flatMap(folder => {
        const node = named.get(`${folder}_from`)
        const file = textOf(node)
        return node === undefined || file === undefined || hasTemplate(file) ? [] : [{ folder, file, at: node.span }]
      })
      const at = (named.get('name') ?? named.get('role'))?.span ?? task.at
      collect.roles.push({ ...writtenEnd(name, at), at, path, from })
      return
    }
    case 'ansible.builtin.include_vars': {
      const file = textOf(named.get('file')) ?? textOf(raw)
      if (file === undefined) return
      const directory = directoryOf(path)
      for (const below of [directory, joined(directory, '../vars')]) collect.variableFiles.add(joined(below, file))
      return
    }
    case 'ansible.builtin.set_fact':
      for (const [name, node] of named)
        if (name !== 'cacheable') collect.definitions.push({ name, node, at: node.span })
      return
    default:
  }
}

function define(definitions: readonly Definition[], collect: Collect): void {
  for (const each of definitions) if (each.name !== ANY_NAME) collect.definitions.push(each)
}

/** Files of variables that a play of the wrapper reads: those it names, those of its own roles, and those beside it. */
function setsVariables(path: string, playbooks: ReadonlySet<string>, named: ReadonlySet<string>): boolean {
  if (named.has(path) || /(?:^|\/)roles\/.+\/vars\//.test(path)) return true
  const beside = /^(?:(.*)\/)?(?:group_vars|host_vars)\//.exec(path)
  return beside !== null && playbooks.has(beside[1] ?? '')
}

function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.data === 'string' ? node.data.trim() : undefined
}

function eachText(node: Node, visit: (text: string, at: Span) => void): void {
  switch (node.kind) {
    case 'scalar':
      if (typeof node.data === 'string') visit(node.data, node.span)
      return
    case 'list':
      for (const item of node.items) eachText(item, visit)
      return
    case 'map':
      for (const { value } of node.entries) eachText(value, visit)
      return
    case 'unreadable':
  }
}

/** Values with a `/`: as many as a wrapper has, any of them may be a path into kubespray. */
function walkPaths(node: Node, path: string, collect: Collect): void {
  eachText(node, (text, at) => {
    if (!text.includes('/') || text.length > 4096) return
    for (const word of text.includes('\n') || text.includes(' ') ? wordsOf(text, at) : [text]) {
      if (word.includes('/')) addPath(word, at, path, false, collect)
    }
  })
}

/** A command line's words: templates count as characters of their word. */
function wordsOf(text: string, at: Span): readonly string[] {
  return writtenOut(text, at).split(/[\s"'=,;]+/)
}

/** Stands for what a template puts in; no path has it. */
const filledIn = '\0'

function writtenOut(text: string, at: Span): string {
  if (!hasTemplate(text)) return text
  const parsed = parseTemplate(text, at)
  if (parsed.kind === 'syntax-problem') return filledIn
  return parsed.body.map(part => (part.kind === 'text' ? part.text : filledIn)).join('')
}

/** What is written out at the end of a text, behind its last template. */
function writtenEnd(text: string, at: Span): { readonly name: string; readonly isTemplated: boolean } {
  const written = writtenOut(text, at)
  const from = written.lastIndexOf(filledIn) + 1
  return { name: from === 0 ? written : written.slice(from).replace(/^\//, ''), isTemplated: from > 0 }
}

function addPath(text: string, at: Span, path: string, isPlaybook: boolean, collect: Collect): void {
  if (text.includes('://')) return
  const end = writtenEnd(text, at)
  if (end.name !== '') collect.files.push({ ...end, at, path, isPlaybook })
}

/** A path seen from a directory; one that leads out keeps its `..` in front. */
export function joined(directory: string, name: string): string {
  return posix.join(directory, name)
}
