/**
 * Spaces put in at line starts so that the parser takes what libyaml takes: the lines of a quoted scalar or of a flow
 * collection may stand at any column there, while the parser asks for more than the parent's.
 */
export interface Padding {
  /** Line starts (offsets of the text as it was) and how many spaces each was given, in order. */
  readonly at: readonly number[]
  readonly by: readonly number[]
}

export const noPadding: Padding = { at: [], by: [] }

/** The text with the spaces put in. */
export function padded(text: string, padding: Padding): string {
  let result = ''
  let from = 0
  padding.at.forEach((at, index) => {
    result += text.slice(from, at) + ' '.repeat(padding.by[index] ?? 0)
    from = at
  })
  return from === 0 ? text : result + text.slice(from)
}

/** From offsets of the padded text back to those of the text as it was. */
export function unpadding(padding: Padding): (offset: number) => number {
  if (padding.at.length === 0) return offset => offset
  const ends: number[] = []
  const sums: number[] = []
  let sum = 0
  padding.at.forEach((at, index) => {
    sum += padding.by[index] ?? 0
    ends.push(at + sum)
    sums.push(sum)
  })
  return offset => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] as number) <= offset) low = middle + 1
      else high = middle
    }
    const before = low === 0 ? offset : offset - (sums[low - 1] as number)
    return Math.min(before, padding.at[low] ?? before)
  }
}

/**
 * More padding, for the quoted scalar or flow collection that starts at `start`; undefined where it has no end, a
 * document marker stands inside, or nothing is left to pad: then the text is at fault, not its indentation.
 */
export function padFrom(text: string, start: number, padding: Padding): Padding | undefined {
  const end = text[start] === '"' || text[start] === "'" ? quoteEnd(text, start) : bracketEnd(text, start)
  if (end === undefined) return undefined
  const column = start - (text.lastIndexOf('\n', start - 1) + 1)
  const pads = new Map(padding.at.map((at, index) => [at, padding.by[index] ?? 0]))
  let added = false
  for (let line = text.indexOf('\n', start) + 1; line > 0 && line <= end; line = text.indexOf('\n', line) + 1) {
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(text.slice(line, line + 4))) return undefined
    if (pads.has(line) || indentOf(text, line) > column) continue
    pads.set(line, column + 1)
    added = true
  }
  if (!added) return undefined
  const lines = [...pads].sort(([a], [b]) => a - b)
  return { at: lines.map(([at]) => at), by: lines.map(([, by]) => by) }
}

function indentOf(text: string, line: number): number {
  let at = line
  while (text[at] === ' ') at++
  return at - line
}

function quoteEnd(text: string, start: number): number | undefined {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++
    else if (text[at] === quote) {
      if (quote === '"' || text[at + 1] !== "'") return at
      at++
    }
  }
  return undefined
}

/** A quote opens a scalar only where a value can start; inside a plain scalar (`it's`) it is a letter like any other. */
function bracketEnd(text: string, start: number): number | undefined {
  let depth = 0
  let startsValue = true
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string
    switch (character) {
      case '[':
      case '{':
        depth++
        startsValue = true
        break
      case ']':
      case '}':
        depth--
        if (depth === 0) return at
        startsValue = false
        break
      case ',':
      case ':':
      case '?':
        startsValue = true
        break
      case '"':
      case "'":
        if (startsValue) {
          const end = quoteEnd(text, at)
          if (end === undefined) return undefined
          at = end
        }
        startsValue = false
        break
      case '#':
        if (/\s/.test(text[at - 1] ?? '')) {
          const end = text.indexOf('\n', at)
          if (end === -1) return undefined
          at = end
        } else startsValue = false
        break
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        break
      default:
        startsValue = false
    }
  }
  return undefined
}
