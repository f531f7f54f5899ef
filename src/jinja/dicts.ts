import { dataOf, isDict, membersOf, put, raise } from './python.js'
import type { Data, Key, Value } from './value.js'

/** Fills a dict from another one or from pairs, as Python's `dict(…)`. */
export function fillDict(made: Map<Key, Value>, from: Data): void {
  if (isDict(from)) {
    for (const [key, value] of from) made.set(key, value)
    return
  }
  for (const pair of membersOf(from)) {
    const [key, value, more] = membersOf(dataOf(pair))
    if (key === undefined || value === undefined || more !== undefined) {
      raise('dictionary update sequence element has a wrong length; 2 is required')
    } else put(made, dataOf(key), value)
  }
}
