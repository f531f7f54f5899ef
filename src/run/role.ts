import { readRoleMeta } from '../ansible/read-plays.js'
import { readDefinitions } from '../ansible/read-tasks.js'
import type { Definition, RoleEntry, Statement, Unreadable } from '../ansible/statement.js'
import { once } from '../source/once.js'
import type { Span } from '../source/text.js'
import { entryOf, type Node } from '../yaml/node.js'
import { type Code, firstFile, joinPath } from './code.js'

/** Which files of a role are used instead of `main` (`tasks_from` and its like). */
export interface RoleFiles {
  readonly tasks?: string
  readonly vars?: string
  readonly defaults?: string
  readonly handlers?: string
}

/** A role's files; those of its variables are read when they are first asked for. */
export interface RoleCode {
  /** The path under `roles/`, the way reports name a role. */
  readonly path: string
  readonly directory: string
  readonly defaults: readonly Definition[]
  readonly vars: readonly Definition[]
  readonly dependencies: readonly (RoleEntry | Unreadable)[]
  readonly allowDuplicates: boolean
  readonly tasks: readonly Statement[]
  readonly tasksFile: string | undefined
  readonly handlers: readonly Statement[]
  readonly handlersFile: string | undefined
  /** The task Ansible puts before the role's own where `meta/argument_specs` has an entry for its entry point. */
  readonly validation: string | undefined
  /** A file asked for with `…_from` that is not there. */
  readonly missing: string | undefined
}

/**
 * A role as one entry uses it: its code with the entry's parameters, and the roles it stands behind. The same role code
 * with other parameters is another role (rule 86).
 */
export interface Role {
  readonly code: RoleCode
  /** The name as the entry wrote it: Ansible prints this one. */
  readonly name: string
  readonly parameters: readonly Definition[]
  readonly dependencies: readonly Role[]
  /** The roles this one was pulled in by, outermost first (Ansible's dependency chain). */
  readonly parents: readonly Role[]
  /** Equal for two entries that Ansible takes for the same role. */
  readonly key: string
  readonly at: Span
}

/** What makes two entries the same role: the code they use, parameters, vars, tags and conditions (rule 86). */
export function roleKey(directory: string, from: RoleFiles, entry: RoleEntry): string {
  const named = (definitions: readonly Definition[]): unknown =>
    definitions.map(({ name, node }) => [name, plain(node)])
  return JSON.stringify([
    directory,
    from,
    named(entry.parameters),
    named(entry.vars),
    entry.tags.flatMap(node => (node.kind === 'list' ? node.items : [node])).map(plain),
    entry.when.map(plain),
  ])
}

function plain(node: Node): unknown {
  switch (node.kind) {
    case 'scalar':
      return typeof node.data === 'bigint' ? { int: node.data.toString() } : node.data
    case 'list':
      return node.items.map(plain)
    case 'map':
      return { map: node.entries.map(({ key, value }) => [plain(key), plain(value)]) }
    case 'unreadable':
      return { unreadable: node.says }
  }
}

/** Where a role of this name stands (rule 89); undefined when it is nowhere in the tree. */
export function findRole(
  code: Code,
  name: string,
  playbookDirectory: string,
  parent: RoleCode | undefined,
): string | undefined {
  const beside = parent === undefined ? [] : [joinPath(parent.directory, '..') ?? '']
  const directories = [joinPath(playbookDirectory, 'roles') ?? 'roles', ...code.rolesPath, ...beside, playbookDirectory]
  for (const directory of directories) {
    const path = joinPath(directory, name)
    if (path !== undefined && path !== '' && code.tree.entryKind(path) === 'directory') return path
  }
  return undefined
}

const mainNames = ['main.yml', 'main.yaml', 'main.json', 'main']

/** Reads a role's files. `from` names files that stand in for `main`. */
export function readRole(code: Code, directory: string, from: RoleFiles): RoleCode {
  code.rolesRead.add(directory)
  let missing: string | undefined
  const locate = (kind: keyof RoleFiles): string | undefined => {
    const folder = `${directory}/${kind}`
    const wanted = from[kind]
    if (wanted === undefined) return firstFile(code.tree, [folder], mainNames)
    const found = firstFile(code.tree, [folder], [wanted, `${wanted}.yml`, `${wanted}.yaml`, `${wanted}.json`])
    if (found === undefined) missing ??= `${folder}/${wanted}`
    return found
  }
  const variables = (kind: 'defaults' | 'vars'): (() => readonly Definition[]) => {
    const file = locate(kind)
    return once(() => {
      const files =
        file !== undefined ? [file] : from[kind] === undefined ? filesBelow(code, `${directory}/${kind}/main`) : []
      return files.flatMap(path => readDefinitions(code.document(path)))
    })
  }
  const tasksFile = locate('tasks')
  const handlersFile = locate('handlers')
  const metaFile = firstFile(code.tree, [`${directory}/meta`], mainNames)
  const meta = readRoleMeta(metaFile === undefined ? undefined : code.document(metaFile), code.report)
  const defaults = variables('defaults')
  const vars = variables('vars')
  return {
    path: directory.replace(/^(?:.*\/)?roles\//, ''),
    directory,
    get defaults() {
      return defaults()
    },
    get vars() {
      return vars()
    },
    dependencies: meta.dependencies,
    allowDuplicates: meta.allowDuplicates,
    tasks: (tasksFile === undefined ? undefined : code.statements(tasksFile)) ?? [],
    tasksFile,
    handlers: (handlersFile === undefined ? undefined : code.statements(handlersFile)) ?? [],
    handlersFile,
    validation: readValidation(code, directory, from.tasks ?? 'main'),
    missing,
  }
}

/** The name of the validation task of an entry point, as Ansible words it; undefined where it has no specification. */
function readValidation(code: Code, directory: string, entryPoint: string): string | undefined {
  const file = firstFile(code.tree, [`${directory}/meta`], ['argument_specs.yml', 'argument_specs.yaml'])
  const document = file === undefined ? undefined : code.document(file)
  const specs = document?.kind === 'map' ? entryOf(document, 'argument_specs')?.value : undefined
  const spec = specs?.kind === 'map' ? entryOf(specs, entryPoint)?.value : undefined
  if (spec?.kind !== 'map') return undefined
  const description = entryOf(spec, 'short_description')?.value
  const name = `Validating arguments against arg spec '${entryPoint}'`
  return description?.kind === 'scalar' ? `${name} - ${description.data}` : name
}

/** Rule 87: every YAML or JSON file (or one without extension) of a `main/` directory, sorted, deeper ones included. */
export function filesBelow(code: Code, folder: string): readonly string[] {
  if (code.tree.entryKind(folder) !== 'directory') return []
  return [...code.tree.list(folder)].sort().flatMap(name => {
    if (name.startsWith('.') || name.endsWith('~')) return []
    const path = `${folder}/${name}`
    if (code.tree.entryKind(path) === 'directory') return filesBelow(code, path)
    return /\.(?:yml|yaml|json)$/.test(name) || !name.includes('.') ? [path] : []
  })
}

/** What is found for the innermost of the directories a path stands in; undefined where nothing is for any. */
export function innermost<T>(path: string, find: (directory: string) => T | undefined): T | undefined {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const found = find(path.slice(0, end))
    if (found !== undefined) return found
  }
  return undefined
}

/** Directories of all roles below the tree's roles paths, whether a playbook reaches them or not. */
export function roleDirectories(code: Code): readonly string[] {
  const found: string[] = []
  const walk = (directory: string, depth: number): void => {
    for (const name of code.tree.list(directory)) {
      const path = joinPath(directory, name)
      if (path === undefined || name.startsWith('.') || code.tree.entryKind(path) !== 'directory') continue
      const isRole = roleFolders.some(folder => code.tree.entryKind(`${path}/${folder}`) === 'directory')
      if (isRole) found.push(path)
      if (depth > 0 && !roleFolders.includes(name)) walk(path, depth - 1)
    }
  }
  for (const directory of new Set(['roles', ...code.rolesPath])) walk(directory, 4)
  return [...new Set(found)]
}

const roleFolders = ['tasks', 'defaults', 'vars', 'meta', 'handlers', 'templates', 'files']
