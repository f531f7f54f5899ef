import { type Entry, type Found, follow, type HostFiles, resolveLink, textAt } from '../../evidence/host-files.js'
import { compareBytes } from '../../source/store.js'
import type { HostPlace } from '../moment.js'
import { isUnitName, parseUnitText, type Setting, templateOf, typeOf } from './unit-syntax.js'

/**
 * `now`: what systemd sees as it runs. `boot`: what the next boot sees: what stands in /run is gone then, but what generators
 * write there is written again.
 */
export type When = 'now' | 'boot'

/**
 * Where unit files stand, strongest first (man systemd.unit, systemd 252). The directories `system.control` are left out: they
 * hold only settings of resources.
 */
const DIRECTORIES: readonly { readonly path: string; readonly lasts: boolean }[] = [
  { path: '/run/systemd/transient', lasts: false },
  { path: '/run/systemd/generator.early', lasts: true },
  { path: '/etc/systemd/system', lasts: true },
  { path: '/etc/systemd/system.attached', lasts: true },
  { path: '/run/systemd/system', lasts: false },
  { path: '/run/systemd/generator', lasts: true },
  { path: '/usr/local/lib/systemd/system', lasts: true },
  { path: '/usr/lib/systemd/system', lasts: true },
  { path: '/lib/systemd/system', lasts: true },
  { path: '/run/systemd/generator.late', lasts: true },
]

export const PERSISTENT = '/etc/systemd/system'
const VENDOR: readonly string[] = ['/usr/lib/systemd/system', '/lib/systemd/system']

/** Where generators write, at each boot anew. */
export function isGenerated(path: string): boolean {
  return path.startsWith('/run/systemd/generator')
}

/** What is known of a unit's file. */
export interface Unit {
  /** Its own name: what aliases lead to. */
  readonly name: string
  /** Every name it was reached by on the way, its own last. */
  readonly names: readonly string[]
  /** The file; of a masked unit what masks it. */
  readonly path: string
  readonly masked: boolean
  /** Of the file and its drop-ins, in the order in which they count. */
  readonly settings: readonly Setting[]
  readonly places: readonly HostPlace[]
}

/** The unit files of a host at one time; what was read is kept. */
export interface UnitFiles {
  readonly files: HostFiles
  readonly when: When
  /** The directories, strongest first, that there are or may be. */
  readonly directories: readonly string[]
  /** The names in a directory of units; an absent one has none. */
  readonly names: (directory: string) => Found<readonly string[]>
  readonly unit: (name: string) => Found<Unit>
  /** Whether the units that come with systemd were given. A hand-made root has none; they are there all the same. */
  readonly vendor: Found<true>
}

const opened = new WeakMap<HostFiles, Map<When, UnitFiles>>()

/** The unit files of a host. */
export function unitFilesOf(files: HostFiles, when: When): UnitFiles {
  const known = opened.get(files) ?? new Map<When, UnitFiles>()
  opened.set(files, known)
  const found = known.get(when) ?? openUnitFiles(files, when)
  known.set(when, found)
  return found
}

function openUnitFiles(files: HostFiles, when: When): UnitFiles {
  // On most systems /lib is a link to usr/lib: one directory under two names.
  const isOneLib = isLinked(files, '/lib') || isLinked(files, '/lib/systemd') || isLinked(files, '/lib/systemd/system')
  const directories = DIRECTORIES.filter(({ lasts }) => lasts || when === 'now')
    .map(({ path }) => path)
    .filter(path => path !== '/lib/systemd/system' || !isOneLib)
  const lists = new Map<string, Found<readonly string[]>>()
  const names = (directory: string): Found<readonly string[]> => {
    const listed = lists.get(directory) ?? files.list(directory)
    lists.set(directory, listed)
    return listed
  }
  const units = new Map<string, Found<Unit>>()
  const unit = (name: string): Found<Unit> => {
    const loaded = units.get(name) ?? loadUnit(all, name)
    units.set(name, loaded)
    return loaded
  }
  const all: UnitFiles = { files, when, directories, names, unit, vendor: vendorOf(files) }
  return all
}

function isLinked(files: HostFiles, path: string): boolean {
  const found = files.entry(path)
  return found.kind === 'known' && found.value.kind === 'link'
}

function vendorOf(files: HostFiles): Found<true> {
  const found = VENDOR.map(directory => follow(files, `${directory}/basic.target`))
  if (found.some(({ kind }) => kind === 'known')) return { kind: 'known', value: true }
  return found.find(({ kind }) => kind === 'unknown') === undefined
    ? { kind: 'absent' }
    : { kind: 'unknown', because: `${VENDOR[0]} was not captured` }
}

/** A path that leads to a file of a unit, or masks it. */
type Fragment =
  | { readonly kind: 'masked'; readonly path: string }
  | { readonly kind: 'alias'; readonly path: string; readonly of: string }
  | { readonly kind: 'file'; readonly path: string }

function fragmentAt(all: UnitFiles, path: string, name: string): Found<Fragment> {
  const { files } = all
  const found = files.entry(path)
  if (found.kind !== 'known') return found
  if (found.value.kind === 'link') {
    const target = resolveLink(found.value)
    const base = target.slice(target.lastIndexOf('/') + 1)
    const isOurs = DIRECTORIES.some(({ path: directory }) => target === `${directory}/${base}`)
    // A link to another unit's place is a name for it, whether or not a file stands there.
    if (isOurs && isUnitName(base) && base !== name && base !== templateOf(name))
      return { kind: 'known', value: { kind: 'alias', path, of: aliasedName(name, base) } }
  }
  const led = follow(files, path)
  if (led.kind !== 'known') return led
  return isEmpty(led.value)
    ? { kind: 'known', value: { kind: 'masked', path } }
    : { kind: 'known', value: { kind: 'file', path } }
}

/** `bar@x.service -> foo@.service` makes `bar@x.service` a name of `foo@x.service`. */
function aliasedName(name: string, target: string): string {
  const instance = /@(.+)\.[a-z]+$/.exec(name)?.[1]
  return instance === undefined ? target : target.replace(/@\./, `@${instance}.`)
}

/** /dev/null and an empty file mask. */
/** Whether what a path leads to masks a unit of its name. */
export function isMask(files: HostFiles, path: string): boolean {
  const led = follow(files, path)
  return led.kind === 'known' && isEmpty(led.value)
}

function isEmpty(entry: Entry): boolean {
  if (entry.kind === 'other') return entry.path === '/dev/null'
  if (entry.kind !== 'file') return false
  if (entry.size !== undefined && entry.size > 0) return false
  const content = entry.content()
  return content.kind === 'text' && content.file.text === ''
}

const MOST_ALIASES = 8

function loadUnit(all: UnitFiles, asked: string): Found<Unit> {
  const names: string[] = []
  let name = asked
  while (names.length < MOST_ALIASES && !names.includes(name)) {
    names.push(name)
    const found = fragmentOf(all, name)
    if (found.kind !== 'known') return found
    const fragment = found.value
    if (fragment.kind === 'masked') {
      const says = 'masks it: leads to /dev/null or is empty'
      return {
        kind: 'known',
        value: {
          name,
          names,
          path: fragment.path,
          masked: true,
          settings: [],
          places: [{ file: fragment.path, says }],
        },
      }
    }
    if (fragment.kind === 'file') return readUnit(all, names, fragment.path)
    name = fragment.of
  }
  return { kind: 'unknown', because: `the names of ${asked} lead in a circle` }
}

/** The name all aliases of a name lead to, also where no file stands there. */
export function ownNameOf(all: UnitFiles, asked: string): string {
  let name = asked
  for (let steps = 0; steps < MOST_ALIASES; steps++) {
    const found = fragmentOf(all, name)
    if (found.kind !== 'known' || found.value.kind !== 'alias') return name
    name = found.value.of
  }
  return name
}

/** What stands first under a name, or under the template it is an instance of. */
function fragmentOf(all: UnitFiles, name: string): Found<Fragment> {
  const template = templateOf(name)
  for (const each of template === undefined ? [name] : [name, template]) {
    for (const directory of all.directories) {
      const listed = all.names(directory)
      if (listed.kind === 'known' && !listed.value.includes(each)) continue
      if (listed.kind === 'absent') continue
      const found = fragmentAt(all, `${directory}/${each}`, name)
      if (found.kind !== 'absent') return found
    }
  }
  return { kind: 'absent' }
}

function readUnit(all: UnitFiles, names: readonly string[], path: string): Found<Unit> {
  const text = textAt(all.files, path)
  if (text.kind !== 'known') return text.kind === 'absent' ? text : { kind: 'unknown', because: text.because }
  const settings = [...parseUnitText(text.value)]
  const dropIns = dropInsOf(all, names)
  if (dropIns.kind === 'unknown') return dropIns
  const places: HostPlace[] = [{ file: path }]
  for (const dropIn of dropIns.kind === 'known' ? dropIns.value : []) {
    const led = follow(all.files, dropIn)
    if (led.kind === 'known' && led.value.kind === 'other') continue
    const read = textAt(all.files, dropIn)
    if (read.kind === 'unknown') return read
    if (read.kind === 'absent') continue
    settings.push(...parseUnitText(read.value))
    places.push({ file: dropIn })
  }
  const name = names.at(-1) ?? ''
  return { kind: 'known', value: { name, names, path, masked: false, settings, places } }
}

/**
 * The drop-ins of a unit in the order in which they count: by file name, of one name the one in the strongest directory; those
 * of the unit itself before those of its template, of its prefixes and of its type (man systemd.unit).
 */
function dropInsOf(all: UnitFiles, names: readonly string[]): Found<readonly string[]> {
  const paths = new Map<string, string>()
  for (const owner of dropInOwners(names)) {
    for (const directory of all.directories) {
      const inside = all.names(directory)
      // A directory that is only partly known: what it has is asked for by name.
      if (inside.kind === 'absent' || (inside.kind === 'known' && !inside.value.includes(`${owner}.d`))) continue
      const listed = all.names(`${directory}/${owner}.d`)
      if (listed.kind === 'unknown') return listed
      for (const name of listed.kind === 'known' ? listed.value : []) {
        if (name.endsWith('.conf') && !paths.has(name)) paths.set(name, `${directory}/${owner}.d/${name}`)
      }
    }
  }
  const sorted = [...paths].toSorted(([left], [right]) => compareBytes(left, right))
  return { kind: 'known', value: sorted.map(([, path]) => path) }
}

function dropInOwners(names: readonly string[]): readonly string[] {
  const owners: string[] = []
  for (const name of names) {
    const type = typeOf(name)
    const template = templateOf(name)
    owners.push(name, ...(template === undefined ? [] : [template]))
    const base = (template ?? name).replace(/@?\.[a-z]+$/, '')
    for (let dash = base.lastIndexOf('-'); dash > 0; dash = base.lastIndexOf('-', dash - 1))
      owners.push(`${base.slice(0, dash + 1)}.${type}`)
    owners.push(type)
  }
  return [...new Set(owners)]
}

/** A name in a directory `*.wants`, `*.requires` or `*.upholds` of a unit, and the link that puts it there. */
export interface PulledIn {
  readonly name: string
  readonly path: string
}

/**
 * What the directories of a unit pull in: of one name the link in the strongest directory, none where that is a mask. `open`
 * says why there may be more.
 */
export function pulledInBy(
  all: UnitFiles,
  unit: string,
): { readonly units: readonly PulledIn[]; readonly open: readonly string[] } {
  const units = new Map<string, PulledIn | undefined>()
  const open: string[] = []
  const template = templateOf(unit)
  const owners = template === undefined ? [unit] : [unit, template]
  for (const directory of all.directories) {
    const inside = all.names(directory)
    if (inside.kind === 'unknown') open.push(inside.because)
    if (inside.kind === 'absent') continue
    for (const owner of owners) {
      for (const kind of ['wants', 'requires', 'upholds']) {
        const place = `${directory}/${owner}.${kind}`
        if (inside.kind === 'known' && !inside.value.includes(`${owner}.${kind}`)) continue
        const listed = all.names(place)
        if (listed.kind === 'unknown') open.push(listed.because)
        for (const name of listed.kind === 'known' ? listed.value : []) {
          if (units.has(name) || !isUnitName(name)) continue
          const path = `${place}/${name}`
          units.set(name, isMask(all.files, path) ? undefined : { name: instanceFor(name, unit), path })
        }
      }
    }
  }
  return { units: [...units.values()].filter(each => each !== undefined), open }
}

/** A template pulled in by an instance is pulled in as that instance. */
function instanceFor(name: string, unit: string): string {
  const instance = /@(.+)\.[a-z]+$/.exec(unit)?.[1]
  return instance === undefined ? name : name.replace(/@\./, `@${instance}.`)
}

/** The names of all units of a type that have a file or are pulled in; instances as they are named there. */
export function unitNames(
  all: UnitFiles,
  type: string,
): { readonly names: readonly string[]; readonly open: readonly string[] } {
  const names = new Set<string>()
  const open: string[] = []
  const take = (listed: Found<readonly string[]>): readonly string[] => {
    if (listed.kind === 'unknown') open.push(listed.because)
    return listed.kind === 'known' ? listed.value : []
  }
  for (const directory of all.directories) {
    for (const name of take(all.names(directory))) {
      if (typeOf(name) === type && isUnitName(name)) names.add(name)
      if (!/\.(wants|requires|upholds)$/.test(name)) continue
      for (const inside of take(all.names(`${directory}/${name}`)))
        if (typeOf(inside) === type && isUnitName(inside)) names.add(inside)
    }
  }
  return { names: [...names], open }
}
