import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { UsageError } from './diagnostic.js'
import { askGit } from './git.js'
import { compareBytes, maxFileSize, type Store, type StoredBytes, type StoredEntry, treeOver } from './store.js'
import type { SourceTree, TreeOrigin } from './tree.js'

/**
 * A directory on disk as it lies there, read when asked for and remembered. Links are followed inside the directory only;
 * `links: 'anywhere'` follows them wherever they lead, for what is the user's own. `.git` is not part of it.
 * A path that is no directory is a UsageError.
 */
export function openDirectory(path: string, options: { readonly links?: 'inside' | 'anywhere' } = {}): SourceTree {
  const found = statOf(path)
  if (!found) throw new UsageError(`${path}: no such directory`)
  if (!found.isDirectory()) throw new UsageError(`${path}: not a directory`)
  const root = resolve(path)
  const commit = headOf(root)
  const origin: TreeOrigin = { kind: 'directory', path, ...(commit === undefined ? {} : { commit }) }
  return treeOver(storeAt(root, options.links ?? 'inside'), origin)
}

/** HEAD of the work tree the directory is in; no git, no repository and no commit yet are all fine. */
function headOf(root: string): string | undefined {
  try {
    const [isInside, commit] = askGit(root, ['rev-parse', '--is-inside-work-tree', 'HEAD'])?.split('\n') ?? []
    return isInside === 'true' ? commit : undefined
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function storeAt(root: string, links: 'inside' | 'anywhere'): Store {
  return {
    entry: path => (links === 'inside' ? entryInside(join(root, path)) : entryAnywhere(join(root, path))),
    bytes: path => bytesOf(join(root, path)),
    names: path => namesIn(join(root, path)),
    inside: target => insideOf(root, target),
  }
}

function entryInside(path: string): StoredEntry | undefined {
  try {
    const found = lstatSync(path)
    return found.isSymbolicLink() ? { kind: 'link', target: readlinkSync(path) } : { kind: kindOf(found) }
  } catch (error) {
    return entryWithout(error)
  }
}

function entryAnywhere(path: string): StoredEntry | undefined {
  try {
    return { kind: kindOf(statSync(path)) }
  } catch (error) {
    return entryWithout(error)
  }
}

function kindOf(found: Stats): 'file' | 'directory' | 'other' {
  if (found.isFile()) return 'file'
  return found.isDirectory() ? 'directory' : 'other'
}

/** What may not be looked at is there all the same, and says so when it is read. */
function entryWithout(error: unknown): StoredEntry | undefined {
  const code = codeOf(error)
  if (code === 'ELOOP') return { kind: 'loop' }
  return code === 'EACCES' || code === 'EPERM' || code === 'EIO' ? { kind: 'other' } : undefined
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function bytesOf(path: string): StoredBytes {
  try {
    const { size } = statSync(path)
    if (size > maxFileSize) {
      return { refused: 'file-too-large', says: `${size} bytes; files above ${maxFileSize} are not read` }
    }
    return { bytes: readFileSync(path) }
  } catch (error) {
    return { refused: 'file-unreadable', says: `could not be read (${codeOf(error) || String(error)})` }
  }
}

function namesIn(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path)
      .filter(name => name !== '.git')
      .sort(compareBytes)
  } catch {
    return undefined
  }
}

/** An absolute link is taken where it names something in the directory, by either of the directory's names. */
function insideOf(root: string, target: string): string | undefined {
  for (const top of [root, realpathSync(root)]) {
    const path = relative(top, target)
    if (path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)) return path.split(sep).join('/')
  }
  return undefined
}
