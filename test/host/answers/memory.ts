import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Evidence } from '../../../src/evidence/evidence.js'
import { ABSENT, type Entry, type Found, type HostFiles, resolveLink } from '../../../src/evidence/host-files.js'
import type { Moment, SwapArea, UnitState } from '../../../src/host/moment.js'

/** A file by its text, a link, `null` for an empty directory. */
export type Written = string | null | { readonly link: string } | { readonly text: string; readonly mode: number }

/** What a test knows of a host. */
export interface Host {
  readonly files?: Readonly<Record<string, Written>>
  /** Paths of which nobody knows anything. */
  readonly notCaptured?: readonly string[]
  readonly sysctl?: Readonly<Record<string, string>>
  readonly modules?: Readonly<Record<string, 'loaded' | 'built-in'>>
  readonly swap?: readonly SwapArea[]
  readonly units?: Readonly<Record<string, { readonly active: boolean; readonly enabled?: string }>>
  /** What commands printed, by their words joined by blanks. */
  readonly commands?: Readonly<Record<string, string>>
}

function filesIn({ files = {}, notCaptured = [] }: Host): HostFiles {
  const directories = new Set(['/'])
  for (const path of Object.keys(files)) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) directories.add(path.slice(0, at))
  }
  const because = (path: string): string => `${path} was not captured`
  const isOpen = (path: string): boolean => notCaptured.some(each => path === each || path.startsWith(`${each}/`))
  const entry = (path: string): Found<Entry> => {
    const at = resolved(path)
    if (isOpen(at)) return { kind: 'unknown', because: because(at) }
    const written = files[at]
    if (written === null || (written === undefined && directories.has(at))) {
      return { kind: 'known', value: { kind: 'directory', path: at, mode: 0o755, uid: 0, gid: 0 } }
    }
    if (written === undefined) return ABSENT
    if (typeof written === 'object' && 'link' in written) {
      return { kind: 'known', value: { kind: 'link', path: at, target: written.link, mode: 0o777, uid: 0, gid: 0 } }
    }
    const { text, mode } = typeof written === 'string' ? { text: written, mode: 0o644 } : written
    const file = { path: at, text }
    const size = Buffer.byteLength(text)
    return {
      kind: 'known',
      value: { kind: 'file', path: at, mode, size, uid: 0, gid: 0, content: () => ({ kind: 'text', file }) },
    }
  }
  /** The path with links among its directories followed. */
  const resolved = (path: string): string => {
    const parts = path.split('/').filter(Boolean)
    let at = ''
    for (const [index, part] of parts.entries()) {
      at = `${at}/${part}`
      const written = files[at]
      if (index < parts.length - 1 && typeof written === 'object' && written !== null && 'link' in written)
        at = resolveLink({ kind: 'link', path: at, target: written.link })
    }
    return at === '' ? '/' : at
  }
  return {
    entry,
    list: path => {
      const at = resolved(path)
      if (isOpen(at)) return { kind: 'unknown', because: because(at) }
      const prefix = at === '/' ? '/' : `${at}/`
      const below = [...Object.keys(files), ...directories].filter(each => each.startsWith(prefix) && each !== at)
      const names = new Set(below.map(each => each.slice(prefix.length).split('/')[0] ?? ''))
      return { kind: 'known', value: [...names].filter(Boolean).sort() }
    },
  }
}

/** A host in memory at one moment. */
export function momentIn(host: Host): Moment {
  const places: readonly never[] = []
  return {
    files: filesIn(host),
    sysctl: key => {
      const value = host.sysctl?.[key]
      if (host.sysctl === undefined) return { kind: 'unknown', because: `${key} was not captured`, places }
      return value === undefined ? { kind: 'absent', places } : { kind: 'known', value, places }
    },
    module: name => {
      const value = host.modules?.[name]
      if (host.modules === undefined) return { kind: 'unknown', because: '/proc/modules was not captured', places }
      return value === undefined ? { kind: 'absent', places } : { kind: 'known', value, places }
    },
    swap:
      host.swap === undefined
        ? { kind: 'unknown', because: '/proc/swaps was not captured', places }
        : { kind: 'known', value: host.swap, places },
    listeners: { kind: 'unknown', because: '/proc/net/tcp was not captured', places },
    unit: name => {
      const found = host.units?.[name]
      if (host.units === undefined) return { kind: 'unknown', because: 'the units were not captured', places }
      if (found === undefined) return { kind: 'absent', places }
      const { active, enabled } = found
      const value: UnitState = {
        active: { kind: 'known', value: active },
        atBoot: { kind: 'unknown', because: 'nobody asked' },
        ...(enabled === undefined ? {} : { enabled }),
      }
      return { kind: 'known', value, places }
    },
  }
}

/** The evidence of a host in memory. */
export function evidenceOf(host: Host): Evidence {
  return {
    host: 'h',
    origin: 'memory',
    files: filesIn(host),
    command: words => {
      const stdout = host.commands?.[words.join(' ')]
      if (stdout === undefined) return { kind: 'unknown', because: `\`${words.join(' ')}\` was not captured` }
      return { kind: 'known', value: { status: 0, stdout } }
    },
  }
}

/** The files of this machine. */
export const liveFiles: HostFiles = {
  entry: path => {
    try {
      const found = lstatSync(path)
      const { uid, gid, size } = found
      const attributes = { path, uid, gid, size, mode: found.mode & 0o7777 }
      if (found.isSymbolicLink())
        return { kind: 'known', value: { ...attributes, kind: 'link', target: readlinkSync(path) } }
      if (found.isDirectory()) return { kind: 'known', value: { ...attributes, kind: 'directory' } }
      if (!found.isFile()) return { kind: 'known', value: { ...attributes, kind: 'other' } }
      return {
        kind: 'known',
        value: {
          ...attributes,
          kind: 'file',
          content: () => {
            const bytes = readFileSync(path)
            const text = bytes.toString()
            return Buffer.from(text).equals(bytes) && !text.includes('\0')
              ? { kind: 'text', file: { path, text } }
              : { kind: 'binary', bytes }
          },
        },
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'ENOENT' || code === 'ENOTDIR' ? ABSENT : { kind: 'unknown', because: `${path}: ${code}` }
    }
  },
  list: path => {
    try {
      return { kind: 'known', value: readdirSync(path).sort() }
    } catch {
      return ABSENT
    }
  },
}
