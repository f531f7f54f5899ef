import { known, type Value } from '../jinja/value.js'
import { piecesOf, textOf } from './argument.js'
import type { SimpleCommand } from './shell.js'

/** What a command prints, where that is plain to see: `echo words`, `printf words`, `cat <<EOF`. */
export function outputOf(command: SimpleCommand): Value | undefined {
  const name = textOf(command.words[0]?.value)?.split('/').at(-1)
  const words = command.words.slice(1).map(word => word.value)
  if (name === 'cat' && (words.length === 0 || (words.length === 1 && textOf(words[0]) === '-'))) {
    const text = command.redirects.find(redirect => redirect.operator.startsWith('<<'))?.target
    return text ?? (command.redirects.length > 0 || command.stdin === undefined ? undefined : outputOf(command.stdin))
  }
  if (name === 'printf') {
    const [format] = words
    const text = textOf(format)
    const plain = text === undefined ? undefined : withoutEscapes(text)
    return words.length === 1 && plain !== undefined && !plain.includes('%') ? known(plain) : undefined
  }
  if (name !== 'echo') return undefined
  const flags = words.findIndex(word => !/^-[neE]+$/.test(textOf(word) ?? ''))
  const options = words.slice(0, flags === -1 ? words.length : flags).map(word => textOf(word) ?? '')
  const pieces: (string | null)[] = words.slice(options.length).flatMap((word, index) => {
    const own = piecesOf(word) ?? [null]
    return index === 0 ? own : [' ', ...own]
  })
  // bash takes a backslash as it is without `-e`, dash takes it as an escape.
  const escapes = options.some(option => option.includes('e'))
  if (!escapes && pieces.some(piece => piece?.includes('\\'))) return undefined
  const shown = escapes ? pieces.map(piece => (piece === null ? null : withoutEscapes(piece))) : pieces
  if (shown.includes(undefined)) return undefined
  const end = options.some(option => option.includes('n')) ? [] : ['\n']
  const text = [...shown.map(piece => piece ?? null), ...end]
  if (!text.includes(null)) return known(text.join(''))
  return { kind: 'unknown', causes: words.flatMap(word => (word.kind === 'unknown' ? word.causes : [])), text }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' }

/** A text of printf or `echo -e` with its escapes put in; undefined where one is not of the plain ones. */
function withoutEscapes(text: string): string | undefined {
  let out = ''
  for (let at = 0; at < text.length; at++) {
    if (text.charAt(at) !== '\\') {
      out += text.charAt(at)
      continue
    }
    const meant = ESCAPES[text.charAt(++at)]
    if (meant === undefined) return undefined
    out += meant
  }
  return out
}
