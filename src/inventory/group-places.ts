import type { SourceFile, Span } from '../source/text.js'
import { entryOf, type MapEntry, type ScalarNode } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'
import { emptyDraft } from './draft.js'
import { GROUP_NAME, linesOf, SECTION } from './ini.js'
import type { Inventory } from './inventory.js'
import { extensionOf, type Opened, openPath } from './opened.js'
import { DEEPEST_DIRECTORY, ignoredBy, isYamlExtension } from './read.js'
import type { InventorySettings } from './settings.js'
import { membersOf, readYamlInventory } from './yaml-inventory.js'

/** A place where an inventory names a group: a section, a member of `:children`, a key of a YAML inventory. */
export interface GroupPlace {
  readonly name: string
  /** The characters of the name alone; the whole key where it is written with escapes. */
  readonly at: Span
}

/** A file of an inventory, and the groups it names. */
export interface InventoryFile {
  readonly file: SourceFile
  readonly groups: readonly GroupPlace[]
}

/**
 * The files an inventory was read from, in order, with the places that name groups; a host list has none. Files are read
 * again, since what an inventory comes to does not say where. One that Ansible would leave out has no places.
 */
export function inventoryFiles(inventory: Inventory, settings: InventorySettings): readonly InventoryFile[] {
  const ignored = ignoredBy(settings, () => {})
  const refused = new Set(inventory.refused.map(({ path }) => path))
  return inventory.sources.flatMap(({ path }) => {
    const opened = openPath(path)
    const files = opened === undefined ? [] : filesOf(opened, opened.path, ignored, 0)
    return files.map(file => ({ file, groups: refused.has(file.path) ? [] : groupPlacesIn(file) }))
  })
}

function filesOf(
  { tree, kind }: Opened,
  path: string,
  ignored: (name: string) => boolean,
  depth: number,
): readonly SourceFile[] {
  if (kind === 'file') return [tree.read(path) ?? []].flat()
  const walk = (directory: string, deep: number): readonly SourceFile[] =>
    tree.list(directory).flatMap(name => {
      if (ignored(name)) return []
      const inner = directory === '' ? name : `${directory}/${name}`
      if (tree.entryKind(inner) === 'directory') return deep < DEEPEST_DIRECTORY ? walk(inner, deep + 1) : []
      return tree.read(inner) ?? []
    })
  return walk(path, depth)
}

/** The places of one inventory file that name groups, as they stand. */
export function groupPlacesIn(file: SourceFile): readonly GroupPlace[] {
  if (file.text.startsWith('#!') || file.text.startsWith('$ANSIBLE_VAULT;')) return []
  const extension = extensionOf(file.path)
  const isYaml =
    (extension === '' || isYamlExtension(extension)) &&
    readYamlInventory(emptyDraft(), file, file.path, () => {}) === undefined
  return isYaml ? placesInYaml(file) : placesInIni(file)
}

function placesInIni(file: SourceFile): readonly GroupPlace[] {
  let state = 'hosts'
  return linesOf(file.text).flatMap(({ text, start }): readonly GroupPlace[] => {
    if (text === '' || text.startsWith('#') || text.startsWith(';')) return []
    const [, group, kind] = SECTION.exec(text) ?? []
    if (group !== undefined) {
      state = kind ?? 'hosts'
      return [{ name: group, at: { file, start: start + 1, end: start + 1 + group.length } }]
    }
    const child = state === 'children' ? GROUP_NAME.exec(text)?.[1] : undefined
    return child === undefined ? [] : [{ name: child, at: { file, start, end: start + child.length } }]
  })
}

function placesInYaml(file: SourceFile): readonly GroupPlace[] {
  const root = readYamlFile(file, () => {})
  const places = new Map<number, GroupPlace>()
  const visit = ({ key, value }: MapEntry): void => {
    if (typeof key.data !== 'string' || places.has(key.span.start)) return
    places.set(key.span.start, { name: key.data, at: charactersOf(key) })
    const children = value.kind === 'map' ? entryOf(value, 'children')?.value : undefined
    if (children !== undefined) for (const member of membersOf(children)) visit(member)
  }
  if (root.kind === 'map') for (const entry of root.entries) visit(entry)
  return [...places.values()]
}

/** A text's characters without the quotes around them; the whole of it where escapes stand for some of them. */
export function charactersOf({ data, span }: ScalarNode): Span {
  const { file, start, end } = span
  const text = String(data)
  const quoted = file.text[start] === '"' || file.text[start] === "'"
  return quoted && file.text.slice(start + 1, end - 1) === text ? { file, start: start + 1, end: end - 1 } : span
}
