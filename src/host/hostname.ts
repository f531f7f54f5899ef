import { type HostFiles, textAt } from '../evidence/host-files.js'
import { linesOf } from './boot/conf-files.js'
import { valuesOfParameter } from './boot/kernel-command-line.js'
import type { Seen } from './moment.js'

const FILE = '/etc/hostname'
const LONGEST = 64

/**
 * The name systemd gives the host at boot: of `systemd.hostname=`, else of the first line of /etc/hostname that is no comment.
 * Absent: neither says one, and the name is that of DHCP or of the distribution. Source: systemd src/shared/hostname-setup.c.
 */
export function hostnameAtBoot(files: HostFiles): Seen<string> {
  const asked = valuesOfParameter(files, 'systemd.hostname').findLast(value => value !== undefined && value !== '')
  if (asked !== undefined)
    return {
      kind: 'known',
      value: asked,
      places: [{ file: '/proc/cmdline', line: 1, says: `systemd.hostname=${asked}` }],
    }
  const text = textAt(files, FILE)
  if (text.kind !== 'known') return { ...text, places: [] }
  for (const { text: raw, line } of linesOf(text.value.text)) {
    const trimmed = raw.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const places = [{ file: FILE, line, says: trimmed }]
    if (trimmed.includes('?'))
      return { kind: 'unknown', because: `what ${FILE}:${line} comes to depends on the release of systemd`, places }
    const value = cleaned(trimmed)
    return value === '' ? { kind: 'absent', places } : { kind: 'known', value, places }
  }
  return { kind: 'absent', places: [{ file: FILE }] }
}

/** What systemd leaves of a name: characters of a host name, no two dots together, none at the ends, 64 of them at most. */
function cleaned(text: string): string {
  let name = ''
  for (const char of text) {
    if (name.length >= LONGEST) break
    const last = name.at(-1) ?? '.'
    if (char === '.' ? last !== '.' && last !== '-' : char === '-' ? last !== '.' : /[A-Za-z0-9_]/.test(char))
      name += char
  }
  return name.replace(/[-.]$/, '')
}
