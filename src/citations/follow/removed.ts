import { type LastVersion, lastVersionWith } from '../../source/commits.js'
import { askGit } from '../../source/git.js'
import { openRevision } from '../../source/revision.js'
import { type FollowedPath, followPath, whereStatementsWent } from './paths.js'
import { openVersion, type Version } from './version.js'

/** When a path was last there, and where its content went. */
export interface Removed {
  /** The path it had; a citation may have been put under the new name of a role that never had the file under it. */
  readonly path: string
  /** The newest release that has it. */
  readonly lastRelease: string | undefined
  /** The release, or the last commit that has it, to follow what was cited from it. */
  readonly last: Version
  readonly followed: FollowedPath
}

/**
 * Says of a path that a version does not have until when it was there, and follows it from there. Undefined where the
 * version has it, where it was never there, and where there is no history to ask.
 */
export function removedPath(now: Version, path: string): Removed | undefined {
  const paths = known.get(now) ?? new Map<string, Removed | undefined>()
  known.set(now, paths)
  if (!paths.has(path)) paths.set(path, findRemoved(now, path))
  return paths.get(path)
}

/** Asking git for it and following what it held takes seconds. */
const known = new WeakMap<Version, Map<string, Removed | undefined>>()

function findRemoved(now: Version, path: string): Removed | undefined {
  const { origin } = now.tree
  const revision = origin.revision ?? origin.commit
  const cited = path.replace(/\/+$/, '')
  if (revision === undefined || now.tree.entryKind(cited) !== undefined) return undefined
  for (const each of spellingsOf(cited)) {
    const found = lastVersionWith(origin.path, revision, each)
    if (found !== undefined) return followedFrom(now, each, found)
  }
  return undefined
}

/** A path, then with the other sign between the words of its directories: roles were renamed that way. */
function spellingsOf(path: string): readonly string[] {
  const end = path.lastIndexOf('/') + 1
  const [directories, name] = [path.slice(0, end), path.slice(end)]
  return [...new Set([path, directories.replaceAll('_', '-') + name, directories.replaceAll('-', '_') + name])]
}

function followedFrom(now: Version, path: string, found: LastVersion): Removed {
  const last = lastVersion(now, path, found)
  return {
    path,
    lastRelease: found.release,
    last,
    followed: withPlace(last, now, path, followPath(last, now, path)),
  }
}

const opened = new WeakMap<Version, Map<string, Version>>()

/**
 * What a version has become is worked out once for all paths that were last there. Where the newest release with a path has the
 * same there as the last commit, it stands for that: one for all that was removed on the way to the next.
 */
function lastVersion(now: Version, path: string, found: LastVersion): Version {
  const { release } = found
  const objects = release && objectsAt(now.tree.origin.path, path, [found.commit, release])
  const commit = objects !== undefined && objects[0] === objects[1] ? (release ?? found.commit) : found.commit
  const versions = opened.get(now) ?? new Map<string, Version>()
  opened.set(now, versions)
  const before = versions.get(commit)
  if (before !== undefined) return before
  const made = openVersion(openRevision(now.tree.origin.path, commit), release ?? commit.slice(0, 10))
  versions.set(commit, made)
  return made
}

/** The blob or directory that each revision has at a path (from the directory `repository`); undefined where one has none. */
function objectsAt(repository: string, path: string, revisions: readonly string[]): readonly string[] | undefined {
  return askGit(repository, ['rev-parse', ...revisions.map(each => `${each}:./${path}`)])?.split('\n')
}

/** Where tasks of a file went into one that is not what it has become as a whole, the line of the first of them. */
function withPlace(last: Version, now: Version, path: string, followed: FollowedPath): FollowedPath {
  if (followed.state !== 'moved') return followed
  const place = whereStatementsWent(last, now, path)
  if (place?.path !== followed.path || place.line === undefined) return followed
  return { ...followed, line: place.line }
}
