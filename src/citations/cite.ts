import { shortHash } from '../addresses/address.js'
import type { CitationState, ReportedCitation, ReportedDocument } from '../reports/citations.js'
import { lineOf, positionOf, type SourceFile, type Span } from '../source/text.js'
import { citedText, parseCitation } from './citation.js'
import { type CitedDocument, readDocument } from './document/document.js'
import type { Marker } from './document/markers.js'
import { type Edit, fitBody, writeBodies } from './document/write.js'
import type { Edition, Editions } from './edition.js'
import { type JudgedMarker, judgeMarker } from './judge-marker.js'
import { fetchHint, notAtHand } from './look-up.js'
import { parsePin, pinText } from './pin.js'
import { readSettings, type Settings } from './settings.js'
import { plainWording, type Wording } from './template.js'
import { type JudgedText, linkedPlaces, type Surroundings, writtenPaths } from './text-places.js'

/** What is to be written. */
export interface Writing {
  /** Write what only moved or was not written yet. */
  readonly write: boolean
  /** Write also what changed. */
  readonly accept: boolean
  /** Put right plain links that only moved. */
  readonly links: boolean
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
  const sources = readSettings(now.settings, plainWording).sources.flatMap(({ setting: { at }, value }) => {
    // A branch goes on by itself.
    if (version === undefined || value === version || value === target?.name) return []
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
  const before = pin?.says === shortHash(citedText(citation)) ? (pin.version ?? undefined) : (citation.source ?? own)
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
