/** A place in kubespray's repository, as a link or a path names it. */
export interface LinkedPlace {
  /** The tag, commit or branch; undefined for a path without one. */
  readonly ref: string | undefined
  readonly path: string
  readonly first: number | undefined
  readonly last: number | undefined
}

/** Owners under which the repository stands or stood; GitHub takes capital letters for small ones. */
const owners: ReadonlySet<string> = new Set(['kubernetes-sigs', 'kubernetes-incubator', 'kubespray'])

/** What GitHub shows of a repository's files. */
const views: ReadonlySet<string> = new Set(['blob', 'tree', 'raw', 'blame', 'edit'])

/** The place in kubespray's repository that an address on GitHub names; undefined for any other address. */
export function placeOfLink(address: string): LinkedPlace | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  const segments = url.pathname.split('/').slice(1).map(decoded)
  if (segments.some(segment => segment === undefined)) return undefined
  const [owner = '', repository = '', ...rest] = segments as string[]
  if (!owners.has(owner.toLowerCase()) || repository.toLowerCase() !== 'kubespray') return undefined
  const isRaw = url.hostname === 'raw.githubusercontent.com'
  if (!isRaw && !/^(?:www\.)?github\.com$/.test(url.hostname)) return undefined
  const [view = '', ...inView] = isRaw ? ['raw', ...rest] : rest
  if (!views.has(view)) return undefined
  const named = inView[0] === 'refs' && (inView[1] === 'heads' || inView[1] === 'tags') ? inView.slice(2) : inView
  const [ref = '', ...path] = named
  if (ref === '') return undefined
  return { ref, path: path.join('/').replace(/\/+$/, ''), ...linesIn(url.hash) }
}

/** The same link to another place; a range of lines where the old one had lines. */
export function linkTo(
  address: string,
  place: { readonly ref: string; readonly path: string; readonly first?: number; readonly last?: number },
): string {
  const url = new URL(address)
  const [owner, repository, ...rest] = url.pathname.split('/').slice(1)
  const view = url.hostname === 'raw.githubusercontent.com' ? [] : [rest[0] ?? 'blob']
  const path = place.path === '' ? [] : place.path.split('/').map(encodeURIComponent)
  url.pathname = ['', owner, repository, ...view, encodeURIComponent(place.ref), ...path].join('/')
  const { first, last } = place
  if (first !== undefined) url.hash = last === undefined || last === first ? `L${first}` : `L${first}-L${last}`
  return url.href
}

/** `#L10`, `#L10-L20`, `#L10C1-L20C5`. */
function linesIn(hash: string): { readonly first: number | undefined; readonly last: number | undefined } {
  const [, from, to] = /^#L(\d{1,7})(?:C\d+)?(?:-L?(\d{1,7})(?:C\d+)?)?$/.exec(hash) ?? []
  if (from === undefined) return { first: undefined, last: undefined }
  return { first: Number(from), last: Number(to ?? from) }
}

/** What a tag, branch or commit can be called (git's check-ref-format), and not what git works out from one, as `HEAD~3`. */
export function isReference(ref: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}_./+-]*$/u.test(ref) && !/\.\.|\/\/|[./]$|\.lock$/.test(ref)
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
