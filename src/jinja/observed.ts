import type { Value } from './value.js'

/** One use of an operator, a comparison, a filter, a test, a slice, a subscript, a lookup or a method, with what it gave. */
export interface Operation {
  readonly kind: 'operator' | 'comparison' | 'filter' | 'test' | 'method' | 'slice' | 'item' | 'lookup'
  readonly name: string
  /** What it was applied to, the left operand (or the input) first, arguments by name last. */
  readonly operands: readonly Value[]
  /** The names of the last of the operands. */
  readonly names: readonly string[]
  readonly result: Value
}

let observer: ((operation: Operation) => void) | undefined

/** Tells of every operation that is evaluated while the work is done: for what has to know how values decide. Whoever listens already goes on. */
export function observeOperations<T>(told: (operation: Operation) => void, work: () => T): T {
  const outer = observer
  observer =
    outer === undefined
      ? told
      : operation => {
          outer(operation)
          told(operation)
        }
  try {
    return work()
  } finally {
    observer = outer
  }
}

/** Gives the result back, and tells of it where somebody listens. */
export function observed(
  kind: Operation['kind'],
  name: string,
  operands: readonly Value[],
  result: Value,
  names: readonly string[] = [],
): Value {
  observer?.({ kind, name, operands, names, result })
  return result
}
