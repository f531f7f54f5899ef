import { visibleLine, withEscapes } from '../source/visible.js'

/**
 * A word as a shell takes it literally, on one line: what a terminal obeys (a name may hold a newline) stands as escapes of its
 * bytes, as bash, ksh, zsh and busybox read them.
 */
export function quoted(word: string): string {
  if (/^[A-Za-z0-9@%_+=:,./-]+$/.test(word)) return word
  if (visibleLine(word) === word) return `'${word.replaceAll("'", "'\\''")}'`
  return `$'${withEscapes(word.replaceAll(/[\\']/g, '\\$&'), octal)}'`
}

/** Three digits of octal end by themselves, whatever stands behind them. */
function octal(char: string): string {
  return [...Buffer.from(char)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
