import type { CitationState, ReportedCitation, ReportedDocument } from '../reports/citations.js'
import { lineOf, positionOf, type SourceFile, type Span } from '../source/text.js'
import { isReference, linkTo, placeOfLink } from './address-of-link.js'
import { citedText, parseCitation } from './citation.js'
import { type CitedDocument, readDocument } from './document/document.js'
import type { Marker } from './document/markers.js'
import { type Edit, fitBody, writeBodies } from './document/write.js'
import type { Edition } from './edition.js'
import { removedPath } from './follow/removed.js'
import { type JudgedMarker, judgeMarker } from './judge-marker.js'
import { type JudgedPlace, judgePlace, nowhere, unchecked } from './judge-place.js'
import { fetchHint, notAtHand } from './look-up.js'
import { hashOfText, parsePin, pinText } from './pin.js'
import { readSettings, type Settings } from './settings.js'
import type { Wording } from './template.js'

/** The versions a document may name; each is opened when it is first asked for. */
export interface Editions {
  /** The one everything is checked against; undefined: each citation has its own. */
  readonly target: Edition | undefined
  /** The newest there is. */
  readonly newest: () => Edition
  /** A SOURCE, or a tag, commit or branch; undefined where it is not at hand. */
  readonly named: (name: string) => Edition | undefined
  /** Which of two versions is the newer one; the first where that cannot be told. */
  readonly newer: (first: string, second: string) => string
}

/** What is to be written. */
export interface Writing {
  /** Write what only moved or was not written yet. */
  readonly write: boolean
  /** Write also what changed. */
  readonly accept: boolean
  /** Put right plain links that only moved. */
  readonly links: boolean
}

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

/**
 * Checks every citation of a document, and writes what `writing` allows. Gives the new text: the very same where nothing is to
 * be written, or a marker cannot be read.
 */
export function citeDocument(
  file: SourceFile,
  editions: Editions,
  wording: Wording,
  surroundings: Surroundings,
  writing: Writing,
): { readonly document: ReportedDocument; readonly text: string } {
  const read = readDocument(file)
  const settings = readSettings(read.settings, wording)
  const problems = [...read.problems, ...settings.problems].map(({ says, at }) => ({ line: lineOf(at), says }))
  const mayWrite = writing.write && problems.length === 0
  const markers = read.markers.map(marker => ({ marker, judged: judged(marker, settings, editions, surroundings) }))
  const places = [
    ...linkedPlaces(read, editions, surroundings),
    ...writtenPaths(read, settings, editions, surroundings),
  ]
  const edits = new Map<Marker, Edit>()
  for (const {
    marker,
    judged: { state, writing: text },
  } of markers) {
    if (mayWrite && text !== undefined && isToWrite(state, writing)) {
      edits.set(marker, { body: text.body, state: pinText(text.pin), says: text.says })
    }
  }
  const { text: withBodies, refused } = writeBodies(read, edits)
  const whyRefused = new Map(refused.map(({ marker, says }) => [marker, says]))
  const ofMarkers = markers.map(({ marker, judged: { writing: _, ...rest } }): ReportedCitation => {
    const edit = edits.get(marker)
    const why = whyRefused.get(marker)
    const written = edit !== undefined && why === undefined && !isWritten(marker, edit)
    const says = why === undefined ? rest.says : `${rest.says}; it cannot be written: ${why}`
    return { ...placed(marker.open), kind: 'marker', citation: marker.says, replacement: null, ...rest, says, written }
  })
  const isPutRight = ({ kind, judged: { state }, replacement }: JudgedText): boolean =>
    mayWrite && writing.links && kind === 'link' && replacement !== null && (state === 'true' || state === 'moved')
  const ofPlaces = places.map((each): ReportedCitation => {
    const { at, kind, citation, judged: place, replacement } = each
    return { ...placed(at), kind, citation, replacement, ...place, written: isPutRight(each) }
  })
  const citations = [...ofMarkers, ...ofPlaces].toSorted(
    (left, right) => left.line - right.line || left.column - right.column,
  )
  // Paths are followed from the version that the document names: it stays until they are put right.
  const isMoved = ofPlaces.every(
    ({ kind, state, cited }) => kind !== 'path' || state === 'true' || (state === 'gone' && cited?.first == null),
  )
  const target = mayWrite && isMoved ? editions.target : undefined
  const text = withPlaces({ ...file, text: withBodies }, read, places.filter(isPutRight), target)
  return { document: { path: file.path, citations, problems, written: text !== file.text }, text }
}

/** A document, its bodies written, with links put right and the version its settings name; both stand in the same order as before. */
function withPlaces(
  file: SourceFile,
  before: CitedDocument,
  replaced: readonly JudgedText[],
  target: Edition | undefined,
): string {
  const version = target?.version ?? undefined
  if (replaced.length === 0 && version === undefined) return file.text
  const now = readDocument(file)
  const links = before.links.flatMap(({ at }, index) => {
    const replacement = replaced.find(each => each.at === at)?.replacement
    const link = now.links[index]
    return replacement == null || link === undefined ? [] : [{ at: link.at, text: replacement }]
  })
  const sources = now.settings.flatMap(({ says, at }) => {
    const [, value] = /^source\s+(\S+)/.exec(says) ?? []
    // A branch goes on by itself.
    if (version === undefined || value === undefined || value === version || value === target?.name) return []
    const start = at.start + file.text.slice(at.start, at.end).lastIndexOf(value)
    return [{ at: { file, start, end: start + value.length }, text: version }]
  })
  let text = file.text
  for (const { at, text: put } of [...links, ...sources].toSorted((left, right) => right.at.start - left.at.start)) {
    text = text.slice(0, at.start) + put + text.slice(at.end)
  }
  return text
}

function placed({ file, start }: Span): { readonly line: number; readonly column: number } {
  const { line, column } = positionOf(file, start)
  return { line, column }
}

function isToWrite(state: CitationState, { accept }: Writing): boolean {
  return state === 'true' || state === 'moved' || state === 'unwritten' || (state === 'changed' && accept)
}

/** Whether a marker is already what would be written. */
function isWritten(marker: Marker, edit: Edit): boolean {
  return marker.body === edit.body && marker.state === edit.state && marker.says === edit.says
}

function judged(marker: Marker, settings: Settings, editions: Editions, { checkout }: Surroundings): JudgedMarker {
  const nothing = { cited: null, now: null, diff: null, nearest: null }
  const citation = parseCitation(marker.says)
  if ('invalid' in citation) return { state: 'invalid', says: citation.invalid, ...nothing }
  const pin = parsePin(marker.state)
  // A marker that names its version means that one, whatever the others move to.
  const own = newerOf(editions, settings.source, pin?.version ?? undefined)
  const named = citation.source ?? (editions.target === undefined ? own : undefined)
  const edition =
    named === undefined ? (editions.target ?? checkout?.edition() ?? editions.newest()) : editions.named(named)
  if (edition === undefined) return { state: 'unchecked', says: notAtHand(named ?? 'its version'), ...nothing }
  // What is not written yet, its author read in the version the document is about.
  const before = pin?.says === hashOfText(citedText(citation)) ? (pin.version ?? undefined) : (citation.source ?? own)
  const old = before === undefined ? undefined : before === edition.version ? edition : editions.named(before)
  if (old === undefined && before !== undefined && pin === undefined && citation.kind === 'lines') {
    return { state: 'unchecked', says: `${before}, whose lines it names, is not at hand; ${fetchHint}`, ...nothing }
  }
  const { says, body, context } = marker
  // As it will be read back; what cannot be put there is refused when it is written.
  const fit = (text: string): string => {
    const fitted = fitBody(marker, text)
    return 'body' in fitted ? fitted.body : text
  }
  return judgeMarker({ citation, says, pin, body, context, fit }, edition, old, settings.wording)
}

/** The newer of two versions: a text moves on piece by piece. */
function newerOf({ newer }: Editions, document: string | undefined, written: string | undefined): string | undefined {
  return document === undefined || written === undefined ? (document ?? written) : newer(document, written)
}

/** A link or path of the text with what became of it. */
interface JudgedText {
  readonly at: Span
  readonly kind: 'link' | 'path'
  readonly citation: string
  readonly judged: JudgedPlace
  readonly replacement: string | null
}

function linkedPlaces({ links }: CitedDocument, editions: Editions, { checkout }: Surroundings): readonly JudgedText[] {
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

function writtenPaths(
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
