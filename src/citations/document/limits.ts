import type { Unread } from './syntax.js'

/** Far above what people write, far below where a grammar's backtracking is felt. */
const limits = {
  size: 4 * 1024 * 1024,
  /** MDX is read by a slower grammar. */
  mdxSize: 256 * 1024,
  /** Openings of links, HTML, emphasis and code in one paragraph. */
  openings: 8000,
  containers: 100,
  blanks: 1000,
}

/** What of a text would take the grammar too long, if anything; such a text is not read. */
export function beyondLimits(text: string, kind: 'markdown' | 'mdx'): Unread | undefined {
  const size = kind === 'mdx' ? limits.mdxSize : limits.size
  if (text.length > size) return unread(`longer than ${size} characters`, 0, text.length)
  let openings = 0
  for (let start = 0; start < text.length; ) {
    const next = nextLine(text, start)
    if (countContainers(text, start, next) > limits.containers) {
      return unread(`more than ${limits.containers} quotes and lists begin on one line`, start, next)
    }
    if (startsAnew(text, start, next)) openings = 0
    for (let at = start, blanks = 0; at < next; at++) {
      const char = text.charCodeAt(at)
      if (isOpening(char)) openings++
      blanks = char === 0x20 || char === 0x09 ? blanks + 1 : 0
      if (blanks > limits.blanks) return unread(`more than ${limits.blanks} blanks in a row`, start, next)
    }
    if (openings > limits.openings) {
      return unread(`more than ${limits.openings} brackets and marks in one paragraph`, start, next)
    }
    start = next
  }
  return undefined
}

function unread(what: string, start: number, end: number): Unread {
  return { unread: `${what}: this document is not read; split it`, start, end }
}

function nextLine(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === 0x0a) return at + 1
    if (char === 0x0d) return text.charCodeAt(at + 1) === 0x0a ? at + 2 : at + 1
  }
  return text.length
}

/** `[`, `]`, `<`, `&`, `*`, `_`, `` ` ``, `~`, `!`, `{` */
function isOpening(char: number): boolean {
  return (
    char === 0x5b ||
    char === 0x5d ||
    char === 0x3c ||
    char === 0x26 ||
    char === 0x2a ||
    char === 0x5f ||
    char === 0x60 ||
    char === 0x7e ||
    char === 0x21 ||
    char === 0x7b
  )
}

/** Whether no paragraph goes on over the beginning of this line: it is blank, or a bullet, which ends one. */
function startsAnew(text: string, start: number, end: number): boolean {
  let at = start
  while (at < end && (text[at] === ' ' || text[at] === '\t' || text[at] === '>')) at++
  const char = text[at]
  if (at >= end || char === '\n' || char === '\r') return true
  return (char === '-' || char === '*' || char === '+') && text[at + 1] === ' ' && /\S/.test(text[at + 2] ?? '')
}

function countContainers(text: string, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) {
    const char = text[at] ?? ''
    if (char === '>') count++
    else if ('-+*.)'.includes(char) && /[ \t]/.test(text[at + 1] ?? '')) count++
    else if (!/[ \t0-9]/.test(char)) break
  }
  return count
}
