import type { Evidence } from '../evidence/evidence.js'
import { ABSENT, type HostFiles, textAt } from '../evidence/host-files.js'
import { ownEntry } from '../source/own-entry.js'
import { builtInModules } from './boot/kernel-modules.js'
import { moduleName } from './boot/modprobe-d.js'
import { sysctlPath } from './boot/sysctl-d.js'
import { isAlwaysThere } from './boot/sysctl-keys.js'
import type { Moment, Seen, SwapArea } from './moment.js'
import { listenersOf } from './ports/listeners.js'
import { unitState } from './units/unit-state.js'

/** The host as it was when its evidence was taken. */
export function capturedMoment(evidence: Evidence): Moment {
  const { files } = evidence
  return {
    files,
    sysctl: key => sysctlNow(files, key),
    module: name => moduleNow(files, name),
    swap: swapNow(files),
    listeners: listenersOf(evidence),
    unit: name => unitState(evidence, name),
  }
}

/** Where the kernel shows a setting: dots of its name are slashes, slashes dots. */
export function settingPath(key: string): string {
  return `/proc/sys/${sysctlPath(key)}`
}

function sysctlNow(files: HostFiles, key: string): Seen<string> {
  const file = settingPath(key)
  const text = textAt(files, file)
  // Every kernel has it: files that were put together by hand do not.
  if (text.kind === 'absent' && isAlwaysThere(sysctlPath(key)))
    return { kind: 'unknown', because: `${file} was not captured`, places: [] }
  if (text.kind !== 'known') return { ...text, places: [] }
  return { kind: 'known', value: text.value.text.replace(/\n$/, ''), places: [{ file, line: 1 }] }
}

function moduleNow(files: HostFiles, name: string): Seen<'loaded' | 'built-in'> {
  const wanted = moduleName(name)
  const file = '/proc/modules'
  const modules = textAt(files, file)
  if (modules.kind === 'known') {
    const at = modules.value.text.split('\n').findIndex(line => line.startsWith(`${wanted} `))
    if (at !== -1) return { kind: 'known', value: 'loaded', places: [{ file, line: at + 1 }] }
  }
  const builtIn = builtInAt(files, wanted)
  if (builtIn !== undefined) return builtIn
  // A module that is built in has such a directory where it has parameters or a version.
  const directory = `/sys/module/${wanted}`
  if (files.entry(directory).kind === 'known') {
    const value = modules.kind === 'unknown' ? 'loaded' : 'built-in'
    return { kind: 'known', value, places: [{ file: directory }] }
  }
  const settings = ownEntry(SETTINGS_OF, wanted)
  if (settings !== undefined && files.entry(settings).kind === 'known') {
    const value = modules.kind === 'unknown' ? 'loaded' : 'built-in'
    return { kind: 'known', value, places: [{ file: settings }] }
  }
  if (modules.kind === 'absent') return { ...ABSENT, places: [] }
  return modules.kind === 'known' ? { ...ABSENT, places: [{ file }] } : { ...modules, places: [] }
}

/** Settings that the kernel has only while a module is there, or built in. */
const SETTINGS_OF: Readonly<Record<string, string>> = {
  br_netfilter: '/proc/sys/net/bridge/bridge-nf-call-iptables',
  nf_conntrack: '/proc/sys/net/netfilter/nf_conntrack_max',
  ip_vs: '/proc/sys/net/ipv4/vs',
}

function builtInAt(files: HostFiles, name: string): Seen<'built-in'> | undefined {
  const release = textAt(files, '/proc/sys/kernel/osrelease')
  if (release.kind !== 'known') return undefined
  const modules = builtInModules(files, release.value.text.trim())
  const place = modules.kind === 'known' ? modules.value.get(name) : undefined
  return place && { kind: 'known', value: 'built-in', places: [place] }
}

function swapNow(files: HostFiles): Seen<readonly SwapArea[]> {
  const file = '/proc/swaps'
  const swaps = textAt(files, file)
  if (swaps.kind === 'unknown') return { ...swaps, places: [] }
  // A kernel without swap has no such file.
  if (swaps.kind === 'absent') return { kind: 'known', value: [], places: [] }
  const lines = swaps.value.text.split('\n').slice(1)
  const areas = lines.flatMap((line, index) => {
    const [device, , size] = line.trim().split(/\s+/)
    if (device === undefined || device === '') return []
    const says = `${device}, ${size} KiB`
    const sizeKb = Number(size)
    const area: SwapArea = { device: unescaped(device), ...(Number.isInteger(sizeKb) ? { sizeKb } : {}) }
    return [{ area, place: { file, line: index + 2, says } }]
  })
  return { kind: 'known', value: areas.map(({ area }) => area), places: areas.map(({ place }) => place) }
}

/** The kernel writes blanks in names as `\040`. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
