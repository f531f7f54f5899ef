import type { Evidence } from '../../evidence/evidence.js'
import { type HostFiles, textAt } from '../../evidence/host-files.js'
import { type Dict, type Key, known, unknown, type Value } from '../../jinja/value.js'
import { ownEntry } from '../../source/own-entry.js'
import type { SourceFile } from '../../source/text.js'
import { plainIpv6 } from '../ports/tcp-sockets.js'
import { contentOf, existsAt, isMissing, isThere } from './file-content.js'
import { parseAddresses, parseRouteGet } from './ip-output.js'
import {
  type Ipv6Address,
  ipv4Number,
  ipv4Text,
  isRejected,
  maskOf,
  parseIpv6Addresses,
  parseLocal,
  parseRoutes,
  prefixOf,
  type Route,
  routesTo,
} from './ip-tables.js'

/** How the addresses may have been asked for, and the ways to the two addresses Ansible asks about. */
const ADDRESSES = [
  ['ip', '-o', 'addr'],
  ['ip', '-o', 'addr', 'show'],
  ['ip', 'addr'],
  ['ip', 'addr', 'show'],
]
const FAR_IPV4 = '8.8.8.8'
const FAR_IPV6 = '2404:6800:400a:800::1012'

/** Where Ansible looks for `ip`; without it there are no facts of the network. */
const IP_PROGRAMS = ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip', '/usr/local/sbin/ip', '/usr/local/bin/ip']

/** What is known of one IPv4 address; what `ip addr` alone tells is absent where that was not captured. */
interface Ipv4Address {
  readonly device: string
  readonly address: string
  readonly prefix: number
  readonly broadcast?: string
  readonly label?: string
  readonly secondary?: boolean
}

interface Network {
  readonly files: HostFiles
  readonly devices: readonly string[]
  /** Undefined: not known. */
  readonly ipv4: readonly Ipv4Address[] | undefined
  readonly ipv6: readonly Ipv6Address[] | undefined
  /** Whether what `ip addr` prints was captured. */
  readonly printed: boolean
  readonly routes: readonly Route[] | undefined
  /** The cause of what stays open. */
  readonly open: Value
}

/**
 * `interfaces`, one mapping an interface, `default_ipv4`, `default_ipv6` and the lists of all addresses: from what `ip` printed,
 * else from /proc/net and /sys/class/net as far as these decide it. The way out is that of the main table of routes; where there
 * are other tables, only what `ip route get` printed tells it.
 */
export function networkFacts(evidence: Evidence): Dict {
  const { files } = evidence
  const output = ADDRESSES.map(words => evidence.command(words)).find(
    each => each.kind === 'known' && each.value.status === 0,
  )
  if (output === undefined && !IP_PROGRAMS.some(path => isThere(files, path))) return new Map()
  const network = readNetwork(evidence, output?.kind === 'known' ? output.value.stdout : undefined)
  const facts = new Map<Key, Value>()
  const texts = (values: readonly string[]): Value => known(values.map(each => known(each)))
  const { ipv4, ipv6 } = network
  if (ipv4 !== undefined)
    facts.set('all_ipv4_addresses', texts(ipv4.map(({ address }) => address).filter(each => !each.startsWith('127.'))))
  if (ipv6 !== undefined)
    facts.set('all_ipv6_addresses', texts(ipv6.map(({ address }) => address).filter(each => each !== '::1')))
  const first = defaultIpv4(evidence, network)
  if (first !== undefined) facts.set('default_ipv4', first)
  const second = defaultIpv6(evidence, network)
  if (second !== undefined) facts.set('default_ipv6', second)
  for (const [name, value] of interfaceFacts(network)) facts.set(name, value)
  return facts
}

function readNetwork(evidence: Evidence, output: string | undefined): Network {
  const { files } = evidence
  const listed = files.list('/sys/class/net')
  const devices = (listed.kind === 'known' ? listed.value : []).filter(
    name => files.list(`/sys/class/net/${name}`).kind !== 'absent',
  )
  const routes = tableAt(files, '/proc/net/route', parseRoutes)
  const at: SourceFile = { path: '/proc/net', text: '' }
  const open = unknown([{ says: 'what `ip addr` prints was not captured', at: { file: at, start: 0, end: 0 } }])
  if (output !== undefined) {
    const printed = inOrder(parseAddresses(output), devices)
    const ipv4 = printed.filter(({ family }) => family === 4)
    const ipv6 = printed.filter(({ family }) => family === 6).map(each => ({ ...each, temporary: each.secondary }))
    return { files, devices, ipv4, ipv6, printed: true, routes, open }
  }
  const ipv6 = tableAt(files, '/proc/net/if_inet6', file => parseIpv6Addresses(file, plainIpv6))
  const withoutIpv6 = isMissing(files, '/proc/net/if_inet6') && isThere(files, '/proc/net/route')
  return {
    files,
    devices,
    ipv4: ipv4OfTables(files, routes),
    ipv6: ipv6 === undefined ? (withoutIpv6 ? [] : undefined) : inOrder(ipv6, devices),
    printed: false,
    routes,
    open,
  }
}

function tableAt<T>(files: HostFiles, path: string, parse: (file: SourceFile) => T | undefined): T | undefined {
  const text = textAt(files, path)
  return text.kind === 'known' ? parse(text.value) : undefined
}

function inOrder<T extends { readonly device: string }>(
  addresses: readonly T[],
  devices: readonly string[],
): readonly T[] {
  const order = (device: string): number => (devices.includes(device) ? devices.indexOf(device) : devices.length)
  return addresses.toSorted((left, right) => order(left.device) - order(right.device))
}

/**
 * IPv4 addresses from /proc/net/fib_trie and route: an address of its own that is the only one in a network at a device is that
 * device's. Where that does not settle all of them, none is known: what the host takes for its own may be no address of it.
 */
function ipv4OfTables(files: HostFiles, routes: readonly Route[] | undefined): readonly Ipv4Address[] | undefined {
  const local = tableAt(files, '/proc/net/fib_trie', parseLocal)?.addresses.filter(each => !each.startsWith('127.'))
  if (local === undefined || routes === undefined) return undefined
  const near = routes.filter(({ gateway, mask }) => gateway === 0 && mask !== 0)
  const addresses: Ipv4Address[] = []
  for (const address of local) {
    const around = near.filter(({ destination, mask }) => (ipv4Number(address) & mask) >>> 0 === destination)
    const [route] = around
    const others = local.filter(
      other => route !== undefined && (ipv4Number(other) & route.mask) >>> 0 === route.destination,
    )
    if (route === undefined || around.length !== 1 || others.length !== 1) return undefined
    addresses.push({ device: route.device, address, prefix: prefixOf(route.mask) })
  }
  return addresses
}

function ownFields(prefix: number, address: string): readonly (readonly [string, Value])[] {
  const mask = maskOf(prefix)
  return [
    ['address', known(address)],
    ['netmask', known(ipv4Text(mask))],
    ['network', known(ipv4Text((ipv4Number(address) & mask) >>> 0))],
    ['prefix', known(String(prefix))],
  ]
}

function ipv4Fields(
  { open }: Network,
  { address, prefix, broadcast }: Ipv4Address,
): readonly (readonly [string, Value])[] {
  return [...ownFields(prefix, address), ['broadcast', broadcast === undefined ? open : known(broadcast)]]
}

/** What /sys/class/net says of a device, for itself and for the default address on it. */
function deviceFields({ files }: Network, device: string): ReadonlyMap<string, Value> {
  const fields = new Map<string, Value>()
  const at = (name: string): string | undefined => {
    const content = contentOf(files, `/sys/class/net/${device}/${name}`)
    return content.kind === 'known' ? content.value : undefined
  }
  const address = at('address')
  if (address !== undefined && address !== '00:00:00:00:00:00') fields.set('macaddress', known(address))
  const mtu = at('mtu')
  if (mtu !== undefined && /^[0-9]+$/.test(mtu)) fields.set('mtu', known(BigInt(mtu)))
  const state = at('operstate')
  if (state !== undefined) fields.set('active', known(state !== 'down'))
  const type = typeOf(files, device, at('type'))
  if (type !== undefined) fields.set('type', known(type))
  const flags = at('flags')
  if (flags !== undefined && /^0x[0-9a-f]+$/i.test(flags))
    fields.set('promisc', known((Number.parseInt(flags, 16) & 0x100) > 0))
  return fields
}

const TYPES: Readonly<Record<string, string>> = {
  1: 'ether',
  32: 'infiniband',
  512: 'ppp',
  772: 'loopback',
  65534: 'tunnel',
}

function typeOf(files: HostFiles, device: string, number: string | undefined): string | undefined {
  const bonding = existsAt(files, `/sys/class/net/${device}/bonding`)
  const bridge = existsAt(files, `/sys/class/net/${device}/bridge`)
  if (bonding.kind !== 'known' || bridge.kind !== 'known') return undefined
  if (bonding.value) return 'bonding'
  if (bridge.value) return 'bridge'
  return number === undefined ? undefined : (ownEntry(TYPES, number) ?? 'unknown')
}

/** `interfaces`, and one mapping for each under its name; what a driver or `ethtool` says of it stays open. */
function interfaceFacts(network: Network): Dict {
  const { devices, ipv4, ipv6, printed, open } = network
  const facts = new Map<Key, Value>()
  const labels = printed ? (ipv4 ?? []).flatMap(({ label = '' }) => (label.includes(':') ? [label] : [])) : []
  const names = [...new Set([...devices, ...labels])].map(name => name.replaceAll(':', '_'))
  // Without what `ip` prints there may be names of addresses beside those of devices.
  if (printed && devices.length > 0) facts.set('interfaces', known(names.map(each => known(each))))
  for (const device of devices) {
    const fields = new Map<string, Value>([['device', known(device)], ...deviceFields(network, device)])
    const own = ipv4?.filter(
      each => each.device === device && each.secondary !== true && (each.label ?? device) === device,
    )
    const [first] = own ?? []
    if (first !== undefined) fields.set('ipv4', known(new Map<Key, Value>(ipv4Fields(network, first))))
    const those = ipv6?.filter(each => each.device === device) ?? []
    if (those.length > 0)
      fields.set(
        'ipv6',
        known(
          those.map(({ address, prefix, scope }) =>
            known(
              new Map<Key, Value>([
                ['address', known(address)],
                ['prefix', known(String(prefix))],
                ['scope', known(scope)],
              ]),
            ),
          ),
        ),
      )
    facts.set(device.replaceAll(':', '_').replaceAll('-', '_'), partly(open, fields))
  }
  return facts
}

/** A mapping of which these members are known and every other is open. */
function partly(open: Value, fields: ReadonlyMap<string, Value>): Value {
  return open.kind === 'unknown' ? { kind: 'unknown', causes: open.causes, fields } : open
}

function defaultIpv4(evidence: Evidence, network: Network): Value | undefined {
  const { files, ipv4, open } = network
  const asked = evidence.command(['ip', '-4', 'route', 'get', FAR_IPV4])
  const way = asked.kind === 'known' ? parseRouteGet(asked.value.stdout, FAR_IPV4) : wayOut(evidence, network)
  if (way === undefined) return undefined
  if (way.device === undefined && way.source === undefined) return known(new Map())
  const fields = new Map<string, Value>()
  if (way.device !== undefined) fields.set('interface', known(way.device))
  if (way.gateway !== undefined) fields.set('gateway', known(way.gateway))
  const found = ipv4?.find(({ address }) => address === way.source)
  if (way.source === undefined || found === undefined) {
    if (way.source !== undefined) fields.set('address', known(way.source))
    return partly(open, fields)
  }
  for (const [name, value] of ipv4Fields(network, found)) fields.set(name, value)
  const device = deviceFields(network, found.device)
  for (const name of ['macaddress', 'mtu', 'type']) {
    const value = device.get(name)
    if (value !== undefined) fields.set(name, value)
  }
  if (found.label !== undefined) fields.set('alias', known(found.label))
  const isWhole = ['broadcast', 'macaddress', 'mtu', 'type', 'alias'].every(name => fields.get(name)?.kind === 'known')
  const isRead = isWhole && isThere(files, `/sys/class/net/${found.device}/address`)
  return isRead ? known(new Map<Key, Value>(fields)) : partly(open, fields)
}

interface Way {
  readonly device?: string
  readonly source?: string
  readonly gateway?: string
}

/** The way to a far address over the main table of routes; undefined where the evidence does not settle it. */
function wayOut(evidence: Evidence, { files, routes, ipv4 }: Network): Way | undefined {
  const tables = tableAt(files, '/proc/net/fib_trie', parseLocal)
  if (routes === undefined || tables === undefined || tables.otherTables) return undefined
  const [route, another] = routesTo(routes, ipv4Number(FAR_IPV4))
  if (route === undefined || (isRejected(route) && another === undefined)) return {}
  if (another !== undefined) return undefined
  const gateway = route.gateway === 0 ? {} : { gateway: ipv4Text(route.gateway) }
  const way: Way = { device: route.device, ...gateway }
  // The route may name the address to come from; where the host has but one, that is it.
  const preferred = preferredSource(evidence, route)
  const all = ipv4?.filter(({ address }) => !address.startsWith('127.')) ?? []
  const own = all.filter(({ device, secondary }) => device === route.device && secondary !== true)
  const only = all.length === 1 ? all[0] : preferred === 'none' && own.length === 1 ? own[0] : undefined
  const source = preferred !== undefined && preferred !== 'none' ? preferred : only?.address
  return source === undefined ? way : { ...way, source }
}

/** What `ip route` prints as `src` of a default route; `none` where it names none; undefined where that was not captured. */
function preferredSource(evidence: Evidence, { device, destination, mask, gateway }: Route): string | undefined {
  const printed = [
    ['ip', 'route'],
    ['ip', 'route', 'show'],
  ]
    .map(words => evidence.command(words))
    .find(each => each.kind === 'known')
  if (printed?.kind !== 'known' || destination !== 0 || mask !== 0) return undefined
  const lines = printed.value.stdout.split('\n').map(line => line.trim().split(/\s+/))
  const fitting = lines.filter(
    words =>
      words[0] === 'default' &&
      after(words, 'dev') === device &&
      (gateway === 0 || after(words, 'via') === ipv4Text(gateway)),
  )
  if (fitting.length !== 1) return undefined
  return after(fitting[0] ?? [], 'src') ?? 'none'
}

function after(words: readonly string[], word: string): string | undefined {
  const at = words.indexOf(word)
  return at === -1 ? undefined : words[at + 1]
}

function defaultIpv6(evidence: Evidence, network: Network): Value | undefined {
  const { files, ipv6, open } = network
  const asked = evidence.command(['ip', '-6', 'route', 'get', FAR_IPV6])
  const way = asked.kind === 'known' ? parseRouteGet(asked.value.stdout, FAR_IPV6) : ipv6Way(network)
  if (way === undefined) return undefined
  if (way.device === undefined && way.source === undefined) return known(new Map())
  const fields = new Map<string, Value>()
  if (way.device !== undefined) fields.set('interface', known(way.device))
  if (way.gateway !== undefined) fields.set('gateway', known(way.gateway))
  if (way.source !== undefined) fields.set('address', known(way.source))
  const found = ipv6?.find(({ address }) => address === way.source)
  if (found === undefined) return partly(open, fields)
  fields.set('prefix', known(String(found.prefix))).set('scope', known(found.scope))
  const device = deviceFields(network, found.device)
  for (const name of ['macaddress', 'mtu', 'type']) {
    const value = device.get(name)
    if (value !== undefined) fields.set(name, value)
  }
  const isWhole = ['macaddress', 'mtu', 'type'].every(name => fields.get(name)?.kind === 'known')
  return isWhole && isThere(files, `/sys/class/net/${found.device}/address`)
    ? known(new Map<Key, Value>(fields))
    : partly(open, fields)
}

/** The way over /proc/net/ipv6_route, where one route leads there and the host has but one address for it. */
function ipv6Way({ files, ipv6 }: Network): Way | undefined {
  const text = textAt(files, '/proc/net/ipv6_route')
  if (text.kind === 'absent')
    return isThere(files, '/proc/net/route') && isMissing(files, '/proc/net/if_inet6') ? {} : undefined
  if (text.kind !== 'known') return undefined
  const routes: {
    readonly length: number
    readonly metric: number
    readonly gateway: string
    readonly device: string
    readonly rejects: boolean
  }[] = []
  const far = digitsOf(FAR_IPV6)
  for (const line of text.value.text.split('\n')) {
    if (line.trim() === '') continue
    const [to = '', bits = '', , , gateway = '', metric = '', , , flags = '', device = ''] = line.trim().split(/\s+/)
    const length = Number.parseInt(bits, 16)
    if (!/^[0-9a-f]{32}$/.test(to) || !/^[0-9a-f]{8}$/.test(flags) || !Number.isInteger(length)) return undefined
    if (bitsOf(to, length) !== bitsOf(far, length)) continue
    routes.push({
      length,
      metric: Number.parseInt(metric, 16),
      gateway,
      device,
      rejects: (Number.parseInt(flags, 16) & 0x200) !== 0,
    })
  }
  const longest = Math.max(...routes.map(({ length }) => length))
  const near = routes.filter(({ length }) => length === longest)
  const least = Math.min(...near.map(({ metric }) => metric))
  const [route, another] = near.filter(({ metric }) => metric === least)
  if (route === undefined || (route.rejects && another === undefined)) return {}
  if (another !== undefined || ipv6 === undefined) return undefined
  const hop = plainIpv6(route.gateway.match(/.{4}/g)?.join(':') ?? '')
  const wide = ipv6.filter(({ scope }) => scope === 'global')
  const [only] = wide
  const source = wide.length === 1 && only?.device === route.device ? { source: only.address } : {}
  return { device: route.device, ...(hop !== undefined && hop !== '::' && { gateway: hop }), ...source }
}

function digitsOf(address: string): string {
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string): readonly string[] =>
    text === '' ? [] : text.split(':').map(each => each.padStart(4, '0'))
  const [first, last] = [groups(head), groups(tail)]
  return [...first, ...Array<string>(8 - first.length - last.length).fill('0000'), ...last].join('')
}

function bitsOf(digits: string, length: number): bigint {
  return BigInt(`0x${digits}`) >> BigInt(128 - length)
}
