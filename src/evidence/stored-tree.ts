import { ABSENT } from './host-files.js'
import type { HostStore, StoredEntry } from './host-store.js'
import { parentOf } from './scope.js'

/** A store over entries by absolute path; directories above them are there, too. */
export function storeOf(entries: ReadonlyMap<string, StoredEntry>): HostStore {
  const names = new Map<string, Set<string>>([['/', new Set()]])
  for (const [path, { kind }] of entries) {
    if (kind === 'directory' && !names.has(path)) names.set(path, new Set())
    let below = path
    for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
      const known = names.get(at)
      const name = below.slice(below.lastIndexOf('/') + 1)
      if (known?.has(name)) break
      names.set(at, (known ?? new Set()).add(name))
      below = at
    }
  }
  return {
    entry: path => {
      const found = entries.get(path) ?? (names.has(path) ? { kind: 'directory' as const } : undefined)
      return found === undefined ? ABSENT : { kind: 'known', value: found }
    },
    names: path => {
      const found = names.get(path)
      return found === undefined ? ABSENT : { kind: 'known', value: [...found] }
    },
  }
}
