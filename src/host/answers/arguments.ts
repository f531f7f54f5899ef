import type { Value } from '../../jinja/value.js'
import type { Invocation } from '../../run/task-run.js'

/** The arguments of a module, read as it reads them; `undefined` of a reader: it is not known what is given. */
export interface Given {
  /** The value under the first of the names that is given. */
  readonly value: (...names: readonly string[]) => Value | undefined
  /** Whether none of the names is given. */
  readonly lacks: (...names: readonly string[]) => boolean
  /** A text; `null` where none is given. */
  readonly text: (...names: readonly string[]) => string | null | undefined
  /** A path that is written out: `~` and variables are the user's on the host. */
  readonly path: (...names: readonly string[]) => string | undefined
  readonly flag: (name: string, otherwise: boolean) => boolean | undefined
  /** A list, or one text with commas; `null` where none is given. */
  readonly texts: (...names: readonly string[]) => readonly string[] | null | undefined
}

/** The arguments of an invocation. */
export function givenIn({ arguments: named }: Invocation): Given {
  const value = (...names: readonly string[]): Value | undefined => {
    for (const name of names) {
      const found = named.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }
  const text = (...names: readonly string[]): string | null | undefined => {
    const found = value(...names)
    return found === undefined ? null : textOf(found)
  }
  return {
    value,
    lacks: (...names) => value(...names) === undefined,
    text,
    path: (...names) => {
      const found = text(...names)
      return typeof found === 'string' && found.startsWith('/') && !found.includes('$') ? found : undefined
    },
    flag: (name, otherwise) => {
      const found = value(name)
      if (found === undefined) return otherwise
      if (found.kind !== 'known') return undefined
      if (/^(?:y|yes|on|1|true|t)$/i.test(String(found.data))) return true
      return /^(?:n|no|off|0|false|f)$/i.test(String(found.data)) ? false : undefined
    },
    texts: (...names) => {
      const found = value(...names)
      if (found === undefined) return null
      if (found.kind !== 'known') return undefined
      if (Array.isArray(found.data)) {
        const items: readonly Value[] = found.data
        const texts = items.flatMap(item => textOf(item) ?? [])
        return texts.length === items.length ? texts : undefined
      }
      return textOf(found)
        ?.split(',')
        .map(part => part.trim())
    },
  }
}

function textOf(value: Value): string | undefined {
  if (value.kind !== 'known') return undefined
  return typeof value.data === 'string' || typeof value.data === 'bigint' ? String(value.data) : undefined
}
