import { optionsOf, piecesOf } from '../../effects/argument.js'
import type { Value } from '../../jinja/value.js'

/** Stands for a piece of a text that is not known; it is a word in every format that is read. */
export const HOLE = '__unknown__'

/** The texts that may be written, each with a word in place of what is not known; none where nothing is known of any. */
export function writtenTexts(content: Value | undefined): readonly string[] {
  if (content === undefined) return []
  return optionsOf(content).flatMap(({ value }) => {
    const pieces = piecesOf(value)
    return pieces === undefined || pieces.every(piece => piece === null)
      ? []
      : [pieces.map(piece => piece ?? HOLE).join('')]
  })
}
