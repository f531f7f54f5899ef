import { textOf } from '../../effects/argument.js'
import { follow, type HostFiles, textAt } from '../../evidence/host-files.js'
import { ownEntry } from '../../source/own-entry.js'
import { compareBytes } from '../../source/store.js'
import type { HostPlace, Seen, SwapArea } from '../moment.js'
import { quoted } from '../quoted.js'
import { bootPrograms, isCertain, settingsIn } from './at-boot.js'
import { conditionsOf } from './conditions.js'
import { confText, withoutRun } from './conf-files.js'
import { type BootUnit, type BootUnits, bootUnits } from './enabled.js'
import { type FstabSwap, fstabSwaps, swapUnitOf } from './fstab.js'
import { booleanParameter, valuesOfParameter } from './kernel-command-line.js'
import { commentOut, type Mend, replaceLine, stepOf } from './mends.js'

/** Something that turns swap on at boot, or would. */
export interface SwapSource {
  /** As far as it is known: `/swapfile`, `/dev/zram0`. */
  readonly device: string
  readonly by: 'fstab' | 'swap unit' | 'gpt-auto' | 'zram-generator' | 'service' | 'agent' | 'script'
  readonly place: HostPlace
  /** For people: what brings it. */
  readonly says: string
  /** What stops it for good. */
  readonly stop: () => Mend
}

/** What becomes of swap at the next boot. */
export interface SwapAtBoot {
  readonly comesBack: readonly SwapSource[]
  /** What may come, and what decides. */
  readonly mayCome: readonly (SwapSource & { readonly because: string })[]
  /** What would have come and does not. */
  readonly cut: readonly (SwapSource & { readonly because: string; readonly cutBy: HostPlace })[]
  /** Why there may be more. */
  readonly unknown: readonly string[]
}

const TARGET = 'swap.target'

type Fate =
  | { readonly kind: 'comes' }
  | { readonly kind: 'cut'; readonly because: string; readonly cutBy: HostPlace }
  | { readonly kind: 'may'; readonly because: string }

interface Found {
  readonly source: SwapSource
  readonly fate: Fate
}

/** The areas of swap the next boot turns on, each with what brings it and what would stop it; and those that are cut off. */
export function swapAtBoot(current: HostFiles): SwapAtBoot {
  const files = withoutRun(current)
  const units = bootUnits(current)
  const unknown = new Set<string>()
  const container = containerOf(current)
  const found = [
    ...fromFstab(files, units, unknown),
    ...fromUnits(files, units),
    ...fromGpt(files, units),
    ...fromZramGenerator(files, units, unknown),
    ...fromPrograms(files, units),
    ...fromAgent(files, units),
  ].map(
    (each): Found =>
      container === undefined || each.fate.kind === 'cut'
        ? each
        : { ...each, fate: { kind: 'cut', because: 'a container has no swap of its own', cutBy: container } },
  )
  for (const because of units.unknown) unknown.add(because)
  return {
    comesBack: found.filter(({ fate }) => fate.kind === 'comes').map(({ source }) => source),
    mayCome: found.flatMap(({ source, fate }) => (fate.kind === 'may' ? [{ ...source, because: fate.because }] : [])),
    cut: found.flatMap(({ source, fate }) =>
      fate.kind === 'cut' ? [{ ...source, because: fate.because, cutBy: fate.cutBy }] : [],
    ),
    unknown: [...unknown],
  }
}

/** The swap areas that are on after the boot. */
export function swapAreasOf({ comesBack, mayCome, unknown }: SwapAtBoot, files: HostFiles): Seen<readonly SwapArea[]> {
  if (comesBack.length > 0) {
    const devices = [...new Set(comesBack.map(({ device }) => device))]
    return {
      kind: 'known',
      value: devices.map(device =>
        areaOf(
          comesBack.filter(each => each.device === device),
          files,
        ),
      ),
      places: comesBack.map(({ place }) => place),
    }
  }
  const because = [...mayCome.map(each => each.because), ...unknown]
  if (because.length === 0) return { kind: 'known', value: [], places: [] }
  return { kind: 'unknown', because: because.join('; '), places: mayCome.map(({ place }) => place) }
}

/** One device with everything that brings it. */
function areaOf(sources: readonly SwapSource[], files: HostFiles): SwapArea {
  return {
    device: sources[0]?.device ?? '',
    because: sources.map(({ says }) => says).join(', and '),
    // Worked out when it is asked for: whether `disable` is enough takes another look at the boot.
    get stop() {
      return sources.map(({ stop }) => stepOf(stop(), files))
    },
  }
}

function containerOf(files: HostFiles): HostPlace | undefined {
  for (const file of ['/run/systemd/container', '/.dockerenv', '/run/.containerenv']) {
    if (files.entry(file).kind === 'known') return { file }
  }
  return undefined
}

/** What cuts everything that hangs on swap.target. */
function targetCut(units: BootUnits): Fate | undefined {
  const masked = units.masked(TARGET)
  if (masked !== undefined) {
    return { kind: 'cut', because: `${TARGET} is masked (${masked.says ?? masked.file})`, cutBy: masked }
  }
  const unseen = units.maskUnknown(TARGET)
  if (unseen !== undefined) return { kind: 'may', because: `whether ${TARGET} is masked is not known: ${unseen}` }
  if (units.started.has(TARGET)) return undefined
  return { kind: 'cut', because: `nothing starts ${TARGET}`, cutBy: { file: '/usr/lib/systemd/system/sysinit.target' } }
}

/** The kernel's command line may turn generated swap units off. Source: man systemd-fstab-generator(8), kernel-command-line(7). */
function lineCut(files: HostFiles): Fate | undefined {
  const cutBy = (says: string): HostPlace => ({ file: '/proc/cmdline', says })
  if (booleanParameter(files, 'systemd.swap') === false) {
    return { kind: 'cut', because: 'systemd.swap= on the kernel command line is off', cutBy: cutBy('systemd.swap=0') }
  }
  if (valuesOfParameter(files, 'noswap').length > 0) {
    return { kind: 'may', because: 'whether systemd honours noswap on the kernel command line depends on its version' }
  }
  return undefined
}

function unitCut(units: BootUnits, unit: string | undefined): Fate | undefined {
  if (unit === undefined) return undefined
  const masked = units.masked(unit)
  if (masked !== undefined) return { kind: 'cut', because: `${unit} is masked`, cutBy: masked }
  const unseen = units.maskUnknown(unit)
  return unseen === undefined
    ? undefined
    : { kind: 'may', because: `whether ${unit} is masked is not known: ${unseen}` }
}

const COMES: Fate = { kind: 'comes' }

/** One reason that it is cut is enough; one that it may be makes it open. */
function strongest(...fates: readonly (Fate | undefined)[]): Fate {
  return fates.find(fate => fate?.kind === 'cut') ?? fates.find(fate => fate?.kind === 'may') ?? COMES
}

function fromFstab(files: HostFiles, units: BootUnits, unknown: Set<string>): readonly Found[] {
  const text = confText(files, '/etc/fstab')
  if (text.kind === 'unknown') unknown.add(text.because)
  if (text.kind !== 'known') return []
  return fstabSwaps(text.value.text, '/etc/fstab').map(swap => ({
    source: fstabSource(swap, files),
    fate: fstabFate(swap, files, units),
  }))
}

function fstabSource(swap: FstabSwap, files: HostFiles): SwapSource {
  const { place } = swap
  const unit = swap.unit ?? 'a swap unit'
  return {
    device: swap.what.startsWith('/') ? swap.what : swap.device,
    by: 'fstab',
    place,
    says: `/etc/fstab:${place.line} names it, of which systemd makes ${unit}`,
    stop: () => commentOut(files, place, 'take its line out of /etc/fstab', '#') ?? maskOf(unit),
  }
}

function maskOf(unit: string): Mend {
  return { kind: 'mask', unit, says: `mask ${unit}` }
}

function keepOff(unit: string): () => Mend {
  return () => ({ kind: 'keep-off', unit, says: `keep ${unit} from being started at boot` })
}

function fstabFate(swap: FstabSwap, files: HostFiles, units: BootUnits): Fate {
  const { unit, place } = swap
  if (unit === undefined) return { kind: 'cut', because: 'its path makes no unit', cutBy: place }
  if (booleanParameter(files, 'fstab') === false) {
    const cutBy = { file: '/proc/cmdline', says: 'fstab=0' }
    return { kind: 'cut', because: 'fstab= on the kernel command line is off', cutBy }
  }
  const line = lineCut(files)
  if (line?.kind === 'cut') return line
  const masked = unitCut(units, unit)
  if (masked?.kind === 'cut') return masked
  // Another unit may want it, whatever the options say.
  if (units.started.has(unit)) return strongest(line, masked)
  if (swap.noauto) {
    if (units.unknown.length > 0)
      return { kind: 'may', because: 'the line has noauto; whether a unit wants it is not known' }
    return { kind: 'cut', because: 'the line has noauto, and no unit wants it', cutBy: place }
  }
  return strongest(targetCut(units), line, masked)
}

/** `.swap` unit files that a link or another unit starts. */
function fromUnits(files: HostFiles, units: BootUnits): readonly Found[] {
  const started = [...units.started.values()].filter(({ name, files: [first] }) => {
    return name.endsWith('.swap') && first !== undefined
  })
  const found = started.map(({ name, files: texts, pulledBy }): Found => {
    const place = pulledBy ?? { file: texts[0]?.path ?? name }
    // Through swap.target it comes only where that is not masked.
    const isThroughTarget = place.file.includes(`/${TARGET}.`)
    const fate = strongest(
      unitCut(units, name),
      isThroughTarget ? targetCut(units) : undefined,
      conditionCut(units.started.get(name), files),
    )
    return { source: unitSource(name, whatOf(texts), place, texts[0]?.path ?? name), fate }
  })
  const cut = targetCut(units)
  if (cut?.kind !== 'cut') return found
  // Those that would have come through swap.target.
  const directories = ['/etc', '/usr/local/lib', '/usr/lib'].map(root => `${root}/systemd/system`)
  for (const directory of directories) {
    for (const kind of ['wants', 'requires']) {
      const listed = files.list(`${directory}/${TARGET}.${kind}`)
      for (const name of listed.kind === 'known' ? listed.value : []) {
        if (!name.endsWith('.swap') || units.started.has(name)) continue
        const place = { file: `${directory}/${TARGET}.${kind}/${name}` }
        found.push({ source: unitSource(name, whatOf(units.textOf(name)), place, place.file), fate: cut })
      }
    }
  }
  return found
}

function whatOf(texts: readonly { readonly path: string; readonly text: string }[]): string | undefined {
  return texts
    .flatMap(({ text, path }) => settingsIn(text, path))
    .findLast(({ section, key }) => section === 'Swap' && key === 'What')?.value
}

function unitSource(name: string, what: string | undefined, place: HostPlace, file: string): SwapSource {
  return {
    device: what ?? name,
    by: 'swap unit',
    place,
    says: `${name} (${file}) is started at boot`,
    stop: keepOff(name),
  }
}

/**
 * A GPT partition of type swap on the root disk, only where fstab has no line of swap at all. Which partitions there are is seen by
 * the swap that is on. Source: systemd src/gpt-auto-generator/gpt-auto-generator.c.
 */
function fromGpt(files: HostFiles, units: BootUnits): readonly Found[] {
  const fstab = confText(files, '/etc/fstab')
  if (fstab.kind === 'unknown') return []
  if (fstab.kind === 'known' && fstabSwaps(fstab.value.text, '/etc/fstab').length > 0) return []
  if (booleanParameter(files, 'systemd.gpt_auto') === false) return []
  if (isMaskedGenerator(files, 'systemd-gpt-auto-generator')) return []
  const swaps = textAt(files, '/proc/swaps')
  if (swaps.kind === 'absent') return []
  const partitions =
    swaps.kind === 'known'
      ? [...swaps.value.text.matchAll(/^(\/dev\/(?!zram|dm-|mapper\/)\S+)\s+partition\b/gm)].map(([, device]) => device)
      : [undefined]
  return partitions
    .filter(device => device === undefined || !isOnOtherDisk(device, files))
    .map(device => {
      const source: SwapSource = {
        device: device ?? 'a swap partition of the root disk',
        by: 'gpt-auto',
        place: { file: '/proc/swaps', ...(device === undefined ? {} : { says: device }) },
        says: 'systemd-gpt-auto-generator turns on a swap partition of the root disk by itself once fstab has no line of swap',
        stop: () => maskOf(TARGET),
      }
      const because =
        device === undefined
          ? `whether the root disk has a swap partition is not known: ${swaps.kind === 'unknown' ? swaps.because : ''}`
          : `whether ${device} is a partition of type swap on a GPT root disk is not known`
      const line = lineCut(files)
      const masked = unitCut(units, device === undefined ? undefined : swapUnitOf(device))
      const fate = strongest(targetCut(units), masked, line)
      return { source, fate: fate.kind === 'cut' ? fate : { kind: 'may', because } }
    })
}

/** Whether a partition is certainly not on the disk of the root file system, the only one that is looked at. */
function isOnOtherDisk(partition: string, files: HostFiles): boolean {
  const mounts = textAt(files, '/proc/mounts')
  const root = mounts.kind === 'known' ? /^(\S+) \/ (?!rootfs|overlay)/m.exec(mounts.value.text)?.[1] : undefined
  const [disk, rootDisk] = [diskOf(partition), root === undefined ? undefined : diskOf(root)]
  return disk !== undefined && rootDisk !== undefined && disk !== rootDisk
}

function diskOf(partition: string): string | undefined {
  const found = /^(\/dev\/(?:sd|vd|hd|xvd)[a-z]+)\d+$|^(\/dev\/(?:nvme\d+n\d+|mmcblk\d+))p\d+$/.exec(partition)
  return found?.[1] ?? found?.[2]
}

function isMaskedGenerator(files: HostFiles, name: string): boolean {
  const masked = ['/etc', '/usr/local/lib'].some(root => {
    const found = follow(files, `${root}/systemd/system-generators/${name}`)
    return found.kind === 'known' && found.value.kind === 'other'
  })
  if (masked) return true
  const listed = files.list('/usr/lib/systemd/system-generators')
  return listed.kind === 'known' && listed.value.length > 0 && !listed.value.includes(name)
}

const GENERATOR = 'zram-generator'

/**
 * zram-generator makes a device and a swap unit of each `[zramN]` section. Its main file is the strongest there is (an empty one in
 * /etc hides the distribution's), drop-ins come on top. Source: zram-generator man zram-generator.conf(5), src/config.rs.
 */
function fromZramGenerator(files: HostFiles, units: BootUnits, unknown: Set<string>): readonly Found[] {
  const roots = ['/etc', '/usr/local/lib', '/usr/lib'].map(root => `${root}/systemd`)
  const binaries = roots.map(root => files.entry(`${root}/system-generators/${GENERATOR}`))
  if (isMaskedGenerator(files, GENERATOR) || binaries.every(({ kind }) => kind === 'absent')) return []
  const isInstalled = binaries.some(({ kind }) => kind === 'known')
  const sections = new Map<string, { values: Map<string, string>; place: HostPlace }>()
  for (const path of zramFiles(files, roots, unknown)) {
    const text = confText(files, path)
    if (text.kind === 'unknown' && isInstalled) unknown.add(text.because)
    if (text.kind !== 'known') continue
    let head: HostPlace = { file: path }
    for (const [index, raw] of text.value.text.split('\n').entries()) {
      const name = /^\s*\[(zram\d+)\]\s*$/.exec(raw)?.[1]
      if (name === undefined) continue
      head = { file: path, line: index + 1, says: raw.trim() }
      if (!sections.has(name)) sections.set(name, { values: new Map(), place: head })
    }
    for (const { section, key, value } of settingsIn(text.value.text, path))
      sections.get(section)?.values.set(key, value)
  }
  if (booleanParameter(files, 'systemd.zram') === true && !sections.has('zram0')) {
    const place = { file: '/proc/cmdline', says: 'systemd.zram=1' }
    sections.set('zram0', { values: new Map(), place })
  }
  return [...sections].flatMap(([name, { values, place }]): readonly Found[] => {
    const type = values.get('fs-type')
    if (values.has('mount-point') || (type !== undefined && type !== 'swap')) return []
    const source: SwapSource = {
      device: `/dev/${name}`,
      by: 'zram-generator',
      place,
      says: `section [${name}] of ${place.file}, of which zram-generator makes dev-${name}.swap`,
      stop: () => maskOf(TARGET),
    }
    return [{ source, fate: zramFate(name, values, files, units, isInstalled, place) }]
  })
}

function zramFiles(files: HostFiles, roots: readonly string[], unknown: Set<string>): readonly string[] {
  const main = roots.map(root => `${root}/${GENERATOR}.conf`).find(path => files.entry(path).kind !== 'absent')
  const dropIns = new Map<string, string>()
  for (const root of roots) {
    const listed = files.list(`${root}/${GENERATOR}.conf.d`)
    if (listed.kind === 'unknown') unknown.add(listed.because)
    for (const name of listed.kind === 'known' ? listed.value : []) {
      if (name.endsWith('.conf') && !dropIns.has(name)) dropIns.set(name, `${root}/${GENERATOR}.conf.d/${name}`)
    }
  }
  const sorted = [...dropIns].sort(([left], [right]) => compareBytes(left, right)).map(([, path]) => path)
  return [...(main === undefined ? [] : [main]), ...sorted]
}

function zramFate(
  name: string,
  values: ReadonlyMap<string, string>,
  files: HostFiles,
  units: BootUnits,
  isInstalled: boolean,
  place: HostPlace,
): Fate {
  if (booleanParameter(files, 'systemd.zram') === false) {
    const cutBy = { file: '/proc/cmdline', says: 'systemd.zram=0' }
    return { kind: 'cut', because: 'systemd.zram= on the kernel command line is off', cutBy }
  }
  if (/^0+$/.test(values.get('zram-size') ?? '')) return { kind: 'cut', because: 'its size is 0', cutBy: place }
  const fate = strongest(
    unitCut(units, `systemd-zram-setup@${name}.service`),
    unitCut(units, `dev-${name}.swap`),
    targetCut(units),
  )
  if (fate.kind !== 'comes') return fate
  if (!isInstalled) return { kind: 'may', because: `whether ${GENERATOR} is installed is not known` }
  const limit = values.get('host-memory-limit')
  if (limit !== undefined && limit !== 'none') {
    const memory = textAt(files, '/proc/meminfo')
    const total = memory.kind === 'known' ? /^MemTotal:\s+(\d+)/m.exec(memory.value.text)?.[1] : undefined
    if (total === undefined || !/^\d+$/.test(limit)) {
      return { kind: 'may', because: `host-memory-limit of ${name} decides, and the memory is not known` }
    }
    if (Number(total) > Number(limit) * 1024) {
      return { kind: 'cut', because: `the host has more memory than host-memory-limit = ${limit}`, cutBy: place }
    }
  }
  return COMES
}

/** Services that turn swap on by a program of their own. */
const SWAP_SERVICES: Readonly<Record<string, string>> = {
  'zramswap.service': '/dev/zram0',
  'zram-config.service': '/dev/zram0',
  'zramd.service': '/dev/zram0',
  'armbian-zram-config.service': '/dev/zram0',
  'dphys-swapfile.service': '/var/swap',
  'systemd-swap.service': 'what systemd-swap makes',
  'swapspace.service': '/var/lib/swapspace',
}

/** Services, /etc/rc.local and jobs that run swapon themselves: a masked swap.target does not stop them. */
function fromPrograms(files: HostFiles, units: BootUnits): readonly Found[] {
  const found = new Map<string, Found>()
  for (const { effect, by, place, stop } of bootPrograms(files).effects) {
    if (effect.kind !== 'swap' || effect.state !== 'on') continue
    const device = textOf(effect.device) ?? (effect.which === 'all' ? 'the areas of /etc/fstab' : SWAP_SERVICES[by])
    if (effect.which === 'all' && !hasFstabSwap(files)) continue
    const source: SwapSource = {
      device: device ?? 'an area of swap',
      by: by.startsWith('/') ? 'script' : 'service',
      place,
      says: `${by} is run at boot and turns swap on itself`,
      stop,
    }
    const fate: Fate = isCertain(effect)
      ? strongest(by.startsWith('/') ? undefined : unitCut(units, by))
      : { kind: 'may', because: `${by} may turn swap on: ${effect.onlyIf ?? effect.unread}` }
    if (found.get(by)?.fate.kind !== 'comes') found.set(by, { source, fate })
  }
  for (const name of startedServices(files, units)) {
    const known = ownEntry(SWAP_SERVICES, name)
    const isNamedSo = /swap|zram/i.test(name) && /\.service$/.test(name) && !/^systemd-zram-setup@|^mkswap/.test(name)
    const said = found.get(name)
    if (said?.fate.kind === 'comes' || (known === undefined && (!isNamedSo || said !== undefined))) continue
    const unit = units.started.get(name)
    const place = unit?.pulledBy ?? { file: unit?.files[0]?.path ?? `/etc/init.d/${name.replace(/\.service$/, '')}` }
    const source: SwapSource = {
      device: known ?? 'an area of swap',
      by: 'service',
      place,
      says: `${name} is started at boot and turns swap on itself`,
      stop: keepOff(name),
    }
    const because = `${name} is started at boot, and by its name it has to do with swap`
    found.set(name, {
      source,
      fate: known === undefined ? { kind: 'may', because } : strongest(unitCut(units, name), conditionCut(unit, files)),
    })
  }
  const unread = bootPrograms(files).unread.map(({ by, place, says }): Found => {
    const look: Mend = { kind: 'by-hand', says: `look whether it turns swap on`, command: `cat ${quoted(place.file)}` }
    const source: SwapSource = {
      device: 'an area of swap',
      by: 'script',
      place,
      says: `${by} is run at boot`,
      stop: () => look,
    }
    return { source, fate: { kind: 'may', because: says } }
  })
  return [...found.values(), ...unread]
}

/** A unit whose conditions do not hold is not started. */
function conditionCut(unit: BootUnit | undefined, files: HostFiles): Fate | undefined {
  const conditions = conditionsOf(unit?.files ?? [], files)
  if (conditions.kind === 'true') return undefined
  const { says, place } = conditions
  return conditions.kind === 'false'
    ? { kind: 'cut', because: `${unit?.name} has ${says}`, cutBy: place }
    : { kind: 'may', because: `${unit?.name} has ${says}, and whether that holds at boot is not known` }
}

/** Units, and scripts of /etc/init.d that run levels 2 to 5 start where no unit of the name is there. */
function startedServices(files: HostFiles, units: BootUnits): readonly string[] {
  const scripts = ['2', '3', '4', '5'].flatMap(level => {
    const listed = files.list(`/etc/rc${level}.d`)
    return (listed.kind === 'known' ? listed.value : []).flatMap(name => {
      const service = /^S\d\d(.+)$/.exec(name)?.[1]
      return service === undefined || units.has(`${service}.service`).kind === 'known' ? [] : [`${service}.service`]
    })
  })
  return [...new Set([...units.started.keys(), ...scripts])]
}

function hasFstabSwap(files: HostFiles): boolean {
  const text = confText(files, '/etc/fstab')
  if (text.kind !== 'known') return text.kind === 'unknown'
  // `swapon -a` leaves out what has noauto.
  return fstabSwaps(text.value.text, '/etc/fstab').some(({ noauto }) => !noauto)
}

const AGENTS = ['walinuxagent.service', 'waagent.service']

/** The Azure agent makes a swap file on the resource disk at each boot. Source: WALinuxAgent resourcedisk.py, its README. */
function fromAgent(files: HostFiles, units: BootUnits): readonly Found[] {
  const text = confText(files, '/etc/waagent.conf')
  if (text.kind !== 'known') return []
  const settings = settingsIn(text.value.text, '/etc/waagent.conf')
  const last = (key: string) => settings.findLast(each => each.key === key)
  const enables = last('ResourceDisk.EnableSwap')
  if (enables === undefined || !isSwitchOn(enables.value)) return []
  const source: SwapSource = {
    device: `${last('ResourceDisk.MountPoint')?.value ?? '/mnt/resource'}/swapfile`,
    by: 'agent',
    place: enables.place,
    says: 'the Azure agent makes a swap file on the resource disk at each boot',
    stop: () => {
      const by = 'ResourceDisk.EnableSwap=n'
      const says = `set ${by} in /etc/waagent.conf`
      return (
        replaceLine(files, enables.place, by, says) ?? {
          kind: 'by-hand',
          says,
          command: 'grep -n Swap /etc/waagent.conf',
        }
      )
    },
  }
  const format = last('ResourceDisk.Format')
  if (format !== undefined && !isSwitchOn(format.value)) {
    return [{ source, fate: { kind: 'cut', because: 'ResourceDisk.Format is off', cutBy: format.place } }]
  }
  const size = last('ResourceDisk.SwapSizeMB')
  if (size !== undefined && /^0+$/.test(size.value)) {
    return [{ source, fate: { kind: 'cut', because: 'ResourceDisk.SwapSizeMB is 0', cutBy: size.place } }]
  }
  const started = AGENTS.find(name => units.started.has(name))
  if (started !== undefined) return [{ source, fate: strongest(unitCut(units, started)) }]
  const masked = AGENTS.map(name => units.masked(name)).find(place => place !== undefined)
  const there = AGENTS.map(name => units.has(name))
  const system = files.list('/usr/lib/systemd/system')
  const isCaptured = system.kind === 'known' && system.value.length > 0
  const its = there.find(each => each.kind === 'known')
  if (masked === undefined && its === undefined) {
    // The files of units were not captured, or not by their own directory: that the agent is there its settings say.
    if (there.some(({ kind }) => kind === 'unknown')) {
      return [{ source, fate: { kind: 'may', because: 'whether the Azure agent is started at boot is not known' } }]
    }
    if (!isCaptured) return [{ source, fate: COMES }]
  }
  const cutBy = masked ?? (its?.kind === 'known' ? its.value : { file: '/usr/lib/systemd/system' })
  return [{ source, fate: { kind: 'cut', because: 'the Azure agent is not started at boot', cutBy } }]
}

function isSwitchOn(value: string): boolean {
  return value.trim().toLowerCase() === 'y'
}
