import { type CitedDocument, readDocument } from './document.js'
import { isOneParagraph } from './markdown-syntax.js'
import { type Marker, oneLine, trimBlankLines } from './markers.js'

/** What is to stand in and on a marker. */
export interface Edit {
  readonly body: string
  readonly state: string
  /** What the opening says from now on; as it is if left out. */
  readonly says?: string
}

/** A document with new bodies. */
export interface Written {
  readonly text: string
  /** What could not be put in, and why; these markers are as they were. */
  readonly refused: readonly { readonly marker: Marker; readonly says: string }[]
}

/** A body in the form in which it can be written and is read back, or why there is none. */
export type Fitted = { readonly body: string } | { readonly refused: string }

/** Enough to tell the few bad ones of many edits apart. */
const mostReadings = 64

/**
 * The form a body takes between these markers, the one in which `Marker.body` will give it back: LF and no blank lines around it;
 * between markers in a line, in a cell or in a line of HTML on one line, if it is one paragraph. Refused is what cannot stand there.
 */
export function fitBody(marker: Marker, body: string): Fitted {
  const lines = body.split(/\r\n|\r|\n/)
  const { context, layout } = marker
  if (/(?:<!--|\{\s*\/\*)\s*\/?whofixes(?:\s|-->|\*\/|$)/.test(body)) {
    return { refused: 'it holds a marker itself' }
  }
  if (context === 'block' || (context === 'html' && !layout.isOneLine)) {
    const trimmed = trimBlankLines(lines)
    if (context === 'html' && trimmed.includes('')) {
      return { refused: 'a blank line would end the HTML around it: put blank lines before and behind the markers' }
    }
    return { body: trimmed.join('\n') }
  }
  const whole = trimBlankLines(lines).join('\n')
  if (whole.includes('\n') && !isOneParagraph(whole)) {
    return { refused: 'it is more than one paragraph: put the markers on lines of their own, with blank lines around' }
  }
  const folded = oneLine(whole)
  const hasEscapedPipe = [...folded.matchAll(/(\\+)\|/g)].some(([, run = '']) => run.length % 2 === 1)
  if (context === 'cell' && hasEscapedPipe) return { refused: 'a cell of a table cannot hold a backslash before "|"' }
  return { body: folded }
}

/**
 * Puts bodies and states (and what openings say) into a document. Nothing else changes, not a byte, and nothing outside of the bodies is read
 * otherwise than before: the new text is read again, and what would swallow or change its surroundings is refused. A body that is there
 * already stays as its author laid it out. A block has a blank line on both sides, as other readers of Markdown than CommonMark's want it.
 */
export function writeBodies(document: CitedDocument, edits: ReadonlyMap<Marker, Edit>): Written {
  const refused: { readonly marker: Marker; readonly says: string }[] = []
  const wanted = new Map<Marker, Edit>()
  for (const marker of document.markers) {
    const edit = edits.get(marker)
    if (edit === undefined) continue
    const says = document.problems.length > 0 ? 'the document has problems: solve them first' : refusalOf(marker, edit)
    const fitted = says === undefined ? fitBody(marker, edit.body) : { refused: says }
    if ('refused' in fitted) refused.push({ marker, says: fitted.refused })
    else wanted.set(marker, { ...edit, body: fitted.body })
  }

  const accepted = new Map<Marker, Edit>()
  let readings = 0
  const settle = (some: readonly (readonly [Marker, Edit])[]): void => {
    if (some.length === 0) return
    const all = new Map([...accepted, ...some])
    if (readings++ < mostReadings && isSound(document, all)) {
      for (const [marker, edit] of some) accepted.set(marker, edit)
    } else if (some.length === 1 || readings > mostReadings) {
      const says =
        readings > mostReadings
          ? 'too many others could not be written: correct those first'
          : 'what stands around it would be read otherwise: an unclosed code fence, HTML, emphasis, link or bracket, or a backslash at its end'
      for (const [marker] of some) refused.push({ marker, says })
    } else {
      const half = some.length >> 1
      settle(some.slice(0, half))
      settle(some.slice(half))
    }
  }
  settle([...wanted])
  return { text: textWith(document, accepted), refused }
}

function refusalOf({ layout }: Marker, { state, says }: Edit): string | undefined {
  const end = layout.comment === 'mdx' ? '*/' : '--'
  for (const words of [state, says ?? '']) {
    if (oneLine(words).includes(end)) return `the marker cannot say ${oneLine(words)}: "${end}" would end it`
  }
  return says !== undefined && oneLine(says) === '' ? 'the marker would say nothing' : undefined
}

function textWith({ file, markers }: CitedDocument, edits: ReadonlyMap<Marker, Edit>): string {
  const pieces: string[] = []
  let written = 0
  const put = (start: number, end: number, text: string): void => {
    pieces.push(file.text.slice(written, start), text)
    written = end
  }
  for (const marker of markers) {
    const edit = edits.get(marker)
    if (edit === undefined) continue
    const { saysAt, stateAt } = marker.layout
    if (edit.says !== undefined && oneLine(edit.says) !== marker.says) {
      put(saysAt.start, saysAt.end, inContext(marker, oneLine(edit.says)))
    }
    if (edit.body !== marker.body) {
      const region = file.text.slice(marker.open.end, marker.close.start)
      put(marker.open.end, marker.close.start, renderBody(marker, edit.body, region))
    }
    const state = oneLine(edit.state)
    if (state !== marker.state) {
      const blanks = marker.state === '' ? ' ' : /^[ \t]*/.exec(file.text.slice(stateAt.start, stateAt.end))?.[0] || ' '
      put(stateAt.start, stateAt.end, state === '' ? '' : `${blanks}${inContext(marker, state)}`)
    }
  }
  pieces.push(file.text.slice(written))
  return pieces.join('')
}

function renderBody(marker: Marker, body: string, region: string): string {
  const { context, layout } = marker
  if (context === 'inline' || context === 'cell' || (context === 'html' && layout.isOneLine)) {
    if (region.trim() === '') return inContext(marker, body)
    // Blanks by which the author set the body off stay; a line end would put it where a block can begin.
    const [lead = ''] = /^\s*/.exec(region) ?? []
    const [trail = ''] = /\s*$/.exec(region) ?? []
    const blank = (blanks: string): string => (/[\r\n]/.test(blanks) ? ' ' : blanks)
    return `${blank(lead)}${inContext(marker, body)}${blank(trail)}`
  }
  const { prefix } = layout
  const empty = prefix.trimEnd()
  const blank = context === 'html' ? [] : [empty]
  if (body === '') return ['', ...blank, prefix].join(layout.lineEnd)
  const lines = body.split('\n').map(line => (line === '' ? empty : prefix + line))
  return ['', ...blank, ...lines, ...blank, prefix].join(layout.lineEnd)
}

function inContext({ context }: Marker, text: string): string {
  return context === 'cell' ? text.replaceAll('|', '\\|') : text
}

/** Whether the new text reads as the old one, but for what was to change. */
function isSound(document: CitedDocument, edits: ReadonlyMap<Marker, Edit>): boolean {
  const after = readDocument({ ...document.file, text: textWith(document, edits) })
  if (after.problems.length > 0 || after.markers.length !== document.markers.length) return false
  const areRead = document.markers.every((before, index) => {
    const marker = after.markers[index]
    const edit = edits.get(before)
    return (
      marker !== undefined &&
      marker.context === before.context &&
      marker.says === oneLine(edit?.says ?? before.says) &&
      marker.state === oneLine(edit?.state ?? before.state) &&
      marker.body === (edit?.body ?? before.body)
    )
  })
  if (!areRead || after.settings.length !== document.settings.length) return false
  const old = shapeOutside(document)
  const made = shapeOutside(after)
  return old.length === made.length && old.every((node, index) => node === made[index])
}

/** The nodes that begin outside of bodies, placed by the marker before them and the distance to it. */
function shapeOutside({ shape, markers }: CitedDocument): readonly string[] {
  const nodes: string[] = []
  let next = 0
  for (const { type, depth, start } of shape) {
    while (next < markers.length && (markers[next]?.close.start ?? 0) <= start) next++
    const marker = markers[next]
    if (marker !== undefined && start > marker.open.start) continue
    const last = markers[next - 1]
    if (last !== undefined && start > last.close.start && start < last.close.end) continue
    const distance = last === undefined ? start : start === last.close.start ? 'closing' : start - last.close.end
    nodes.push(`${next} ${distance} ${depth} ${type}`)
  }
  return nodes
}
