import { withEscapes } from '../source/visible.js'

/** A value as JSON on one line; what a terminal would obey stands as `\u` escapes, which are the same value. */
export function jsonLine(value: unknown): string {
  return withEscapes(JSON.stringify(value) ?? 'null', escaped)
}

/** The same over several lines, as an output of a command: with a newline at its end. */
export function jsonText(value: unknown): string {
  // What JSON itself puts between its members stays.
  return `${withEscapes(JSON.stringify(value, null, 2), char => (char === '\n' ? char : escaped(char)))}\n`
}

function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, at) => char.charCodeAt(at))
    .map(unit => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}
