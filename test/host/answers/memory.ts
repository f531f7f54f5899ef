import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Evidence } from '../../../src/evidence/evidence.js'
import { ABSENT, type HostFiles } from '../../../src/evidence/host-files.js'
import type { Moment, SwapArea, UnitState } from '../../../src/host/moment.js'
import { filesOf, type Written } from '../files.js'

/** What a test knows of a host. */
export interface Host {
  readonly files?: Readonly<Record<string, Exclude<Written, Uint8Array>>>
  /** Paths of which nobody knows anything. */
  readonly notCaptured?: readonly string[]
  readonly sysctl?: Readonly<Record<string, string>>
  readonly modules?: Readonly<Record<string, 'loaded' | 'built-in'>>
  readonly swap?: readonly SwapArea[]
  readonly units?: Readonly<Record<string, { readonly active: boolean; readonly enabled?: string }>>
  /** What commands printed, by their words joined by blanks. */
  readonly commands?: Readonly<Record<string, string>>
}

/** Owned by root with the usual modes, as `stat` would say it. */
function filesIn({ files = {}, notCaptured = [] }: Host): HostFiles {
  const record = Object.fromEntries(
    Object.entries(files).map(([path, written]) => {
      if (written === null) return [path, written]
      const given = typeof written === 'string' ? { text: written } : written
      return [path, { mode: 'link' in given ? 0o777 : 0o644, uid: 0, gid: 0, ...given }]
    }),
  )
  return notCaptured.length === 0 ? filesOf(record) : filesOf(record, { captured: ['/'], unreadable: notCaptured })
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
