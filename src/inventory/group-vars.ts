import type { Report } from '../source/diagnostic.js'
import { type SourceFile, wholeFile } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Node, UnreadableNode } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'
import { type Definition, type Inventory, LOCALHOST_NAMES } from './inventory.js'
import { extensionOf, openPath } from './opened.js'
import { definitionsOf, nameOf } from './yaml-inventory.js'

/** One file of variables that go with a group or host by its place: `group_vars/G…`, `host_vars/H…`. */
export interface VariableFile {
  readonly group?: string
  readonly host?: string
  readonly beside: 'inventory' | 'playbook'
  /** The directory it stands in the `group_vars` or `host_vars` of; of several inventories each is merged in turn. */
  readonly source: string
  readonly definitions: readonly Definition[]
  readonly file: SourceFile
  /** Why the file could not be read (encrypted, malformed): then it may define any name. */
  readonly unreadable?: UnreadableNode
}

/** In this order Ansible looks for the variables of a name, and stops at the first that exists. */
const EXTENSIONS = ['', '.yml', '.yaml', '.json']

const DEEPEST_DIRECTORY = 20

/**
 * All variable files of a directory's group_vars/ and host_vars/. For one group or host they stand in the order Ansible
 * merges them: a later file wins. A directory `group_vars/g` hides `group_vars/g.yml`; hidden files, backups (`~`) and
 * other extensions are not read.
 * Source of the rule: Ansible's `host_group_vars` plugin, checked against ansible-core 2.14.
 */
export function readGroupVars(
  tree: SourceTree,
  directory: string,
  beside: 'inventory' | 'playbook',
  report: Report,
  source = directory,
): readonly VariableFile[] {
  const groups = readEntities(tree, joined(directory, 'group_vars'), report)
  const hosts = readEntities(tree, joined(directory, 'host_vars'), report)
  return [
    ...groups.map(({ name, ...read }) => ({ group: name, beside, source, ...read })),
    ...hosts.map(({ name, ...read }) => ({ host: name, beside, source, ...read })),
  ]
}

/**
 * The variable files beside the inventory: of each `-i`, in order. A later source wins over an earlier one even where
 * its group is weaker, as Ansible merges source by source. A host list has none.
 */
export function readInventoryVars(inventory: Inventory, report: Report): readonly VariableFile[] {
  const seen = new Set<string>()
  return inventory.sources.flatMap(({ directory }) => {
    const opened = directory === undefined ? undefined : openPath(directory)
    if (opened === undefined || seen.has(opened.absolute)) return []
    seen.add(opened.absolute)
    const files = readGroupVars(opened.tree, opened.path, 'inventory', report, opened.absolute)
    for (const diagnostic of opened.tree.diagnostics()) report(diagnostic)
    return files
  })
}

/** A name in group_vars/ or host_vars/ that no group or host has, with the one that was most likely meant. */
export interface Unmatched {
  readonly kind: 'group' | 'host'
  readonly name: string
  readonly file: VariableFile
  readonly likely: string | undefined
}

/** What Ansible never reads, a name once, told by the groups and hosts there are at the end. */
export function unmatchedNames(files: readonly VariableFile[], inventory: Inventory): readonly Unmatched[] {
  const found = new Map<string, Unmatched>()
  for (const file of unmatchedGroupVars(files, inventory)) {
    const kind = file.group === undefined ? 'host' : 'group'
    const name = file.group ?? file.host ?? ''
    const key = `${kind} ${file.beside} ${name}`
    if (found.has(key)) continue
    const names = kind === 'group' ? inventory.groups.keys() : inventory.hosts.keys()
    found.set(key, { kind, name, file, likely: likelyName(name, [...names]) })
  }
  return [...found.values()]
}

/** The name that differs in case and in `-`, `_` and `.` only, else one that is a slip of the pen away. */
function likelyName(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_.\s]+/g, '')
  const same = names.find(each => plain(each) === plain(name))
  if (same !== undefined || name.length < 4) return same
  return names.find(each => each.length >= 4 && isOneSlipAway(plain(name), plain(each)))
}

/** One character more, less, other, or two neighbours swapped. */
function isOneSlipAway(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false
  let start = 0
  while (start < left.length && left[start] === right[start]) start++
  let end = 0
  while (end < Math.min(left.length, right.length) - start && left.at(-1 - end) === right.at(-1 - end)) end++
  const a = left.slice(start, left.length - end)
  const b = right.slice(start, right.length - end)
  return (a.length <= 1 && b.length <= 1) || (a.length === 2 && a[0] === b[1] && a[1] === b[0])
}

/** The variable files whose name belongs to no group or host: Ansible never reads them, often a spelling mistake. */
export function unmatchedGroupVars(files: readonly VariableFile[], inventory: Inventory): readonly VariableFile[] {
  return files.filter(
    ({ group, host }) =>
      (group !== undefined && !inventory.groups.has(group)) ||
      (host !== undefined && !inventory.hosts.has(host) && !LOCALHOST_NAMES.includes(host)),
  )
}

interface EntityFile {
  readonly name: string
  readonly definitions: readonly Definition[]
  readonly file: SourceFile
  readonly unreadable?: UnreadableNode
}

function readEntities(tree: SourceTree, directory: string, report: Report): readonly EntityFile[] {
  if (tree.entryKind(directory) !== 'directory') return []
  const listed = tree.list(directory).filter(name => !name.startsWith('.') && !name.endsWith('~'))
  const present = new Set(listed)
  const read: EntityFile[] = []
  for (const name of new Set(listed.map(nameFrom))) {
    const [first, ...hidden] = EXTENSIONS.map(extension => name + extension).filter(each => present.has(each))
    if (first === undefined) continue
    // `node1.example.org` may be a host, but `README.md` is none: what it holds is nobody's fault.
    const tell: Report = EXTENSIONS.includes(extensionOf(first)) ? report : () => {}
    for (const path of pathsOf(tree, joined(directory, first), 0)) {
      const file = tree.read(path)
      read.push({ name, ...(file ? readDefinitions(file, tell) : refused(path)) })
    }
    for (const each of hidden) tellHidden(tree, joined(directory, each), first, report)
  }
  return read
}

/** The group or host an entry is for. */
function nameFrom(entry: string): string {
  const extension = EXTENSIONS.find(each => each !== '' && entry.endsWith(each) && entry.length > each.length)
  return extension === undefined ? entry : entry.slice(0, -extension.length)
}

/** The files an entry of group_vars stands for: itself, or what is in the directory it is. */
function pathsOf(tree: SourceTree, path: string, depth: number): readonly string[] {
  if (tree.entryKind(path) === 'file') return [path]
  if (depth >= DEEPEST_DIRECTORY) return []
  return tree.list(path).flatMap(name => {
    if (name.startsWith('.') || name.endsWith('~')) return []
    const inner = joined(path, name)
    const extension = extensionOf(name)
    if (tree.entryKind(inner) === 'directory') return extension === '' ? pathsOf(tree, inner, depth + 1) : []
    return EXTENSIONS.includes(extension) ? [inner] : []
  })
}

function tellHidden(tree: SourceTree, path: string, first: string, report: Report): void {
  const file = tree.entryKind(path) === 'file' ? tree.read(path) : undefined
  report({
    code: 'inventory-group',
    severity: 'warning',
    message: `Ansible does not read it, as ${first} stands beside it`,
    at: wholeFile(file ?? { path, text: '' }),
  })
}

/** A file the tree refused; the tree reports why. */
function refused(path: string): Omit<EntityFile, 'name'> {
  const file: SourceFile = { path, text: '' }
  return {
    file,
    definitions: [],
    unreadable: { kind: 'unreadable', says: 'the file cannot be read', span: wholeFile(file) },
  }
}

function readDefinitions(file: SourceFile, report: Report): Omit<EntityFile, 'name'> {
  if (file.text.startsWith('$ANSIBLE_VAULT;')) {
    const says = 'the file is encrypted with Ansible Vault'
    return { file, definitions: [], unreadable: { kind: 'unreadable', says, span: wholeFile(file) } }
  }
  const root = readYamlFile(file, report)
  if (root.kind === 'map') return { file, definitions: definitionsOf(root) }
  if (root.kind === 'unreadable') return { file, definitions: [], unreadable: root }
  if (isEmpty(root)) return { file, definitions: [] }
  const says = `expected a mapping of variables, got ${nameOf(root)}`
  report({ code: 'inventory-syntax', severity: 'error', message: says, at: root.span })
  return { file, definitions: [], unreadable: { kind: 'unreadable', says, span: root.span } }
}

/** Ansible skips a file whose content Python takes for false: nothing, an empty list, an empty text, 0, no. */
function isEmpty(node: Node): boolean {
  return (node.kind === 'scalar' && !node.data) || (node.kind === 'list' && node.items.length === 0)
}

function joined(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
