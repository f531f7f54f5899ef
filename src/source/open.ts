import { existsSync, statSync } from 'node:fs'
import { clonePath, hasClone } from './clone.js'
import { UsageError } from './diagnostic.js'
import { openDirectory } from './directory.js'
import { commitOf } from './git.js'
import { openRevision } from './revision.js'
import type { SourceTree } from './tree.js'

/** Whether a SOURCE names a release (`v2.31.0`) rather than a place. */
export function isRelease(source: string): boolean {
  return /^v\d+\.\d+\.\d+$/.test(source)
}

/**
 * The code a SOURCE names: `v2.31.0` (from the local clone), `DIR`, `DIR@REV`. Undefined for a release the local clone
 * does not have, or without a clone: a recorded snapshot may answer then. A directory called like a release is `./v2.31.0`.
 * An existing directory of the whole text goes before a split at `@`, the last `@` with a directory before it goes first.
 * What names nothing is a UsageError.
 */
export function openSource(source: string): SourceTree | undefined {
  if (isRelease(source)) return openRelease(source)
  if (isDirectory(source)) return openDirectory(source)
  for (let at = source.lastIndexOf('@'); at > 0; at = source.lastIndexOf('@', at - 1)) {
    const directory = source.slice(0, at)
    if (!isDirectory(directory)) continue
    const revision = source.slice(at + 1)
    if (revision === '') throw new UsageError(`${source}: a revision is missing after the @`)
    return openRevision(directory, revision)
  }
  const what = existsSync(source) ? 'it is a file' : 'no such directory'
  throw new UsageError(`${source}: ${what}; expected a release (v2.31.0), a directory or DIR@REV`)
}

function openRelease(release: string): SourceTree | undefined {
  if (!hasClone() || commitOf(clonePath(), `refs/tags/${release}`) === undefined) return undefined
  return openRevision(clonePath(), release)
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Whether the first of several arguments is a SOURCE rather than something else. */
export function looksLikeSource(text: string): boolean {
  return isRelease(text) || text.includes('/') || text.includes('@') || isDirectory(text)
}
