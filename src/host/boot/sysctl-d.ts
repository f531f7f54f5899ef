import type { HostFiles } from '../../evidence/host-files.js'
import type { HostPlace } from '../moment.js'
import { type ConfFile, confFiles, linesOfSystemd, strip } from './conf-files.js'

/** One entry of systemd-sysctl's list, in the order in which it is applied. */
export interface SysctlOption {
  /** Path under /proc/sys, or a pattern for one: `net/ipv4/ip_forward`. */
  readonly path: string
  /** Absent: it only takes the key out of patterns (`-key` without `=`). */
  readonly value?: string
  /** `-` before the key: what goes wrong is passed over. */
  readonly ignoresFailure: boolean
  readonly isPattern: boolean
  readonly place: HostPlace
}

/** A file that could set any key: it is there and cannot be read. */
export interface UnreadOptions {
  readonly because: string
  readonly place: HostPlace
}

/** What the files of sysctl.d come to. */
export interface SysctlFiles {
  readonly read: readonly ConfFile[]
  /** The list that is applied: each key once, at its place. */
  readonly options: readonly (SysctlOption | UnreadOptions)[]
  /** Keys an entry names: no pattern sets them. */
  readonly named: ReadonlySet<string>
  /** Every assignment as it stands, also those that others replace. */
  readonly assignments: readonly SysctlOption[]
  /** Lines that are neither an assignment nor an exclusion. */
  readonly invalid: readonly HostPlace[]
  readonly unknown: readonly string[]
}

/** Tells a file that cannot be read from an entry of the list. */
export function isUnread(option: SysctlOption | UnreadOptions): option is UnreadOptions {
  return 'because' in option
}

const cache = new WeakMap<HostFiles, SysctlFiles>()

/**
 * The list systemd-sysctl applies at boot. A key stands where it first got its present value: the same value again keeps the
 * place, another value moves it to the end. Source: systemd src/sysctl/sysctl.c parse_file; man sysctl.d(5).
 */
export function sysctlFiles(files: HostFiles): SysctlFiles {
  const known = cache.get(files)
  if (known !== undefined) return known
  const read = readSysctlFiles(files)
  cache.set(files, read)
  return read
}

function readSysctlFiles(files: HostFiles): SysctlFiles {
  const { read, unknown } = confFiles(files, 'sysctl.d')
  const options = new Map<string, SysctlOption | UnreadOptions>()
  const assignments: SysctlOption[] = []
  const invalid: HostPlace[] = []
  for (const { path: file, text } of read) {
    // No key can be called like a file's whole path with a blank before it.
    if (text.kind === 'unknown') options.set(` ${file}`, { because: text.because, place: { file } })
    if (text.kind !== 'known') continue
    for (const { text: raw, line } of linesOfSystemd(text.value.text)) {
      const option = parseSysctlLine(raw, { file, line })
      if (option === undefined) continue
      if (option === 'invalid') {
        invalid.push({ file, line, says: strip(raw) })
        continue
      }
      assignments.push(option)
      const before = options.get(option.path)
      if (before !== undefined && !isUnread(before) && before.value === option.value) {
        // It keeps its place in the list, but the line a reader has to know is the last one.
        const ignoresFailure = before.ignoresFailure || option.ignoresFailure
        options.set(option.path, { ...option, ignoresFailure })
        continue
      }
      options.delete(option.path)
      options.set(option.path, option)
    }
  }
  const all = [...options.values()]
  const named = new Set(all.flatMap(option => (isUnread(option) || option.isPattern ? [] : [option.path])))
  return { read, options: all, named, assignments, invalid, unknown }
}

/** One line: nothing (blank, a comment), an entry, or a line systemd passes over with a warning. */
export function parseSysctlLine(raw: string, place: HostPlace): SysctlOption | 'invalid' | undefined {
  const text = strip(raw)
  if (text === '' || text.startsWith('#') || text.startsWith(';')) return undefined
  const equals = text.indexOf('=')
  const dash = text.startsWith('-')
  if (equals === -1 && !dash) return 'invalid'
  const key = strip(text.slice(dash ? 1 : 0, equals === -1 ? undefined : equals))
  const path = sysctlPath(key)
  const entry = { path, ignoresFailure: dash, isPattern: isPattern(path), place: { ...place, says: text } }
  return equals === -1 ? entry : { ...entry, value: strip(text.slice(equals + 1)) }
}

/** Whether a key stands for several: `{a,b}` alone makes none. */
export function isPattern(path: string): boolean {
  return /[*?[]/.test(path)
}

/**
 * A key as a path under /proc/sys. If the first of `/` and `.` is a dot, every dot is a slash and every slash a dot; else it is
 * a path already. Doubled and outer slashes and `.` parts go. Source: systemd src/shared/sysctl-util.c sysctl_normalize.
 */
export function sysctlPath(key: string): string {
  const first = /[/.]/.exec(key)?.[0]
  const path = first === '.' ? key.replace(/[/.]/g, char => (char === '.' ? '/' : '.')) : key
  return path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')
}

/** A path under /proc/sys as a key with dots; the dot of an interface's name becomes a slash. */
export function sysctlKeyOf(path: string): string {
  return path.replace(/[/.]/g, char => (char === '/' ? '.' : '/'))
}
