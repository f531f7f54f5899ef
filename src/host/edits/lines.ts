/** The lines of a file with the characters that end them, as Python's `readlines` gives them; the last may have none. */
export function linesWithEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/**
 * The lines of a file opened as text in Python: `\r\n` and `\r` end lines too and become `\n`. A module that writes such lines back
 * has changed them.
 */
export function universalLines(text: string): string[] {
  return linesWithEnds(text.replace(/\r\n?/g, '\n'))
}

/** White space at which Python's `str.split()` and `str.strip()` cut. */
const SPACE = '[\\s\\x1c-\\x1f\\x85]'
const OUTER = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g')
const RUNS = new RegExp(`${SPACE}+`)

/** `text.strip()` of Python. */
export function pythonStrip(text: string): string {
  return text.replace(OUTER, '')
}

/** `text.split()` of Python. */
export function pythonWords(text: string): readonly string[] {
  const inner = pythonStrip(text)
  return inner === '' ? [] : inner.split(RUNS)
}

/** What a module leaves of a file. */
export interface Edited {
  readonly text: string
  readonly changed: boolean
}
