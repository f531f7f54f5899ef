import type { HostPlace } from '../moment.js'
import { linesOf } from './conf-files.js'

/** A line of /etc/fstab as `getmntent` gives it to systemd. */
export interface FstabEntry {
  /** Decoded: `\040` is a blank. */
  readonly what: string
  readonly where: string
  readonly type: string
  readonly options: readonly string[]
  readonly place: HostPlace
}

/** `getmntent` has room for so much of a line. */
const LONGEST_LINE = 4095

/**
 * The entries of a file system table. Fields end at blanks and tabs alone, so the carriage return of a DOS file belongs to the last
 * field; what stands behind the sixth is passed over. Source: glibc misc/mntent_r.c.
 */
export function fstabEntries(text: string, file: string): readonly FstabEntry[] {
  const entries: FstabEntry[] = []
  for (const { text: raw, line } of linesOf(text)) {
    const said = raw
      .slice(0, LONGEST_LINE)
      .replace(/[ \t]+$/, '')
      .replace(/^[ \t]+/, '')
    if (said === '' || said.startsWith('#')) continue
    const [what = '', where = '', type = '', options = ''] = said.split(/[ \t]+/, 4).map(decodeField)
    entries.push({ what, where, type, options: options.split(','), place: { file, line, says: said.trim() } })
  }
  return entries
}

function decodeField(field: string): string {
  return field.replace(/\\(040|011|012|134|\\)/g, (_, code: string) => {
    if (code === '\\' || code === '134') return '\\'
    return code === '040' ? ' ' : code === '011' ? '\t' : '\n'
  })
}

/** A swap area of the table, and what becomes of it at boot. */
export interface FstabSwap extends FstabEntry {
  /** The path systemd waits for: `/dev/disk/by-uuid/…` for `UUID=…`. */
  readonly device: string
  /** `swapfile.swap`; undefined where the path makes none. */
  readonly unit: string | undefined
  /** It is made, but nothing starts it. */
  readonly noauto: boolean
  readonly nofail: boolean
}

/**
 * The lines systemd-fstab-generator makes swap units of: the type is exactly `swap`; the mount point does not matter.
 * Source: systemd src/fstab-generator/fstab-generator.c; the last of opposite options counts.
 */
export function fstabSwaps(text: string, file: string): readonly FstabSwap[] {
  return fstabEntries(text, file)
    .filter(({ type }) => type === 'swap')
    .map(entry => {
      const device = deviceOf(entry.what)
      const noauto = lastOf(entry.options, 'noauto', 'auto')
      const nofail = lastOf(entry.options, 'nofail', 'fail')
      return { ...entry, device, unit: swapUnitOf(device), noauto, nofail }
    })
}

function lastOf(options: readonly string[], yes: string, no: string): boolean {
  return options.findLast(each => each === yes || each === no) === yes
}

const BY: Readonly<Record<string, string>> = {
  LABEL: 'label',
  UUID: 'uuid',
  PARTUUID: 'partuuid',
  PARTLABEL: 'partlabel',
}

function deviceOf(what: string): string {
  const [, tag = '', value = ''] = /^(LABEL|UUID|PARTUUID|PARTLABEL)=(.*)$/s.exec(what) ?? []
  const by = BY[tag]
  if (by === undefined) return what
  const bare = /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value
  const encoded = [...bare].map(char => {
    if (/[A-Za-z0-9#+\-.:=@_]/.test(char) || char > '\x7f') return char
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return `/dev/disk/by-${by}/${encoded.join('')}`
}

/** The swap unit of a path: `/dev/sda2` is dev-sda2.swap. Source: systemd src/basic/unit-name.c unit_name_from_path. */
export function swapUnitOf(path: string): string | undefined {
  const parts = path.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..')) return undefined
  const escaped = parts.map(part => escapePart(part)).join('-')
  const name = `${escaped === '' ? '-' : escapeDot(escaped)}.swap`
  return name.length > 255 ? undefined : name
}

function escapeDot(text: string): string {
  return text.startsWith('.') ? `\\x2e${text.slice(1)}` : text
}

function escapePart(part: string): string {
  return [...Buffer.from(part)]
    .map(byte => {
      const char = String.fromCharCode(byte)
      return /[A-Za-z0-9:_.]/.test(char) ? char : `\\x${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
}
