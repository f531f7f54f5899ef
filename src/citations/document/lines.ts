import { type Container, cutPrefix, lineEnd } from './containers.js'
import type { Range } from './syntax.js'

/** A range of a file as the lines its author sees: container prefixes taken off, LF between. */
export interface SeenText {
  readonly text: string
  /** The offset in the file of an offset in `text`. */
  readonly offsetOf: (at: number) => number
}

/** What stands in a range, read inside of a container. */
export function seenText(text: string, { start, end }: Range, container: Container): SeenText {
  const lines: string[] = []
  const starts: { readonly seen: number; readonly at: number }[] = []
  let seen = 0
  for (let at = start; ; ) {
    const stop = Math.min(lineEnd(text, at), end)
    const from = at === start ? at : Math.min(cutPrefix(text, at, stop, container.prefix).at, stop)
    starts.push({ seen, at: from })
    lines.push(text.slice(from, stop))
    seen += stop - from + 1
    if (stop >= end) break
    at = stop + (text.startsWith('\r\n', stop) ? 2 : 1)
    if (at > end) break
  }
  const offsetOf = (at: number): number => {
    const line = starts.findLast(each => each.seen <= at) ?? { seen: 0, at: start }
    return line.at + at - line.seen
  }
  return { text: lines.join('\n'), offsetOf }
}

/** What stands between the backticks of a code span. */
export function insideOfCode(text: string, { start, end }: Range): Range {
  let from = start
  let to = end
  while (text[from] === '`' && from < to) from++
  while (text[to - 1] === '`' && to > from) to--
  return { start: from, end: to }
}
