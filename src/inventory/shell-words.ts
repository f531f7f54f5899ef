/** A word of a line: its text without quotes, and for each character of it where that character stands in the line. */
export interface ShellWord {
  readonly text: string
  /** Offset of each character of `text`, and at the end the offset behind the word. */
  readonly offsets: readonly number[]
}

/**
 * Splits a line into words as Python's `shlex.split(line, comments=True)` does, with which Ansible reads the host lines
 * of an INI inventory: quotes are removed, `#` starts a comment even in the middle of a word.
 * Returns what is wrong with the line where a quotation or an escape is left open.
 */
export function splitShellWords(line: string): readonly ShellWord[] | string {
  const words: ShellWord[] = []
  let text = ''
  let offsets: number[] = []
  let begun = false
  let quote = ''
  let at = 0

  const take = (char: string, offset: number): void => {
    text += char
    offsets.push(offset)
    begun = true
  }
  const finish = (end: number): void => {
    offsets.push(end)
    if (begun) words.push({ text, offsets })
    text = ''
    offsets = []
    begun = false
  }

  for (; at < line.length; at++) {
    const char = line[at] ?? ''
    if (quote !== '') {
      if (char === quote) quote = ''
      else if (char === '\\' && quote === '"') {
        const next = line[++at]
        if (next === undefined) return 'expected a character after the backslash'
        // Inside double quotes a backslash escapes only itself and the quote.
        if (next !== '"' && next !== '\\') take('\\', at - 1)
        take(next, at)
      } else take(char, at)
    } else if (char === ' ' || char === '\t' || char === '\r' || char === '\n') finish(at)
    else if (char === '#') {
      finish(at)
      return words
    } else if (char === '"' || char === "'") {
      quote = char
      begun = true
    } else if (char === '\\') {
      const next = line[++at]
      if (next === undefined) return 'expected a character after the backslash'
      take(next, at)
    } else take(char, at)
  }
  if (quote !== '') return `expected a closing ${quote}`
  finish(at)
  return words
}
