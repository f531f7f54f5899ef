import type { Found, HostFiles } from '../../evidence/host-files.js'
import type { SourceFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'
import { type ConfFile, type ConfFiles, confFiles, confText, linesOf, strip } from './conf-files.js'
import { matchesPattern } from './pattern.js'
import { isPattern } from './sysctl-d.js'

/** One line of a file that procps' `sysctl` applies. */
export interface ProcpsSetting {
  /** Path under /proc/sys, as the line makes it. */
  readonly path: string
  /** The same with its doubled slashes: patterns leave out only keys that are spelled as the kernel does. */
  readonly spelled: string
  /** Absent: it only takes the key out of patterns. */
  readonly value: string | undefined
  readonly ignoresFailure: boolean
  readonly isPattern: boolean
  readonly place: HostPlace
}

/** What is written, in order. */
export interface ProcpsWrite {
  readonly path: string
  readonly value: string
  readonly place: HostPlace
  /** `-` before the key. */
  readonly ignoresFailure: boolean
}

/**
 * The files `sysctl --system` reads: those of the sysctl.d directories by systemd's order and, last, /etc/sysctl.conf where it
 * is there. Names that begin with a dot count. Source: procps src/sysctl.c PreloadSystem (4.0.2).
 */
export function systemFiles(files: HostFiles): ConfFiles {
  const { read, unknown } = confFiles(files, 'sysctl.d', { dotFiles: true, directoriesMask: true })
  const main = confText(files, '/etc/sysctl.conf')
  const last: readonly ConfFile[] = main.kind === 'absent' ? [] : [{ path: '/etc/sysctl.conf', text: main, hides: [] }]
  return { read: [...read, ...last], unknown }
}

/** The lines of one file that are settings. Source: procps src/sysctl.c parse_setting_line. */
export function procpsSettings(file: {
  readonly path: string
  readonly text: Found<SourceFile>
}): readonly ProcpsSetting[] {
  if (file.text.kind !== 'known') return []
  return [...linesOf(file.text.value.text)].flatMap(({ text: raw, line }): readonly ProcpsSetting[] => {
    const text = strip(raw)
    if (text.length < 2 || text.startsWith('#') || text.startsWith(';')) return []
    const equals = text.indexOf('=')
    const dash = text.startsWith('-')
    if (equals === -1 && !dash) return []
    const key = text.slice(dash ? 1 : 0, equals === -1 ? undefined : equals).replace(/[ \t]+$/, '')
    const spelled = procpsPath(key)
    const path = spelled
      .split('/')
      .filter(part => part !== '' && part !== '.')
      .join('/')
    const value = equals === -1 ? undefined : strip(text.slice(equals + 1))
    const place = { file: file.path, line, says: text }
    return [{ path, spelled, value, ignoresFailure: dash, isPattern: isPattern(path), place }]
  })
}

/** By the first of `/` and `.`: after a dot they change places, after a slash they stay. Blanks are not taken off. */
function procpsPath(key: string): string {
  const first = /[/.]/.exec(key)?.[0]
  return first === '.' ? key.replace(/[/.]/g, char => (char === '.' ? '/' : '.')) : key
}

/**
 * The writes of `sysctl -p FILE …` or `sysctl --system`, line by line, over all files together: a pattern leaves out keys that
 * a line names. `keys`: the paths under /proc/sys that patterns are looked at for.
 */
export function applyProcps(
  files: readonly { readonly path: string; readonly text: Found<SourceFile> }[],
  keys: readonly string[],
): readonly ProcpsWrite[] {
  const settings = files.flatMap(procpsSettings)
  const named = new Set(settings.filter(each => !each.isPattern).map(({ spelled }) => spelled))
  return settings.flatMap(({ path, value, place, ignoresFailure, isPattern: pattern }): readonly ProcpsWrite[] => {
    if (value === undefined) return []
    if (!pattern) return [{ path, value, place, ignoresFailure }]
    const found = keys.filter(key => matchesPattern(path, key, { path: true }) && !named.has(key))
    return found.map(key => ({ path: key, value, place, ignoresFailure }))
  })
}

/** What stops `sysctl -p`: a key the kernel does not have, or a value it does not take. */
export interface ProcpsFailure {
  readonly place: HostPlace
  readonly says: string
}

/** What `sysctl -p FILE` does to the running kernel. */
export interface ProcpsRun {
  readonly writes: readonly ProcpsWrite[]
  /** Why it ends with another status than 0, or says so on stderr in a way the Ansible module takes for a failure. */
  readonly failures: readonly ProcpsFailure[]
  readonly unknown: readonly string[]
}

/**
 * `sysctl -p FILE` (with `-e`: unknown keys are passed over) on a kernel that has these keys and takes these values. A `-` before
 * a key does not help against one the kernel does not have. Source: procps 4.0.2 WriteSetting, by experiment.
 */
export function loadByProcps(
  files: HostFiles,
  path: string,
  kernel: {
    readonly exists: (path: string) => Found<true>
    readonly takes: (path: string, value: string) => boolean
    /** Paths patterns are looked at for. */
    readonly keys: readonly string[]
  },
  options: { readonly ignoreUnknown: boolean },
): ProcpsRun {
  const text = confText(files, path)
  if (text.kind === 'unknown') return { writes: [], failures: [], unknown: [text.because] }
  if (text.kind === 'absent') {
    return { writes: [], failures: [{ place: { file: path }, says: `${path} is not there` }], unknown: [] }
  }
  const writes: ProcpsWrite[] = []
  const failures: ProcpsFailure[] = []
  const unknown: string[] = []
  for (const write of applyProcps([{ path, text }], kernel.keys)) {
    const exists = kernel.exists(write.path)
    if (exists.kind === 'unknown') unknown.push(exists.because)
    if (exists.kind === 'absent') {
      if (!options.ignoreUnknown) {
        failures.push({ place: write.place, says: `the kernel has no /proc/sys/${write.path}` })
      }
      continue
    }
    if (!kernel.takes(write.path, write.value)) {
      failures.push({
        place: write.place,
        says: `the kernel does not take "${write.value}" for /proc/sys/${write.path}`,
      })
      continue
    }
    writes.push(write)
  }
  return { writes, failures, unknown }
}
