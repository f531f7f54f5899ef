import { type Found, follow, type HostFiles } from '../../evidence/host-files.js'
import type { SourceFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'
import { confDirectories, confText, linesOf, withoutRun } from './conf-files.js'

/** A unit that is started at boot. */
export interface BootUnit {
  readonly name: string
  /** What starts it: a link in `*.wants`, a line of another unit. Absent for units systemd itself brings. */
  readonly pulledBy?: HostPlace
  /** Its file and drop-ins, as far as they were captured, in the order in which they count. */
  readonly files: readonly SourceFile[]
}

/** What is started at boot. */
export interface BootUnits {
  readonly started: ReadonlyMap<string, BootUnit>
  /** Where a unit is masked for good: by a link to /dev/null or an empty file in its place. */
  readonly masked: (name: string) => HostPlace | undefined
  /** Why it is not known whether it is masked. */
  readonly maskUnknown: (name: string) => string | undefined
  /** Whether the host has a unit of this name. */
  readonly has: (name: string) => Found<HostPlace>
  /** Its file and drop-ins. */
  readonly textOf: (name: string) => readonly SourceFile[]
  /** Why there may be more: directories that were not captured. */
  readonly unknown: readonly string[]
}

/** What systemd brings along and starts on every host, where its own files were not captured. Source: systemd units/. */
const STANDARD: Readonly<Record<string, readonly string[]>> = {
  'graphical.target': ['multi-user.target'],
  'multi-user.target': ['basic.target', 'getty.target', 'remote-fs.target', 'systemd-logind.service'],
  'runlevel2.target': ['multi-user.target'],
  'runlevel3.target': ['multi-user.target'],
  'runlevel4.target': ['multi-user.target'],
  'runlevel5.target': ['graphical.target'],
  'rescue.target': ['sysinit.target'],
  'emergency.target': [],
  'basic.target': ['sysinit.target', 'sockets.target', 'timers.target', 'paths.target', 'slices.target'],
  'sysinit.target': [
    'local-fs.target',
    'swap.target',
    'cryptsetup.target',
    'systemd-sysctl.service',
    'systemd-modules-load.service',
  ],
}

const started = new WeakMap<HostFiles, BootUnits>()

/**
 * The units that are reached from default.target: by links in `*.wants` and `*.requires`, by `Wants=`, `Requires=`, `BindsTo=` and
 * `Upholds=`; masked ones are cut off with what hangs on them alone. What stands in /run is gone by then. Conditions are not looked
 * at; sockets and timers are started, what they start later is not.
 */
export function bootUnits(current: HostFiles): BootUnits {
  const known = started.get(current)
  if (known !== undefined) return known
  const units = readBootUnits(withoutRun(current))
  started.set(current, units)
  return units
}

function readBootUnits(files: HostFiles): BootUnits {
  const directories = confDirectories(files, 'systemd/system')
  const unknown: string[] = []
  const links = linksIn(files, directories, unknown)
  const has = (name: string): Found<HostPlace> => {
    let because: string | undefined
    for (const directory of directories) {
      for (const each of namesOf(name)) {
        const found = files.entry(`${directory}/${each}`)
        if (found.kind === 'known') return { kind: 'known', value: { file: `${directory}/${each}` } }
        if (found.kind === 'unknown') because ??= found.because
      }
    }
    return because === undefined ? { kind: 'absent' } : { kind: 'unknown', because }
  }
  const masked = (name: string): HostPlace | undefined => {
    const found = has(name)
    if (found.kind !== 'known') return undefined
    const entry = files.entry(found.value.file)
    if (entry.kind === 'known' && entry.value.kind === 'link') {
      const target = follow(files, found.value.file)
      return target.kind === 'known' && target.value.kind === 'other'
        ? { ...found.value, says: `${found.value.file} -> ${entry.value.target}` }
        : undefined
    }
    const text = confText(files, found.value.file)
    return text.kind === 'known' && text.value.text === '' ? { ...found.value, says: 'an empty file' } : undefined
  }
  // Whoever masks a unit writes to /etc; a file there that is no mask says that it is none.
  const maskUnknown = (name: string): string | undefined => {
    const found = files.entry(`/etc/systemd/system/${name}`)
    return found.kind === 'unknown' ? found.because : undefined
  }
  const textOf = (name: string): readonly SourceFile[] => textsOf(files, directories, name, has)
  const started = new Map<string, BootUnit>()
  const open: BootUnit[] = [{ name: defaultTarget(files, directories), files: [] }]
  for (let unit = open.pop(); unit !== undefined; unit = open.pop()) {
    const { name } = unit
    if (started.has(name) || masked(name) !== undefined) continue
    const texts = textOf(name)
    started.set(name, { ...unit, files: texts })
    for (const link of links.get(name) ?? []) open.push({ name: link.unit, pulledBy: link.place, files: [] })
    for (const [wanted, place] of wantedBy(texts)) open.push({ name: wanted, pulledBy: place, files: [] })
    // A target of the host's own whose file was not captured brings up what others bring up.
    const isBlank = started.size === 1 && texts.length === 0
    const wants = STANDARD[name] ?? (isBlank ? ['multi-user.target'] : [])
    for (const wanted of wants) open.push({ name: wanted, files: [] })
  }
  return { started, masked, maskUnknown, has, textOf, unknown }
}

interface WantsLink {
  readonly unit: string
  readonly place: HostPlace
}

function linksIn(
  files: HostFiles,
  directories: readonly string[],
  unknown: string[],
): ReadonlyMap<string, readonly WantsLink[]> {
  const links = new Map<string, WantsLink[]>()
  for (const directory of directories) {
    const listed = files.list(directory)
    if (listed.kind === 'unknown') unknown.push(listed.because)
    if (listed.kind !== 'known') continue
    for (const name of listed.value) {
      const puller = /^(.*)\.(?:wants|requires|upholds)$/.exec(name)?.[1]
      if (puller === undefined) continue
      const inside = files.list(`${directory}/${name}`)
      if (inside.kind === 'unknown') unknown.push(inside.because)
      if (inside.kind !== 'known') continue
      for (const unit of inside.value) {
        const place = { file: `${directory}/${name}/${unit}` }
        links.set(puller, [...(links.get(puller) ?? []), { unit, place }])
      }
    }
  }
  return links
}

/** A unit and, for `foo@bar.service`, its template. */
function namesOf(name: string): readonly string[] {
  const instance = /^([^@]+@)[^.]+(\.\w+)$/.exec(name)
  return instance === null ? [name] : [name, `${instance[1]}${instance[2]}`]
}

function textsOf(
  files: HostFiles,
  directories: readonly string[],
  name: string,
  has: BootUnits['has'],
): readonly SourceFile[] {
  const texts: SourceFile[] = []
  const add = (path: string): void => {
    const text = confText(files, path)
    if (text.kind === 'known') texts.push(text.value)
  }
  const main = has(name)
  if (main.kind === 'known') add(main.value.file)
  const dropIns = new Map<string, string>()
  for (const directory of directories) {
    for (const each of namesOf(name)) {
      const listed = files.list(`${directory}/${each}.d`)
      if (listed.kind !== 'known') continue
      for (const file of listed.value) {
        if (file.endsWith('.conf') && !dropIns.has(file)) dropIns.set(file, `${directory}/${each}.d/${file}`)
      }
    }
  }
  for (const [, path] of [...dropIns].sort(([left], [right]) => (left < right ? -1 : 1))) add(path)
  return texts
}

function* wantedBy(texts: readonly SourceFile[]): Generator<readonly [string, HostPlace]> {
  for (const { path, text } of texts) {
    if (!/^\s*(Wants|Requires|BindsTo|Upholds|Requisite)\s*=/m.test(text)) continue
    for (const { text: raw, line } of linesOf(text)) {
      const names = /^\s*(?:Wants|Requires|BindsTo|Upholds)\s*=(.*)$/.exec(raw)?.[1]
      if (names === undefined) continue
      for (const name of names.trim().split(/\s+/)) {
        if (name !== '' && !name.includes('%')) yield [name, { file: path, line, says: raw.trim() }]
      }
    }
  }
}

function defaultTarget(files: HostFiles, directories: readonly string[]): string {
  for (const directory of directories) {
    const found = files.entry(`${directory}/default.target`)
    if (found.kind === 'known' && found.value.kind === 'link') {
      return found.value.target.split('/').at(-1) ?? 'graphical.target'
    }
  }
  return 'graphical.target'
}
