import { resolve } from 'node:path'
import { UsageError } from './diagnostic.js'
import { askGit, commitOf, runGit } from './git.js'
import { compareBytes, maxFileSize, type Store, type StoredBytes, type StoredEntry, treeOver } from './store.js'
import type { SourceTree } from './tree.js'

/** Blobs up to this size come with the first read; larger ones are fetched one by one when asked for. */
const maxEagerSize = 1024 * 1024

/** Up to this much comes with the first read, so that a huge repository does not fill the memory. */
const maxEagerTotal = 256 * 1024 * 1024

const binaryName =
  /\.(?:png|jpe?g|gif|ico|svgz|webp|pdf|gz|tgz|bz2|xz|zst|zip|tar|jar|woff2?|ttf|eot|otf|mp4|so|exe|bin)$/i

interface Blob {
  readonly id: string
  readonly size: number
  readonly isLink: boolean
}

/**
 * A revision of a git repository (bare or not), read from its objects: no checkout, nothing written. In a directory below
 * the repository's top the tree is that directory's. Submodules are not there. No repository, no such revision, no such
 * directory in it and a missing git are UsageErrors.
 */
export function openRevision(repository: string, revision: string): SourceTree {
  const named = oneLine(`${repository}@${revision}`)
  const placed = runGit(repository, ['rev-parse', '--show-prefix'])
  if (!placed.succeeded) throw new UsageError(`${named}: ${placed.complaint}`)
  const prefix = placed.stdout.toString('utf8').replace(/\n$/, '')
  const commit = commitOf(repository, revision)
  if (commit === undefined) throw new UsageError(unknownRevision(repository, revision))
  const listing = runGit(repository, ['ls-tree', '-r', '-l', '-z', '--full-tree', `${commit}:${prefix}`])
  if (!listing.succeeded) {
    const what = prefix === '' ? listing.complaint : `the revision has no directory ${prefix.replace(/\/$/, '')}`
    throw new UsageError(`${named}: ${what}`)
  }
  const origin = { kind: 'revision', path: repository, revision, commit } as const
  return treeOver(storeOf(resolve(repository), blobsIn(listing.stdout)), origin)
}

/** The release tags (`vN.N.N`) of a repository in version order, with the commits they name. */
export function releaseTags(repository: string): readonly { readonly tag: string; readonly commit: string }[] {
  const format = '--format=%(refname:strip=2) %(objecttype) %(objectname) %(*objectname)'
  const listing = askGit(repository, ['for-each-ref', format, 'refs/tags'])
  if (listing === undefined) throw new UsageError(`${repository}: not a git repository`)
  const releases: { tag: string; commit: string }[] = []
  for (const line of listing.split('\n')) {
    const [tag = '', type, id = '', peeled = ''] = line.split(' ')
    if (/^v\d+\.\d+\.\d+$/.test(tag)) releases.push({ tag, commit: type === 'tag' ? peeled : id })
  }
  return releases.sort((left, right) => compareReleases(left.tag, right.tag))
}

/** The newest release from a branch that is called as kubespray calls those of its releases (`release-2.24`). */
export function newestReleaseOf(repository: string, branch: string): string | undefined {
  const minor = /^release-(\d+\.\d+)$/.exec(branch)?.[1]
  if (minor === undefined) return undefined
  return releaseTags(repository).findLast(({ tag }) => tag.startsWith(`v${minor}.`))?.tag
}

function compareReleases(left: string, right: string): number {
  const [a, b] = [left, right].map(tag => tag.slice(1).split('.').map(Number)) as [number[], number[]]
  for (let part = 0; part < 3; part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function unknownRevision(repository: string, revision: string): string {
  const tags = askGit(repository, ['for-each-ref', '--format=%(refname:strip=2)', 'refs/tags'])?.split('\n') ?? []
  const similar = similarTo(revision, tags)
  const hint = similar.length > 0 ? `; similar tags: ${similar.join(', ')}` : ''
  return oneLine(`${repository}@${revision}: the repository has no revision ${revision}${hint}`)
}

/** A message stays one line, whatever the names in it. */
function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, '?')
}

function similarTo(revision: string, tags: readonly string[]): readonly string[] {
  const wanted = revision.slice(0, 60).toLowerCase()
  return tags
    .filter(tag => tag !== '' && tag.length <= 60)
    .map(tag => ({
      tag,
      distance: tag.toLowerCase().startsWith(wanted) ? 0 : distanceBetween(wanted, tag.toLowerCase()),
    }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance || b.tag.localeCompare(a.tag, 'en', { numeric: true }))
    .slice(0, 3)
    .map(({ tag }) => tag)
}

/** How many letters have to be put in, taken out or exchanged to get from one text to the other. */
function distanceBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const exchanged = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(exchanged, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[right.length] as number
}

/** `ls-tree -r -l -z`: mode, type, id, size, a tab and the path, each entry ended by NUL. */
function blobsIn(listing: Buffer): ReadonlyMap<string, Blob> {
  const blobs = new Map<string, Blob>()
  for (const line of listing.toString('utf8').split('\0')) {
    const tab = line.indexOf('\t')
    const [mode, type, id, size] = line.slice(0, tab).split(/ +/)
    if (tab === -1 || type !== 'blob' || id === undefined) continue
    blobs.set(line.slice(tab + 1), { id, size: Number(size), isLink: mode === '120000' })
  }
  return blobs
}

function storeOf(repository: string, blobs: ReadonlyMap<string, Blob>): Store {
  const directories = directoriesOf(blobs.keys())
  const read = readerOf(repository, blobs)

  function entry(path: string): StoredEntry | undefined {
    const blob = blobs.get(path)
    if (!blob) return directories.has(path) ? { kind: 'directory' } : undefined
    if (!blob.isLink) return { kind: 'file' }
    const target = blob.size > 4096 ? undefined : read(path, blob)
    return target && 'bytes' in target
      ? { kind: 'link', target: Buffer.from(target.bytes).toString('utf8') }
      : undefined
  }

  function bytes(path: string): StoredBytes {
    const blob = blobs.get(path)
    return blob ? read(path, blob) : { refused: 'file-unreadable', says: 'the revision has no such file' }
  }

  return { entry, bytes, names: path => directories.get(path) ?? [], inside: () => undefined }
}

function directoriesOf(paths: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, Set<string>>([['', new Set()]])
  for (const path of paths) {
    for (let child = path; child !== ''; ) {
      const slash = child.lastIndexOf('/')
      const parent = slash === -1 ? '' : child.slice(0, slash)
      const known = names.get(parent)
      if (known) known.add(child.slice(slash + 1))
      else names.set(parent, new Set([child.slice(slash + 1)]))
      if (known) break
      child = parent
    }
  }
  return new Map([...names].map(([path, set]) => [path, [...set].sort(compareBytes)]))
}

type BlobReader = (path: string, blob: Blob) => StoredBytes

/** Reads blobs: the small ones all at once when the first is asked for, since starting git costs more than reading them. */
function readerOf(repository: string, blobs: ReadonlyMap<string, Blob>): BlobReader {
  let eager: ReadonlyMap<string, Buffer> | undefined
  return (path, blob) => {
    if (blob.size > maxFileSize) {
      return { refused: 'file-too-large', says: `${blob.size} bytes; files above ${maxFileSize} are not read` }
    }
    eager ??= blobsByIds(repository, eagerIds(blobs))
    const bytes = eager.get(blob.id) ?? blobsByIds(repository, [blob.id]).get(blob.id)
    return bytes ? { bytes } : { refused: 'file-unreadable', says: `git has no content for ${path} (${blob.id})` }
  }
}

function eagerIds(blobs: ReadonlyMap<string, Blob>): readonly string[] {
  const ids = new Set<string>()
  let total = 0
  for (const [path, { id, size }] of blobs) {
    if (size > maxEagerSize || binaryName.test(path) || ids.has(id)) continue
    total += size
    if (total > maxEagerTotal) break
    ids.add(id)
  }
  return [...ids]
}

/** `cat-file --batch`: a line `id type size`, the bytes, a newline; what is not there has a line without a size. */
function blobsByIds(repository: string, ids: readonly string[]): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>()
  if (ids.length === 0) return found
  const { stdout } = runGit(repository, ['cat-file', '--batch'], { input: `${ids.join('\n')}\n` })
  for (let at = 0; at < stdout.length; ) {
    const lineEnd = stdout.indexOf(0x0a, at)
    if (lineEnd === -1) break
    const [id, type, size] = stdout.toString('latin1', at, lineEnd).split(' ')
    at = lineEnd + 1
    if (id === undefined || type !== 'blob' || size === undefined) continue
    const end = at + Number(size)
    if (end <= stdout.length) found.set(id, stdout.subarray(at, end))
    at = end + 1
  }
  return found
}
