import { type Token, type TokenHandler, Tokenizer, TokenizerMode } from 'parse5'
import { seenText } from './lines.js'
import type { Comment, HtmlPiece, Range } from './syntax.js'

/** The value of an attribute that names an address. */
export interface Address extends Range {
  readonly url: string
}

interface HtmlFound {
  readonly comments: readonly Comment[]
  readonly addresses: readonly Address[]
}

/** Elements whose content is text up to their end tag: a comment in there is none. */
const textElements: ReadonlyMap<string, Tokenizer['state']> = new Map([
  ['script', TokenizerMode.SCRIPT_DATA],
  ['style', TokenizerMode.RAWTEXT],
  ['textarea', TokenizerMode.RCDATA],
  ['title', TokenizerMode.RCDATA],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
])

/**
 * The comments, `href` and `src` of a document's HTML, read as HTML is. An element such as `<script>` that ends only in a later
 * piece hides what is between; one that never ends hides nothing outside its own piece.
 */
export function readHtml(text: string, pieces: readonly HtmlPiece[]): HtmlFound {
  const comments: Comment[] = []
  const addresses: Address[] = []
  const lastEnds = lastEndTags(text, pieces)
  let open: string | undefined
  for (const [index, piece] of pieces.entries()) {
    const seen = seenText(text, piece, piece.place.container)
    let inside: string | undefined = open
    const onComment = ({ location }: Token.CommentToken): void => {
      if (location === null) return
      const { startOffset, endOffset } = location
      const raw = seen.text.slice(startOffset, endOffset)
      if (!raw.startsWith('<!--')) return
      const closing = /--!?>$/.exec(raw)?.[0].length ?? 0
      comments.push({
        start: seen.offsetOf(startOffset),
        end: seen.offsetOf(endOffset - 1) + 1,
        place: piece.place,
        block: piece.place.isFlow ? index : undefined,
        inner: raw.slice(4, Math.max(4, raw.length - closing)),
        offsetOf: at => seen.offsetOf(startOffset + 4 + at),
        isClosed: closing > 0,
      })
    }
    const onStartTag = (tag: Token.TagToken): void => {
      for (const { name, value } of tag.attrs) {
        const place = name === 'href' || name === 'src' ? tag.location?.attrs?.[name] : undefined
        if (place === undefined) continue
        const at = valueIn(seen.text, place.startOffset, place.endOffset)
        if (at.start < at.end) {
          addresses.push({ url: value, start: seen.offsetOf(at.start), end: seen.offsetOf(at.end - 1) + 1 })
        }
      }
      const state = textElements.get(tag.tagName)
      if (state === undefined || tag.selfClosing) return
      inside = tag.tagName
      tokenizer.state = state
    }
    const ignore = (): void => {}
    const onEndTag = (tag: Token.TagToken): void => {
      if (tag.tagName === inside) inside = undefined
    }
    const handler: TokenHandler = {
      onComment,
      onStartTag,
      onEndTag,
      onDoctype: ignore,
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onEof: ignore,
    }
    const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, handler)
    const state = open === undefined ? undefined : textElements.get(open)
    if (open !== undefined && state !== undefined) {
      tokenizer.state = state
      tokenizer.lastStartTagName = open
    }
    tokenizer.write(seen.text, true)
    open = inside !== undefined && (lastEnds.get(inside) ?? -1) > index ? inside : undefined
  }
  return { comments, addresses }
}

/** For each element of text the last piece that has its end tag. */
function lastEndTags(text: string, pieces: readonly HtmlPiece[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>()
  for (const [index, { start, end }] of pieces.entries()) {
    if (!text.startsWith('</', start) && !text.slice(start, end).includes('</')) continue
    for (const [, name = ''] of text.slice(start, end).matchAll(/<\/([a-z]+)/gi)) last.set(name.toLowerCase(), index)
  }
  return last
}

/** Where the value of `name = "value"` stands, without its quotes. */
function valueIn(text: string, start: number, end: number): Range {
  const equals = text.indexOf('=', start)
  if (equals === -1 || equals >= end) return { start: end, end }
  let from = equals + 1
  while (from < end && /\s/.test(text[from] ?? '')) from++
  const quote = text[from]
  return quote === '"' || quote === "'" ? { start: from + 1, end: end - 1 } : { start: from, end }
}
