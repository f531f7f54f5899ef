import type { Span } from '../source/text.js'
import { isReference, linkTo, placeOfLink } from './address-of-link.js'
import type { CitedDocument } from './document/document.js'
import type { Edition, Editions } from './edition.js'
import { removedPath } from './follow/removed.js'
import { type JudgedPlace, judgePlace, nowhere, unchecked } from './judge-place.js'
import { notAtHand } from './look-up.js'
import type { Settings } from './settings.js'

/** A document's place among files, for paths in it that name files of its own. */
export interface Surroundings {
  /** Whether a path of the text names a file of the author's own. */
  readonly isOwn: (path: string) => boolean
  /** The kubespray checkout it stands in, if it does: it is about that, and its relative links lead into it. */
  readonly checkout: Checkout | undefined
}

export interface Checkout {
  readonly edition: () => Edition
  /** The document's path in it. */
  readonly path: string
}

/** A link or path of the text with what became of it. */
export interface JudgedText {
  readonly at: Span
  readonly kind: 'link' | 'path'
  readonly citation: string
  readonly judged: JudgedPlace
  readonly replacement: string | null
}

/** The links of a document that lead into kubespray, judged. */
export function linkedPlaces(
  { links }: CitedDocument,
  editions: Editions,
  { checkout }: Surroundings,
): readonly JudgedText[] {
  return links.flatMap(({ url, at, inCode }): readonly JudgedText[] => {
    const place = placeOfLink(url)
    if (place?.ref !== undefined) {
      const edition = editions.named(place.ref)
      const judgedPlace = !isReference(place.ref)
        ? nowhere(`${place.ref} is no tag, branch or commit; a link takes nothing else`)
        : edition === undefined
          ? unchecked(notAtHand(place.ref))
          : judgePlace(place, edition, editions.target)
      // A branch goes on by itself, and what stands in code is shown, not followed.
      const isPinned = !inCode && edition !== undefined && isPin(place.ref, edition)
      const replacement = isPinned ? newLink(url, judgedPlace, editions) : null
      return [{ at, kind: 'link', citation: url, judged: judgedPlace, replacement }]
    }
    const path = checkout === undefined ? undefined : relativePath(url, checkout.path)
    if (checkout === undefined || path === undefined) return []
    const named = { ref: undefined, path, first: undefined, last: undefined }
    const judgedPlace = judgePlace(named, checkout.edition(), editions.target)
    return [{ at, kind: 'link', citation: url, judged: judgedPlace, replacement: null }]
  })
}

/** Whether a link names a tag or commit, which is what it was when it was written; a branch is not. */
function isPin(ref: string, { source: { release, commit } }: Edition): boolean {
  return ref === release || (/^[0-9a-f]{7,40}$/i.test(ref) && commit?.startsWith(ref.toLowerCase()) === true)
}

/** A link to the same in the version everything is checked against. */
function newLink(url: string, { state, now }: JudgedPlace, { target }: Editions): string | null {
  if (target === undefined || target.version === null || now === null) return null
  if (state !== 'true' && state !== 'moved' && state !== 'changed') return null
  const lines = now.first === null ? {} : { first: now.first, last: now.last ?? now.first }
  const link = linkTo(url, { ref: target.version, path: now.file, ...lines })
  return link === url ? null : link
}

/** What a relative link names, seen from a file of a checkout; undefined for an address elsewhere or a place in the page. */
function relativePath(url: string, from: string): string | undefined {
  const [path = ''] = url.split(/[?#]/)
  if (path === '' || /^[a-z][a-z0-9+.-]*:/i.test(url) || url.startsWith('//')) return undefined
  const base = path.startsWith('/') ? [] : from.split('/').slice(0, -1)
  const steps: string[] = [...base]
  for (const step of path.split('/')) {
    if (step === '..' && steps.pop() === undefined) return undefined
    if (step !== '' && step !== '.' && step !== '..') steps.push(step)
  }
  return steps.map(decodeStep).join('/')
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Directories of kubespray. */
const tellingPaths = /^(?:roles|playbooks|extra_playbooks|contrib|inventory\/sample)\//

/**
 * Whether a path that is not there is one of kubespray's. Others have `roles/` and `playbooks/`, too: it is, where kubespray has
 * or had the role or directory it leads into. Where no history can be asked, it is taken for one.
 */
function isKubesprays(path: string, editions: readonly (Edition | undefined)[]): boolean {
  const parts = path.split('/')
  const into = parts.slice(0, path.startsWith('inventory/sample/') ? 2 : Math.min(2, parts.length - 1)).join('/')
  return editions.some(each => {
    const version = each?.code?.version
    if (version === undefined) return each !== undefined
    if (into.includes('/') && version.tree.entryKind(into) !== undefined) return true
    const { revision, commit } = version.tree.origin
    return (revision ?? commit) === undefined || removedPath(version, path) !== undefined
  })
}

/** The paths in a document's text that are kubespray's, judged. */
export function writtenPaths(
  { paths, markers }: CitedDocument,
  settings: Settings,
  editions: Editions,
  { isOwn, checkout }: Surroundings,
): readonly JudgedText[] {
  // A text with markers, or that stands in the tree, is about kubespray: there such a path means nothing else.
  const isAbout = settings.source !== undefined || markers.length > 0 || checkout !== undefined
  return paths.flatMap(({ path, under, first, last, at, placeholder }): readonly JudgedText[] => {
    if (placeholder || isOwn(under + path)) return []
    const written = settings.source === undefined ? checkout?.edition() : editions.named(settings.source)
    const edition = written ?? editions.target ?? editions.newest()
    const target = written === undefined ? undefined : editions.target
    const citation = pathText({ file: path, first: first ?? null, last: last ?? null })
    if (written === undefined && settings.source !== undefined) {
      if (!tellingPaths.test(path)) return []
      return [{ at, kind: 'path', citation, judged: unchecked(notAtHand(settings.source)), replacement: null }]
    }
    const place = { ref: undefined, path: path.replace(/\/+$/, ''), first, last }
    const isThereIn = (each: Edition): boolean => each.code?.version.tree.entryKind(place.path) !== undefined
    const isThere = isThereIn(edition) || (target !== undefined && isThereIn(target))
    if (!isThere && !tellingPaths.test(path)) return []
    const isMeant = isThere || isAbout || /\w/.test(under) || isKubesprays(place.path, [edition, target])
    if (!isMeant) return []
    // What only the target has, its author has put right already.
    const isNew = target !== undefined && isThereIn(target) && !isThereIn(edition)
    const judgedPlace = isNew ? judgePlace(place, target, undefined) : judgePlace(place, edition, target)
    const { now, state } = judgedPlace
    const text = now === null ? null : pathText(now)
    return [
      {
        at,
        kind: 'path',
        citation,
        judged: judgedPlace,
        replacement: state === 'moved' || state === 'changed' ? text : null,
      },
    ]
  })
}

function pathText({
  file,
  first,
  last,
}: {
  readonly file: string
  readonly first: number | null
  readonly last: number | null
}): string {
  return first === null ? file : `${file}:${first}${last === null || last === first ? '' : `-${last}`}`
}
