import type { Report } from '../source/diagnostic.js'
import type { MapNode, Node } from '../yaml/node.js'
import { entryOf } from '../yaml/node.js'
import { playKeywords, roleKeywords, taskKeywords } from './keywords.js'
import { fullModuleName } from './modules.js'
import { definition, describe, readDirectives, readStatements } from './read-tasks.js'
import type { Directives, Play, RoleEntry, Unreadable } from './statement.js'

/** `import_playbook`: another file's plays stand in its place, with its `when`, `tags` and `vars` on each. */
export interface PlaybookImport extends Directives {
  readonly kind: 'import-playbook'
  readonly file: string
}

export type PlaybookEntry = Play | PlaybookImport | Unreadable

/** Reads a playbook's document: plays and imports in order. What cannot be read is reported and stands as `unreadable`. */
export function readPlaybook(node: Node, report: Report): readonly PlaybookEntry[] {
  if (node.kind === 'unreadable') return [{ kind: 'unreadable', says: node.says, at: node.span }]
  if (node.kind === 'scalar' && node.data === null) return []
  if (node.kind !== 'list') {
    const message = `a playbook is a list of plays, found ${describe(node)}`
    report({ code: 'playbook-malformed', severity: 'error', message, at: node.span })
    return [{ kind: 'unreadable', says: message, at: node.span }]
  }
  return node.items.map(item => readPlaybookEntry(item, report))
}

function readPlaybookEntry(node: Node, report: Report): PlaybookEntry {
  if (node.kind === 'unreadable') return { kind: 'unreadable', says: node.says, at: node.span }
  if (node.kind !== 'map') {
    const message = `expected a play (a mapping), found ${describe(node)}`
    report({ code: 'play-malformed', severity: 'error', message, at: node.span })
    return { kind: 'unreadable', says: message, at: node.span }
  }
  const imported = node.entries.find(({ key }) => {
    const name = typeof key.data === 'string' ? fullModuleName(key.data) : ''
    return name === 'ansible.builtin.import_playbook' || (name === 'ansible.builtin.include' && !entryOf(node, 'hosts'))
  })
  if (imported) {
    const file = imported.value
    if (file.kind === 'scalar' && typeof file.data === 'string') {
      return { kind: 'import-playbook', ...readDirectives(node, taskKeywords), file: file.data.trim() }
    }
    const message = `import_playbook needs a file name, found ${describe(file)}`
    report({ code: 'play-malformed', severity: 'error', message, at: file.span })
    return { kind: 'unreadable', says: message, at: file.span }
  }
  return readPlay(node, report)
}

function readPlay(node: MapNode, report: Report): Play {
  for (const { key } of node.entries) {
    if (typeof key.data === 'string' && playKeywords.has(key.data)) continue
    report({
      code: 'play-malformed',
      severity: 'warning',
      message: `'${key.data}' is no keyword of a play`,
      at: key.span,
    })
  }
  const hosts = entryOf(node, 'hosts')?.value
  if (hosts === undefined) {
    report({ code: 'play-malformed', severity: 'error', message: "a play needs 'hosts'", at: node.span })
  }
  return {
    kind: 'play',
    ...readDirectives(node, playKeywords),
    hosts,
    roles: readRoleEntries(entryOf(node, 'roles')?.value, report),
    preTasks: readStatements(entryOf(node, 'pre_tasks')?.value, report),
    tasks: readStatements(entryOf(node, 'tasks')?.value, report),
    postTasks: readStatements(entryOf(node, 'post_tasks')?.value, report),
    handlers: readStatements(entryOf(node, 'handlers')?.value, report),
  }
}

/** The entries of `roles:` or of a role's `dependencies:`. What is none is reported and stands as `unreadable`. */
export function readRoleEntries(node: Node | undefined, report: Report): readonly (RoleEntry | Unreadable)[] {
  if (node === undefined || (node.kind === 'scalar' && node.data === null)) return []
  if (node.kind !== 'list') {
    return [refuseRole(`expected a list of roles, found ${describe(node)}`, node, report)]
  }
  return node.items.map(
    item =>
      readRoleEntry(item) ??
      refuseRole(`expected a role's name or a mapping with 'role', found ${describe(item)}`, item, report),
  )
}

function refuseRole(says: string, node: Node, report: Report): Unreadable {
  report({ code: 'role-malformed', severity: 'error', message: says, at: node.span })
  return { kind: 'unreadable', says, at: node.span }
}

function readRoleEntry(node: Node): RoleEntry | undefined {
  if (node.kind === 'scalar' && typeof node.data === 'string') {
    return {
      name: undefined,
      when: [],
      tags: [],
      vars: [],
      keywords: new Map(),
      at: node.span,
      role: node.data.trim(),
      parameters: [],
    }
  }
  if (node.kind !== 'map') return undefined
  const role = (entryOf(node, 'role') ?? entryOf(node, 'name'))?.value
  if (role?.kind !== 'scalar' || typeof role.data !== 'string') return undefined
  const parameters = node.entries.flatMap(({ key, value }) =>
    typeof key.data === 'string' && roleKeywords.has(key.data) ? [] : [definition(key, value)],
  )
  return { ...readDirectives(node, roleKeywords), role: role.data.trim(), parameters }
}

/** What a role's `meta/main.yml` says that matters to the run. */
export interface RoleMeta {
  readonly dependencies: readonly (RoleEntry | Unreadable)[]
  readonly allowDuplicates: boolean
}

/** Reads `meta/main.yml`; one that cannot be read is reported and may have any dependencies. */
export function readRoleMeta(node: Node | undefined, report: Report): RoleMeta {
  if (node?.kind !== 'map') {
    const isEmpty = node === undefined || (node.kind === 'scalar' && node.data === null)
    return { dependencies: isEmpty ? [] : [unreadMeta(node, report)], allowDuplicates: false }
  }
  const duplicates = entryOf(node, 'allow_duplicates')?.value
  return {
    dependencies: readRoleEntries(entryOf(node, 'dependencies')?.value, report),
    allowDuplicates: duplicates?.kind === 'scalar' && (duplicates.data === true || duplicates.data === 'yes'),
  }
}

function unreadMeta(node: Node, report: Report): Unreadable {
  if (node.kind !== 'unreadable') return refuseRole(`a role's meta is a mapping, found ${describe(node)}`, node, report)
  return { kind: 'unreadable', says: node.says, at: node.span }
}
