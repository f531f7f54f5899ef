import { isPattern as isShellPattern, piecesCanBe, piecesOf, textOf } from '../../effects/argument.js'
import type { Command } from '../../effects/effect.js'
import { type Found, type HostFiles, textAt } from '../../evidence/host-files.js'
import { compareBytes } from '../../source/store.js'
import type { HostPlace } from '../moment.js'
import { bootPrograms, isCertain, type Setting, settingsIn } from './at-boot.js'
import { confDirectories, confText } from './conf-files.js'
import { type BootUnits, bootUnits } from './enabled.js'
import { commentOut, type Mend } from './mends.js'
import { applyProcps, systemFiles } from './procps.js'
import { sysctlPath } from './sysctl-d.js'

/**
 * A program that writes a kernel setting after systemd-sysctl has run. `writes`: certainly this value; `unknown`: perhaps, or a
 * value that is not known (`value`: if it does, this one); `may`: one of its kind does under conditions that are not looked at.
 */
export type LaterWriter = {
  readonly place: HostPlace
  readonly says: string
  /** What the operator does so that it writes nothing. */
  readonly stop?: () => Mend
} & (
  | { readonly kind: 'writes'; readonly path: string; readonly value: string }
  | { readonly kind: 'unknown'; readonly path: string | undefined; readonly value?: string }
  | { readonly kind: 'may'; readonly path: string }
)

const FORWARD = 'net/ipv4/ip_forward'

/** Services that turn forwarding on while they run, each by what it is for. */
const MAY_FORWARD: Readonly<Record<string, string>> = {
  'libvirtd.service': 'when it starts a network with NAT',
  'virtnetworkd.service': 'when it starts a network with NAT',
  'lxd.service': 'when it starts a network',
  'lxc-net.service': 'when it starts its bridge',
  'firewalld.service': 'where a zone has masquerading',
  'shorewall.service': 'by IP_FORWARDING= of /etc/shorewall/shorewall.conf',
  'crio.service': 'through the plugins of its network',
  'podman.service': 'when it starts a container with a network',
}

/**
 * The programs started at boot that write one of these settings (paths under /proc/sys). `now` gives the value a key has when
 * they start.
 * Source: moby libnetwork setupIPForwarding; systemd.network(5), networkd.conf(5); ufw-init; tuned's sysctl plugin.
 */
export function laterWriters(
  files: HostFiles,
  keys: readonly string[],
  now: (key: string) => Found<string>,
): readonly LaterWriter[] {
  const units = bootUnits(files)
  const writers = [
    ...dockerWrites(files, units, now),
    ...networkdWrites(files, units),
    ...ufwWrites(files, units, keys),
    ...tunedWrites(files, units, keys),
    ...Object.entries(MAY_FORWARD).flatMap(([unit, when]): readonly LaterWriter[] => {
      const place = startedBy(units, unit)
      const says = `${unit} is started at boot and turns forwarding on ${when}`
      return place === undefined ? [] : [{ kind: 'may', path: FORWARD, place, says }]
    }),
    ...programsWrite(files, keys),
    ...bootPrograms(files).unread.map(
      ({ place, says }): LaterWriter => ({ kind: 'unknown', path: undefined, place, says }),
    ),
  ]
  return writers.filter(({ path }) => path === undefined || keys.includes(path))
}

function startedBy(units: BootUnits, name: string): HostPlace | undefined {
  const unit = units.started.get(name)
  if (unit === undefined) return undefined
  return unit.pulledBy ?? { file: unit.files[0]?.path ?? `/usr/lib/systemd/system/${name}` }
}

/** dockerd writes 1 when it starts and finds another first character, unless `ip-forward` is false; never 0. */
function dockerWrites(files: HostFiles, units: BootUnits, now: (key: string) => Found<string>): readonly LaterWriter[] {
  const place = startedBy(units, 'docker.service')
  if (place === undefined) return []
  const off = /--ip-forward[= ]false\b/.test(
    units
      .textOf('docker.service')
      .map(({ text }) => text)
      .join('\n'),
  )
  const config = confText(files, '/etc/docker/daemon.json')
  const says = 'docker.service is started at boot and turns forwarding on'
  if (off || (config.kind === 'known' && forwardsNot(config.value.text))) return []
  if (config.kind === 'unknown') return [{ kind: 'unknown', path: FORWARD, value: '1', place, says }]
  const value = now('net.ipv4.ip_forward')
  if (value.kind === 'known' && value.value.startsWith('1')) return []
  return [{ kind: 'writes', path: FORWARD, value: '1', place, says }]
}

function forwardsNot(text: string): boolean {
  try {
    const config: unknown = JSON.parse(text)
    return typeof config === 'object' && config !== null && 'ip-forward' in config && config['ip-forward'] === false
  } catch {
    // dockerd does not start with a file it cannot read.
    return true
  }
}

const YES = /^(1|y|yes|true|t|on)$/i

/** Up to version 255 `IPForward=` of one network turns it on for all; from 256 `IPv4Forwarding=` of networkd.conf says it. */
function networkdWrites(files: HostFiles, units: BootUnits): readonly LaterWriter[] {
  const place = startedBy(units, 'systemd-networkd.service')
  if (place === undefined) return []
  const { settings, unknown } = networkdSettings(files)
  const unseen = [...new Set(unknown)].flatMap(because =>
    [FORWARD, 'net/ipv6/conf/all/forwarding'].map((path): LaterWriter => {
      const says = `whether systemd-networkd, which is started at boot, sets forwarding is not known: ${because}`
      return { kind: 'unknown', path, place, says }
    }),
  )
  const networks = settings.flatMap((setting): readonly LaterWriter[] => {
    if (setting.section !== 'Network' || setting.key !== 'IPForward') return []
    const says = `systemd-networkd turns forwarding on where its version is older than 256 (${setting.place.says})`
    const paths = [
      ...(YES.test(setting.value) || setting.value === 'ipv4' ? [FORWARD] : []),
      ...(YES.test(setting.value) || setting.value === 'ipv6' ? ['net/ipv6/conf/all/forwarding'] : []),
    ]
    return paths.map(path => ({ kind: 'unknown', path, value: '1', place: setting.place, says }))
  })
  const global = settings.flatMap((setting): readonly LaterWriter[] => {
    const version = /^IPv([46])Forwarding$/.exec(setting.key)?.[1]
    if (version === undefined || !/\/networkd\.conf/.test(setting.place.file)) return []
    const path = version === '4' ? FORWARD : 'net/ipv6/conf/all/forwarding'
    const value = YES.test(setting.value) ? '1' : '0'
    const says = `systemd-networkd sets it from version 256 on (${setting.place.says})`
    const stop = lineOut(files, setting.place, 'which systemd-networkd applies')
    return [{ kind: 'unknown', path, value, place: setting.place, says, ...stop }]
  })
  return [...networks, ...global, ...unseen]
}

/** Packages bring networks of containers alone: what cannot be seen of theirs decides nothing. */
const OF_ADMINISTRATORS = /^\/(etc|usr\/local)\//

function networkdSettings(files: HostFiles): {
  readonly settings: readonly Setting[]
  readonly unknown: readonly string[]
} {
  const settings: Setting[] = []
  const unknown: string[] = []
  const note = (path: string, found: Found<unknown>): void => {
    if (found.kind === 'unknown' && OF_ADMINISTRATORS.test(path)) unknown.push(found.because)
  }
  const add = (path: string): void => {
    const text = confText(files, path)
    note(path, text)
    if (text.kind === 'known') settings.push(...settingsIn(text.value.text, path))
  }
  const names = (directory: string): readonly string[] => {
    note(`${directory}/`, files.list(directory))
    return namesIn(files, directory)
  }
  for (const directory of confDirectories(files, 'systemd/network')) {
    for (const name of names(directory)) {
      if (name.endsWith('.network')) add(`${directory}/${name}`)
      if (name.endsWith('.network.d')) {
        for (const each of names(`${directory}/${name}`)) add(`${directory}/${name}/${each}`)
      }
    }
  }
  for (const directory of confDirectories(files, 'systemd')) {
    add(`${directory}/networkd.conf`)
    for (const each of names(`${directory}/networkd.conf.d`)) add(`${directory}/networkd.conf.d/${each}`)
  }
  return { settings, unknown }
}

/** A line that a program applies, taken out of its file. */
function lineOut(files: HostFiles, place: HostPlace, who: string): { readonly stop?: () => Mend } {
  const mend = commentOut(files, place, `take ${lineText(place)} out of ${place.file}, ${who}`)
  return mend === undefined ? {} : { stop: () => mend }
}

/** A line for people: its number, and what it says. */
export function lineText({ line, says }: HostPlace): string {
  return says === undefined ? `line ${line}` : `line ${line} (${says})`
}

function namesIn(files: HostFiles, directory: string): readonly string[] {
  const listed = files.list(directory)
  return listed.kind === 'known' ? [...listed.value].sort(compareBytes) : []
}

/** ufw applies its own file, by `sysctl -e -p`, where the firewall is on. */
function ufwWrites(files: HostFiles, units: BootUnits, keys: readonly string[]): readonly LaterWriter[] {
  const place = startedBy(units, 'ufw.service')
  if (place === undefined) return []
  const on = valueIn(files, '/etc/ufw/ufw.conf', 'ENABLED')
  if (on.kind === 'known' && !/^yes$/i.test(on.value)) return []
  const unseen = (because: string): readonly LaterWriter[] => [
    { kind: 'unknown', path: undefined, place, says: `what ufw.service sets at boot is not known: ${because}` },
  ]
  const asked = valueIn(files, '/etc/default/ufw', 'IPT_SYSCTL')
  if (asked.kind === 'unknown') return unseen(asked.because)
  const path = asked.kind === 'known' ? asked.value : '/etc/ufw/sysctl.conf'
  if (path === '') return []
  const text = confText(files, path)
  if (text.kind === 'unknown') return unseen(text.because)
  if (text.kind !== 'known') return []
  return applyProcps([{ path, text }], keys).map(({ path: key, value, place: at }) => ({
    kind: on.kind === 'known' ? 'writes' : 'unknown',
    path: key,
    value,
    place: at,
    says: `ufw.service is started at boot and applies ${path}`,
    ...lineOut(files, at, 'which ufw.service applies at boot'),
  }))
}

function valueIn(files: HostFiles, path: string, name: string): Found<string> {
  const text = textAt(files, path)
  if (text.kind !== 'known') return text
  const [, , value] = [...text.value.text.matchAll(new RegExp(`^\\s*${name}=(["']?)(.*?)\\1\\s*$`, 'gm'))].at(-1) ?? []
  return value === undefined ? { kind: 'absent' } : { kind: 'known', value }
}

/** Profiles that tuned itself brings, none of which sets forwarding or what a bridge hands on. */
const STOCK_PROFILES =
  /^(accelerator-performance|balanced|desktop|hpc-compute|intel-sst|latency-performance|network-(latency|throughput)|powersave|throughput-performance|virtual-(guest|host)|aws|oracle|mssql|cpu-partitioning|realtime(-virtual-(guest|host))?|openshift[\w-]*)$/
const OF_STOCK_PROFILES = /^(vm|kernel\/sched|kernel\/numa)/

/** tuned sets what its profile says; by default it then reads the files of sysctl.d and /etc/sysctl.conf once more. */
function tunedWrites(files: HostFiles, units: BootUnits, keys: readonly string[]): readonly LaterWriter[] {
  const place = startedBy(units, 'tuned.service')
  if (place === undefined) return []
  const says = 'tuned.service is started at boot and sets it by its profile, or again from /etc/sysctl.conf'
  const keepOff = (): Mend => ({
    kind: 'keep-off',
    unit: 'tuned.service',
    says: 'keep tuned.service from setting it by a profile that its package brings',
  })
  const active = confText(files, '/etc/tuned/active_profile')
  const names = active.kind === 'known' ? active.value.text.trim().split(/\s+/) : []
  const read = names.map(name => tunedProfile(files, name, 0))
  const unknown = [
    ...(active.kind === 'unknown' ? [active.because] : []),
    ...read.flatMap(profile => profile.unknown).filter(each => each !== undefined),
  ]
  const unseen = unknown.map((because): LaterWriter => {
    const why = `what tuned.service sets at boot is not known: ${because}`
    return { kind: 'unknown', path: undefined, place, says: why }
  })
  const stock = read
    .flatMap(profile => profile.stock)
    .flatMap(name =>
      keys
        .filter(key => OF_STOCK_PROFILES.test(key))
        .map((path): LaterWriter => {
          const why = `whether tuned.service sets it by its profile ${name} is not known`
          return { kind: 'unknown', path, place, says: why }
        }),
    )
  const conf = confText(files, '/etc/sysctl.conf')
  const again = conf.kind === 'known' ? applyProcps([{ path: '/etc/sysctl.conf', text: conf }], keys) : []
  return [
    ...read
      .flatMap(profile => profile.settings)
      .filter(({ section }) => section === 'sysctl')
      .map(({ key, value, place: at }): LaterWriter => {
        const path = sysctlPath(key)
        const out = lineOut(files, at, 'a profile of tuned')
        return { kind: 'unknown', path, value, place: at, says, stop: out.stop ?? keepOff }
      }),
    ...again.map(({ path, value, place: at }): LaterWriter => {
      const out = lineOut(files, at, 'which tuned.service applies again')
      return { kind: 'unknown', path, value, place: at, says, ...out }
    }),
    ...unseen,
    ...stock,
  ]
}

interface TunedProfile {
  readonly settings: readonly Setting[]
  /** Why it may say more. */
  readonly unknown: readonly string[]
  /** Profiles of tuned's own that were not captured. */
  readonly stock: readonly string[]
}

const NO_PROFILE: TunedProfile = { settings: [], unknown: [], stock: [] }

function tunedProfile(files: HostFiles, name: string, depth: number): TunedProfile {
  if (depth > 8 || name.includes('/') || name === '') return NO_PROFILE
  const directories = ['/etc/tuned', '/etc/tuned/profiles', '/usr/lib/tuned', '/usr/lib/tuned/profiles']
  let because: string | undefined
  for (const directory of directories) {
    const path = `${directory}/${name}/tuned.conf`
    const text = confText(files, path)
    if (text.kind === 'unknown') because ??= text.because
    if (text.kind !== 'known') continue
    const settings = settingsIn(text.value.text, path)
    const included = settings
      .filter(({ section, key }) => section === 'main' && key === 'include')
      .flatMap(({ value }) => value.split(/[\s,]+/))
      .map(each => tunedProfile(files, each, depth + 1))
    return {
      settings: [...included.flatMap(profile => profile.settings), ...settings],
      unknown: included.flatMap(profile => profile.unknown),
      stock: included.flatMap(profile => profile.stock),
    }
  }
  if (because === undefined) return NO_PROFILE
  return STOCK_PROFILES.test(name)
    ? { ...NO_PROFILE, stock: [name] }
    : { ...NO_PROFILE, unknown: [`its profile ${name}: ${because}`] }
}

/** Units, /etc/rc.local and `@reboot` jobs whose text runs sysctl or writes to /proc/sys. */
function programsWrite(files: HostFiles, keys: readonly string[]): readonly LaterWriter[] {
  return bootPrograms(files).effects.flatMap(({ effect, by, place, stop }): readonly LaterWriter[] => {
    if (by === 'systemd-sysctl.service') return []
    if (effect.kind === 'command') return loads(effect, files, by, place, keys, stop)
    if (effect.kind !== 'sysctl' || effect.now.kind === 'false') return []
    const key = textOf(effect.key)
    const value = textOf(effect.value)
    const says = `${by} is started at boot and writes ${key ?? 'a key'}`
    const path = key === undefined ? undefined : sysctlPath(key)
    if (path === undefined) {
      const pieces = piecesOf(effect.key)
      const could = keys.some(each => pieces === undefined || piecesCanBe(pieces, each.replaceAll('/', '.')))
      return could ? [{ kind: 'unknown', path: undefined, place, says, stop }] : []
    }
    if (value === undefined) return [{ kind: 'unknown', path, place, says, stop }]
    return [{ kind: isCertain(effect) ? 'writes' : 'unknown', path, value, place, says, stop }]
  })
}

/** `sysctl -p FILE` and `sysctl --system` apply whole files. */
function loads(
  command: Command,
  files: HostFiles,
  by: string,
  place: HostPlace,
  keys: readonly string[],
  stop: () => Mend,
): readonly LaterWriter[] {
  if (command.program !== 'sysctl') return []
  const words = command.arguments.map(textOf)
  const says = `${by} is started at boot and runs sysctl ${words.map(word => word ?? '…').join(' ')}`
  const isSystem = words.includes('--system')
  const isLoad = words.some(word => word !== undefined && /^(-p|-f|--load)/.test(word))
  if (!isSystem && !isLoad) return []
  const given = words.flatMap(word => {
    if (word === undefined) return []
    if (/^(-p|-f|--load=)./.test(word)) return [word.replace(/^(-p|-f|--load=)/, '')]
    return word.startsWith('-') ? [] : [word]
  })
  if (words.includes(undefined) || given.some(isShellPattern))
    return [{ kind: 'unknown', path: undefined, place, says, stop }]
  const paths = given.length === 0 ? ['/etc/sysctl.conf'] : given
  const read = isSystem ? systemFiles(files).read : paths.map(path => ({ path, text: confText(files, path) }))
  return applyProcps(read, keys).map(({ path, value, place: at }) => ({
    kind: isCertain(command) ? 'writes' : 'unknown',
    path,
    value,
    place: at,
    says,
    stop: () => lineOut(files, at, `which ${by} applies at boot`).stop?.() ?? stop(),
  }))
}
