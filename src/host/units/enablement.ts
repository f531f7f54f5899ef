import { type Found, follow, type HostFiles, resolveLink } from '../../evidence/host-files.js'
import type { HostPlace, Seen } from '../moment.js'
import { isGenerated, PERSISTENT, type Unit, type UnitFiles, unitFilesOf, type When } from './unit-files.js'
import { isUnitName, last, listed, templateOf, wordsOf } from './unit-syntax.js'

/**
 * What `systemctl is-enabled` prints for a unit, by its rules (systemd 252, shared/install.c): a mask first, then where the file
 * stands, links that pull it in or give it a name `[Install]` has, and what `[Install]` says. Absent: there is no such unit.
 */
export function enablementOf(files: HostFiles, name: string, when: When = 'now'): Seen<string> {
  const all = unitFilesOf(files, when)
  const loaded = all.unit(name)
  if (loaded.kind === 'absent') return { ...loaded, places: [] }
  if (loaded.kind === 'unknown') return { ...loaded, places: [] }
  const unit = loaded.value
  const file: HostPlace = { file: unit.path }
  const isRuntime = unit.path.startsWith('/run/')
  if (unit.masked) return { kind: 'known', value: isRuntime ? 'masked-runtime' : 'masked', places: [file] }
  if (isGenerated(unit.path)) return { kind: 'known', value: 'generated', places: [file] }
  if (unit.path.startsWith('/run/systemd/transient/')) return { kind: 'known', value: 'transient', places: [file] }
  if (unit.name !== name) return { kind: 'known', value: 'alias', places: aliasPlaces(all, name, file) }
  const links = linksTo(all, unit)
  if (links.kind === 'unknown') return { ...links, places: [] }
  const { places: found, others } = links.kind === 'known' ? links.value : { places: [], others: [] }
  const persistent = found.find(({ file: path }) => path.startsWith(`${PERSISTENT}/`))
  if (persistent !== undefined) return { kind: 'known', value: 'enabled', places: [persistent, file] }
  const runtime = found.find(({ file: path }) => path.startsWith('/run/'))
  if (runtime !== undefined) return { kind: 'known', value: 'enabled-runtime', places: [runtime, file] }
  if (found[0] !== undefined && templateOf(name) !== undefined)
    return { kind: 'known', value: 'static', places: [found[0], file] }
  const linked = linkOutside(all, unit)
  if (linked !== undefined) return { kind: 'known', value: linked, places: [file] }
  const [other] = others
  if (other !== undefined) return { kind: 'known', value: 'indirect', places: [other, file] }
  return { kind: 'known', value: withoutLinks(unit), places: [file] }
}

function aliasPlaces(all: UnitFiles, name: string, file: HostPlace): readonly HostPlace[] {
  const directory = all.directories.find(each => all.files.entry(`${each}/${name}`).kind === 'known')
  return directory === undefined ? [file] : [{ file: `${directory}/${name}` }, file]
}

/** What `[Install]` says of a unit that no link enables. */
function withoutLinks({ settings, name }: Unit): string {
  const isInstance = templateOf(name) !== undefined
  const rules = ['WantedBy', 'RequiredBy', 'UpheldBy', 'Alias'].some(
    each => listed(settings, 'Install', each).length > 0,
  )
  if (rules || (!isInstance && last(settings, 'Install', 'DefaultInstance') !== undefined)) return 'disabled'
  return listed(settings, 'Install', 'Also').length > 0 ? 'indirect' : 'static'
}

/** A unit whose file stands elsewhere, with a link of its name among the units. */
function linkOutside({ files }: UnitFiles, { path, name }: Unit): string | undefined {
  const found = files.entry(path)
  if (found.kind !== 'known' || found.value.kind !== 'link') return undefined
  const target = resolveLink(found.value)
  if (target.slice(target.lastIndexOf('/') + 1) !== name && templateOf(name) === undefined) return undefined
  if (path.startsWith(`${PERSISTENT}/`)) return 'linked'
  return path.startsWith('/run/') ? 'linked-runtime' : undefined
}

/**
 * Links that pull a unit in, or that give it a name its `Alias=` has; a template counts with its default instance. `others` are
 * links to it under names of which it says nothing.
 */
function linksTo(
  all: UnitFiles,
  unit: Unit,
): Found<{ readonly places: readonly HostPlace[]; readonly others: readonly HostPlace[] }> {
  const names = namesOf(unit)
  const aliases = new Set(listed(unit.settings, 'Install', 'Alias').flatMap(wordsOf))
  const places: HostPlace[] = []
  const others: HostPlace[] = []
  const isTemplate = /@\.[a-z]+$/.test(unit.name)
  for (const directory of all.directories) {
    const inside = all.names(directory)
    if (inside.kind === 'unknown') return inside
    for (const name of inside.kind === 'known' ? inside.value : []) {
      if (name !== unit.name && isUnitName(name) && leadsTo(all.files, `${directory}/${name}`, unit)) {
        if (aliases.has(name)) places.push({ file: `${directory}/${name}` })
        else if (isSetUp(directory)) others.push({ file: `${directory}/${name}` })
      }
      if (!/\.(wants|requires|upholds)$/.test(name)) continue
      const pulled = all.names(`${directory}/${name}`)
      if (pulled.kind === 'unknown') return pulled
      for (const each of pulled.kind === 'known' ? pulled.value : []) {
        const path = `${directory}/${name}/${each}`
        if (!isLink(all.files, path)) continue
        if (names.has(each)) places.push({ file: path })
        else if (isSetUp(directory) && (isTemplate ? templateOf(each) === unit.name : leadsTo(all.files, path, unit)))
          others.push({ file: path })
      }
    }
  }
  return { kind: 'known', value: { places, others } }
}

/** Whether links there are somebody's on this host, not the vendor's. */
function isSetUp(directory: string): boolean {
  return directory.startsWith('/etc/') || directory.startsWith('/run/')
}

function namesOf({ name, settings }: Unit): ReadonlySet<string> {
  const instance = last(settings, 'Install', 'DefaultInstance')?.value
  const started = instance === undefined ? name : name.replace(/@\./, `@${instance}.`)
  return new Set(isUnitName(started) ? [name, started] : [name])
}

function isLink(files: HostFiles, path: string): boolean {
  const found = files.entry(path)
  return found.kind === 'known' && found.value.kind === 'link'
}

function leadsTo(files: HostFiles, path: string, unit: Unit): boolean {
  // A link to the template says nothing of one instance.
  if (templateOf(unit.name) !== undefined) return false
  const found = files.entry(path)
  if (found.kind !== 'known' || found.value.kind !== 'link') return false
  const target = resolveLink(found.value)
  const led = follow(files, path)
  return target.endsWith(`/${unit.name}`) || (led.kind === 'known' && led.value.path === unit.path)
}
