/** A file as it was read: its path inside the tree it belongs to (`/` separated), and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  /** Where the text itself stands, if the path leads there over a symbolic link: git and code hosts do not follow links. */
  readonly standsIn?: string
}

/** The path under which a reader finds the text of a file, links followed. */
export function pathToOpen(file: SourceFile): string {
  return file.standsIn ?? file.path
}

/** A piece of a file: UTF-16 offsets, `end` exclusive. Lines and columns are computed only where a person reads them. */
export interface Span {
  readonly file: SourceFile
  readonly start: number
  readonly end: number
}

/** The whole of a file; also the place of a statement about a file that has no narrower place. */
export function wholeFile(file: SourceFile): Span {
  return { file, start: 0, end: file.text.length }
}

const lineStartsOf = new WeakMap<SourceFile, number[]>()

function lineStarts(file: SourceFile): readonly number[] {
  const known = lineStartsOf.get(file)
  if (known) return known
  const starts = [0]
  for (let at = file.text.indexOf('\n'); at !== -1; at = file.text.indexOf('\n', at + 1)) starts.push(at + 1)
  lineStartsOf.set(file, starts)
  return starts
}

/** Line (from 1) and column (from 1) of an offset. */
export function positionOf(file: SourceFile, offset: number): { line: number; column: number } {
  const starts = lineStarts(file)
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] as number) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (starts[low] as number) + 1 }
}

/** The line (from 1) a span starts on. */
export function lineOf(span: Span): number {
  return positionOf(span.file, span.start).line
}

/** `path:line`, the way a reader can open it. */
export function placeOf(span: Span): string {
  return `${pathToOpen(span.file)}:${lineOf(span)}`
}
