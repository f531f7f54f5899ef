import { piecesCanBe } from '../effects/argument.js'
import { ABSENT, type Entry, type Found, type HostFiles, walkPath } from '../evidence/host-files.js'
import { compareBytes } from '../source/store.js'

/**
 * The files of a host as a run changes them: what stands there now over what was captured. The captured files stay as they
 * are; a copy can be taken at any time, and sees no later change.
 */
export interface ChangedFiles extends HostFiles {
  /** A file, directory or link stands there now; links on the way are followed, one at the end is replaced. */
  readonly put: (path: string, entry: Found<Entry>) => void
  /** The path goes, with everything below it. */
  readonly remove: (path: string) => void
  /** Any path that these pieces can be (null for what is not known) may have been changed, for this reason. */
  readonly blur: (pieces: readonly (string | null)[], because: string) => void
  /** The paths that were changed, in the order in which they first were. */
  readonly changed: () => readonly string[]
  readonly copy: () => HostFiles
}

interface Blur {
  readonly pieces: readonly (string | null)[]
  readonly because: string
}

interface Changes {
  readonly entries: Map<string, Found<Entry>>
  /** Paths of which everything below went; what was put there later stands in `entries`. */
  readonly removed: Set<string>
  readonly blurs: Blur[]
  /** What was looked up since the last change. */
  seen: Seen
}

interface Seen {
  readonly standing: Map<string, Found<Entry>>
  readonly places: Map<string, Place>
  /** The directories above what was put; undefined where nobody asked for them yet. */
  above: ReadonlySet<string> | undefined
}

/** A path with the links before its last part followed; `open`: where that was not known. */
interface Place {
  readonly path: string
  readonly open: (Found<Entry> & { kind: 'unknown' }) | undefined
}

/** Files that can be changed, over captured ones that stay as they are. */
export function changedFiles(captured: HostFiles): ChangedFiles {
  const changes: Changes = { entries: new Map(), removed: new Set(), blurs: [], seen: nothingSeen() }
  const files = viewOf(captured, changes)
  const placeOf = (path: string): string => realPath(captured, changes, path).path
  return {
    ...files,
    put: (path, entry) => {
      const place = placeOf(path)
      // What was not known of it before does not matter any more.
      changes.entries.delete(place)
      changes.entries.set(place, entry)
      changes.seen = nothingSeen()
    },
    remove: path => {
      const place = placeOf(path)
      for (const each of [...changes.entries.keys()]) {
        if (each === place || each.startsWith(`${place}/`)) changes.entries.delete(each)
      }
      changes.removed.add(place)
      changes.entries.set(place, ABSENT)
      changes.seen = nothingSeen()
    },
    blur: (pieces, because) => {
      changes.blurs.push({ pieces, because })
      for (const [path, entry] of changes.entries) {
        if (entry.kind !== 'unknown' && piecesCanBe(pieces, path))
          changes.entries.set(path, { kind: 'unknown', because })
      }
      changes.seen = nothingSeen()
    },
    changed: () => [...changes.entries.keys()],
    copy: () =>
      viewOf(captured, {
        entries: new Map(changes.entries),
        removed: new Set(changes.removed),
        blurs: [...changes.blurs],
        seen: nothingSeen(),
      }),
  }
}

function nothingSeen(): Seen {
  return { standing: new Map(), places: new Map(), above: undefined }
}

function viewOf(captured: HostFiles, changes: Changes): HostFiles {
  return {
    entry: path => {
      const { path: place, open } = realPath(captured, changes, path)
      const found = standing(captured, changes, place)
      return open !== undefined && found.kind !== 'known' && !changes.entries.has(place) ? open : found
    },
    list: path => {
      const { path: place } = realPath(captured, changes, `${path}/.`)
      const inside = place === '/' ? '/' : `${place}/`
      const put = new Map<string, boolean>()
      for (const [each, entry] of changes.entries) {
        if (!each.startsWith(inside)) continue
        const name = each.slice(inside.length)
        if (!name.includes('/')) put.set(name, entry.kind !== 'absent')
        else if (entry.kind !== 'absent') put.set(name.slice(0, name.indexOf('/')), true)
      }
      const before: Found<readonly string[]> = isRemoved(changes, place) ? ABSENT : captured.list(place)
      if (before.kind === 'unknown') return before
      // A file that may have come is one nobody can name.
      const blur = changes.blurs.find(({ pieces }) => mayBeInside(pieces, inside))
      if (blur !== undefined) return { kind: 'unknown', because: blur.because }
      const names = before.kind === 'known' ? before.value : []
      const all = new Set(names)
      for (const [name, isThere] of put) {
        if (isThere) all.add(name)
        else all.delete(name)
      }
      if (all.size === 0 && before.kind === 'absent')
        return standing(captured, changes, place).kind === 'known' ? { kind: 'known', value: [] } : ABSENT
      return { kind: 'known', value: [...all].sort(compareBytes) }
    },
  }
}

/** What stands at a path of which no part before the last is a link. */
function standing(captured: HostFiles, changes: Changes, path: string): Found<Entry> {
  const before = changes.seen.standing.get(path)
  if (before !== undefined) return before
  const found = lookUp(captured, changes, path)
  changes.seen.standing.set(path, found)
  return found
}

function lookUp(captured: HostFiles, changes: Changes, path: string): Found<Entry> {
  const put = changes.entries.get(path)
  if (put !== undefined) return put
  changes.seen.above ??= directoriesAbove(changes)
  if (changes.seen.above.has(path)) {
    const before = captured.entry(path)
    return before.kind === 'known' ? before : { kind: 'known', value: { kind: 'directory', path } }
  }
  if (isRemoved(changes, path)) return ABSENT
  const blur = changes.blurs.find(({ pieces }) => piecesCanBe(pieces, path))
  if (blur !== undefined) return { kind: 'unknown', because: blur.because }
  return captured.entry(path)
}

function directoriesAbove({ entries }: Changes): ReadonlySet<string> {
  const above = new Set<string>()
  for (const [path, entry] of entries) {
    if (entry.kind !== 'known') continue
    for (let at = parentOf(path); at !== '' && !above.has(at); at = parentOf(at)) above.add(at)
  }
  return above
}

/** Empty for what stands at the top. */
function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function isRemoved({ removed }: Changes, path: string): boolean {
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (removed.has(at)) return true
  return false
}

/** Whether pieces name something in a directory and not one certain file of another. */
function mayBeInside(pieces: readonly (string | null)[], inside: string): boolean {
  const [first] = pieces
  if (typeof first !== 'string' || pieces.length === 1) return false
  return first.startsWith(inside) ? !first.slice(inside.length).includes('/') : inside.startsWith(first)
}

/** Where a path is; a final `/.` has a link at the end followed, too. */
function realPath(captured: HostFiles, changes: Changes, path: string): Place {
  const before = changes.seen.places.get(path)
  if (before !== undefined) return before
  let open: Place['open']
  const walked = walkPath<never>(path, path.endsWith('/.'), at => {
    const found = standing(captured, changes, at)
    if (found.kind === 'unknown') open = found
    return found.kind === 'known' && found.value.kind === 'link'
      ? { kind: 'link', target: found.value.target }
      : { kind: 'on' }
  })
  const place = { path: walked.kind === 'path' ? walked.path : path, open }
  changes.seen.places.set(path, place)
  return place
}
