import { type HostFiles, textAt } from '../evidence/host-files.js'
import { compareBytes } from '../source/store.js'
import { type Setting, settingsIn } from './boot/at-boot.js'
import type { HostPlace } from './moment.js'

/** What NetworkManager is told, in the order in which it reads it. */
export interface NmSettings {
  readonly settings: readonly Setting[]
  /** Files of which the text is not known, and directories that were not captured, with the reason. */
  readonly unknown: readonly { readonly path: string; readonly because: string }[]
}

const MAIN = '/etc/NetworkManager/NetworkManager.conf'
/** Strongest first; the main file is read behind those of packages and before those of /etc. */
const OWN = '/etc/NetworkManager/conf.d'
const OTHERS = ['/run/NetworkManager/conf.d', '/usr/lib/NetworkManager/conf.d']

/**
 * The settings of NetworkManager.conf and its `conf.d` directories: one file a name, from the strongest directory that has it, by the
 * bytes of the names. Source: man NetworkManager.conf(5); NetworkManager src/core/nm-config.c read_entire_config.
 */
export function nmSettings(files: HostFiles): NmSettings {
  const unknown: { path: string; because: string }[] = []
  const named = new Map<string, string>()
  for (const directory of [OWN, ...OTHERS]) {
    const listed = files.list(directory)
    if (listed.kind === 'unknown') unknown.push({ path: directory, because: listed.because })
    if (listed.kind !== 'known') continue
    for (const name of listed.value) if (name.endsWith('.conf') && !named.has(name)) named.set(name, directory)
  }
  const of = (directory: string): readonly string[] =>
    [...named].flatMap(([name, where]) => (where === directory ? [`${directory}/${name}`] : [])).sort(compareBytes)
  const paths = [...OTHERS.toReversed().flatMap(of), MAIN, ...of(OWN)]
  const settings = paths.flatMap(path => {
    const text = textAt(files, path)
    if (text.kind === 'unknown') unknown.push({ path, because: text.because })
    return text.kind === 'known' ? settingsIn(text.value.text, path) : []
  })
  return { settings, unknown }
}

/** Whether NetworkManager leaves an interface alone, and what decides. */
export interface LeftAlone {
  /** Undefined where that hangs on what is not gone into. */
  readonly isLeft: boolean | undefined
  readonly place?: HostPlace
  /** The line that takes away what other files said before it, where there is one that counts. */
  readonly reset?: HostPlace
  /** Whether any line names it, also one that does not count any more. */
  readonly isNamed: boolean
}

interface Spec {
  readonly text: string
  readonly place: HostPlace
}

/**
 * Whether an interface is among `unmanaged-devices` (`+=` adds, `-=` takes out, `=` begins anew) or that of a `[device]` section with
 * `managed=0`. Source: man NetworkManager.conf(5), "Device List Format"; NetworkManager nm-match-spec.
 */
export function leftAlone({ settings }: NmSettings, name: string): LeftAlone {
  let specs: Spec[] = []
  let reset: HostPlace | undefined
  let isNamed = false
  for (const { section, key, value, place } of settings) {
    if (section !== 'keyfile' || !/^unmanaged-devices\s*[+-]?$/.test(key)) continue
    const given = specsOf(value, place)
    if (matchOf(given, name) === true) isNamed = true
    if (key.endsWith('-')) specs = specs.filter(each => !given.some(({ text }) => text === each.text))
    else if (key.endsWith('+')) specs.push(...given)
    else {
      if (specs.length > 0) reset = place
      specs = [...given]
    }
  }
  const sections = new Map<string, Map<string, Setting>>()
  for (const setting of settings) {
    if (!/^device([-.]|$)/.test(setting.section)) continue
    const own = sections.get(setting.section) ?? new Map<string, Setting>()
    own.set(setting.key, setting)
    sections.set(setting.section, own)
  }
  for (const own of sections.values()) {
    const [match, managed] = [own.get('match-device'), own.get('managed')]
    const fits = match === undefined ? true : matchOf(specsOf(match.value, match.place), name)
    if (managed === undefined || fits === false) continue
    // The first section that fits decides.
    const isOff = /^(0|no|false|off)$/i.test(managed.value)
    if (fits === undefined) return { isLeft: undefined, place: managed.place, isNamed }
    if (isOff) return { isLeft: true, place: managed.place, isNamed: true }
    break
  }
  const isLeft = matchOf(specs, name)
  const place = specs.find(each => isMatched(each.text, name) === true)?.place
  return {
    isLeft,
    isNamed,
    ...(place === undefined ? {} : { place }),
    ...(reset === undefined ? {} : { reset }),
  }
}

function specsOf(value: string, place: HostPlace): readonly Spec[] {
  return value
    .split(/[;,]/)
    .map(each => each.trim())
    .filter(each => each !== '')
    .map(text => ({ text, place }))
}

/** An exception that fits decides; a list of exceptions alone means all others. */
function matchOf(specs: readonly Spec[], name: string): boolean | undefined {
  const [except, plain] = [true, false].map(isExcept =>
    specs
      .filter(({ text }) => text.startsWith('except:') === isExcept)
      .map(({ text }) => isMatched(text.replace(/^except:/, ''), name)),
  ) as [(boolean | undefined)[], (boolean | undefined)[]]
  if (except.includes(true)) return false
  const open = except.includes(undefined)
  if (plain.includes(true) || (plain.length === 0 && except.length > 0)) return open ? undefined : true
  return plain.includes(undefined) ? undefined : false
}

/** Whether a word names the interface of a pod: one end of a pair (`veth`). */
function isMatched(text: string, name: string): boolean | undefined {
  if (text === '*') return true
  const [, kind, value = ''] = /^([a-z0-9-]+):(.*)$/.exec(text) ?? [undefined, 'interface-name', text]
  switch (kind) {
    case 'interface-name':
      return value.startsWith('=') ? value.slice(1) === name : globOf(value.replace(/^~/, '')).test(name)
    case 'type':
      // Releases differ in whether a pair is of the type of a cable.
      return value === 'veth' ? true : value === 'ethernet' ? undefined : false
    case 'driver':
      return globOf(value).test('veth')
    default:
      return false
  }
}

function globOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/\*+/g, '*')
    .replaceAll(/[^A-Za-z0-9]/g, char => (char === '*' ? '.*' : char === '?' ? '.' : `\\${char}`))
  return new RegExp(`^${source}$`)
}
