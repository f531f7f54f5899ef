/** What a line has to begin with to belong to a container: a mark of a quote, or blanks up to a column. */
export type Prefix = { readonly kind: 'quote' } | { readonly kind: 'blanks'; readonly columns: number }

/** A block that asks something of the beginning of its lines: a block quote, a list item, a footnote; or the document. */
export interface Container {
  /** Where its mark stands. */
  readonly start: number
  /** The column (from 0) at which its content begins on the line of its mark. */
  readonly contentColumn: number
  /** What its later lines begin with, its parents' prefixes first. */
  readonly prefix: readonly Prefix[]
}

/** Tab stops of CommonMark. */
const tab = 4

export const documentContainer: Container = { start: -1, contentColumn: 0, prefix: [] }

/** Where a line goes on once prefixes are taken off. `column` is inside of a tab where only a part of it was taken. */
interface Cut {
  readonly at: number
  readonly column: number
  /** The text after the prefixes, blanks for what is left of a tab. */
  readonly rest: string
}

/** The start of the line an offset stands on. LF, CRLF and lone CR end lines, as in CommonMark. */
export function lineStart(text: string, offset: number): number {
  let at = offset
  while (at > 0 && !isLineEnd(text.charCodeAt(at - 1))) at--
  return at
}

/** The end of the line an offset stands on, before its line end. */
export function lineEnd(text: string, offset: number): number {
  let at = offset
  while (at < text.length && !isLineEnd(text.charCodeAt(at))) at++
  return at
}

function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d
}

/**
 * Takes the prefixes off a line, as CommonMark does: of a tab only the columns that are needed; what a line does not have
 * (a blank line, a lazy one) is not taken.
 */
export function cutPrefix(text: string, start: number, end: number, prefixes: readonly Prefix[]): Cut {
  let at = start
  let charColumn = 0
  let column = 0
  const width = (): number => (text[at] === '\t' ? tab - (charColumn % tab) : 1)
  const skipBlanks = (columns: number): void => {
    for (let left = columns; left > 0 && at < end && (text[at] === ' ' || text[at] === '\t'); ) {
      const next = charColumn + width()
      const taken = Math.min(left, next - column)
      left -= taken
      column += taken
      if (column === next) {
        at++
        charColumn = next
      }
    }
  }
  for (const prefix of prefixes) {
    if (prefix.kind === 'blanks') {
      skipBlanks(prefix.columns)
      continue
    }
    const before = { at, charColumn, column }
    skipBlanks(tab - 1)
    if (text[at] !== '>' || column !== charColumn || at >= end) {
      at = before.at
      charColumn = before.charColumn
      column = before.column
      break
    }
    at++
    charColumn = column = charColumn + 1
    skipBlanks(1)
  }
  const rest =
    column === charColumn ? text.slice(at, end) : ' '.repeat(charColumn + width() - column) + text.slice(at + 1, end)
  return { at, column, rest }
}

/** The column (from 0) of an offset on its line. */
export function columnOf(text: string, offset: number): number {
  let column = 0
  for (let at = lineStart(text, offset); at < offset; at++) column += text[at] === '\t' ? tab - (column % tab) : 1
  return column
}

/** The column at which a container's content begins on the line of this offset. */
export function contentColumnAt(text: string, offset: number, container: Container): number {
  const start = lineStart(text, offset)
  if (container.start >= start) return container.contentColumn
  return cutPrefix(text, start, offset, container.prefix).column
}

/** The block quote whose first `>` stands at this offset. */
export function quoteIn(text: string, parent: Container, start: number): Container {
  const isPadded = text[start + 1] === ' ' || text[start + 1] === '\t'
  return {
    start,
    contentColumn: columnOf(text, start) + (isPadded ? 2 : 1),
    prefix: [...parent.prefix, { kind: 'quote' }],
  }
}

/** The list item whose mark (`-`, `12.`) stands here; CommonMark 5.2: five blanks or more are one and indented code. */
export function itemIn(text: string, parent: Container, start: number, markEnd: number): Container {
  const after = columnOf(text, markEnd)
  let content = markEnd
  while (text[content] === ' ' || text[content] === '\t') content++
  const padding = columnOf(text, content) - after
  const isBlank = content === lineEnd(text, content)
  const contentColumn = after + (isBlank || padding > tab || padding === 0 ? 1 : padding)
  const columns = contentColumn - contentColumnAt(text, start, parent)
  return { start, contentColumn, prefix: [...parent.prefix, { kind: 'blanks', columns }] }
}

/** The footnote (GFM) whose `[^` stands at `start`: its later lines are indented by four. */
export function footnoteIn(text: string, parent: Container, start: number, labelEnd: number): Container {
  let content = labelEnd
  while (text[content] === ' ' || text[content] === '\t') content++
  return {
    start,
    contentColumn: columnOf(text, content),
    prefix: [...parent.prefix, { kind: 'blanks', columns: tab }],
  }
}

/** Prefixes as they are written: `> ` and blanks. */
export function renderPrefix(prefixes: readonly Prefix[]): string {
  return prefixes.map(prefix => (prefix.kind === 'quote' ? '> ' : ' '.repeat(prefix.columns))).join('')
}
