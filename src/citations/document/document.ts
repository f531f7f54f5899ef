import { type SourceFile, wholeFile } from '../../source/text.js'
import { readHtml } from './html.js'
import { beyondLimits } from './limits.js'
import { type DocumentLink, linksOf, linksOfText } from './links.js'
import { parseMarkdown } from './markdown-syntax.js'
import { type DocumentProblem, type Marker, pairMarkers, type Setting } from './markers.js'
import { parseMdx } from './mdx-syntax.js'
import { type DocumentPath, pathsOf, pathsOfText } from './paths.js'
import type { ShapeNode, Unread } from './syntax.js'

/** A text that cites role code. */
export interface CitedDocument {
  readonly file: SourceFile
  readonly kind: 'markdown' | 'mdx' | 'text'
  readonly markers: readonly Marker[]
  readonly settings: readonly Setting[]
  /** In the order of the text; none from the bodies of markers, which are the program's own. */
  readonly links: readonly DocumentLink[]
  readonly paths: readonly DocumentPath[]
  /** Where there are any, nothing is written into the document. */
  readonly problems: readonly DocumentProblem[]
  /** The nodes of its syntax: writing a body must leave those around it as they are. */
  readonly shape: readonly ShapeNode[]
}

/**
 * Reads a document. `.md` and `.markdown` are CommonMark with what GitHub adds and front matter, `.mdx` is MDX 3; anything else is text,
 * in which there are links and paths and never markers. Any text is a document: what cannot be read is a problem with its place, as long
 * as it names `whofixes`; without that no marker can be in it, and its links and paths are read as those of a text.
 */
export function readDocument(file: SourceFile): CitedDocument {
  const kind = kindOf(file.path)
  if (kind === 'text') return textDocument(file, kind, [])
  const syntax = beyondLimits(file.text, kind) ?? (kind === 'mdx' ? parseMdx(file.text) : parseMarkdown(file.text))
  if ('unread' in syntax) {
    return textDocument(file, kind, file.text.includes('whofixes') ? [problemOf(file, syntax)] : [])
  }
  const { comments, addresses } = readHtml(file.text, syntax.html)
  const { markers, settings, problems } = pairMarkers(file, kind === 'mdx' ? syntax.comments : comments)
  const links = linksOf(file, syntax, addresses)
  const paths = pathsOf(file, syntax.codes)
  return {
    file,
    kind,
    markers,
    settings,
    links: outsideOf(markers, links),
    paths: outsideOf(markers, paths),
    problems,
    shape: syntax.shape,
  }
}

function kindOf(path: string): CitedDocument['kind'] {
  if (/\.(?:md|markdown)$/i.test(path)) return 'markdown'
  return /\.mdx$/i.test(path) ? 'mdx' : 'text'
}

/** What is looked at as plain text: also Markdown and MDX that cannot be read otherwise. */
function textDocument(
  file: SourceFile,
  kind: CitedDocument['kind'],
  problems: readonly DocumentProblem[],
): CitedDocument {
  const links = linksOfText(file)
  return { file, kind, markers: [], settings: [], links, paths: pathsOfText(file, links), problems, shape: [] }
}

function problemOf(file: SourceFile, { unread, start, end }: Unread): DocumentProblem {
  return { says: unread, at: start <= end && end <= file.text.length ? { file, start, end } : wholeFile(file) }
}

/** What does not stand in a body; both are in the order of the text. */
function outsideOf<Found extends DocumentLink | DocumentPath>(
  markers: readonly Marker[],
  found: readonly Found[],
): readonly Found[] {
  let next = 0
  return found.filter(({ at }) => {
    while (next < markers.length && (markers[next]?.at.end ?? 0) <= at.start) next++
    const marker = markers[next]
    return marker === undefined || at.start < marker.at.start
  })
}
