import { type Found, type HostFiles, textAt } from '../evidence/host-files.js'
import { kernelCommandLine } from './boot/kernel-command-line.js'
import type { HostPlace } from './moment.js'

export type SelinuxMode = 'enforcing' | 'permissive' | 'disabled'

const CONFIG = '/etc/selinux/config'

/** The line of /etc/selinux/config that counts. Absent: no line says a mode; unknown also where releases of libselinux differ. */
export function selinuxConfigMode(files: HostFiles): Found<{ readonly mode: SelinuxMode; readonly place: HostPlace }> {
  const text = textAt(files, CONFIG)
  if (text.kind !== 'known') return text
  for (const [index, line] of text.value.text.split('\n').entries()) {
    if (!line.startsWith('SELINUX=')) continue
    const value = line.slice('SELINUX='.length)
    const mode = MODES.find(each => value.trimStart().toLowerCase().startsWith(each))
    // Since libselinux 3.4 blanks may stand before the word.
    if (mode !== undefined && /^\s/.test(value))
      return { kind: 'unknown', because: `whether "${line.trim()}" counts depends on the release of libselinux` }
    // Another word says nothing, and the next such line counts.
    if (mode !== undefined)
      return { kind: 'known', value: { mode, place: { file: CONFIG, line: index + 1, says: line.trim() } } }
  }
  return { kind: 'absent' }
}

const MODES: readonly SelinuxMode[] = ['enforcing', 'permissive', 'disabled']

/** The type of policy that /etc/selinux/config names. */
export function selinuxConfigType(files: HostFiles): string | undefined {
  const text = textAt(files, CONFIG)
  const lines = text.kind === 'known' ? text.value.text.split('\n') : []
  return lines.map(line => /^SELINUXTYPE=([\w-]+)\s*$/.exec(line)?.[1]).find(each => each !== undefined)
}

/**
 * The mode SELinux is in after the next boot, and what decides: `selinux=0` of the kernel, then a configuration that turns it off, then
 * `enforcing=` of the kernel, then the configuration; none: permissive. Absent: it is not set up.
 * Source: libselinux src/load_policy.c selinux_init_load_policy, src/selinux_config.c selinux_getenforcemode.
 */
export function selinuxAtBoot(files: HostFiles): Found<{ readonly mode: SelinuxMode; readonly place: HostPlace }> {
  const line = kernelCommandLine(files)
  const parameters = line.kind === 'known' ? line.value : []
  const said = (name: string, value: string): HostPlace => ({ file: '/proc/cmdline', says: `${name}=${value}` })
  const on = parameters.findLast(({ name }) => name === 'selinux')?.value
  if (on !== undefined && Number(on) === 0)
    return { kind: 'known', value: { mode: 'disabled', place: said('selinux', on) } }
  const there = textAt(files, CONFIG)
  if (there.kind === 'absent') return there
  const config = selinuxConfigMode(files)
  if (config.kind === 'known' && config.value.mode === 'disabled') return config
  const enforcing = parameters.find(({ name }) => name === 'enforcing')?.value
  if (enforcing !== undefined) {
    const mode = Number.parseInt(enforcing, 10) > 0 ? 'enforcing' : 'permissive'
    if (config.kind !== 'unknown' || mode === 'permissive')
      return { kind: 'known', value: { mode, place: said('enforcing', enforcing) } }
  }
  if (config.kind !== 'absent') return config
  return { kind: 'known', value: { mode: 'permissive', place: { file: CONFIG, says: 'SELINUX= is not set' } } }
}
