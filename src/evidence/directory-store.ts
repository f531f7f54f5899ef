import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import { resolve } from 'node:path'
import { ABSENT, type Found } from './host-files.js'
import { type HostBytes, type HostStore, maxHostFile, type StoredEntry } from './host-store.js'

/**
 * A directory as a host's files. `hidden`: names at its top that are no files of the host. Nothing but regular files is ever
 * opened, none above 16 MiB is read to its end, and what may not be read is unknown, not absent. Owners, modes and times are
 * the host's only where the directory is `/`: a copy has those of who copied.
 */
export function directoryStore(directory: string, hidden: readonly string[]): HostStore {
  const root = resolve(directory)
  const isLive = root === '/'
  const at = (path: string): string => (isLive ? path : `${root}${path}`)
  const isHidden = (path: string): boolean => hidden.includes(path.slice(1).split('/')[0] ?? '')
  return {
    entry: path => {
      if (path === '/') return { kind: 'known', value: { kind: 'directory' } }
      return isHidden(path) ? ABSENT : entryOf(path, at(path), isLive)
    },
    names: path => {
      try {
        const names = readdirSync(at(path))
        return { kind: 'known', value: path === '/' ? names.filter(name => !hidden.includes(name)) : names }
      } catch (error) {
        return without(path, error)
      }
    },
  }
}

function entryOf(path: string, address: string, isLive: boolean): Found<StoredEntry> {
  try {
    const found = lstatSync(address)
    const attributes = attributesOf(path, found, isLive)
    if (found.isSymbolicLink()) {
      return { kind: 'known', value: { kind: 'link', target: readlinkSync(address), ...attributes } }
    }
    if (found.isDirectory()) return { kind: 'known', value: { kind: 'directory', ...attributes } }
    if (!found.isFile()) return { kind: 'known', value: { kind: 'other', ...attributes } }
    return fileOf(path, address, attributes)
  } catch (error) {
    return without(path, error)
  }
}

/** What is said of a process is read at once: it may be gone when somebody asks, and then it was never there. */
function fileOf(path: string, address: string, attributes: Omit<StoredEntry, 'kind'>): Found<StoredEntry> {
  if (!/^\/proc\/\d+\//.test(path)) {
    return { kind: 'known', value: { kind: 'file', ...attributes, bytes: () => bytesOf(address) } }
  }
  const bytes = bytesOf(address)
  if ('refused' in bytes && bytes.isGone) return ABSENT
  return { kind: 'known', value: { kind: 'file', ...attributes, bytes: () => bytes } }
}

function attributesOf(path: string, found: Stats, isLive: boolean): Omit<StoredEntry, 'kind'> {
  // Of files the kernel makes up, a copy has a size and the original none.
  const size = /^\/(?:proc|sys)\//.test(path) ? {} : { size: found.size }
  if (!isLive) return found.isFile() ? size : {}
  return {
    ...size,
    mode: found.mode & 0o7777,
    uid: found.uid,
    gid: found.gid,
    modified: Math.floor(found.mtimeMs / 1000),
  }
}

/** The bytes of a regular file. A file of /proc may wait for something to be written to it: it is not waited for. */
function bytesOf(address: string): HostBytes & { readonly isGone?: boolean } {
  let file: number | undefined
  try {
    file = openSync(address, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    return fstatSync(file).isFile() ? readUpTo(file, maxHostFile) : { refused: 'it is no file any more' }
  } catch (error) {
    const code = codeOf(error)
    return { refused: `it could not be read (${says(code)})`, isGone: code === 'ENOENT' || code === 'ESRCH' }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Files of /proc say that they are empty: what counts is what comes. */
function readUpTo(file: number, most: number): HostBytes {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536)
    const got = readSync(file, chunk)
    if (got === 0) return { bytes: Buffer.concat(chunks, length) }
    chunks.push(chunk.subarray(0, got))
    length += got
    if (length > most) return { refused: `it is larger than ${most >> 20} MiB` }
  }
}

/** What is there and may not be looked at is unknown; only what the system says is not there is absent. */
function without(path: string, error: unknown): Found<never> {
  const code = codeOf(error)
  if (['ENOENT', 'ENOTDIR', 'ESRCH', 'ENAMETOOLONG'].includes(code)) return ABSENT
  return { kind: 'unknown', because: `${path} could not be read (${says(code)})` }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) throw error
  return String(error.code)
}

function says(code: string): string {
  return code === 'EACCES' || code === 'EPERM' ? 'permission denied' : code
}
