import { posix } from 'node:path'
import { type Cause, mergeCauses, type Option, type Unknown, unknown, type Value } from '../jinja/value.js'
import { type Code, directoryOf, firstFile, joinPath } from './code.js'
import { type Frame, rolesOf } from './frame.js'
import { placeOfRun } from './state.js'

const checkout = placeOfRun('checkout')

/**
 * A path in the checkout as an expression sees it: absolute on a control host we do not know. Only the part below the
 * root is known; `pathInCheckout` finds it again.
 */
export function inCheckout(path: string): Value {
  const says = 'where the checkout stands on the control host'
  return unknown([{ says, at: checkout, name: 'playbook_dir' }], [null, path === '' ? '' : `/${path}`])
}

/** The path below the root of the checkout, where a value is one (`{{ role_path }}/../x`, a file that was found). */
export function pathInCheckout(value: Value): string | undefined {
  if (value.kind !== 'unknown' || value.text === undefined) return undefined
  const [root, rest = '', ...more] = value.text
  if (root !== null || more.length > 0 || rest === null) return undefined
  if (!value.causes.every(({ at }) => at.file === checkout.file)) return undefined
  return rest === '' ? '' : rest.startsWith('/') ? joinPath('', rest.slice(1)) : undefined
}

/** The file a known name stands for: the first there is in these directories, or one in the checkout by its path. */
export function fileNamed(code: Code, name: Value, directories: readonly string[]): string | undefined {
  const exact = pathInCheckout(name)
  if (exact !== undefined) return firstFile(code.tree, [''], [exact])
  return name.kind === 'known' && typeof name.data === 'string'
    ? firstFile(code.tree, directories, [name.data])
    : undefined
}

/** Directories a file of this kind is looked up in (rules 96 and 97): per role, beside the task, beside the playbook. */
export function searchDirectories(frame: Frame, kind: 'files' | 'templates' | 'vars' | 'tasks'): readonly string[] {
  const roles = rolesOf(frame)
    .toReversed()
    .flatMap(({ code }) => [`${code.directory}/${kind}`, code.directory])
  const beside = directoryOf(frame.file)
  const above = directoryOf(beside)
  const tasks = above.endsWith('/tasks') ? [posix.join(above, '..', kind), above] : []
  const places = [beside, frame.playbookDirectory].flatMap(directory => [posix.join(directory, kind), directory])
  return [...new Set([...roles, ...tasks, ...places])]
}

/** A file that a name may stand for, and why it is not certain. */
export interface Candidate {
  readonly path: string
  readonly because: readonly Cause[]
}

/** What a file name can stand for: the files in the tree, and whether it may stand for none of them. */
export interface Found {
  readonly candidates: readonly Candidate[]
  /** Why it may be none of the candidates; empty when the one candidate is certain. */
  readonly otherwise: readonly Cause[]
  /** True when the name is known and no such file is there. */
  readonly absent: boolean
  /** Why it may be a file of a directory nobody looked in; empty where the parts that are not known cannot hold a `/`. */
  readonly elsewhere: readonly Cause[]
}

/**
 * Facts whose value is a plain word or version, by their name without `ansible_`: as part of a file name they lead to no
 * other directory.
 */
const plainFacts =
  /^(?:ansible_facts\.|ansible_)(?:distribution(?:_version|_major_version|_release)?|os_family|pkg_mgr|architecture|service_mgr|kernel(?:_version)?|system|machine|python_version)$/

/** Those of the causes whose value may lead to another directory. */
function leadingElsewhere(causes: readonly Cause[]): readonly Cause[] {
  return causes.filter(({ name }) => name === undefined || !plainFacts.test(name))
}

/**
 * The files of the tree a name may stand for: one where the name is known; those that fit its known parts otherwise.
 * An unknown name of which nothing is known fits every file of the first directory.
 */
export function findFiles(code: Code, name: Value, directories: readonly string[]): Found {
  if (name.kind === 'one-of') {
    const parts = name.options.map(({ value, because }) => ({ found: findFiles(code, value, directories), because }))
    return {
      candidates: parts.flatMap(({ found, because }) =>
        found.candidates.map(({ path, because: own }) => ({ path, because: [...because, ...own] })),
      ),
      otherwise: parts.flatMap(({ found, because }) => [...(found.absent ? because : []), ...found.otherwise]),
      absent: parts.every(({ found }) => found.absent),
      elsewhere: mergeCauses(parts.flatMap(({ found }) => found.elsewhere)),
    }
  }
  if (name.kind === 'known' && typeof name.data === 'string') {
    const path = firstExisting(code, directories, name.data)
    return path === undefined
      ? { candidates: [], otherwise: [], absent: true, elsewhere: [] }
      : { candidates: [{ path, because: [] }], otherwise: [], absent: false, elsewhere: [] }
  }
  const exact = pathInCheckout(name)
  if (exact !== undefined) {
    const isFile = code.tree.entryKind(exact) === 'file'
    return { candidates: isFile ? [{ path: exact, because: [] }] : [], otherwise: [], absent: !isFile, elsewhere: [] }
  }
  if (name.kind !== 'unknown') {
    const cause: Cause = name.kind === 'known' ? { says: 'a file name has to be text', at: checkout } : name
    return { candidates: [], otherwise: [cause], absent: false, elsewhere: [] }
  }
  const open = openInCheckout(name)
  const pieces = open?.pieces ?? name.text ?? [null]
  const seen = new Set<string>()
  for (const directory of open === undefined ? directories : [open.directory]) {
    for (const path of filesLike(code, directory, pieces)) seen.add(path)
    if (seen.size > 0) break
  }
  return {
    candidates: [...seen].map(path => ({ path, because: name.causes })),
    otherwise: name.causes,
    absent: false,
    elsewhere: leadingElsewhere(name.causes),
  }
}

/** Of a path in the checkout that is known up to a piece of a file's name: the directory, and the pieces of the name. */
function openInCheckout({
  causes,
  text = [],
}: Unknown): { readonly directory: string; readonly pieces: readonly (string | null)[] } | undefined {
  const [root, start, ...rest] = text
  if (root !== null || typeof start !== 'string' || !start.startsWith('/') || rest.length === 0) return undefined
  if (!causes.some(({ at }) => at.file === checkout.file)) return undefined
  const end = start.lastIndexOf('/')
  const directory = joinPath('', start.slice(1, Math.max(end, 1)))
  return directory === undefined ? undefined : { directory, pieces: [start.slice(end + 1), ...rest] }
}

/** The result of `first_found` over names of which some are not known: the first certain hit ends the search. */
export function firstFound(code: Code, names: readonly Value[], directories: readonly string[]): Value | undefined {
  const options: Option[] = []
  for (const name of names) {
    const { candidates, otherwise, absent } = findFiles(code, name, directories)
    if (absent && candidates.length === 0) continue
    for (const { path, because } of candidates) {
      const value = inCheckout(path)
      if (value.kind !== 'one-of') options.push({ value, because })
    }
    const certain = candidates.length === 1 && otherwise.length === 0 && candidates[0]?.because.length === 0
    if (certain) return options.length === 1 ? options[0]?.value : { kind: 'one-of', options }
    if (candidates.length === 0) return unknown(otherwise)
  }
  if (options.length === 0) return undefined
  const because = options.flatMap(option => option.because)
  return {
    kind: 'one-of',
    options: [...options, { value: { kind: 'undefined', says: 'no such file was found', at: checkout }, because }],
  }
}

function firstExisting(code: Code, directories: readonly string[], name: string): string | undefined {
  for (const directory of directories) {
    const path = joinPath(directory, name)
    if (path !== undefined && code.tree.entryKind(path) === 'file') return path
  }
  return undefined
}

/** Files of one directory level whose name fits the known pieces, null standing for any text without `/`. */
function filesLike(code: Code, directory: string, pieces: readonly (string | null)[]): readonly string[] {
  const first = pieces[0]
  const slash = typeof first === 'string' ? first.lastIndexOf('/') : -1
  const folder = slash === -1 || typeof first !== 'string' ? directory : joinPath(directory, first.slice(0, slash))
  if (folder === undefined || code.tree.entryKind(folder) !== 'directory') return []
  const rest = slash === -1 || typeof first !== 'string' ? pieces : [first.slice(slash + 1), ...pieces.slice(1)]
  return code.tree
    .list(folder)
    .filter(name => fits(name, rest))
    .map(name => (folder === '' ? name : `${folder}/${name}`))
    .filter(path => code.tree.entryKind(path) === 'file')
}

function fits(name: string, pieces: readonly (string | null)[]): boolean {
  let at = 0
  let open = false
  for (const [index, piece] of pieces.entries()) {
    if (piece === null) {
      open = true
      continue
    }
    const last = index === pieces.length - 1
    const found = open ? (last ? Math.max(at, name.length - piece.length) : name.indexOf(piece, at)) : at
    if (found === -1 || !name.startsWith(piece, found)) return false
    at = found + piece.length
    open = false
  }
  return open || at === name.length
}
