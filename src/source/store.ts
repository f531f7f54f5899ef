import { isUtf8 } from 'node:buffer'
import type { Diagnostic, DiagnosticCode } from './diagnostic.js'
import { type SourceFile, wholeFile } from './text.js'
import type { EntryKind, SourceTree, TreeOrigin } from './tree.js'

/** Files above this are refused: nothing a role or an inventory is made of comes near. */
export const maxFileSize = 10 * 1024 * 1024

const maxLinks = 40

/** What stands at a path before links are followed. `other` is a FIFO, a socket, a device, or what may not be looked at. */
export type StoredEntry =
  | { readonly kind: 'file' | 'directory' | 'other' }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'loop' }

/** The bytes of a file, or why there are none. */
export type StoredBytes =
  | { readonly bytes: Uint8Array }
  | { readonly refused: 'file-too-large' | 'file-unreadable'; readonly says: string }

/** The little a directory and a git revision differ in. Paths are normalised, links in their parents already followed. */
export interface Store {
  readonly entry: (path: string) => StoredEntry | undefined
  readonly bytes: (path: string) => StoredBytes
  /** Undefined where the directory may not be listed. */
  readonly names: (path: string) => readonly string[] | undefined
  /** The path inside the tree an absolute link target names, or undefined where it leads out. */
  readonly inside: (target: string) => string | undefined
}

/** A path without `.`, `..` and doubled `/`; undefined where it leaves the root. */
export function normalizePath(path: string): string | undefined {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.join('/')
}

/** A tree over a store: follows links, decodes text, remembers both, and keeps what it had to refuse. */
export function treeOver(store: Store, origin: TreeOrigin): SourceTree {
  const diagnostics = new Map<string, Diagnostic>()
  const entries = new Map<string, StoredEntry | undefined>()
  const locations = new Map<string, string | undefined>()
  const files = new Map<string, SourceFile | undefined>()

  function tell(code: DiagnosticCode, path: string, message: string): void {
    const identity = `${code} ${path}`
    if (diagnostics.has(identity)) return
    diagnostics.set(identity, { code, severity: 'error', message, at: wholeFile({ path, text: '' }) })
  }

  function entryAt(path: string): StoredEntry | undefined {
    if (!entries.has(path)) entries.set(path, path === '' ? { kind: 'directory' } : store.entry(path))
    return entries.get(path)
  }

  /** Where a path stands once every link on the way is followed; undefined where nothing stands. */
  function locate(path: string): string | undefined {
    if (!locations.has(path)) locations.set(path, follow(path))
    return locations.get(path)
  }

  function follow(path: string): string | undefined {
    let here = ''
    let links = 0
    let link = { path: '', target: '' }
    const ahead = path.split('/').reverse()
    for (let segment = ahead.pop(); segment !== undefined; segment = ahead.pop()) {
      if (segment === '' || segment === '.') continue
      if (segment === '..') {
        // The path asked for has no `..` left, so this one came from a link.
        if (here === '') return outside(link)
        here = here.includes('/') ? here.slice(0, here.lastIndexOf('/')) : ''
        continue
      }
      // The repository's own files are no part of the tree it holds.
      if (segment === '.git') return undefined
      const next = here === '' ? segment : `${here}/${segment}`
      const entry = entryAt(next)
      if (!entry) return undefined
      if (entry.kind === 'loop' || (entry.kind === 'link' && ++links > maxLinks)) {
        tell('link-loop', next, 'this symbolic link leads back to itself')
        return undefined
      }
      if (entry.kind !== 'link') {
        if (entry.kind !== 'directory' && ahead.some(rest => rest !== '' && rest !== '.')) return undefined
        here = next
        continue
      }
      link = { path: next, target: entry.target }
      const isAbsolute = entry.target.startsWith('/')
      const target = isAbsolute ? store.inside(entry.target) : entry.target
      if (target === undefined) return outside(link)
      if (isAbsolute) here = ''
      ahead.push(...target.split('/').reverse())
    }
    return here
  }

  function outside(link: { readonly path: string; readonly target: string }): undefined {
    tell('link-outside', link.path, `this symbolic link leads out of the tree, to ${link.target}`)
    return undefined
  }

  function located(path: string): string | undefined {
    const normal = normalizePath(path)
    return normal === undefined ? undefined : locate(normal)
  }

  function entryKind(path: string): EntryKind | undefined {
    const location = located(path)
    const kind = location === undefined ? undefined : entryAt(location)?.kind
    return kind === 'file' || kind === 'directory' ? kind : undefined
  }

  function read(path: string): SourceFile | undefined {
    const normal = normalizePath(path)
    if (normal === undefined) return undefined
    if (!files.has(normal)) files.set(normal, readFile(normal))
    return files.get(normal)
  }

  function readFile(path: string): SourceFile | undefined {
    const location = locate(path)
    const kind = location === undefined ? undefined : entryAt(location)?.kind
    if (location === undefined || kind === undefined || kind === 'directory') return undefined
    if (kind !== 'file') {
      tell('file-unreadable', path, 'not a regular file, or not to be looked at')
      return undefined
    }
    const stored = store.bytes(location)
    if ('refused' in stored) {
      tell(stored.refused, path, stored.says)
      return undefined
    }
    const text = decodeUtf8(stored.bytes)
    if (typeof text === 'string') return { path, text, ...(location === path ? {} : { standsIn: location }) }
    tell('file-not-utf8', path, `not UTF-8: the byte at offset ${text.invalidAt} does not belong there`)
    return undefined
  }

  function list(path: string): readonly string[] {
    const location = located(path)
    if (location === undefined || entryAt(location)?.kind !== 'directory') return []
    const names = store.names(location)
    if (!names) tell('file-unreadable', path, 'this directory could not be listed')
    return names ?? []
  }

  return { origin, entryKind, read, list, diagnostics: () => [...diagnostics.values()] }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes that are UTF-8 throughout (a byte order mark stays part of it), or where they stop being so. */
export function decodeUtf8(bytes: Uint8Array): string | { readonly invalidAt: number } {
  try {
    return decoder.decode(bytes)
  } catch {
    return { invalidAt: firstInvalid(bytes) }
  }
}

function firstInvalid(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const lead = bytes[at] as number
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    if (length > 1 && !(at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)))) return at
    at += length
  }
  return at
}

/** Byte order of UTF-8, as git and Ansible's sorted() (code points) have it; UTF-16 order differs beyond U+FFFF. */
export function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}
