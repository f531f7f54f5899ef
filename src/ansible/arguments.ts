/** Free-form argument text cut up: options by name, and the words that are none, joined again (Ansible's `_raw_params`). */
export interface FreeForm {
  readonly options: ReadonlyMap<string, string>
  readonly raw: string | undefined
}

/** The options Ansible takes out of a command's text wherever they stand in it (rule 109). */
const commandOptions = new Set([
  'creates',
  'removes',
  'chdir',
  'executable',
  'warn',
  'stdin',
  'stdin_add_newline',
  'strip_empty_ends',
])

/**
 * Reads `k=v` text as Ansible does for `module: text`. With `rawText` (command, shell, script, raw) only the command
 * options are taken out. Returns a message where quotes or Jinja braces are not balanced.
 * Source: semantics rules 108 and 109, rows `freeform-args`.
 */
export function readFreeForm(text: string, rawText: boolean): FreeForm | { readonly problem: string } {
  const words = splitArguments(text)
  if (words === undefined) return { problem: 'unbalanced quotes or Jinja braces in the arguments' }
  const options = new Map<string, string>()
  const rest: string[] = []
  for (const word of words) {
    const decoded = decodeEscapes(word)
    const equals = findEquals(decoded)
    if (equals === -1) {
      rest.push(decoded.includes('=') ? decoded.replaceAll('\\=', '=') : word)
      continue
    }
    const name = decoded.slice(0, equals)
    if (rawText && !commandOptions.has(name)) rest.push(word)
    else options.set(name.trim(), unquote(decoded.slice(equals + 1).trim()))
  }
  if (rest.length === 0) return { options, raw: options.get('_raw_params') }
  return { options, raw: joinWords(rest) }
}

/** The first `=` that is neither the first character nor escaped. */
function findEquals(word: string): number {
  for (let at = word.indexOf('=', 1); at !== -1; at = word.indexOf('=', at + 1)) if (word[at - 1] !== '\\') return at
  return -1
}

function joinWords(words: readonly string[]): string {
  return words.reduce(
    (joined, word) => (joined === '' || joined.endsWith('\n') ? joined + word : `${joined} ${word}`),
    '',
  )
}

function unquote(text: string): string {
  const quoted =
    text.length > 1 && (text[0] === '"' || text[0] === "'") && text.at(-1) === text[0] && text.at(-2) !== '\\'
  return quoted ? text.slice(1, -1) : text
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

function decodeEscapes(word: string): string {
  return word.replaceAll(
    /\\(?:U([0-9a-fA-F]{8})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\\'"abfnrtv]))/g,
    (whole, long?: string, short?: string, hex?: string, letter?: string) => {
      if (letter !== undefined) return escapes[letter] ?? whole
      const code = Number.parseInt(long ?? short ?? hex ?? '', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

const openers = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['{#', '#}'],
] as const

/**
 * Splits at blanks and line ends outside quotes and Jinja braces. Braces are counted a blank-separated piece at a time, as
 * Ansible does: that is why `{% if x %}1{% else %}2 3` falls apart (row 864). Undefined when something is left open.
 */
export function splitArguments(text: string): readonly string[] | undefined {
  const words: string[] = []
  const depth = [0, 0, 0]
  let quote: string | undefined
  const append = (piece: string): void => {
    if (words.length === 0) words.push(piece)
    else words[words.length - 1] += piece
  }
  const lines = text.trim().split('\n')
  for (const [row, line] of lines.entries()) {
    let continued = false
    for (const [column, piece] of line.split(' ').entries()) {
      if (piece === '' && column !== 0) {
        append(' ')
        continue
      }
      if (piece === '\\' && quote === undefined) {
        continued = true
        continue
      }
      const wasQuoted = quote !== undefined
      const wasOpen = depth.some(count => count > 0)
      quote = quoteAfter(piece, quote)
      const quoted = quote !== undefined
      let placed = false
      if (quoted && !wasQuoted && !wasOpen) {
        words.push(piece)
        placed = true
      } else if (wasOpen || wasQuoted || quoted) {
        append(column > 0 ? ` ${piece}` : piece)
        placed = true
      }
      for (const [kind, [open, close]] of openers.entries()) {
        const before = depth[kind] as number
        const after = Math.max(0, before + count(piece, open) - count(piece, close))
        depth[kind] = after
        if (after !== before && !placed) {
          words.push(piece)
          placed = true
        }
      }
      if (!placed && piece !== '') words.push(piece)
    }
    const last = words.at(-1)
    if (row < lines.length - 1 && !continued && last !== undefined && (!last.endsWith('\n') || line === ''))
      append('\n')
  }
  return quote === undefined && depth.every(count => count === 0) ? words : undefined
}

function quoteAfter(piece: string, before: string | undefined): string | undefined {
  let quote = before
  for (let at = 0; at < piece.length; at += 1) {
    const character = piece[at]
    if ((character !== '"' && character !== "'") || piece[at - 1] === '\\') continue
    if (quote === undefined) quote = character
    else if (quote === character) quote = undefined
  }
  return quote
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}
