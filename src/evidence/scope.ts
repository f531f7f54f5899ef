/** Which paths of a host were read when its evidence was taken, as evidence.json says; all absolute, without `.`, `..` and a final `/`. */
export interface Scope {
  /** Read, with all that lies under it: what is not there does not exist. */
  readonly captured: readonly string[]
  /** Directories whose names were read: a name that is not there does not exist; nothing is said of what lies in them. */
  readonly listed: readonly string[]
  /** Looked at, and nothing under it: it does not exist where it is not there. */
  readonly asked: readonly string[]
  /** These exist, their content was left out; with a final `/` it is a directory. */
  readonly withheld: readonly string[]
  /** These could not be read. */
  readonly unreadable: readonly string[]
}

/** What a path is covered by, nearest first: `nothing` says nothing of it at all. */
export type Coverage = 'captured' | 'unreadable' | 'nothing'

/** The scope for look-ups: `place` gives each path with the links of its directories followed. */
export interface Covered {
  /** Whether everything at and under this path is known, or could not be read. */
  readonly at: (path: string) => Coverage
  readonly isListed: (path: string) => boolean
  readonly isAsked: (path: string) => boolean
  /** Left out on purpose: `directory` where it is one. */
  readonly withheld: (path: string) => 'file' | 'directory' | undefined
  readonly isUnreadable: (path: string) => boolean
  /** Whether a path that was captured lies somewhere under this one. */
  readonly leadsTo: (path: string) => boolean
  /** Names in a directory that are only known from the scope: left out or unreadable. */
  readonly namesIn: (path: string) => readonly string[]
}

/** Look-ups over a scope, its paths as `place` places them. */
export function coveredBy(scope: Scope, place: (path: string) => string): Covered {
  const captured = new Set(scope.captured.map(place))
  const listed = new Set(scope.listed.map(place))
  const asked = new Set(scope.asked.map(place))
  const unreadable = new Set(scope.unreadable.map(place))
  const withheld = new Map(
    scope.withheld.map(path => [place(path), path.endsWith('/') ? ('directory' as const) : ('file' as const)] as const),
  )
  const above = new Set<string>()
  const names = new Map<string, Set<string>>()
  for (const path of [...captured, ...listed, ...asked, ...unreadable, ...withheld.keys()]) {
    for (let at = parentOf(path); at !== undefined && !above.has(at); at = parentOf(at)) above.add(at)
  }
  for (const path of [...unreadable, ...withheld.keys()]) {
    const parent = parentOf(path)
    if (parent === undefined) continue
    const known = names.get(parent) ?? new Set()
    names.set(parent, known.add(path.slice(path.lastIndexOf('/') + 1)))
  }
  return {
    at: path => {
      for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) {
        if (unreadable.has(at)) return 'unreadable'
        if (captured.has(at)) return 'captured'
      }
      return 'nothing'
    },
    isListed: path => listed.has(path),
    isAsked: path => asked.has(path),
    withheld: path => withheld.get(path),
    isUnreadable: path => unreadable.has(path),
    leadsTo: path => above.has(path),
    namesIn: path => [...(names.get(path) ?? [])],
  }
}

/** The directory a path stands in; undefined for `/`. */
export function parentOf(path: string): string | undefined {
  return path === '/' ? undefined : path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

/** A path from the root, without `.`, `..` and doubled `/`. Where `..` leads out of the root: undefined, or the root (`stay`), as a system takes it. */
export function resolveParts(path: string, beyond: 'refuse' | 'stay' = 'refuse'): string | undefined {
  // Nearly all paths are tidy, and there are very many.
  if (path !== '' && !path.startsWith('/') && !/\/[/.]|^\.|\/$/.test(path)) return `/${path}`
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') kept.push(part)
    else if (kept.pop() === undefined && beyond === 'refuse') return undefined
  }
  return `/${kept.join('/')}`
}
