import type { HostFiles } from '../../src/evidence/host-files.js'
import { hostFilesOver, type StoredEntry } from '../../src/evidence/host-store.js'
import type { Scope } from '../../src/evidence/scope.js'
import { storeOf } from '../../src/evidence/stored-tree.js'

/** A file by its text (or bytes), a link by its target, `null` for an empty directory. */
export type Written =
  | string
  | Uint8Array
  | null
  | { readonly link: string; readonly mode?: number }
  | { readonly text: string; readonly mode?: number; readonly uid?: number; readonly gid?: number }

/**
 * The files of a host in memory, by absolute path. Without `captured` they are all it has; with it (paths, or a whole scope)
 * that holds under these paths, and the rest is unknown.
 */
export function filesOf(
  record: Readonly<Record<string, Written>>,
  captured?: readonly string[] | Partial<Scope>,
): HostFiles {
  const entries = new Map(Object.entries(record).map(([path, written]) => [path, storedOf(written)] as const))
  const given = captured !== undefined && !('captured' in captured) && Array.isArray(captured) ? { captured } : captured
  const scope = given === undefined ? undefined : { ...nothing, ...(given as Partial<Scope>) }
  return hostFilesOver(storeOf(entries), scope)
}

const nothing: Scope = { captured: [], listed: [], asked: [], withheld: [], unreadable: [] }

function storedOf(written: Written): StoredEntry {
  if (written === null) return { kind: 'directory' }
  if (typeof written === 'string' || written instanceof Uint8Array) return fileOf(written)
  if ('link' in written) {
    const { link, ...attributes } = written
    return { kind: 'link', target: link, ...attributes }
  }
  const { text, ...attributes } = written
  return { ...fileOf(text), ...attributes }
}

function fileOf(content: string | Uint8Array): StoredEntry & { readonly kind: 'file' } {
  const bytes = Buffer.from(content)
  return { kind: 'file', size: bytes.length, bytes: () => ({ bytes }) }
}
