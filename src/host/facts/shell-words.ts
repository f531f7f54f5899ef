/**
 * The words of a text as Python's `shlex` splits it with `posix=True` and `whitespace_split`, comments from `#` on: how
 * os-release is read. Undefined where a quote is not closed.
 */
export function posixWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quote !== '') {
      if (char === quote) quote = ''
      else if (char === '\\' && quote === '"') {
        const next = text.charAt(++at)
        if (at >= text.length) return undefined
        word = `${word ?? ''}${next === '"' || next === '\\' ? next : `\\${next}`}`
      } else word = `${word ?? ''}${char}`
    } else if (/[ \t\r\n]/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === '#') {
      if (word !== undefined) words.push(word)
      word = undefined
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else if (char === '\\') {
      if (++at >= text.length) return undefined
      word = `${word ?? ''}${text.charAt(at)}`
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else word = `${word ?? ''}${char}`
  }
  if (quote !== '') return undefined
  return word === undefined ? words : [...words, word]
}

/**
 * The words as `shlex` splits them with `posix=False`: quotes stay, and only quote where a word begins with one. How the kernel
 * command line is read. Undefined where a quote is not closed.
 */
export function plainWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    const space = /^[ \t\r\n]+/.exec(rest)
    if (space !== null) {
      at += space[0].length
      continue
    }
    const char = rest.charAt(0)
    if (char === '"' || char === "'") {
      const end = rest.indexOf(char, 1)
      if (end === -1) return undefined
      words.push(rest.slice(0, end + 1))
      at += end + 1
      continue
    }
    const word = /^[^ \t\r\n]+/.exec(rest)?.[0] ?? ''
    words.push(word)
    at += word.length
  }
  return words
}
