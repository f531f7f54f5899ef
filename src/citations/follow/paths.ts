import { likenessOf } from '../../audit/matching/lines.js'
import { groupedBy } from './grouped.js'
import { fileLines, filesOf, matchingOf, rememberPair, type Version } from './version.js'

/** What comes nearest to what is gone, and why it is not taken for it. */
export interface NearestPath {
  readonly path: string
  /** From 1. */
  readonly line?: number
  readonly why: string
}

/** Where a file or directory of one version stands in another. */
export type FollowedPath =
  /** `says` is there where the file is not what it was: its content went elsewhere. */
  | { readonly state: 'same'; readonly path: string; readonly says?: string }
  /** `line` is there where tasks of it stand in a file with others. */
  | { readonly state: 'moved'; readonly path: string; readonly line?: number; readonly how: string }
  | { readonly state: 'gone'; readonly nearest?: NearestPath }
  | { readonly state: 'absent'; readonly says: string }

/**
 * Follows a file or directory. The same path is the same place, whatever stands there now; what is not there any more is
 * followed to the role, task file, template or variables its content is in (`matchSides`), any other file to a new one with
 * the same text, or with the same name and most of its lines. A path OLD does not have is `absent`.
 */
export function followPath(old: Version, now: Version, path: string): FollowedPath {
  const cited = path.replace(/\/+$/, '')
  const kind = old.tree.entryKind(cited)
  if (kind === undefined) return { state: 'absent', says: `${old.name} has no ${cited}` }
  if (now.tree.entryKind(cited) !== undefined) {
    const elsewhere =
      cited === '' ? undefined : kind === 'file' ? roleCodePath(old, now, cited) : movedDirectory(old, now, cited)
    if (elsewhere === undefined || elsewhere === cited) return { state: 'same', path: cited }
    return { state: 'same', path: cited, says: `what it held is in ${elsewhere} now` }
  }
  if (kind === 'directory') {
    const moved = movedDirectory(old, now, cited)
    if (moved !== undefined) return { state: 'moved', path: moved, how: 'most of its files are there' }
    const nearest = nearestDirectory(now, cited)
    return { state: 'gone', ...(nearest === undefined ? {} : { nearest }) }
  }
  const moved = movedFile(old, now, cited)
  if (moved !== undefined) return { state: 'moved', ...moved }
  const nearest = nearestToFile(old, now, cited)
  return { state: 'gone', ...(nearest === undefined ? {} : { nearest }) }
}

/** The file whose lines are those of an old one: moved, or under the same path. */
export function successorOf(old: Version, now: Version, path: string): string | undefined {
  const followed = roleCodePath(old, now, path)
  if (followed !== undefined) return followed
  return now.tree.entryKind(path) === 'file' ? path : movedFile(old, now, path)?.path
}

/** As far as `matchSides` follows it: tasks, variables, plays, templates. */
function roleCodePath(old: Version, now: Version, path: string): string | undefined {
  const followed = matchingOf(old, now).pathOf(path)
  return followed !== undefined && now.tree.entryKind(followed) === 'file' ? followed : undefined
}

function movedFile(
  old: Version,
  now: Version,
  path: string,
): { readonly path: string; readonly how: string } | undefined {
  const followed = roleCodePath(old, now, path) ?? inRenamedRole(old, now, path)
  if (followed !== undefined && followed !== path) return { path: followed, how: 'its content is there' }
  const fresh = freshFiles(old, now)
  const text = old.tree.read(path)?.text ?? ''
  const [twin, ...more] = text.trim().length < leastText ? [] : (fresh.byText.get(text) ?? [])
  if (twin !== undefined && more.length === 0) return { path: twin, how: 'the same text is there' }
  const sameName = fresh.byName.get(nameOf(path)) ?? []
  const alike = mostAlike(fileLines(old, path) ?? [], now, sameName)
  // A name that many files have (`main.yml`) says nothing.
  const enough = sameName.length > 3 ? 0.8 : 0.5
  return alike !== undefined && alike.share >= enough
    ? { path: alike.path, how: `${Math.round(alike.share * 100)} % of its lines are there` }
    : undefined
}

/** Shorter texts are the same by chance. */
const leastText = 40

function inRenamedRole(old: Version, now: Version, path: string): string | undefined {
  const { roleOf } = matchingOf(old, now)
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const role = roleOf(path.slice(0, end))
    const there = role === undefined ? undefined : role + path.slice(end)
    if (there !== undefined && now.tree.entryKind(there) === old.tree.entryKind(path)) return there
  }
  return undefined
}

/** Paths of files by their text and by their name. */
interface Files {
  readonly byText: ReadonlyMap<string, readonly string[]>
  readonly byName: ReadonlyMap<string, readonly string[]>
}

const fresh = new WeakMap<Version, WeakMap<Version, Files>>()

/** The files that only the new version has: what was there before is not where something went. */
function freshFiles(old: Version, now: Version): Files {
  return rememberPair(fresh, old, now, () => {
    const before = new Set(filesOf(old))
    const paths = filesOf(now).filter(path => !before.has(path) && standsHere(now, path))
    return { byText: groupedBy(paths, path => now.tree.read(path)?.text ?? ''), byName: groupedBy(paths, nameOf) }
  })
}

/** Not under another name of its directory, which a link gives it. */
function standsHere({ tree }: Version, path: string): boolean {
  const file = tree.read(path)
  return file !== undefined && file.standsIn === undefined
}

function mostAlike(
  lines: readonly string[],
  now: Version,
  paths: readonly string[],
): { readonly path: string; readonly share: number } | undefined {
  const said = tellingLines(lines)
  if (said.length < leastLines) return undefined
  return paths
    .map(path => ({ path, share: likenessOf(said, tellingLines(fileLines(now, path) ?? [])) }))
    .toSorted((left, right) => right.share - left.share)[0]
}

/** With fewer lines files are alike by chance. */
const leastLines = 4

function tellingLines(lines: readonly string[]): readonly string[] {
  return lines.map(line => line.trim()).filter(line => line.length > 4)
}

/** The directory that most of a directory's files are in now, in the same places below it. */
function movedDirectory(old: Version, now: Version, directory: string): string | undefined {
  const { roleOf } = matchingOf(old, now)
  const role = roleOf(directory)
  if (role !== undefined && role !== directory) return role
  const followed = inRenamedRole(old, now, directory)
  if (followed !== undefined && followed !== directory) return followed
  if (now.tree.entryKind(directory) === 'directory') return undefined
  const inside = filesOf(old)
    .filter(path => path.startsWith(`${directory}/`))
    .slice(0, mostInside)
  const votes = new Map<string, number>()
  for (const path of inside) {
    const rest = path.slice(directory.length)
    const there = movedFile(old, now, path)?.path
    if (!there?.endsWith(rest)) continue
    const root = there.slice(0, -rest.length)
    votes.set(root, (votes.get(root) ?? 0) + 1)
  }
  const [best] = [...votes].toSorted(([, left], [, right]) => right - left)
  return best !== undefined && best[1] * 2 >= inside.length ? best[0] : undefined
}

/** So many files of a directory tell where it went. */
const mostInside = 200

function nearestToFile(old: Version, now: Version, path: string): NearestPath | undefined {
  return whereStatementsWent(old, now, path) ?? nearestByName(old, now, path)
}

/** The file that most tasks of a file are in by now. */
export function whereStatementsWent(old: Version, now: Version, path: string): NearestPath | undefined {
  const statements = old.index.statements.filter(placed => placed.path === path)
  const { statementOf } = matchingOf(old, now)
  const found = new Map<string, number[]>()
  for (const placed of statements) {
    const there = statementOf(placed)
    if (there === undefined) continue
    const { file, start } = there.statement.at
    const lines = found.get(there.path) ?? []
    found.set(there.path, [...lines, file.text.slice(0, start).split('\n').length])
  }
  const [best] = [...found].toSorted(([, left], [, right]) => right.length - left.length)
  if (best === undefined) return undefined
  const [there, lines] = best
  const count = `${lines.length} of its ${statements.length} tasks and blocks`
  return {
    path: there,
    line: Math.min(...lines),
    why: `${count} ${lines.length === 1 ? 'is' : 'are'} there, in another file`,
  }
}

function nearestByName(old: Version, now: Version, path: string): NearestPath | undefined {
  const name = nameOf(path)
  const lines = fileLines(old, path) ?? []
  const named = filesOf(now).filter(each => nameOf(each) === name && standsHere(now, each))
  const sameName = mostAlike(lines, now, named.slice(0, mostCompared))
  if (sameName !== undefined && sameName.share >= 0.2) {
    return { path: sameName.path, why: `the same name, but only ${Math.round(sameName.share * 100)} % of its lines` }
  }
  return nearestToPath(now, path)
}

/** What comes nearest to a path of which nothing but its name is known. */
export function nearestToPath(now: Version, path: string): NearestPath | undefined {
  const name = nameOf(path)
  const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  const [below, ...more] = filesOf(now).filter(
    each => each.startsWith(`${directory}/`) && nameOf(each) === name && standsHere(now, each),
  )
  if (below !== undefined && more.length === 0)
    return { path: below, why: 'the same name, further down in the directory' }
  return nearestDirectory(now, directory)
}

/** `main.yml` stands in every role; so many of a name are looked into. */
const mostCompared = 300

function nearestDirectory(now: Version, directory: string): NearestPath | undefined {
  for (let path = directory; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) {
    if (now.tree.entryKind(path) === 'directory')
      return { path, why: 'the directory is there, what was cited in it is not' }
  }
  return undefined
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
