import { ownEntry } from '../../../source/own-entry.js'

/** What a program takes: flags and options with a value, each by its short letter or long name. */
export interface Taken {
  /** Letters that stand alone. */
  readonly flags?: string
  /** Letters that take a value. */
  readonly values?: string
  /** Long names (without dashes) to the letter or name they stand for. */
  readonly long?: Readonly<Record<string, string>>
  /** Long names that take a value, to the name they stand for. */
  readonly longValues?: Readonly<Record<string, string>>
}

export interface ReadWords {
  readonly flags: ReadonlySet<string>
  readonly values: ReadonlyMap<string, string>
  readonly operands: readonly string[]
}

/** Reads words as getopt does; undefined where one is an option that is not taken. */
export function readWords(words: readonly string[], taken: Taken): ReadWords | undefined {
  const flags = new Set<string>()
  const values = new Map<string, string>()
  const operands: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      operands.push(...words.slice(at + 1))
      break
    }
    if (word.startsWith('--')) {
      const [name = '', given] = splitOnce(word.slice(2), '=')
      const flag = ownEntry(taken.long ?? {}, name)
      const valued = ownEntry(taken.longValues ?? {}, name)
      if (flag !== undefined && given === undefined) flags.add(flag)
      else if (valued !== undefined) {
        const value = given ?? words[++at]
        if (value === undefined) return undefined
        values.set(valued, value)
      } else return undefined
    } else if (word.startsWith('-') && word !== '-') {
      for (let index = 1; index < word.length; index++) {
        const letter = word.charAt(index)
        if (taken.flags?.includes(letter)) flags.add(letter)
        else if (taken.values?.includes(letter)) {
          const value = word.slice(index + 1) || words[++at]
          if (value === undefined) return undefined
          values.set(letter, value)
          break
        } else return undefined
      }
    } else operands.push(word)
  }
  return { flags, values, operands }
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
