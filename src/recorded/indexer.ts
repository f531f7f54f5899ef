/** Gives things that recur a number, so that a snapshot writes each of them once. */
export interface Indexer<T> {
  readonly all: T[]
  readonly indexOf: (item: T) => number
}

/** Two things with the same key are the same. */
export function indexer<T>(keyOf: (item: T) => string): Indexer<T> {
  const indexes = new Map<string, number>()
  const all: T[] = []
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
