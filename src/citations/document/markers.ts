import type { SourceFile, Span } from '../../source/text.js'
import { columnOf, contentColumnAt, cutPrefix, lineEnd, lineStart, type Prefix, renderPrefix } from './containers.js'
import type { Comment, Range } from './syntax.js'

/** An opening and a closing marker, and the text between them, the body. */
export interface Marker {
  /** What the opening says behind `whofixes`, on one line. */
  readonly says: string
  /** What the closing says behind `/whofixes`, on one line; often nothing. */
  readonly state: string
  /** From the opening to the closing, both included. */
  readonly at: Span
  readonly open: Span
  readonly close: Span
  /**
   * Where it stands: `block`: each marker a block of its own, any Markdown between; `inline`: in a line of text; `cell`: in a cell of a
   * table; `html`: both in one block of HTML, where what is between is HTML and no Markdown (also a line that begins with a marker).
   */
  readonly context: 'block' | 'inline' | 'cell' | 'html'
  /** The text between as its author sees it: LF, without container prefixes; inline on one line; `\|` of a cell is `|`. */
  readonly body: string
  readonly layout: Layout
}

/** What writing needs to know of a marker. */
export interface Layout {
  /** What a line of the body begins with. */
  readonly prefix: string
  /** Whether both markers stand on one line. */
  readonly isOneLine: boolean
  readonly lineEnd: string
  readonly comment: 'html' | 'mdx'
  readonly saysAt: Range
  /** From behind `/whofixes` to the end of the state. */
  readonly stateAt: Range
}

/** A marker without a body that says something about the document: `source`, `template`, `words`. */
export interface Setting {
  readonly says: string
  readonly at: Span
}

/** What is wrong with a document, and what to do. */
export interface DocumentProblem {
  readonly says: string
  readonly at: Span
}

interface Markers {
  readonly markers: readonly Marker[]
  readonly settings: readonly Setting[]
  readonly problems: readonly DocumentProblem[]
}

const settingWords = new Set(['source', 'template', 'words'])

/** A comment that is ours. */
interface Mark {
  readonly comment: Comment
  readonly isClosing: boolean
  /** On one line. */
  readonly words: string
  /** The words as written, with the blanks before them. */
  readonly tail: Range
  readonly wordsAt: Range
}

/** Pairs the comments of a document; what does not pair is a problem with its place. */
export function pairMarkers(file: SourceFile, comments: readonly Comment[]): Markers {
  const markers: Marker[] = []
  const settings: Setting[] = []
  const problems: DocumentProblem[] = []
  const opened: { readonly mark: Mark; readonly inner: Span[] }[] = []
  const tell = (at: Span, says: string): number => problems.push({ says, at })

  for (const comment of comments) {
    const mark = markOf(comment)
    if (mark === undefined) continue
    const at: Span = { file, start: comment.start, end: comment.end }
    if (!comment.isClosed) {
      tell(at, 'this comment has no end: close it with -->')
    } else if (mark.isClosing) {
      const last = opened.pop()
      if (last === undefined) {
        tell(at, 'this closing marker has no opening: put <!-- whofixes … --> before its text, or take it away')
        continue
      }
      for (const inner of last.inner) tell(inner, 'a marker inside of another: end the outer one before it')
      const fault = faultOf(last.mark, mark)
      if (fault !== undefined) tell(at, fault)
      else markers.push(markerOf(file, last.mark, mark))
    } else if (mark.words === '') {
      tell(at, 'this marker says nothing: name what is cited behind "whofixes"')
    } else if (settingWords.has(mark.words.split(' ', 1)[0] ?? '')) {
      const outer = opened.at(-1)
      if (outer === undefined) settings.push({ says: mark.words, at })
      else outer.inner.push(at)
    } else {
      opened.at(-1)?.inner.push(at)
      opened.push({ mark, inner: [] })
    }
  }
  for (const { mark } of opened) {
    const at = { file, start: mark.comment.start, end: mark.comment.end }
    tell(at, 'this marker has no closing: put <!-- /whofixes --> behind its text')
  }
  return {
    markers: markers.sort((left, right) => left.at.start - right.at.start),
    settings,
    problems: problems.sort((left, right) => left.at.start - right.at.start),
  }
}

function markOf(comment: Comment): Mark | undefined {
  const { inner, offsetOf } = comment
  const name = /^\s*(\/?)whofixes(?=\s|$)/.exec(inner)
  if (name === null) return undefined
  const behind = name[0].length
  const written = inner.slice(behind).trim()
  const start = written === '' ? behind : inner.indexOf(written, behind)
  const end = start + written.length
  // The end of a range is the place behind its last character, which on another line is not the place of the next.
  const endAt = end === 0 ? offsetOf(0) : offsetOf(end - 1) + 1
  const words = oneLine(written)
  return {
    comment,
    isClosing: name[1] === '/',
    words: comment.place.isInCell ? unescapePipes(words) : words,
    tail: { start: offsetOf(behind - 1) + 1, end: endAt },
    wordsAt: { start: written === '' ? endAt : offsetOf(start), end: endAt },
  }
}

/** Why an opening and a closing are no pair. */
function faultOf(open: Mark, close: Mark): string | undefined {
  const from = open.comment
  const to = close.comment
  if (from.place.isFlow !== to.place.isFlow) {
    return 'one of these markers stands on a line of its own, the other in a line of text: put both on lines of their own with blank lines around, or both in the same line of text (not at its beginning)'
  }
  return from.place.within === to.place.within
    ? undefined
    : 'the opening of this closing marker stands elsewhere (another paragraph, list item, quote, cell or emphasis): put both in the same'
}

function markerOf(file: SourceFile, open: Mark, close: Mark): Marker {
  const from = open.comment
  const to = close.comment
  const region = { start: from.end, end: to.start }
  const isOneLine = !/[\r\n]/.test(file.text.slice(region.start, region.end))
  const context = !from.place.isFlow
    ? from.place.isInCell
      ? 'cell'
      : 'inline'
    : from.block !== undefined && from.block === to.block
      ? 'html'
      : 'block'
  const isInLine = context === 'inline' || context === 'cell' || (context === 'html' && isOneLine)
  const prefixes = isInLine ? from.place.container.prefix : linePrefixOf(file.text, from, context)
  const seen = bodyLines(file.text, region, prefixes)
  const body = isInLine ? oneLine(seen.join(' ')) : trimBlankLines(seen).join('\n')
  return {
    says: open.words,
    state: close.words,
    at: { file, start: from.start, end: to.end },
    open: { file, start: from.start, end: from.end },
    close: { file, start: to.start, end: to.end },
    context,
    body: context === 'cell' ? unescapePipes(body) : body,
    layout: {
      prefix: renderPrefix(prefixes),
      isOneLine,
      lineEnd: lineEndAt(file.text, from.end),
      comment: file.text[from.start] === '{' ? 'mdx' : 'html',
      saysAt: open.wordsAt,
      stateAt: close.tail,
    },
  }
}

/**
 * The prefixes of the container, and the blanks by which the opening is indented in it. Markdown takes four for code, so there they
 * are left out; MDX and a block of HTML know no such code.
 */
function linePrefixOf(text: string, { start, place }: Comment, context: 'block' | 'html'): readonly Prefix[] {
  const { container } = place
  const line = lineStart(text, start)
  const content = contentColumnAt(text, start, container)
  const before =
    container.start >= line ? text.slice(container.start, start) : cutPrefix(text, line, start, container.prefix).rest
  const isFirst = container.start >= line || before.trim() === ''
  const indent = columnOf(text, start) - content
  const isCode = indent >= 4 && context === 'block' && text[start] !== '{'
  if (!isFirst || indent <= 0 || isCode || before.includes('<')) return container.prefix
  return [...container.prefix, { kind: 'blanks', columns: indent }]
}

function bodyLines(text: string, { start, end }: Range, prefixes: readonly Prefix[]): readonly string[] {
  const lines: string[] = []
  for (let at = start; ; ) {
    const stop = Math.min(lineEnd(text, at), end)
    lines.push(at === start ? text.slice(at, stop).trimStart() : cutPrefix(text, at, stop, prefixes).rest)
    if (stop >= end) return lines
    at = stop + (text.startsWith('\r\n', stop) ? 2 : 1)
  }
}

function lineEndAt(text: string, offset: number): string {
  for (const at of [lineEnd(text, offset), lineStart(text, offset) - 1]) {
    if (text.startsWith('\r\n', at) || (text[at] === '\n' && text[at - 1] === '\r')) return '\r\n'
    if (text[at] === '\n' || text[at] === '\r') return text[at] ?? '\n'
  }
  return '\n'
}

/** Lines of a block as they are compared: what is only blanks is empty, and no empty lines at both ends. */
export function trimBlankLines(lines: readonly string[]): readonly string[] {
  const clean = lines.map(line => (line.trim() === '' ? '' : line))
  const first = clean.findIndex(line => line !== '')
  return first === -1 ? [] : clean.slice(first, clean.findLastIndex(line => line !== '') + 1)
}

/** Text on one line: a line end with the blanks around it is one blank. */
export function oneLine(text: string): string {
  return text.replace(/[ \t]*[\r\n][\s]*/g, ' ').trim()
}

/** GFM: in a cell `\|` is `|`; `\\` is a pair of its own and stays. */
function unescapePipes(text: string): string {
  return text.replace(/\\([\\|])/g, (pair, char) => (char === '|' ? '|' : pair))
}
