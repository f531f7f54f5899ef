import { unitName } from '../../effects/describe.js'
import type { Found, HostFiles } from '../../evidence/host-files.js'
import { kernelCommandLine } from '../boot/kernel-command-line.js'
import type { HostPlace, Seen } from '../moment.js'
import { isStandardUnit, STANDARD_UNITS } from './standard-units.js'
import { isGenerated, ownNameOf, pulledInBy, type Unit, type UnitFiles, unitFilesOf } from './unit-files.js'
import { isUnitName, last, listed, type Setting, typeOf, withSpecifiers, wordsOf } from './unit-syntax.js'

/** How a unit comes to start: at once, or when its socket or path has something for it. */
type Way = 'starts' | 'on-demand'

interface Reached {
  readonly way: Way
  /** The places that lead there, the last step first. */
  readonly places: readonly HostPlace[]
}

/** What the next boot reaches. */
export interface Reach {
  readonly units: ReadonlyMap<string, Reached>
  /** Units that are pulled in, but masked: what masks them. */
  readonly masked: ReadonlyMap<string, HostPlace>
  /** Why more may be reached. */
  readonly open: readonly string[]
}

/** Settings that start other units with their own (man systemd.unit). */
const PULLS = ['Wants', 'Requires', 'BindsTo', 'Upholds']

const reached = new WeakMap<HostFiles, Reach>()

/**
 * Whether the next boot starts a unit: whether a way leads to it from default.target (or from what the kernel command line
 * names) over links in `*.wants` and `*.requires` and over the settings that say the same; a timer leads to what it starts. Masks
 * cut the way. What a socket or path unit starts is unknown: somebody has to connect first. Conditions (`ConditionPathExists=`
 * and the like), conflicts and init scripts are not looked at. systemd's own units are taken to be there where
 * /usr/lib/systemd/system is not given.
 */
export function startsAtBoot(files: HostFiles, unit: string): Seen<boolean> {
  const all = unitFilesOf(files, 'boot')
  const reach = reachedAtBoot(files)
  const name = ownNameOf(all, unit)
  const found = reach.units.get(name)
  const mask = reach.masked.get(name)
  if (mask !== undefined) return { kind: 'known', value: false, places: [mask] }
  if (found === undefined) {
    const [because] = reach.open
    return because === undefined
      ? { kind: 'known', value: false, places: [] }
      : { kind: 'unknown', because: `what starts at boot is not known in full: ${because}`, places: [] }
  }
  if (found.way === 'on-demand') {
    const because = `${found.places[0]?.says ?? 'another unit'} starts it when it is asked for`
    return { kind: 'unknown', because, places: found.places }
  }
  const loaded = all.unit(name)
  // Generators write the units of /etc/fstab anew, from what it says then.
  const source = loaded.kind === 'known' ? last(loaded.value.settings, 'Unit', 'SourcePath')?.value : undefined
  if (loaded.kind === 'known' && isGenerated(loaded.value.path) && source === '/etc/fstab')
    return { kind: 'unknown', because: `${name} is made anew from /etc/fstab at boot`, places: found.places }
  if (loaded.kind === 'unknown') return { kind: 'unknown', because: loaded.because, places: found.places }
  if (loaded.kind === 'absent' && all.vendor.kind === 'known')
    return { kind: 'known', value: false, places: found.places }
  return { kind: 'known', value: true, places: found.places }
}

/** Every unit a boot reaches, at once or when it is asked for; see startsAtBoot. */
export function reachedAtBoot(files: HostFiles): Reach {
  const reach = reached.get(files) ?? reachOf(unitFilesOf(files, 'boot'))
  reached.set(files, reach)
  return reach
}

function reachOf(all: UnitFiles): Reach {
  const units = new Map<string, Reached>()
  const masked = new Map<string, HostPlace>()
  const open: string[] = []
  if (all.vendor.kind === 'unknown') open.push(all.vendor.because)
  const line = saidOfUnits(all.files)
  const waiting: { readonly name: string; readonly from: Reached }[] = line.starts.map(name => ({
    name,
    from: { way: 'starts', places: [] },
  }))
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    const name = ownNameOf(all, step.name)
    const before = units.get(name)
    if (before !== undefined && (before.way === 'starts' || step.from.way === 'on-demand')) continue
    const says = line.masks.get(step.name) ?? line.masks.get(name)
    if (says !== undefined) {
      masked.set(name, { file: '/proc/cmdline', line: 1, says })
      continue
    }
    const loaded = all.unit(name)
    if (loaded.kind === 'known' && loaded.value.masked) {
      masked.set(name, { file: loaded.value.path, says: `${name} is masked` })
      continue
    }
    units.set(name, step.from)
    if (loaded.kind === 'unknown') open.push(loaded.because)
    const next = stepsFrom(all, name, loaded)
    open.push(...next.open)
    for (const { to, way, place } of next.steps) {
      const places = [place, ...step.from.places].slice(0, MOST_PLACES)
      waiting.push({ name: to, from: { way: step.from.way === 'on-demand' ? 'on-demand' : way, places } })
    }
  }
  return { units, masked, open }
}

const MOST_PLACES = 8

interface Step {
  readonly to: string
  readonly way: Way
  readonly place: HostPlace
}

function stepsFrom(
  all: UnitFiles,
  name: string,
  loaded: Found<Unit>,
): { readonly steps: readonly Step[]; readonly open: readonly string[] } {
  const pulled = pulledInBy(all, name)
  const steps: Step[] = pulled.units.map(({ name: to, path }) => ({
    to,
    way: 'starts',
    place: { file: path, says: `${name} pulls in ${to}` },
  }))
  const open = [...pulled.open]
  // Names that are only aliases may have directories of their own.
  for (const alias of loaded.kind === 'known' ? loaded.value.names.slice(0, -1) : [])
    steps.push(
      ...pulledInBy(all, alias).units.map(
        ({ name: to, path }): Step => ({ to, way: 'starts', place: { file: path, says: `${alias} pulls in ${to}` } }),
      ),
    )
  if (loaded.kind !== 'known') {
    if (all.vendor.kind !== 'known' && isStandardUnit(name))
      for (const to of STANDARD_UNITS.get(name) ?? [])
        steps.push({
          to,
          way: 'starts',
          place: { file: `/usr/lib/systemd/system/${name}`, says: `${name} pulls in ${to}, as systemd ships it` },
        })
    return { steps, open }
  }
  const { settings } = loaded.value
  const add = (setting: Setting, word: string, way: Way): void => {
    const to = withSpecifiers(word, name)
    if (to === undefined) open.push(`${name} has ${setting.name}=${word}`)
    else if (isUnitName(to)) steps.push({ to, way, place: setting.place })
  }
  for (const pull of PULLS)
    for (const setting of listed(settings, 'Unit', pull))
      for (const word of wordsOf(setting)) add(setting, word, 'starts')
  if (typeOf(name) === 'service')
    for (const setting of listed(settings, 'Service', 'Sockets'))
      for (const word of wordsOf(setting)) add(setting, word, 'starts')
  const triggered = triggeredBy(name, settings)
  if (triggered !== undefined) {
    const way = typeOf(name) === 'timer' ? 'starts' : 'on-demand'
    steps.push({ to: triggered.unit, way, place: { ...(triggered.place ?? { file: loaded.value.path }), says: name } })
  }
  return { steps, open }
}

/**
 * What a timer, socket, path or automount unit starts: what `Unit=` or `Service=` names, else the unit of its own name; for a
 * socket with `Accept=yes` the template whose instances it starts. Undefined for other units.
 */
export function triggeredBy(
  name: string,
  settings: readonly Setting[],
): { readonly unit: string; readonly place?: HostPlace } | undefined {
  const type = typeOf(name)
  const base = name.slice(0, -type.length - 1)
  if (type === 'timer' || type === 'path') {
    const setting = last(settings, type === 'timer' ? 'Timer' : 'Path', 'Unit')
    const named = setting && withSpecifiers(setting.value, name)
    return named === undefined ? { unit: `${base}.service` } : { unit: named, ...(setting && { place: setting.place }) }
  }
  if (type !== 'socket') return undefined
  const setting = last(settings, 'Socket', 'Service')
  const named = setting && withSpecifiers(setting.value, name)
  if (named !== undefined) return { unit: named, ...(setting && { place: setting.place }) }
  const accepts = last(settings, 'Socket', 'Accept')
  if (!/^(1|yes|y|true|t|on)$/i.test(accepts?.value ?? '')) return { unit: `${base}.service` }
  // foo.socket starts foo@0-1.service; foo@bar.socket starts foo@bar-0-1.service.
  return { unit: `${base.replace(/@.*$/, '')}@.service`, ...(accepts && { place: accepts.place }) }
}

/** The words that begin a boot elsewhere than at default.target (man kernel-command-line). */
const RUNLEVELS: ReadonlyMap<string, string> = new Map([
  ...['1', 's', 'S', 'single', 'rescue'].map(word => [word, 'rescue.target'] as const),
  ...['emergency', '-b'].map(word => [word, 'emergency.target'] as const),
  ...['2', '3', '4'].map(word => [word, 'multi-user.target'] as const),
  ['5', 'graphical.target'],
])

/**
 * What the kernel command line of this boot says of units; the next one is taken to have the same. `masks`: each unit with the
 * parameter that masks it. Source: systemd src/core/main.c parse_proc_cmdline_item, src/debug-generator/debug-generator.c.
 */
function saidOfUnits(files: HostFiles): {
  readonly starts: readonly string[]
  readonly masks: ReadonlyMap<string, string>
} {
  const found = kernelCommandLine(files)
  let first = 'default.target'
  const starts: string[] = []
  const masks = new Map<string, string>()
  for (const { name, value } of found.kind === 'known' ? found.value : []) {
    if (value === undefined) first = RUNLEVELS.get(name) ?? first
    else if (name === 'systemd.unit') first = isUnitName(value) ? value : first
    else if (name === 'systemd.wants') starts.push(unitName(value))
    else if (name === 'systemd.mask') masks.set(unitName(value), `${name}=${value}`)
  }
  return { starts: [first, ...starts], masks }
}
