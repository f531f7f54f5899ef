/**
 * A word as a shell takes it literally, on one line: control characters (a name may hold a newline) stand as escapes, as bash, ksh,
 * zsh and busybox read them.
 */
export function quoted(word: string): string {
  if (/^[A-Za-z0-9@%_+=:,./-]+$/.test(word)) return word
  if (![...word].some(isControl)) return `'${word.replaceAll("'", "'\\''")}'`
  const escaped = [...word].map(char => {
    if (char === '\\' || char === "'") return `\\${char}`
    // Three digits of octal end by themselves, whatever stands behind them.
    return isControl(char) ? `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}` : char
  })
  return `$'${escaped.join('')}'`
}

function isControl(char: string): boolean {
  return char < ' ' || char === '\x7f'
}
