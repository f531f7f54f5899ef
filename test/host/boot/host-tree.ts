import type { Entry, Found, HostFiles } from '../../../src/evidence/host-files.js'
import { resolveLink } from '../../../src/evidence/host-files.js'
import type { Moment, Seen } from '../../../src/host/moment.js'

/** A file by its text or bytes, a link, a directory (null). */
export type Node =
  | string
  | Uint8Array
  | { readonly link: string }
  | { readonly text: string; readonly mode: number }
  | null

/**
 * Files of a host in memory. Without `captured` the record is the whole root; with it, what is not under one of these paths is
 * unknown.
 */
export function hostTree(record: Readonly<Record<string, Node>>, captured: readonly string[] = ['/']): HostFiles {
  const nodes = new Map<string, Node>([['/', null]])
  for (const [path, node] of Object.entries(record)) {
    for (let up = path; up !== ''; up = up.slice(0, up.lastIndexOf('/'))) if (!nodes.has(up)) nodes.set(up, null)
    nodes.set(path, node)
  }
  const isCaptured = (path: string): boolean =>
    captured.some(each => each === '/' || path === each || path.startsWith(`${each}/`))
  const entry = (path: string): Found<Entry> => {
    let at = ''
    let links = 0
    const parts = path.split('/').filter(part => part !== '')
    while (parts.length > 0) {
      const next = `${at}/${parts.shift()}`
      const isAbove = captured.some(each => each.startsWith(`${next}/`))
      const node = isCaptured(next) ? nodes.get(next) : isAbove ? null : undefined
      if (node === undefined) {
        if (isCaptured(next)) return { kind: 'absent' }
        return { kind: 'unknown', because: `${path} was not captured` }
      }
      if (node !== null && typeof node === 'object' && 'link' in node && parts.length > 0) {
        if (++links > 40) return { kind: 'absent' }
        parts.unshift(
          ...resolveLink({ kind: 'link', path: next, target: node.link })
            .split('/')
            .filter(part => part !== ''),
        )
        at = ''
      } else at = next
    }
    return entryOf(at === '' ? '/' : at, (isCaptured(at) ? nodes.get(at) : null) ?? null)
  }
  const list = (path: string): Found<readonly string[]> => {
    let at = path
    for (let links = 0; links < 40; links++) {
      const found = entry(at)
      if (found.kind !== 'known') return found
      if (found.value.kind === 'link') {
        at = resolveLink(found.value)
        continue
      }
      if (found.value.kind !== 'directory') return { kind: 'absent' }
      const directory = found.value.path === '/' ? '' : found.value.path
      if (!isCaptured(found.value.path)) return { kind: 'unknown', because: `${path} was not captured` }
      const names = [...nodes.keys()].filter(each => each.startsWith(`${directory}/`) && each !== '/')
      const inside = names.map(each => each.slice(directory.length + 1)).filter(each => !each.includes('/'))
      return {
        kind: 'known',
        value: inside.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
      }
    }
    return { kind: 'absent' }
  }
  return { entry, list }
}

function entryOf(path: string, node: Node): Found<Entry> {
  if (node === null) return { kind: 'known', value: { kind: 'directory', path } }
  if (typeof node === 'string') {
    return {
      kind: 'known',
      value: { kind: 'file', path, content: () => ({ kind: 'text', file: { path, text: node } }) },
    }
  }
  if (node instanceof Uint8Array) {
    return { kind: 'known', value: { kind: 'file', path, content: () => ({ kind: 'binary', bytes: node }) } }
  }
  if ('link' in node) return { kind: 'known', value: { kind: 'link', path, target: node.link } }
  const { text, mode } = node
  return { kind: 'known', value: { kind: 'file', path, mode, content: () => ({ kind: 'text', file: { path, text } }) } }
}

/** A host while it runs, as far as a test says. `sysctl`: keys by dots; others are absent, or unknown with `elsewhere`. */
export function hostMoment(
  files: HostFiles,
  {
    sysctl = {},
    modules = {},
    elsewhere = 'absent',
  }: {
    readonly sysctl?: Readonly<Record<string, string>>
    readonly modules?: Readonly<Record<string, 'loaded' | 'built-in'>>
    readonly elsewhere?: 'absent' | 'unknown'
  } = {},
): Moment {
  const other: Seen<never> =
    elsewhere === 'absent'
      ? { kind: 'absent', places: [] }
      : { kind: 'unknown', because: 'it was not captured', places: [] }
  return {
    files,
    sysctl: key => (sysctl[key] === undefined ? other : { kind: 'known', value: sysctl[key], places: [] }),
    module: name => (modules[name] === undefined ? other : { kind: 'known', value: modules[name], places: [] }),
    swap: { kind: 'known', value: [], places: [] },
    listeners: { kind: 'known', value: [], places: [] },
    unit: () => other,
  }
}
