import { type AddressedTask, type Addresses, addressesIn } from '../../addresses/addressed.js'
import { linesOf } from '../../audit/matching/lines.js'
import { type Matching, matchSides } from '../../audit/matching/matching.js'
import { indexRoles, type PlacedStatement, type RoleIndex, statementsByPlace } from '../../audit/role-index.js'
import { type Code, openCode } from '../../run/code.js'
import { once } from '../../source/once.js'
import type { SourceTree } from '../../source/tree.js'

/** A version of the role code that citations are looked up in. Index and addresses are worked out when first asked for. */
export interface Version {
  /** As people name it: `v2.28.0`, a commit, a path. */
  readonly name: string
  readonly tree: SourceTree
  readonly code: Code
  readonly index: RoleIndex
  readonly addresses: Addresses
}

/** Opens a version; `name` is the revision or the path of the tree where none is given. What cannot be read is left out. */
export function openVersion(tree: SourceTree, name: string = tree.origin.revision ?? tree.origin.path): Version {
  const code = openCode(tree, () => {})
  const index = once(() => indexRoles(code))
  const addresses = once(() => addressesIn(code))
  return {
    name,
    tree,
    code,
    get index() {
      return index()
    },
    get addresses() {
      return addresses()
    },
  }
}

const matchings = new WeakMap<Version, WeakMap<Version, Matching>>()

/** What of one version is what of another; worked out once for a pair. */
export function matchingOf(old: Version, now: Version): Matching {
  return rememberPair(matchings, old, now, () => matchSides(old.index, now.index))
}

/** Keeps what is worked out for a pair of versions as long as both are in use. */
export function rememberPair<T>(
  known: WeakMap<Version, WeakMap<Version, T>>,
  old: Version,
  now: Version,
  compute: () => T,
): T {
  const ofOld = known.get(old) ?? new WeakMap<Version, T>()
  known.set(old, ofOld)
  const before = ofOld.get(now)
  if (before !== undefined) return before
  const made = compute()
  ofOld.set(now, made)
  return made
}

const lines = new WeakMap<Version, Map<string, readonly string[] | undefined>>()

/** The lines of a file; undefined where the version has no such file. */
export function fileLines(version: Version, path: string): readonly string[] | undefined {
  const known = lines.get(version) ?? new Map<string, readonly string[] | undefined>()
  lines.set(version, known)
  if (known.has(path)) return known.get(path)
  const file = version.tree.entryKind(path) === 'file' ? version.tree.read(path) : undefined
  const found = file === undefined ? undefined : linesOf(file.text)
  known.set(path, found)
  return found
}

const byPlace = new WeakMap<Version, ReadonlyMap<string, AddressedTask>>()

/** The task with its address that a task of the index is: a playbook is read once for either. */
export function addressedTask(version: Version, { statement }: PlacedStatement): AddressedTask | undefined {
  const known = byPlace.get(version) ?? new Map(version.addresses.all().map(each => [placeKey(each.task.at), each]))
  byPlace.set(version, known)
  return known.get(placeKey(statement.at))
}

function placeKey({ file, start }: PlacedStatement['statement']['at']): string {
  return `${file.path}\0${start}`
}

const statements = new WeakMap<Version, ReturnType<typeof statementsByPlace>>()

/** The task of the index that a task is. */
export function placedTask(version: Version, { task }: AddressedTask): PlacedStatement | undefined {
  const find = statements.get(version) ?? statementsByPlace(version.index)
  statements.set(version, find)
  return find(task.at)
}

/** Most files that are looked through, and the deepest directory: a link to a directory above it would go on for ever. */
const [maxFiles, maxDepth] = [50_000, 12]

const files = new WeakMap<Version, readonly string[]>()

/** The paths of all files of a version. */
export function filesOf(version: Version): readonly string[] {
  const known = files.get(version)
  if (known !== undefined) return known
  const found: string[] = []
  const walk = (directory: string, depth: number): void => {
    for (const name of version.tree.list(directory)) {
      const path = directory === '' ? name : `${directory}/${name}`
      if (found.length >= maxFiles) return
      const kind = version.tree.entryKind(path)
      if (kind === 'file') found.push(path)
      else if (kind === 'directory' && depth < maxDepth) walk(path, depth + 1)
    }
  }
  walk('', 0)
  files.set(version, found)
  return found
}
