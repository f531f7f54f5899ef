import { shortHash } from '../addresses/address.js'
import { unifiedDiff } from '../audit/matching/lines.js'
import type { CitationState, CitedPlace, NearestPlace } from '../reports/citations.js'
import { placeText } from '../reports/place.js'
import { type Citation, citedText, parseCitation } from './citation.js'
import type { Edition } from './edition.js'
import { type Before, type Found, fetchHint, type LookedUp, lookUp } from './look-up.js'
import { codeSpan, fencedCode, htmlOf } from './markdown-text.js'
import type { Pin, PinnedPlace } from './pin.js'
import { type Context, type Fields, fieldsOf, renderTemplate, templateFor, type Wording } from './template.js'

/** A marker with its citation read, as the document has it. */
interface MarkedCitation {
  readonly citation: Citation
  readonly says: string
  /** What was written there before, undefined where nothing was. */
  readonly pin: Pin | undefined
  readonly body: string
  readonly context: Context
  /** The form a text takes between the markers. */
  readonly fit: (text: string) => string
}

/** What became of a marker's citation, and what would be written for it. */
export interface JudgedMarker {
  readonly state: CitationState
  readonly says: string
  readonly cited: CitedPlace | null
  readonly now: CitedPlace | null
  readonly diff: string | null
  readonly nearest: NearestPlace | null
  /** Absent where nothing can be written. */
  readonly writing?: { readonly says: string; readonly pin: Pin; readonly body: string }
}

/**
 * Judges a citation against an edition; `old` is the edition it was written from, or that its author read, where that is at
 * hand. Author and program are told apart by the pin: a marker that cites or words something else is to be written anew, a
 * text that is neither what was written nor what would be is somebody's and counts as changed.
 */
export function judgeMarker(
  marked: MarkedCitation,
  edition: Edition,
  old: Edition | undefined,
  wording: Wording,
): JudgedMarker {
  const { citation, says, body, context } = marked
  const template = templateFor(citation.kind, context, citation.template, wording)
  if (typeof template !== 'string') return notFound({ kind: 'invalid', says: template.invalid }, null)
  const wordingHash = shortHash([template, ...[...wording.words].flat()].join('\n'))
  const pin = marked.pin?.says === shortHash(citedText(citation)) ? marked.pin : undefined
  const before: Before = {
    address: pin?.address,
    place: pin?.place ?? null,
    content: pin?.content,
    version: pin?.version ?? undefined,
    edition: old,
  }
  const looked = lookUp(citation, edition, before)
  const cited = pin === undefined ? null : citedPlace(pin.version ?? '-', pin.place, old)
  if (looked.kind !== 'found') return notFound(looked, cited)
  const now = citedPlace(edition.name, looked.place, edition)
  const rendered = render(template, looked, edition, context, wording)
  if (typeof rendered !== 'string') return { ...notFound(rendered, cited), now }
  const text = marked.fit(rendered)
  const newSays = looked.says?.(says) ?? says
  const hashes = {
    says: citedHash(newSays),
    wording: wordingHash,
    content: shortHash(looked.content),
    shown: shortHash(withoutPlaces(template, looked, context, wording)),
    body: shortHash(text),
  }
  const told = (state: CitationState, why: string, diff: string | null = null): JudgedMarker => ({
    state,
    says: looked.how === undefined ? why : `${why} (${looked.how})`,
    cited,
    now,
    diff,
    nearest: null,
    // What is true is written anew only for another version.
    ...(state === 'true' && pin?.version === edition.version
      ? {}
      : {
          writing: {
            says: newSays,
            body: text,
            pin: { version: edition.version, place: looked.place, ...hashes, address: looked.address },
          },
        }),
  })
  const changed = (why: string): JudgedMarker => told('changed', why, diffOf(body, text, cited, edition.name))
  const isForeign = shortHash(body) !== marked.pin?.body && body !== text
  if (pin === undefined) {
    // Lines that its author read in another version.
    if (looked.isSame === false) return changed(`${edition.name} says something else than ${old?.name}`)
    if (body.trim() === '') return told('unwritten', 'nothing is written here yet')
    if (isForeign) return changed('what is written here does not come from this program')
    return told('unwritten', 'the marker cites something else than what is written here')
  }
  const isReworded = pin.wording !== wordingHash
  const shownThen = isReworded
    ? shownAsWordedNow(citation, template, context, wording, pin, before, edition)
    : pin.shown
  const difference = differenceFrom(pin, citation, template, looked, { ...hashes, shownThen })
  if (difference !== undefined) return changed(`${edition.name} ${difference}`)
  if (isForeign) return changed('the text between the markers was changed by hand')
  if (isReworded && body !== text) return told('unwritten', 'the document words it otherwise than it is written here')
  if (newSays !== says && isSamePlace(citation, pin.place, looked.place)) {
    return told('moved', 'it stands at the same place under another name')
  }
  if (!isSamePlace(citation, pin.place, looked.place)) {
    return told(
      'moved',
      looked.place === null ? 'nothing decides it any more' : `it stands at ${rangeText(looked.place)} now`,
    )
  }
  return told('true', `${edition.name} says the same at the same place`)
}

/** Whether all that is cited counts, shown or not. */
function hasWholeContent({ kind }: Citation): boolean {
  return kind === 'task' || kind === 'deciding' || kind === 'lines'
}

/** Fields that say where something stands, not what it says. */
const placeNames = ['file', 'line', 'last', 'place', 'permalink', 'link', 'version', 'release', 'commit'] as const

/** What a text shows besides places and versions: the same as long as nothing of it has to change but those. */
function withoutPlaces(template: string, looked: Found, context: Context, wording: Wording): string {
  const blank = Object.fromEntries(placeNames.map(name => [name, '']))
  const text = renderTemplate(template, { ...looked.fields, ...excerptField(looked, context), ...blank }, wording)
  return typeof text === 'string' ? text : text.invalid
}

/** In what an edition differs from what was written, in words; undefined where in nothing that counts. */
function differenceFrom(
  pin: Pin,
  citation: Citation,
  template: string,
  { isSame }: Found,
  now: { readonly content: string; readonly shown: string; readonly shownThen: string | undefined },
): string | undefined {
  const isSameContent = isSame ?? pin.content === now.content
  const isSameShown = now.shownThen === undefined ? undefined : now.shownThen === now.shown
  if (hasWholeContent(citation)) {
    if (!isSameContent) return 'says something else'
    return isSameShown === false ? 'says it in other words' : undefined
  }
  // Of verdicts, values and conditions that counts which the text shows; of one that shows none of it, all.
  const showsIt = [...fieldsOf(template)].some(name => !placeNames.some(each => each === name))
  if (showsIt && isSameShown !== undefined) return isSameShown ? undefined : 'says something else'
  if (isSameContent) return undefined
  return showsIt
    ? `says something else, and what ${pin.version ?? 'it'} said in these words is not at hand`
    : 'says something else'
}

/**
 * What was written, as the wording of now shows it: the edition of then knows. Undefined where that is not at hand.
 */
function shownAsWordedNow(
  citation: Citation,
  template: string,
  context: Context,
  wording: Wording,
  pin: Pin,
  before: Before,
  edition: Edition,
): string | undefined {
  const old = pin.version !== null && pin.version === edition.version ? edition : before.edition
  const then = old && lookUp(citation, old, { ...before, edition: undefined })
  return then?.kind === 'found' ? shortHash(withoutPlaces(template, then, context, wording)) : undefined
}

/** The hash of what a marker cites. */
function citedHash(says: string): string {
  const citation = parseCitation(says)
  return shortHash('invalid' in citation ? says : citedText(citation))
}

function notFound(looked: Exclude<LookedUp, Found>, cited: CitedPlace | null): JudgedMarker {
  const nearest = looked.kind === 'gone' ? (looked.nearest ?? null) : null
  return { state: looked.kind, says: looked.says, cited, now: null, diff: null, nearest }
}

/** Of a task its first line says where it is: how many follow is what it says, and a snapshot does not know. */
function isSamePlace({ kind }: Citation, old: PinnedPlace | null, now: PinnedPlace | null): boolean {
  return old?.file === now?.file && old?.first === now?.first && (kind !== 'lines' || old?.last === now?.last)
}

/** `file:12` or `file:12-20`. */
function rangeText({ file, first, last }: PinnedPlace): string {
  return last > first ? `${placeText({ file, line: first })}-${last}` : placeText({ file, line: first })
}

function citedPlace(version: string, place: PinnedPlace | null, edition: Edition | undefined): CitedPlace | null {
  return place && { version, ...place, permalink: edition === undefined ? null : rangeLink(edition, place) }
}

/** The address of lines on the web; null where no public commit holds them. */
export function rangeLink({ permalink }: Edition, { file, first, last }: PinnedPlace): string | null {
  const link = permalink({ file, line: first })
  return link === null || last <= first ? link : `${link}-L${last}`
}

function diffOf(body: string, rendered: string, cited: CitedPlace | null, now: string): string | null {
  if (body === rendered) return null
  return unifiedDiff(
    { label: cited?.version ?? 'as written', first: 1, lines: body.split('\n') },
    { label: now, first: 1, lines: rendered.split('\n') },
  )
}

function render(
  template: string,
  looked: Found,
  edition: Edition,
  context: Context,
  wording: Wording,
): string | Exclude<LookedUp, Found> {
  const { place, excerpt } = looked
  const shows = fieldsOf(template)
  if (edition.code === undefined) {
    if (excerpt === undefined && place !== null && shows.has('excerpt')) {
      return { kind: 'unchecked', says: `the lines it shows need the role code of ${edition.name}; ${fetchHint}` }
    }
    if (looked.fields.condition != null && shows.has('condition')) {
      return { kind: 'unchecked', says: `the condition it shows needs the role code of ${edition.name}; ${fetchHint}` }
    }
  }
  const fields: Fields = {
    ...looked.fields,
    ...placeFields(place, edition),
    version: edition.source.release ?? edition.source.commit?.slice(0, 10) ?? null,
    release: edition.source.release,
    commit: edition.source.commit,
    ...excerptField(looked, context),
  }
  const text = renderTemplate(template, fields, wording)
  if (typeof text !== 'string') return { kind: 'invalid', says: text.invalid }
  return context === 'html' ? htmlOf(text.trim()) : text.trim()
}

function excerptField({ excerpt, place }: Found, context: Context): Fields {
  if (excerpt === undefined) return { excerpt: null }
  return { excerpt: context === 'block' ? fencedCode(excerpt, languageOf(place)) : codeSpan(excerpt) }
}

/** What a fence calls the language of a file. */
function languageOf(place: PinnedPlace | null): string {
  const ending = /\.(\w+)$/.exec(place?.file ?? '')?.[1] ?? ''
  const languages: Readonly<Record<string, string>> = { yml: 'yaml', yaml: 'yaml', j2: 'jinja', sh: 'sh', py: 'python' }
  return languages[ending] ?? ''
}

function placeFields(place: PinnedPlace | null, edition: Edition): Fields {
  if (place === null) return { file: null, line: null, last: null, place: null, permalink: null, link: null }
  const permalink = rangeLink(edition, place)
  const shown = rangeText(place)
  return {
    file: place.file,
    line: String(place.first),
    last: String(place.last),
    place: shown,
    permalink,
    link: permalink === null ? codeSpan(shown) : `[${codeSpan(shown)}](${permalink})`,
  }
}
