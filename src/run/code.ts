import { posix } from 'node:path'
import { parse as parseIni } from 'ini'
import { readStatements } from '../ansible/read-tasks.js'
import type { Statement } from '../ansible/statement.js'
import type { Diagnostic, Report } from '../source/diagnostic.js'
import type { SourceFile } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Node } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'

/** The role code of one tree, each file read and parsed once. Paths are relative to the tree's root. */
export interface Code {
  readonly tree: SourceTree
  readonly report: Report
  /** The first document of a YAML file; undefined where there is no such file. An empty file is a null scalar. */
  readonly document: (path: string) => Node | undefined
  /** The tasks of a task file; undefined where there is no such file. */
  readonly statements: (path: string) => readonly Statement[] | undefined
  /** Directories roles are looked up in besides those next to playbooks: `roles_path` of the tree's ansible.cfg. */
  readonly rolesPath: readonly string[]
  /**
   * Directories of modules and action plugins besides those next to playbooks and roles: `library` and `action_plugins` of
   * the tree's ansible.cfg.
   */
  readonly modulePaths: readonly string[]
  /** Directories of the roles read so far: their own modules are found from then on, by whatever role. */
  readonly rolesRead: Set<string>
}

/** Opens a tree's role code; what cannot be read goes to `report`, and what rests on it is unknown. */
export function openCode(tree: SourceTree, report: Report): Code {
  const documents = new Map<string, Node | undefined>()
  const statements = new Map<string, readonly Statement[] | undefined>()
  const document = (path: string): Node | undefined =>
    remember(documents, path, () => {
      const file = tree.read(path)
      if (file === undefined) return unreadFile(tree, path)
      return readOnce(file, report)
    })
  return {
    tree,
    report,
    document,
    statements: path =>
      remember(statements, path, () => {
        const node = document(path)
        return node && readStatements(node, report)
      }),
    rolesPath: readPaths(tree, 'roles_path'),
    modulePaths: [...readPaths(tree, 'library'), ...readPaths(tree, 'action_plugins')],
    rolesRead: new Set(),
  }
}

/** The documents of files that were read without a complaint, by path: most are the same from one version to the next. */
const readBefore = new Map<string, { readonly file: SourceFile; readonly node: Node }>()

function readOnce(file: SourceFile, report: Report): Node {
  const before = readBefore.get(file.path)
  if (before !== undefined && before.file.text === file.text && before.file.standsIn === file.standsIn)
    return before.node
  let complaints = 0
  const node = readYamlFile(file, diagnostic => {
    complaints += 1
    report(diagnostic)
  })
  if (complaints === 0) readBefore.set(file.path, { file, node })
  return node
}

/**
 * A file that stands there but was refused (too large, not UTF-8, behind a link that leaves the tree): what rests on it is
 * unknown, not absent.
 */
function unreadFile(tree: SourceTree, path: string): Node | undefined {
  const found = refusalOf(tree, path)
  return found && { kind: 'unreadable', says: found.message, span: found.at }
}

/** Why the tree refused a path, or a directory on the way to it. */
function refusalOf(tree: SourceTree, path: string): Diagnostic | undefined {
  return tree.diagnostics().find(({ at }) => path === at.file.path || path.startsWith(`${at.file.path}/`))
}

function remember<T>(map: Map<string, T>, key: string, compute: () => T): T {
  if (map.has(key)) return map.get(key) as T
  const value = compute()
  map.set(key, value)
  return value
}

function readPaths(tree: SourceTree, setting: 'roles_path' | 'library' | 'action_plugins'): readonly string[] {
  const file = tree.entryKind('ansible.cfg') === 'file' ? tree.read('ansible.cfg') : undefined
  if (file === undefined) return []
  const { defaults } = parseIni(file.text)
  const text: unknown = defaults?.[setting]
  if (typeof text !== 'string') return []
  // What lies outside the tree (absolute, or through a variable of the shell) is not role code that was handed to us.
  return text.split(':').flatMap(part => {
    const path = part.trim()
    return path === '' || path.startsWith('/') || path.startsWith('~') || path.includes('$')
      ? []
      : [posix.normalize(path)]
  })
}

/** `name` seen from `directory`, inside the tree; undefined where it leads out of it. */
export function joinPath(directory: string, name: string): string | undefined {
  if (name.startsWith('/')) return undefined
  const path = posix.join(directory, name)
  if (path === '..' || path.startsWith('../')) return undefined
  return path === '.' ? '' : path.replace(/\/$/, '')
}

/** The directory a path of the tree stands in; `''` for one at the root. */
export function directoryOf(path: string): string {
  const directory = posix.dirname(path)
  return directory === '.' ? '' : directory
}

/**
 * The first file there is of these names in these directories (all names of a directory before the next one). One that the
 * tree refuses is there too.
 */
export function firstFile(
  tree: SourceTree,
  directories: readonly string[],
  names: readonly string[],
): string | undefined {
  for (const directory of directories) {
    for (const name of names) {
      const path = joinPath(directory, name)
      if (path === undefined) continue
      const kind = tree.entryKind(path)
      if (kind === 'file' || (kind === undefined && refusalOf(tree, path) !== undefined)) return path
    }
  }
  return undefined
}

/** The files of a directory and below whose names fit, YAML and JSON by default, in byte order; hidden ones are left out. */
export function filesUnder(tree: SourceTree, directory: string, names = /\.(?:ya?ml|json)$/): readonly string[] {
  return tree.list(directory).flatMap(name => {
    const path = `${directory}/${name}`
    if (name.startsWith('.')) return []
    if (tree.entryKind(path) === 'directory') return filesUnder(tree, path, names)
    return names.test(name) ? [path] : []
  })
}
