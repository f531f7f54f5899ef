import { lineOf, pathToOpen, type Span } from '../source/text.js'

/** A place a reader can open: a path inside the checkout and a line from 1. */
export interface Place {
  /** The file, relative to the checkout. */
  readonly file: string
  /** The line, from 1. */
  readonly line: number
}

/** The file and the line on which a span starts. */
export function placeOfSpan(span: Span): Place {
  return { file: pathToOpen(span.file), line: lineOf(span) }
}

/** A place as people write it: `path:line`. */
export function placeText(place: Place): string {
  return `${place.file}:${place.line}`
}
