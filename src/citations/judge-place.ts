import type { CitationState, CitedPlace, NearestPlace } from '../reports/citations.js'
import type { LinkedPlace } from './address-of-link.js'
import type { Edition } from './edition.js'
import { followLines } from './follow/follow-lines.js'
import { followPath, type NearestPath, nearestToPath } from './follow/paths.js'
import { removedPath } from './follow/removed.js'
import { fileLines, type Version } from './follow/version.js'
import { rangeLink } from './judge-marker.js'
import { fetchHint } from './look-up.js'

/** What became of a place that a link or a path names. */
export interface JudgedPlace {
  readonly state: CitationState
  readonly says: string
  readonly cited: CitedPlace | null
  readonly now: CitedPlace | null
  readonly diff: string | null
  readonly nearest: NearestPlace | null
}

/**
 * Judges a place of one edition. With `target` it is followed there; without, it only has to be there. A path that is gone is
 * followed from the last version that had it, so that the answer can say where its content went.
 */
export function judgePlace(place: LinkedPlace, old: Edition, target: Edition | undefined): JudgedPlace {
  const version = old.code?.version
  const now = (target ?? old).code?.version
  if (version === undefined || now === undefined) {
    return unchecked(`needs the role code of ${(version === undefined ? old : (target ?? old)).name}; ${fetchHint}`)
  }
  const absent = missingIn(version, place)
  if (absent !== undefined) return goneFrom(place, target ?? old, absent)
  const cited = placeIn(old, place)
  if (target === undefined || version === now) return told('true', `${old.name} has it`, cited, cited)
  return place.first === undefined
    ? followedPath(place, { old, target }, [version, now], cited)
    : followedLines(place, { old, target }, [version, now], cited)
}

/** A place that cannot be anywhere. */
export function nowhere(says: string): JudgedPlace {
  return told('gone', says, null, null)
}

/** A place that cannot be looked up. */
export function unchecked(says: string): JudgedPlace {
  return told('unchecked', says, null, null)
}

function told(
  state: CitationState,
  says: string,
  cited: CitedPlace | null,
  now: CitedPlace | null,
  more: { readonly diff?: string; readonly nearest?: NearestPlace | null } = {},
): JudgedPlace {
  return { state, says, cited, now, diff: more.diff ?? null, nearest: more.nearest ?? null }
}

/** Why a version does not have a place. */
function missingIn(version: Version, { path, first, last }: LinkedPlace): string | undefined {
  if (path === '') return undefined
  if (version.tree.entryKind(path) === undefined) return `${version.name} has no ${path}`
  if (first === undefined) return undefined
  const lines = fileLines(version, path)
  if (lines === undefined) return `${path} of ${version.name} is a directory, which has no lines`
  const end = last ?? first
  if (end < first) return `lines ${first} to ${end} of ${path} are no range: the first comes after the last`
  const beyond = first < 1 ? first : end
  return beyond >= 1 && beyond <= lines.length
    ? undefined
    : `${path} of ${version.name} has ${lines.length} lines; there is no line ${beyond}`
}

function goneFrom({ path, first }: LinkedPlace, edition: Edition, says: string): JudgedPlace {
  const removed = edition.code === undefined ? undefined : removedPath(edition.code.version, path)
  if (removed === undefined) {
    const version = edition.code?.version
    const isThere = version !== undefined && version.tree.entryKind(path.replace(/\/+$/, '')) !== undefined
    return told('gone', says, null, null, {
      nearest: version === undefined || isThere ? null : nearestOf(nearestToPath(version, path)),
    })
  }
  const { followed, last } = removed
  const until = `${says}; ${removed.path === path ? 'it' : removed.path} was there up to ${removed.lastRelease ?? last.name}`
  if (followed.state === 'gone') return told('gone', until, null, null, { nearest: nearestOf(followed.nearest) })
  if (followed.state !== 'moved') return told('gone', until, null, null)
  const line = followed.line ?? null
  const why = `another path, though what it held is there now (${followed.how})${first === undefined ? '' : ', but no version says which lines are meant'}`
  return told('gone', until, null, null, { nearest: { file: followed.path, line, why } })
}

function nearestOf(nearest: NearestPath | undefined): NearestPlace | null {
  return nearest === undefined ? null : { file: nearest.path, line: nearest.line ?? null, why: nearest.why }
}

interface Editions {
  readonly old: Edition
  readonly target: Edition
}

function followedPath(
  { path }: LinkedPlace,
  { target }: Editions,
  [old, now]: readonly [Version, Version],
  cited: CitedPlace,
): JudgedPlace {
  const followed = path === '' ? ({ state: 'same', path } as const) : followPath(old, now, path)
  switch (followed.state) {
    case 'same': {
      const says = followed.says === undefined ? '' : `; ${followed.says}`
      return told(
        'true',
        `${now.name} has it under the same path${says}`,
        cited,
        placeIn(target, { path: followed.path }),
      )
    }
    case 'moved':
      return told(
        'moved',
        `it is ${followed.path} now: ${followed.how}`,
        cited,
        placeIn(target, { path: followed.path }),
      )
    case 'gone':
      return told('gone', `${now.name} has no ${path}`, cited, null, { nearest: nearestOf(followed.nearest) })
    case 'absent':
      return told('gone', followed.says, null, null)
  }
}

function followedLines(
  { path, first = 1, last = first }: LinkedPlace,
  { target }: Editions,
  [old, now]: readonly [Version, Version],
  cited: CitedPlace,
): JudgedPlace {
  const followed = followLines(old, now, path, first, last)
  switch (followed.state) {
    case 'same': {
      const isThere = followed.path === path && followed.first === first && followed.last === last
      const says = isThere ? `${now.name} says the same there` : `the same stands elsewhere in ${now.name}`
      return told(isThere ? 'true' : 'moved', says, cited, placeIn(target, followed))
    }
    case 'changed':
      return told('changed', `${now.name} says something else`, cited, placeIn(target, followed), {
        diff: followed.diff,
      })
    case 'gone':
      return told('gone', `${now.name} has nothing of these lines`, cited, null, {
        nearest: nearestOf(followed.nearest),
      })
    case 'absent':
      return told('gone', followed.says, null, null)
  }
}

function placeIn(
  edition: Edition,
  {
    path,
    first,
    last,
  }: { readonly path: string; readonly first?: number | undefined; readonly last?: number | undefined },
): CitedPlace {
  const range = { file: path, first: first ?? 1, last: last ?? first ?? 1 }
  const link = rangeLink(edition, range)
  return {
    version: edition.name,
    file: path,
    first: first ?? null,
    last: first === undefined ? null : range.last,
    permalink: first === undefined ? (link?.replace(/#L1$/, '') ?? null) : link,
  }
}
