import type { Evidence } from '../../evidence/evidence.js'
import { type Found, textAt } from '../../evidence/host-files.js'
import type { Seen, UnitState } from '../moment.js'
import { startsAtBoot } from './boot-reach.js'
import { cgroupPaths } from './cgroup.js'
import { enablementOf } from './enablement.js'
import { unitFilesOf } from './unit-files.js'
import { last, templateOf, typeOf } from './unit-syntax.js'

/** How the collector asks systemd which units there are. */
const LIST_UNITS = ['systemctl', 'list-units', '--all', '--plain', '--no-legend']

/**
 * The state of a unit, as far as the evidence decides it: whether it is active by what systemd printed, else by its cgroup and
 * those of the processes; whether the next boot starts it; what `systemctl is-enabled` prints. Absent: there is no such unit.
 */
export function unitState(evidence: Evidence, name: string): Seen<UnitState> {
  const { files } = evidence
  const enabled = enablementOf(files, name)
  const active = activeOf(evidence, name)
  if (enabled.kind === 'absent' && !(active.kind === 'known' && active.value)) {
    const { vendor } = unitFilesOf(files, 'now')
    if (vendor.kind === 'known') return { kind: 'absent', places: [] }
  }
  const boot = startsAtBoot(files, name)
  const atBoot: Found<boolean> =
    boot.kind === 'known'
      ? { kind: 'known', value: boot.value }
      : boot.kind === 'absent'
        ? boot
        : { kind: 'unknown', because: boot.because }
  const state: UnitState = { active, atBoot, ...(enabled.kind === 'known' && { enabled: enabled.value }) }
  return { kind: 'known', value: state, places: [...enabled.places, ...boot.places] }
}

/** What systemd printed of a unit: its states LOAD, ACTIVE and SUB; absent: it was not loaded. */
export function listedState(
  evidence: Evidence,
  name: string,
): Found<{ readonly load: string; readonly active: string; readonly sub: string }> {
  const printed = evidence.command(LIST_UNITS)
  if (printed.kind !== 'known' || printed.value.status !== 0)
    return {
      kind: 'unknown',
      because: printed.kind === 'unknown' ? printed.because : 'systemctl list-units did not run',
    }
  for (const line of printed.value.stdout.split('\n')) {
    const [unit, load = '', active = '', sub = ''] = line.replace(/^[●*\s]+/, '').split(/\s+/)
    if (unit === name) return { kind: 'known', value: { load, active, sub } }
  }
  return { kind: 'absent' }
}

function activeOf(evidence: Evidence, name: string): Found<boolean> {
  const listed = listedState(evidence, name)
  if (listed.kind === 'known')
    return { kind: 'known', value: ['active', 'reloading', 'refreshing'].includes(listed.value.active) }
  if (listed.kind === 'absent') return { kind: 'known', value: false }
  const type = typeOf(name)
  if (type !== 'service' && type !== 'scope')
    return {
      kind: 'unknown',
      because: `whether ${name} is active only systemctl tells, and its answer was not captured`,
    }
  const group = cgroupOf(evidence, name)
  if (group.kind === 'known' && group.value) return group
  for (const pid of pidsIn(evidence)) {
    const text = textAt(evidence.files, `/proc/${pid}/cgroup`)
    if (text.kind === 'known' && cgroupPaths(text.value.text).some(path => path.split('/').includes(name)))
      return { kind: 'known', value: true }
  }
  return group
}

function pidsIn({ files }: Evidence): readonly string[] {
  const listed = files.list('/proc')
  return listed.kind === 'known' ? listed.value.filter(each => /^[0-9]+$/.test(each)) : []
}

/** Where systemd's cgroups are: cgroup v2, the hybrid layout, v1. */
const CGROUP_ROOTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified']

/**
 * Whether the cgroup of a unit is there. A service without processes has none, so that one that has run and ended but counts as
 * active (`RemainAfterExit=`) cannot be told from one that is not.
 */
function cgroupOf({ files }: Evidence, name: string): Found<boolean> {
  const unit = unitFilesOf(files, 'now').unit(name)
  const settings = unit.kind === 'known' ? unit.value.settings : []
  const slice = last(settings, typeOf(name) === 'scope' ? 'Scope' : 'Service', 'Slice')?.value ?? defaultSlice(name)
  const path = `${slicePath(slice)}/${name}`
  let because = `/sys/fs/cgroup was not captured`
  for (const root of CGROUP_ROOTS) {
    const group = files.entry(`${root}${path}`)
    if (group.kind === 'known') return { kind: 'known', value: true }
    if (group.kind === 'unknown') because = group.because
    const isThere = files.entry(`${root}/system.slice`).kind === 'known'
    if (!isThere || group.kind !== 'absent') continue
    const isOneshot =
      last(settings, 'Service', 'Type')?.value === 'oneshot' ||
      last(settings, 'Service', 'RemainAfterExit') !== undefined
    if (unit.kind !== 'unknown' && !isOneshot) return { kind: 'known', value: false }
    because = `${name} need not have processes to be active`
  }
  return { kind: 'unknown', because }
}

function defaultSlice(name: string): string {
  const template = templateOf(name)
  return template === undefined
    ? 'system.slice'
    : `system-${template.slice(0, template.indexOf('@')).replaceAll('-', '\\x2d')}.slice`
}

/** `a-b.slice` is inside `a.slice`. */
function slicePath(slice: string): string {
  if (slice === '-.slice') return ''
  const parts = slice.replace(/\.slice$/, '').split('-')
  return parts.map((_part, index) => `/${parts.slice(0, index + 1).join('-')}.slice`).join('')
}
