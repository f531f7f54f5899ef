import { isUtf8 } from 'node:buffer'
import { compareBytes } from '../source/store.js'
import {
  ABSENT,
  type Content,
  type DirectoryEntry,
  type Entry,
  type FileEntry,
  type Found,
  type HostFiles,
  type LinkEntry,
  type OtherEntry,
  walkPath,
} from './host-files.js'
import { type Covered, coveredBy, parentOf, type Scope } from './scope.js'

/** Files above this are not read: nothing a host is configured with comes near. */
export const maxHostFile = 16 * 1024 * 1024

/** The bytes of a file, or a clause that says why there are none. */
export type HostBytes = { readonly bytes: Uint8Array } | { readonly refused: string }

/** What stands at a path, no link followed. */
export type StoredEntry =
  | (Omit<FileEntry, 'content' | 'path'> & { readonly bytes: () => HostBytes })
  | Omit<DirectoryEntry, 'path'>
  | Omit<LinkEntry, 'path'>
  | Omit<OtherEntry, 'path'>

/** The little a directory, an archive and a record of files differ in. Paths are absolute, no directory on the way is a link. */
export interface HostStore {
  /** `absent`: nothing is stored there. */
  readonly entry: (path: string) => Found<StoredEntry>
  /** The names in a directory that is stored. */
  readonly names: (path: string) => Found<readonly string[]>
}

/**
 * The files of a host over what is stored of it. Without a scope the store is the whole root: what is not in it does not
 * exist. With one, that holds under captured paths only, and everything else is unknown.
 */
export function hostFilesOver(store: HostStore, scope?: Scope): HostFiles {
  const entries = new Map<string, Found<Entry>>()
  let covered: Covered | undefined
  const coverage = (): Covered | undefined => {
    if (scope !== undefined) covered ??= coveredBy(scope, path => placeOf(path) ?? path)
    return covered
  }

  /** Where a path of the scope leads with what is stored: `/lib/x` is `/usr/lib/x` where `/lib` is a link. */
  function placeOf(path: string): string | undefined {
    const found = locate(path, at => {
      const stored = store.entry(at)
      return stored.kind === 'known' ? stored : { kind: 'known', value: { kind: 'directory' } }
    })
    return found.kind === 'known' ? found.value : undefined
  }

  function entryAt(path: string): Found<Entry> {
    const known = entries.get(path)
    if (known !== undefined) return known
    const found: Found<Entry> = path === '/' ? { kind: 'known', value: { kind: 'directory', path } } : lookUp(path)
    entries.set(path, found)
    return found
  }

  function lookUp(path: string): Found<Entry> {
    const stored = store.entry(path)
    const scoped = coverage()
    if (stored.kind === 'absent') return scoped === undefined ? ABSENT : unstored(path, scoped)
    if (stored.kind === 'unknown') return stored
    return { kind: 'known', value: entryOf(path, stored.value, scoped) }
  }

  function listAt(path: string): Found<readonly string[]> {
    const found = directoryAt(path)
    if (found.kind !== 'known') return found
    const at = found.value
    const scoped = coverage()
    const names = store.names(at)
    if (names.kind === 'unknown') return names
    if (scoped === undefined) return sorted(names.kind === 'known' ? names.value : [])
    if (scoped.at(at) === 'unreadable') return { kind: 'unknown', because: couldNotBeRead(at) }
    if (scoped.at(at) === 'nothing' && !scoped.isListed(at)) {
      return { kind: 'unknown', because: `what ${at} holds was not captured` }
    }
    return sorted(new Set([...(names.kind === 'known' ? names.value : []), ...scoped.namesIn(at)]))
  }

  const directories = new Map<string, Found<string>>()

  /** Where a directory is once links are followed; absent where it is none. */
  function directoryAt(path: string): Found<string> {
    const known = directories.get(path)
    if (known !== undefined) return known
    const located = locate(`${path}/.`, entryAt)
    const found = located.kind === 'known' ? entryAt(located.value) : located
    const directory = found.kind === 'known' && found.value.kind !== 'directory' ? ABSENT : located
    directories.set(path, directory)
    return directory
  }

  return {
    entry: path => {
      const end = path.lastIndexOf('/')
      const name = path.slice(end + 1)
      const isPlain = end >= 0 && name !== '' && name !== '.' && name !== '..'
      const located = isPlain ? directoryAt(path.slice(0, end)) : locate(path, entryAt)
      if (located.kind !== 'known') return located
      return entryAt(isPlain ? joined(located.value, name) : located.value)
    },
    list: listAt,
  }
}

function joined(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

function sorted(names: Iterable<string>): Found<readonly string[]> {
  return { kind: 'known', value: [...names].sort(compareBytes) }
}

/** The path with the links of its directories followed; a final `/.` has the last part followed, too. */
function locate(
  path: string,
  entryAt: (path: string) => Found<{ readonly kind: string; readonly target?: string }>,
): Found<string> {
  const wholly = path.endsWith('/.')
  const walked = walkPath<Found<never>>(path, wholly, (at, isLast) => {
    const found = entryAt(at)
    if (found.kind !== 'known') return { kind: 'end', end: found }
    const { kind, target } = found.value
    if (kind === 'link' && target !== undefined) return { kind: 'link', target }
    return kind === 'directory' || isLast ? { kind: 'on' } : { kind: 'end', end: ABSENT }
  })
  if (walked.kind === 'end') return walked.end
  return walked.kind === 'path' ? { kind: 'known', value: walked.path } : ABSENT
}

/** What is known of a path that is not stored. */
function unstored(path: string, scoped: Covered): Found<Entry> {
  const withheld = scoped.withheld(path)
  if (withheld === 'directory') return { kind: 'known', value: { kind: 'directory', path } }
  if (withheld === 'file') return { kind: 'known', value: { kind: 'file', path, content: () => leftOut } }
  const coverage = scoped.at(path)
  if (coverage === 'unreadable') return { kind: 'unknown', because: couldNotBeRead(path) }
  const partly = partlyCaptured.find(({ is }) => is.test(path))
  if (partly !== undefined) return { kind: 'unknown', because: `${path} was not captured (${partly.says})` }
  const isListed = scoped.isListed(parentOf(path) ?? '/')
  if (coverage === 'captured' || scoped.isAsked(path) || isListed) return ABSENT
  if (scoped.leadsTo(path)) return { kind: 'known', value: { kind: 'directory', path } }
  return { kind: 'unknown', because: `${path} was not captured` }
}

/** Where a collector reads names, and only those that say something. */
const partlyCaptured: readonly { readonly is: RegExp; readonly says: string }[] = [
  { is: /^\/proc\/\d+(?:\/fd\/\d+)?$/, says: 'of processes, those that listen are' },
  {
    is: /^\/sys\/fs\/cgroup\/(?:.*\/)?(?!.*\.(?:service|scope|slice|socket|mount|swap)$)[^/]*$/,
    says: 'of control groups, those of units are',
  },
]

const leftOut: Content & { readonly kind: 'withheld' } = {
  kind: 'withheld',
  because: 'its content was left out of the evidence',
}

function couldNotBeRead(path: string): string {
  return `${path} could not be read when the evidence was taken`
}

function entryOf(path: string, stored: StoredEntry, scoped: Covered | undefined): Entry {
  if (stored.kind !== 'file') return { ...stored, path }
  const { bytes, size, ...attributes } = stored
  // What stands in for a file whose content is not there has no size of its own.
  const missing = scoped?.withheld(path) !== undefined || scoped?.isUnreadable(path) === true
  const why = scoped?.isUnreadable(path) ? 'it could not be read when the evidence was taken' : leftOut.because
  let content: Content | undefined
  return {
    ...attributes,
    path,
    ...(missing || size === undefined ? {} : { size }),
    content: () => {
      content ??= missing ? { kind: 'withheld', because: why } : contentOf(path, bytes())
      return content
    },
  }
}

function contentOf(path: string, found: HostBytes): Content {
  if ('refused' in found) return { kind: 'withheld', because: found.refused }
  const { bytes } = found
  if (!isUtf8(bytes) || bytes.includes(0)) return { kind: 'binary', bytes }
  return {
    kind: 'text',
    file: { path, text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() },
  }
}
