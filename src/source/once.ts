/** Puts a computation off until its value is first asked for, and keeps the value. */
export function once<T>(compute: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: compute() }
    return made.value
  }
}
