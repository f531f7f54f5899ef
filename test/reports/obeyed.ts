/** Texts a terminal obeys, or that hide what stands there. */
export const hostileTexts: readonly string[] = [
  '\u001B[2J',
  '\u001B]0;title\u0007',
  '\r',
  '\u0085',
  '\u009B31m',
  '\u202Eelif',
  '\u2066',
  '\u061C',
  '\u007F',
]

/**
 * What a terminal would obey or a reader could not see in a text of several lines, as code points: controls but the newline and the
 * tab, marks that turn the direction of text, separators of lines, halves of surrogate pairs.
 */
export function obeyed(text: string): readonly string[] {
  return [...text].flatMap(char => {
    const point = char.codePointAt(0) ?? 0
    const isControl = (point < 0x20 && char !== '\n' && char !== '\t') || (point >= 0x7f && point < 0xa0)
    const isMark =
      point === 0x61c ||
      point === 0x200e ||
      point === 0x200f ||
      (point >= 0x2028 && point <= 0x202e) ||
      (point >= 0x2066 && point <= 0x2069)
    const isHalf = point >= 0xd800 && point < 0xe000
    return isControl || isMark || isHalf ? [`U+${point.toString(16).toUpperCase().padStart(4, '0')}`] : []
  })
}
