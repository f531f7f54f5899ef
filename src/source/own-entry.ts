/** What a table has under a name that somebody else chose: what every object has (`constructor`) is none of its entries. */
export function ownEntry<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
