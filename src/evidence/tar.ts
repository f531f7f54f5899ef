import { Header } from 'tar/header'
import { Pax } from 'tar/pax'
import { normalFsTypes } from 'tar/types'
import { UsageError } from '../source/diagnostic.js'
import { MOST_LINKS } from './host-files.js'
import type { HostBytes, StoredEntry } from './host-store.js'
import { maxHostFile } from './host-store.js'
import { parentOf, resolveParts } from './scope.js'

const block = 512

/** The bytes of an archive. */
export interface Archive {
  /** All of them, to be looked at before anything else is read: the next archive may take their place. */
  readonly all: () => Buffer
  /** Some of them, to keep. */
  readonly part: (start: number, size: number) => Buffer
}

interface Member {
  readonly header: Header
  readonly path: string
  readonly target: string
  readonly start: number
  readonly size: number
}

/**
 * The members of a tar (ustar, GNU and pax forms) by absolute path, the last of one name; contents are cut out of the archive
 * when asked for. Throws UsageError where the archive is none, is cut off or damaged, or a member would leave it: in what
 * cannot be read to its end nothing may be taken for absent.
 */
export function indexTar(name: string, archive: Archive): Map<string, StoredEntry> {
  const entries = new Map<string, StoredEntry>()
  for (const member of membersOf(name, archive.all())) {
    const path = resolveParts(member.path)
    if (path === undefined) {
      throw new UsageError(`${name}: the member ${shown(member.path)} leads out of the archive; ${again}`)
    }
    if (path === '/') continue
    entries.set(path, storedOf(member, archive, entries))
  }
  return placed(name, entries)
}

const again = 'collect the evidence again'

function* membersOf(name: string, bytes: Buffer): Generator<Member> {
  if (bytes.length === 0) throw new UsageError(`${name}: it is empty, expected a tar archive; ${again}`)
  let longPath: string | undefined
  let longTarget: string | undefined
  let pax: Pax | undefined
  let globally: Pax | undefined
  for (let at = 0; ; ) {
    if (at === 0 && bytes.length < block) throw noArchive(name, 'it is no tar archive')
    if (at + block > bytes.length)
      throw new UsageError(`${name}: the archive breaks off after ${bytes.length} bytes; ${again}`)
    const header = headerAt(bytes, at)
    if (header?.nullBlock) return
    if (!header?.cksumValid) {
      throw noArchive(
        name,
        at === 0 ? 'it is no tar archive' : `what stands at byte ${at} is no member of a tar archive`,
      )
    }
    // What pax says is about the member, not about the headers that stand between.
    const isMember = normalFsTypes.has(header.typeKey as never)
    const size = (isMember ? (pax?.size ?? globally?.size) : undefined) ?? header.size ?? 0
    const start = at + block
    if (start + size > bytes.length) {
      throw new UsageError(`${name}: the archive breaks off in ${shown(longPath ?? header.path ?? '')}; ${again}`)
    }
    const text = (): string => bytes.toString('utf8', start, start + size)
    at = start + Math.ceil(size / block) * block
    if (header.type === 'ExtendedHeader' || header.type === 'OldExtendedHeader') pax = Pax.parse(text(), {}, false)
    else if (header.type === 'GlobalExtendedHeader') globally = Pax.parse(text(), globally ?? {}, true)
    else if (header.type === 'NextFileHasLongPath' || header.type === 'OldGnuLongPath') longPath = untilNull(text())
    else if (header.type === 'NextFileHasLongLinkpath') longTarget = untilNull(text())
    else if (isMember || header.typeKey === 'Unsupported' || header.type === 'SparseFile') {
      const path = pax?.path ?? longPath ?? header.path ?? ''
      if (!isMember) {
        throw new UsageError(
          `${name}: ${shown(path)} is stored as a sparse file, or in another form that is not read; pack it without`,
        )
      }
      yield { header, path, target: pax?.linkpath ?? longTarget ?? header.linkpath ?? '', start, size }
      longPath = longTarget = pax = undefined
    }
  }
}

/** Undefined where it is none: the decoder throws on numbers that nobody can mean. */
function headerAt(bytes: Buffer, at: number): Header | undefined {
  try {
    return new Header(bytes, at)
  } catch {
    return undefined
  }
}

function noArchive(name: string, what: string): UsageError {
  return new UsageError(`${name}: ${what}, expected what collect.sh prints (a tar, or one packed with gzip); ${again}`)
}

function untilNull(text: string): string {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

function storedOf(member: Member, archive: Archive, before: ReadonlyMap<string, StoredEntry>): StoredEntry {
  const { header, target, start, size } = member
  const { mode, uid, gid, mtime } = header
  const modified = mtime === undefined ? 0 : Math.floor(mtime.getTime() / 1000)
  const attributes = {
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    // The collector has no portable way to tell it.
    ...(modified === 0 ? {} : { modified }),
  }
  switch (header.type) {
    case 'Directory':
    case 'GNUDumpDir':
      return { kind: 'directory', ...attributes }
    case 'SymbolicLink':
      return { kind: 'link', target, ...attributes }
    case 'Link':
      return hardLinkOf(target, before, attributes)
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      return { kind: 'file', size, ...attributes, bytes: () => cut(archive, start, size) }
    default:
      return { kind: 'other', ...attributes }
  }
}

/** A second name of a file that stands earlier in the archive. */
function hardLinkOf(
  target: string,
  before: ReadonlyMap<string, StoredEntry>,
  attributes: Omit<StoredEntry, 'kind'>,
): StoredEntry {
  const first = before.get(resolveParts(target) ?? '')
  if (first !== undefined) return first
  const refused = `it is a second name of ${shown(target)}, which is not in the archive`
  return { kind: 'file', ...attributes, bytes: () => ({ refused }) }
}

function cut(archive: Archive, start: number, size: number): HostBytes {
  if (size > maxHostFile) return { refused: `it is larger than ${maxHostFile >> 20} MiB` }
  return { bytes: archive.part(start, size) }
}

/** Members that were stored by a path through a link stand where the link leads. */
function placed(name: string, entries: Map<string, StoredEntry>): Map<string, StoredEntry> {
  const all = new Map<string, StoredEntry>()
  for (const [path, entry] of entries) {
    const place = placeOf(name, path, entries)
    if (place === path || !entries.has(place)) all.set(place, entry)
  }
  return all
}

function placeOf(name: string, path: string, entries: ReadonlyMap<string, StoredEntry>): string {
  let at = path
  for (let links = 0; links <= MOST_LINKS; links++) {
    const link = firstAbove(at, entries)
    if (link === undefined) return at
    const entry = entries.get(link)
    if (entry?.kind !== 'link') {
      throw new UsageError(`${name}: ${shown(link)} is a file, and ${shown(path)} lies under it; ${again}`)
    }
    const start = entry.target.startsWith('/') ? '' : `${parentOf(link)}/`
    const lead = resolveParts(`${start}${entry.target}`, 'stay')
    at = `${lead === '/' ? '' : lead}${at.slice(link.length)}`
  }
  throw new UsageError(`${name}: ${shown(path)} lies under links that lead in a circle; ${again}`)
}

/** The uppermost directory of a path that is stored as something else. */
function firstAbove(path: string, entries: ReadonlyMap<string, StoredEntry>): string | undefined {
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
    const above = path.slice(0, end)
    const entry = entries.get(above)
    if (entry !== undefined && entry.kind !== 'directory') return above
  }
  return undefined
}

/** A name in one line. */
function shown(path: string): string {
  return JSON.stringify(path).slice(1, -1)
}
