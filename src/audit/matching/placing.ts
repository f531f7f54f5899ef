import type { Block, Task } from '../../ansible/statement.js'
import { innermost } from '../../run/role.js'
import { once } from '../../source/once.js'
import { printNode } from '../../yaml/print.js'
import type { RoleIndex } from '../role-index.js'
import { type Meaning, unnumbered } from './meaning.js'

/** Where the roles and files of one version stand in another. */
export interface Placing {
  readonly roles: ReadonlyMap<string, string>
  readonly paths: ReadonlyMap<string, string>
}

/** What something is made of: a key for each task, defined name or line. */
type Keys = ReadonlySet<string>

/**
 * Follows roles and files from one version to another: a role or file that is gone, or that keeps hardly anything of what it
 * was (a thin wrapper under the old name), is followed to the new one that has most of it.
 */
export function placeContent(old: RoleIndex, now: RoleIndex, meaningOf: (statement: Task | Block) => Meaning): Placing {
  const [oldRoleAt, newRoleAt] = [rolesByPath(old.roles), rolesByPath(now.roles)]
  const [ours, theirs] = [contentOf(old, oldRoleAt, meaningOf), contentOf(now, newRoleAt, meaningOf)]
  const roles = follow({
    old: ours.roles,
    now: theirs.roles,
    expected: directory => directory,
    likeness: directory => directory.replaceAll('-', '_'),
    isSameSort: () => true,
    mayBeWrapper: () => true,
  })
  const paths = follow({
    old: ours.paths,
    now: theirs.paths,
    expected: path => {
      const directory = oldRoleAt(path)
      return directory === undefined ? path : `${roles.get(directory) ?? directory}${path.slice(directory.length)}`
    },
    likeness: path => `${newRoleAt(path)}\0${bareName(path)}`,
    isSameSort: (from, to) => sortOf(from, oldRoleAt(from)) === sortOf(to, newRoleAt(to)),
    // A template under its old name is what the task of that name renders, whatever it says now.
    mayBeWrapper: path => sortOf(path, oldRoleAt(path)) !== 'templates',
  })
  return { roles, paths }
}

/** The role a path stands in, the innermost where one lies below another. */
function rolesByPath(roles: readonly string[]): (path: string) => string | undefined {
  const known = new Set(roles)
  return path => innermost(path, directory => (known.has(directory) ? directory : undefined))
}

/** A file's name as far as it says what is in it: no number before it, no ending, one sign between words. */
function bareName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return unnumbered(name)
    .replace(/\.j2$/, '')
    .replace(/\.ya?ml$/, '')
    .replaceAll('-', '_')
    .toLowerCase()
}

/** Tasks, handlers, templates, defaults and vars of a role, or a playbook. */
function sortOf(path: string, role: string | undefined): string {
  if (role === undefined) return 'playbook'
  const folder = path.slice(role.length + 1).split('/')[0] ?? ''
  return folder === 'defaults' || folder === 'vars' ? 'variables' : folder
}

/** The roles and files of a version with their content; it is worked out where it is asked for. */
interface Content {
  readonly roles: ReadonlyMap<string, () => Keys>
  readonly paths: ReadonlyMap<string, () => Keys>
}

function contentOf(
  index: RoleIndex,
  roleAt: (path: string) => string | undefined,
  meaningOf: (statement: Task | Block) => Meaning,
): Content {
  const roles = new Map<string, Set<string>>(index.roles.map(directory => [directory, new Set()]))
  const paths = new Map<string, Set<string>>(index.playbooks.map(path => [path, new Set()]))
  const at = (path: string): Set<string> => {
    const known = paths.get(path) ?? new Set()
    if (known.size === 0) paths.set(path, known)
    return known
  }
  for (const { statement, role, path } of index.statements) {
    const meaning = meaningOf(statement)
    const keys = at(path)
    if (!meaning.isTelling) continue
    const key = `does ${meaning.does}`
    keys.add(key)
    if (role !== undefined) roles.get(role)?.add(key)
  }
  for (const { play, path } of index.plays) {
    const entries = play.roles.map(entry => ('role' in entry ? entry.role.replaceAll('-', '_') : '?'))
    at(path).add(`play ${play.hosts === undefined ? '' : printNode(play.hosts)}: ${entries.join(', ')}`)
  }
  for (const definitions of index.definitions.values()) {
    for (const { name, origin, path, role } of definitions) {
      const keys = at(path)
      if (role === undefined || !variableFiles.has(origin)) continue
      keys.add(`name ${name}`)
      roles.get(role)?.add(`name ${name}`)
    }
  }
  const texts = once(() => templateTexts(index))
  const templates = index.templates.map(path => {
    const role = roleAt(path)
    if (role !== undefined) roles.get(role)?.add(`template ${path.slice(role.length)}`)
    return [path, once(() => linesOf(texts().get(path) ?? ''))] as const
  })
  return {
    roles: new Map([...roles].map(([directory, keys]) => [directory, () => keys])),
    paths: new Map([...[...paths].map(([path, keys]) => [path, (): Keys => keys] as const), ...templates]),
  }
}

const variableFiles: ReadonlySet<string> = new Set(['role defaults', 'role vars', 'include_vars'])

/** The texts of templates that read a variable; others are told apart by their names alone. */
function templateTexts(index: RoleIndex): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const reads of index.reads.values()) {
    for (const { owner, at } of reads) if (owner.kind === 'template') texts.set(owner.path, at.file.text)
  }
  return texts
}

function linesOf(text: string): Keys {
  return new Set(text.split('\n').flatMap(line => (line.trim().length > 3 ? [line.trim()] : [])))
}

interface Following {
  readonly old: ReadonlyMap<string, () => Keys>
  readonly now: ReadonlyMap<string, () => Keys>
  /** Where it would stand if nothing but its role's name had changed. */
  readonly expected: (old: string) => string
  /** What speaks for a rename where it is the same for the expected and the new place: then less content will do. */
  readonly likeness: (where: string) => string
  readonly isSameSort: (old: string, now: string) => boolean
  /** Whether what still stands in its place may have gone elsewhere all the same. */
  readonly mayBeWrapper: (old: string) => boolean
}

/** What stands in more new places than this tells none of them from the others. */
const tooCommon = 3

/** How much of its content has to stand in the new place; less where the names are alike. */
const enough = { byContent: 0.5, byName: 0.2 }

function follow({ old, now, expected, likeness, isSameSort, mayBeWrapper }: Following): ReadonlyMap<string, string> {
  const settled = new Map<string, string>()
  const taken = new Set([...old.keys()].map(expected))
  const fresh = [...now].filter(([where]) => !taken.has(where))
  for (const from of old.keys()) if (now.has(expected(from))) settled.set(from, expected(from))
  if (fresh.length === 0) return settled
  const places = new Map<string, string[]>()
  const alikes = new Map<string, string[]>()
  for (const [where, keysOf] of fresh) {
    addTo(alikes, likeness(where), where)
    for (const key of keysOf()) addTo(places, key, where)
  }
  const candidates: { from: string; to: string; share: number }[] = []
  for (const [from, keysOf] of old) {
    const usual = expected(from)
    if (now.has(usual) && !mayBeWrapper(from)) continue
    const keys = keysOf()
    const shared = new Map<string, number>()
    for (const key of keys) {
      const found = places.get(key) ?? []
      if (found.length <= tooCommon) for (const where of found) shared.set(where, (shared.get(where) ?? 0) + 1)
    }
    const likely = alikes.get(likeness(usual)) ?? []
    if (shared.size === 0 && likely.length === 0) continue
    const keysThere = now.get(usual)?.()
    const kept = keysThere === undefined ? 0 : [...keys].filter(key => keysThere.has(key)).length
    for (const to of new Set([...shared.keys(), ...likely])) {
      if (!isSameSort(from, to)) continue
      const count = shared.get(to) ?? 0
      const isAlike = likely.includes(to)
      const share = keys.size === 0 ? 0 : count / keys.size
      const least = keysThere !== undefined || !isAlike ? enough.byContent : keys.size === 0 ? 0 : enough.byName
      // Where the old place is still there, it has to be left by most of what it had.
      if (share >= least && (keysThere === undefined || (kept / keys.size < enough.byContent && count > 2 * kept))) {
        candidates.push({ from, to, share: isAlike ? share + 0.1 : share })
      }
    }
  }
  const found = new Set<string>()
  const followed = new Set<string>()
  for (const { from, to } of candidates.toSorted(
    (left, right) => right.share - left.share || compare(left.from, right.from) || compare(left.to, right.to),
  )) {
    if (found.has(to) || followed.has(from)) continue
    found.add(to)
    followed.add(from)
    settled.set(from, to)
  }
  return settled
}

function addTo(map: Map<string, string[]>, key: string, item: string): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [item])
  else known.push(item)
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
