/**
 * A text as it may stand in a report, on one line: white space is one blank, and what a reader cannot see but a screen obeys
 * (control characters, marks that turn the direction of text, half a surrogate pair) becomes U+FFFD.
 */
export function visibleText(text: string): string {
  return visibleLine(text.replaceAll(/\s+/g, ' ').trim())
}

/** The same for a line of a listing, whose blanks count. */
export function visibleLine(line: string): string {
  return line.replaceAll('\t', '  ').replaceAll(unseen, '\uFFFD')
}

/** The same for a text of several lines, whose tabs stay. */
export function visibleLines(text: string): string {
  return text.replaceAll(unseen, char => (char === '\n' || char === '\t' ? char : '\uFFFD'))
}

/** What is printed to a terminal: as `visibleLines`, and the colours of a report stay. */
export function visibleOutput(text: string): string {
  return text
    .split(/(\u001B\[(?:0|1|2|31|32|33)m)/)
    .map((piece, index) => (index % 2 === 1 ? piece : visibleLines(piece)))
    .join('')
}

/** A text in which what is not seen is written in another way, as escapes of the language it is for. */
export function withEscapes(text: string, write: (char: string) => string): string {
  return text.replaceAll(unseen, write)
}

const unseen =
  /[\u0000-\u001F\u007F-\u009F\u061C\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069\p{Surrogate}\p{Noncharacter_Code_Point}]/gu
