/** How words are set off on a terminal; `plain` leaves them as they are. */
export interface Style {
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly unsure: (text: string) => string
}

const same = (text: string): string => text

export const plain: Style = { strong: same, faint: same, good: same, bad: same, unsure: same }

const sgr =
  (code: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001B[${code}m${text}\u001B[0m`

export const coloured: Style = { strong: sgr(1), faint: sgr(2), good: sgr(32), bad: sgr(31), unsure: sgr(33) }

export const WIDTH = 100

/** Breaks a text into lines of at most `width`, at blanks; the first begins with `first`, the others with `rest`. */
export function wrap(text: string, first: string, rest: string, width = WIDTH): readonly string[] {
  const lines: string[] = []
  let line = first
  let empty = true
  for (const word of text.split(' ')) {
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = rest
      empty = true
    }
    line += empty ? word : ` ${word}`
    empty = false
  }
  lines.push(line)
  return lines
}
