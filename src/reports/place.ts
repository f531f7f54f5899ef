import { lineOf, pathToOpen, type Span } from '../source/text.js'

/**
 * The number of a line in its file, from 1.
 * @asType integer
 * @minimum 1
 */
export type Line = number

/**
 * How many there are, or which one, from 0.
 * @asType integer
 * @minimum 0
 */
export type Count = number

/** A place a reader can open: a path inside the checkout and a line from 1. */
export interface Place {
  /** The file, relative to the checkout. */
  readonly file: string
  /** The line, from 1. */
  readonly line: Line
}

/** The file and the line on which a span starts. */
export function placeOfSpan(span: Span): Place {
  return { file: pathToOpen(span.file), line: lineOf(span) }
}

/** A place as people write it: `path:line`. */
export function placeText(place: Place): string {
  return `${place.file}:${place.line}`
}

/** The last two parts of its path and the line: enough where a link leads to the rest. */
export function shortPlaceText({ file, line }: Place): string {
  const parts = file.split('/')
  return placeText({ file: parts.length <= 3 ? file : `…/${parts.slice(-2).join('/')}`, line })
}

/** A path as a part of an address. */
export function encodedPath(path: string): string {
  return path
    .replaceAll(/\p{Surrogate}/gu, '\uFFFD')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
}
