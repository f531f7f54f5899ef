import { LinkifyIt } from 'linkify-it'
import { decodeString } from 'micromark-util-decode-string'
import type { SourceFile, Span } from '../../source/text.js'
import type { Address } from './html.js'
import type { Destination, Range, Syntax } from './syntax.js'

/** An address a document names. */
export interface DocumentLink {
  /** Decoded: backslash escapes and entities resolved, percent encoding left. */
  readonly url: string
  /** As it is written. */
  readonly written: string
  /** Where it is written. */
  readonly at: Span
  readonly context: 'link' | 'image' | 'definition' | 'autolink' | 'literal' | 'html' | 'jsx' | 'text'
  /** In a code span or block: it is shown, not followed. */
  readonly inCode: boolean
}

const finder = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
  .add('ftp:', null)
  .add('mailto:', null)
  .add('//', null)

/** The links of Markdown or MDX, in the order of the text. */
export function linksOf(file: SourceFile, syntax: Syntax, addresses: readonly Address[]): readonly DocumentLink[] {
  const { text } = file
  const made = (at: Range, url: string, context: DocumentLink['context'], inCode = false): DocumentLink => ({
    url,
    written: text.slice(at.start, at.end),
    at: { file, start: at.start, end: at.end },
    context,
    inCode,
  })
  return [
    ...syntax.destinations.map(found => made(found, decoded(text, found), found.kind)),
    ...addresses.map(found => made(found, found.url, 'html')),
    ...syntax.codes.flatMap(code => urlsIn(text, code).map(found => made(found, found.url, 'text', true))),
    ...(syntax.frontMatter ? urlsIn(text, syntax.frontMatter).map(found => made(found, found.url, 'text')) : []),
  ].sort((left, right) => left.at.start - right.at.start)
}

/** The `http` and `https` addresses of a text that is no Markdown. */
export function linksOfText(file: SourceFile): readonly DocumentLink[] {
  return urlsIn(file.text, { start: 0, end: file.text.length }).map(({ url, start, end }) => ({
    url,
    written: file.text.slice(start, end),
    at: { file, start, end },
    context: 'text',
    inCode: false,
  }))
}

function decoded(text: string, { start, end, kind }: Destination): string {
  const written = text.slice(start, end)
  if (kind === 'autolink') return written
  if (kind === 'literal') return written.startsWith('www.') ? `http://${written}` : written
  return decodeString(written)
}

function urlsIn(text: string, { start, end }: Range): readonly Address[] {
  const piece = text.slice(start, end)
  if (!piece.includes('://')) return []
  return (finder.match(piece) ?? []).map(({ index, raw }) => {
    // AsciiDoc's `URL[text]`: a bracket stands in no address but around the host's numbers (RFC 3986, 3.2.2).
    const bracket = raw.indexOf('[', raw.indexOf('://') + 4)
    const url = bracket === -1 ? raw : raw.slice(0, bracket)
    return { url, start: start + index, end: start + index + url.length }
  })
}
