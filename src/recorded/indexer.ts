/** Gives things that recur a number, so that a snapshot writes each of them once. */
export interface Indexer<T> {
  readonly all: T[]
  readonly indexOf: (item: T) => number
}

/** Two things with the same key are the same. Those that `known` has keep their numbers. */
export function indexer<T>(keyOf: (item: T) => string, known: readonly T[] = []): Indexer<T> {
  const all: T[] = [...known]
  const indexes = new Map(all.map((item, index) => [keyOf(item), index]))
  return {
    all,
    indexOf: item => {
      const key = keyOf(item)
      const before = indexes.get(key)
      if (before !== undefined) return before
      indexes.set(key, all.length)
      return all.push(item) - 1
    },
  }
}
