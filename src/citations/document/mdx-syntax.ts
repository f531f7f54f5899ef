import { parse, postprocess, preprocess } from 'micromark'
import { frontmatter } from 'micromark-extension-frontmatter'
import { gfm } from 'micromark-extension-gfm'
import { mdxjs } from 'micromark-extension-mdxjs'
import type { Event, Token } from 'micromark-util-types'
import { type Container, documentContainer, footnoteIn, itemIn, quoteIn } from './containers.js'
import { insideOfCode, seenText } from './lines.js'
import type { Code, Comment, Destination, Place, Range, ShapeNode, Syntax, Unread } from './syntax.js'

const extensions = [gfm(), frontmatter(['yaml', 'toml']), mdxjs()]

interface Frame {
  readonly number: number
  readonly type: string
  readonly start: number
  container: Container
  /** Of a JSX tag: whether it closes (`</a>`, `<a/>`). */
  closes: 'itself' | 'another' | undefined
}

/** Tokens that say how a line begins or ends; they come and go with the lines of a body. */
const ofLines =
  /^(?:lineEnding|lineEndingBlank|linePrefix|lineSuffix|blockQuotePrefix|blockQuoteMarker|blockQuotePrefixWhitespace|listItemIndent|gfmFootnoteDefinitionIndent)$/

const destinationKinds: ReadonlyMap<string, Destination['kind']> = new Map([
  ['definitionDestinationString', 'definition'],
  ['autolinkProtocol', 'autolink'],
  ['literalAutolinkHttp', 'literal'],
  ['literalAutolinkWww', 'literal'],
])

/** Reads MDX (with GFM and front matter); text that is none comes back with the place at which it stops to be. */
export function parseMdx(text: string): Syntax | Unread {
  const events = eventsOf(text)
  if ('unread' in events) return events
  // The tokenizer drops a byte order mark and counts from behind it.
  const shift = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const comments: Comment[] = []
  const destinations: Destination[] = []
  const codes: Code[] = []
  const shape: ShapeNode[] = []
  let frontMatter: Range | undefined
  let attribute = ''
  let number = 0
  const frames: Frame[] = [{ number: 0, type: '', start: 0, container: documentContainer, closes: undefined }]
  const rangeOf = (token: Token): Range => ({ start: token.start.offset + shift, end: token.end.offset + shift })

  const enter = (token: Token): void => {
    const at = rangeOf(token)
    const parent = frames.at(-1) as Frame
    let { container } = parent
    const type: string = token.type
    if (type === 'blockQuote') container = quoteIn(text, container, at.start)
    else if (type === 'listItemPrefix') {
      // Items are no tokens: each prefix begins one.
      while (frames.at(-1)?.type === 'item' || frames.at(-1)?.type === 'element') frames.pop()
      const list = frames.at(-1) as Frame
      let markEnd = at.start
      while (markEnd < at.end && !/[ \t]/.test(text[markEnd] ?? '')) markEnd++
      container = itemIn(text, list.container, at.start, markEnd)
      frames.push({ number: ++number, type: 'item', start: at.start, container, closes: undefined })
    } else if (type === 'gfmFootnoteDefinitionLabel') {
      parent.container = footnoteIn(text, (frames.at(-2) as Frame).container, at.start, at.end + 1)
    } else if (type === 'mdxFlowExpression' || type === 'mdxTextExpression') {
      const isInCell = frames.some(frame => frame.type === 'tableData' || frame.type === 'tableHeader')
      const place = { container, within: parent.number, isFlow: type === 'mdxFlowExpression', isInCell }
      comments.push(...commentAt(text, at, place))
    } else if (type === 'codeText') codes.push({ ...insideOfCode(text, at), kind: 'span' })
    else if (type === 'codeFenced') codes.push({ ...at, kind: 'block' })
    else if (type === 'yaml' || type === 'toml') frontMatter = at
    else if (type === 'resourceDestinationString') {
      const isImage = frames.findLast(frame => frame.type === 'link' || frame.type === 'image')?.type === 'image'
      destinations.push({ ...at, kind: isImage ? 'image' : 'link' })
    } else if (/^mdxJsx(?:Flow|Text)TagAttributeNamePrimary$/.test(type)) attribute = text.slice(at.start, at.end)
    else if (/^mdxJsx(?:Flow|Text)TagAttributeValueLiteralValue$/.test(type)) {
      if (attribute === 'href' || attribute === 'src') destinations.push({ ...at, kind: 'jsx' })
    } else if (/^mdxJsx(?:Flow|Text)TagClosingMarker$/.test(type)) parent.closes = 'another'
    else if (/^mdxJsx(?:Flow|Text)TagSelfClosingMarker$/.test(type)) parent.closes = 'itself'
    const kind = destinationKinds.get(type)
    if (kind !== undefined) destinations.push({ ...at, kind })
    if (!ofLines.test(type)) shape.push({ type, depth: frames.length, start: at.start })
    frames.push({ number: ++number, type, start: at.start, container, closes: undefined })
  }
  const exit = (token: Token): void => {
    while (frames.length > 1 && !isFrameOf(frames.at(-1), token, shift)) frames.pop()
    const frame = frames.pop()
    if (!/^mdxJsx(?:Flow|Text)Tag$/.test(token.type) || frame === undefined || frame.closes === 'itself') return
    // What is between a tag and its end is inside of an element, which is no token either.
    if (frame.closes === undefined) {
      const container = (frames.at(-1) as Frame).container
      frames.push({ number: ++number, type: 'element', start: frame.start, container, closes: undefined })
    } else if (frames.at(-1)?.type === 'element') frames.pop()
  }
  for (const [way, token] of events) {
    if (way === 'enter') enter(token)
    else exit(token)
  }
  return { html: [], comments, destinations, codes, frontMatter, shape }
}

function isFrameOf(frame: Frame | undefined, token: Token, shift: number): boolean {
  return frame?.type === token.type && frame.start === token.start.offset + shift
}

function eventsOf(text: string): readonly Event[] | Unread {
  try {
    return postprocess(
      parse({ extensions })
        .document()
        .write(preprocess()(text, undefined, true)),
    )
  } catch (error) {
    // The grammar throws a message with a place where text is not MDX.
    const reason = error instanceof Error ? error.message : String(error)
    const at = Math.min(offsetIn(error), text.length)
    const hint = text.startsWith('<!--', at) || text.startsWith('!--', at) ? '; a comment is {/* … */} in MDX' : ''
    return { unread: `not MDX, so no marker is looked for: ${reason.split('\n', 1)[0]}${hint}`, start: at, end: at }
  }
}

function offsetIn(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('place' in error)) return 0
  const { place } = error
  if (typeof place !== 'object' || place === null) return 0
  if ('offset' in place && typeof place.offset === 'number') return place.offset
  return 'start' in place ? offsetIn({ place: place.start }) : 0
}

/** An expression that is one comment and nothing else. */
function commentAt(text: string, at: Range, place: Place): readonly Comment[] {
  const seen = seenText(text, at, place.container)
  const found = /^\{\s*\/\*((?:(?!\*\/)[\s\S])*)\*\/\s*\}$/.exec(seen.text)
  if (found === null) return []
  const [, inner = ''] = found
  const from = seen.text.indexOf('/*') + 2
  return [{ ...at, place, block: undefined, inner, offsetOf: offset => seen.offsetOf(from + offset), isClosed: true }]
}
