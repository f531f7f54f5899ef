import ipaddr from 'ipaddr.js'
import { type FilterFunction, type FilterTable, pure, pureTest, type TestTable } from '../call.js'
import { dataOf, giveUp, isList, isNumber, isTuple, raise, strOf, truthOfData, typeName } from '../python.js'
import type { Data, Value } from '../value.js'
import { known } from '../value.js'

/** An address with a prefix, as netaddr's IPNetwork. */
interface Network {
  readonly version: 4 | 6
  readonly value: bigint
  readonly prefix: number
}

function widthOf(version: 4 | 6): number {
  return version === 4 ? 32 : 128
}

function hostMask(network: Network): bigint {
  return (1n << BigInt(widthOf(network.version) - network.prefix)) - 1n
}

function sizeOf(network: Network): bigint {
  return hostMask(network) + 1n
}

function firstOf(network: Network): bigint {
  return network.value & ~hostMask(network)
}

function lastOf(network: Network): bigint {
  return network.value | hostMask(network)
}

function addressText(version: 4 | 6, value: bigint): string {
  if (value < 0n || value >> BigInt(widthOf(version)) !== 0n) return raise('the address is out of range')
  if (version === 4) return [24n, 16n, 8n, 0n].map(shift => (value >> shift) & 255n).join('.')
  const bytes = Array.from({ length: 16 }, (_, index) => Number((value >> BigInt(8 * (15 - index))) & 255n))
  // IPv4-compatible and -mapped addresses end in dotted form.
  if ((value > 0xffffn && value <= 0xffffffffn) || value >> 32n === 0xffffn) {
    return `${value >> 32n === 0xffffn ? '::ffff:' : '::'}${addressText(4, value & 0xffffffffn)}`
  }
  return new ipaddr.IPv6(bytes).toRFC5952String()
}

const dotted = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/

function parseIpv4(text: string): bigint | undefined {
  if (!dotted.test(text)) return undefined
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function parseIpv6(text: string): bigint | undefined {
  if (!/^[\da-fA-F:.]+$/.test(text) || !text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined
  return ipaddr.IPv6.parse(text)
    .toByteArray()
    .reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

/** Python's `int()` of a prefix: digits with blanks around and a sign. */
function prefixOf(version: 4 | 6, text: string): number | undefined {
  if (/^\s*[-+]?\d+\s*$/.test(text)) {
    const prefix = Number(text)
    return prefix >= 0 && prefix <= widthOf(version) ? prefix : undefined
  }
  const mask = version === 4 ? parseIpv4(text) : parseIpv6(text)
  if (mask === undefined) return undefined
  const all = (1n << BigInt(widthOf(version))) - 1n
  for (let prefix = 0; prefix <= widthOf(version); prefix++) {
    const host = (1n << BigInt(widthOf(version) - prefix)) - 1n
    if (mask === (all & ~host)) return prefix
  }
  for (let prefix = 0; prefix <= widthOf(version); prefix++) {
    if (mask === (1n << BigInt(widthOf(version) - prefix)) - 1n) return prefix
  }
  return undefined
}

/** netaddr's `IPNetwork(text)`: IPv4 first (also cut-off addresses such as `10.1`), then IPv6; undefined where it raises. */
function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const prefixText = slash === -1 ? null : text.slice(slash + 1)
  for (const version of [4, 6] as const) {
    const value = version === 4 ? (parseIpv4(address) ?? parsePartial(address)) : parseIpv6(address)
    if (value === undefined) continue
    const prefix = prefixText === null ? widthOf(version) : prefixOf(version, prefixText)
    if (prefix !== undefined) return { version, value, prefix }
  }
  return undefined
}

function parsePartial(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length > 4 || !parts.every(part => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return undefined
  return parseIpv4([...parts.map(part => String(Number(part))), '0', '0', '0'].slice(0, 4).join('.'))
}

function networkText(network: Network): string {
  return `${addressText(network.version, network.value)}/${network.prefix}`
}

function within(inner: Network, outer: Network): boolean {
  return inner.version === outer.version && firstOf(inner) >= firstOf(outer) && lastOf(inner) <= lastOf(outer)
}

function inAny(network: Network, ranges: readonly string[]): boolean {
  return ranges.some(range => within(network, parseNetwork(range) as Network))
}

const linkLocal = ['169.254.0.0/16', 'fe80::/10']
const loopback = ['127.0.0.0/8', '::1/128']
const multicast = ['224.0.0.0/4', 'ff00::/8']
const privateRanges = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '239.0.0.0/8',
  'fc00::/7',
  'fec0::/10',
  ...linkLocal,
]

function isMask(network: Network): boolean {
  const inverted = ((1n << BigInt(widthOf(network.version))) - 1n) & ~network.value
  return (inverted & (inverted + 1n)) === 0n || (network.value & (network.value + 1n)) === 0n
}

interface Subject {
  readonly network: Network
  /** The value as it came in, or in normal form where it was a number. */
  readonly value: Data
  readonly isNetwork: boolean
}

function address(network: Network, value = network.value): string {
  return addressText(network.version, value)
}

function hostAddress(network: Network): boolean {
  return network.value !== firstOf(network) || (network.version === 4 && widthOf(4) - network.prefix <= 1)
}

type Query = (subject: Subject) => Data

function usable(subject: Subject): readonly [bigint, bigint] | null {
  if (!subject.isNetwork) return raise('Not a network address')
  const { network } = subject
  const size = sizeOf(network)
  if (size === 1n) return null
  return size === 2n ? [firstOf(network), lastOf(network)] : [firstOf(network) + 1n, lastOf(network) - 1n]
}

function when(holds: boolean, value: Data): Data {
  return holds ? value : null
}

const hostPrefix: Query = ({ network }) => {
  const isEdge = network.value === firstOf(network) || network.value === lastOf(network)
  return sizeOf(network) > 2n && isEdge ? false : networkText(network)
}
const hostWithPrefix: Query = ({ network }) =>
  when(sizeOf(network) > 1n ? hostAddress(network) : true, networkText(network))
const subnet: Query = ({ network }) => `${address(network, firstOf(network))}/${network.prefix}`
const netmask = (network: Network): string =>
  address(network, ((1n << BigInt(widthOf(network.version))) - 1n) & ~hostMask(network))
const beside =
  (step: bigint): Query =>
  subject => {
    const range = usable(subject)
    if (range === null) return null
    const next = subject.network.value + step
    return when(next >= range[0] && next <= range[1], next >= 0n ? address(subject.network, next) : null)
  }
const ip: Query = ({ network }) =>
  when(sizeOf(network) === 1n || hostAddress(network) || network.version === 6, address(network))

const queries: Readonly<Record<string, Query>> = {
  '': ({ network, isNetwork }) => (isNetwork ? networkText(network) : address(network)),
  address: ip,
  ip,
  'address/prefix': hostPrefix,
  gateway: hostPrefix,
  gw: hostPrefix,
  'host/prefix': hostPrefix,
  hostnet: hostPrefix,
  router: hostPrefix,
  bool: () => true,
  broadcast: ({ network }) => when(sizeOf(network) > 2n, address(network, lastOf(network))),
  cidr: ({ network }) => networkText(network),
  first_usable: subject => {
    const range = usable(subject)
    return range === null ? null : address(subject.network, range[0])
  },
  host: hostWithPrefix,
  hostmask: ({ network }) => address(network, hostMask(network)),
  wildcard: ({ network }) => address(network, hostMask(network)),
  int: ({ network, isNetwork }) => (isNetwork ? `${network.value}/${network.prefix}` : network.value),
  'ip/prefix': ({ network }) =>
    when(sizeOf(network) === 2n || (sizeOf(network) > 1n && network.value !== firstOf(network)), networkText(network)),
  ip_netmask: ({ network }) =>
    when(
      sizeOf(network) === 2n || (sizeOf(network) > 1n && network.value !== firstOf(network)),
      `${address(network)} ${netmask(network)}`,
    ),
  ipv4: subject => asVersion4(subject),
  v4: subject => asVersion4(subject),
  ipv6: subject => asVersion6(subject),
  v6: subject => asVersion6(subject),
  last_usable: subject => {
    const range = usable(subject)
    return range === null ? null : address(subject.network, range[1])
  },
  'link-local': ({ network, value }) => when(inAny({ ...network, prefix: widthOf(network.version) }, linkLocal), value),
  lo: ({ network, value }) => when(inAny({ ...network, prefix: widthOf(network.version) }, loopback), value),
  loopback: ({ network, value }) => when(inAny({ ...network, prefix: widthOf(network.version) }, loopback), value),
  multicast: ({ network, value }) => when(inAny(network, multicast), value),
  unicast: ({ network, value }) => when(!inAny(network, multicast), value),
  net: ({ network }) =>
    when(sizeOf(network) > 1n && network.value === firstOf(network), `${address(network)}/${network.prefix}`),
  netmask: ({ network }) => netmask(network),
  network: ({ network }) => address(network, firstOf(network)),
  network_id: ({ network }) => address(network, firstOf(network)),
  'network/prefix': subnet,
  subnet,
  network_netmask: ({ network }) => `${address(network, firstOf(network))} ${netmask(network)}`,
  network_wildcard: ({ network }) => `${address(network, firstOf(network))} ${address(network, hostMask(network))}`,
  next_usable: beside(1n),
  previous_usable: beside(-1n),
  peer: subject => peerOf(subject),
  prefix: ({ network }) => BigInt(network.prefix),
  private: ({ network, value }) => when(inAny(network, privateRanges), value),
  public: ({ network, value }) => {
    const host = { ...network, prefix: widthOf(network.version) }
    return when(
      !inAny(host, multicast) && !inAny(host, privateRanges) && !inAny(host, loopback) && !isMask(host),
      value,
    )
  },
  range_usable: subject => {
    const range = usable(subject)
    return range === null ? null : `${address(subject.network, range[0])}-${address(subject.network, range[1])}`
  },
  revdns: ({ network }) => reverseName(network),
  size: ({ network }) => sizeOf(network),
  size_usable: ({ network }) => {
    const size = sizeOf(network)
    return size === 1n ? 0n : size === 2n ? 2n : size - 2n
  },
  type: ({ network }) => (sizeOf(network) === 1n || network.value !== firstOf(network) ? 'address' : 'network'),
  version: ({ network }) => BigInt(network.version),
  wrap: ({ network, value, isNetwork }) => {
    if (network.version === 4) return value
    return isNetwork ? `[${address(network)}]/${network.prefix}` : `[${address(network)}]`
  },
  '6to4': () => giveUp('the query 6to4 is not modelled'),
}

function asVersion4({ network, value }: Subject): Data {
  if (network.version === 4) return value
  const isMapped = network.value >> 32n === 0xffffn || network.value >> 32n === 0n
  if (!isMapped || network.prefix < 96) return isMapped ? giveUp('this conversion to IPv4 is not modelled') : false
  return networkText({ version: 4, value: network.value & 0xffffffffn, prefix: network.prefix - 96 })
}

function asVersion6({ network, value }: Subject): Data {
  if (network.version === 6) return value
  return networkText({ version: 6, value: (0xffffn << 32n) | network.value, prefix: network.prefix + 96 })
}

function peerOf({ network, isNetwork }: Subject): Data {
  if (!isNetwork) return raise('Not a network address')
  const size = sizeOf(network)
  if (size === 2n) return address(network, network.value ^ 1n)
  if (size !== 4n) return raise('Not a point-to-point network')
  if (network.value % 4n === 0n) return raise('Network address of /30 has no peer')
  if (network.value % 4n === 3n) return raise('Broadcast address of /30 has no peer')
  return address(network, network.value ^ 3n)
}

function reverseName(network: Network): string {
  if (network.version === 4) return `${address(network).split('.').reverse().join('.')}.in-addr.arpa.`
  return `${[...network.value.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa.`
}

/** Finds what kind of address a value is; undefined where `ipaddr` answers False. */
function subjectOf(value: Data, version: Data): Subject | undefined {
  const text = strOf(value)
  if (/^\d+$/.test(text)) {
    const number = BigInt(text)
    const as: 4 | 6 = version === 6n || number >> 32n !== 0n ? 6 : 4
    if (number >> 128n !== 0n) return undefined
    const network: Network = { version: as, value: number, prefix: widthOf(as) }
    return { network, value: networkText(network), isNetwork: false }
  }
  if (typeof value !== 'string') return undefined
  const parsed = parseNetwork(value)
  if (parsed !== undefined) return { network: parsed, value, isNetwork: value.split('/').length === 2 }
  const numeric = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(value)
  if (numeric === null) return undefined
  const number = BigInt(numeric[1] as string)
  const prefix = Number(numeric[2])
  for (const as of [4, 6] as const) {
    if (number >> BigInt(widthOf(as)) === 0n && prefix <= widthOf(as)) {
      const network: Network = { version: as, value: number, prefix }
      return { network, value: networkText(network), isNetwork: true }
    }
  }
  return undefined
}

/** `ipaddr` of ansible.utils on netaddr: False where the value is no address or the query does not hold. */
function queryAddress(value: Data, query: Data, version: Data, alias: string): Data {
  const items = isList(value) ? value : isTuple(value) ? value.items : undefined
  if (items !== undefined) {
    return items
      .map(item => queryAddress(dataOf(item), query, version, alias))
      .filter(truthOfData)
      .map(answer => known(answer))
  }
  if (!truthOfData(value) || value === true) return false
  const subject = subjectOf(value, version)
  if (subject === undefined) return false
  const wanted = strOf(query)
  const range =
    Object.hasOwn(queries, wanted) || /^\d+$/.test(wanted) || wanted === '' ? undefined : parseNetwork(wanted)
  if (version !== false && version !== null && BigInt(subject.network.version) !== version) return false
  if (range !== undefined && wanted !== '') return when(within(subject.network, range), subject.value)
  if (Object.hasOwn(queries, wanted)) return (queries[wanted] as Query)(subject)
  if (!/^[-+]?\d+$/.test(wanted)) return raise(`${alias}: unknown filter type: ${wanted}`)
  return nthAddress(subject, BigInt(wanted))
}

function nthAddress({ network, isNetwork }: Subject, index: bigint): Data {
  const size = sizeOf(network)
  if (size === 1n) return isNetwork ? networkText(network) : address(network)
  const offset = index < 0n ? size + index : index
  if (offset < 0n || offset >= size) return false
  return `${address(network, firstOf(network) + offset)}/${network.prefix}`
}

/** These filters look at the type of their input first; an undefined one has the wrong type. */
function typed(name: string, filter: FilterFunction): FilterFunction {
  return (input, given) =>
    input.kind === 'undefined'
      ? raise(`Unrecognized type <AnsibleUndefined> for ${name} filter <value>`)
      : filter(input, given)
}

function addressFilter(alias: string, version: Data): FilterFunction {
  const filter = pure(
    alias,
    [
      ['query', ''],
      ['version', version],
      ['alias', alias],
    ],
    (data, [query, wanted]) => {
      if (typeof data !== 'string' && !isList(data) && (!isNumber(data) || typeof data === 'number')) {
        return raise(`Unrecognized type <${typeName(data)}> for ${alias} filter <value>`)
      }
      return known(queryAddress(data, query as Data, wanted as Data, alias))
    },
  )
  return typed(alias, filter)
}

function wrap(data: Data, query: Data): Value {
  const items = isList(data) ? data : isTuple(data) ? data.items : undefined
  const wrapOne = (value: Data): Data => {
    const answer = queryAddress(value, query, false, 'ipwrap')
    return truthOfData(answer) ? queryAddress(answer, 'wrap', false, 'ipwrap') : value
  }
  if (items !== undefined) {
    return known(
      items.map(item => {
        const value = dataOf(item)
        return known(
          truthOfData(queryAddress(value, query, false, 'ipwrap'))
            ? queryAddress(value, 'wrap', false, 'ipwrap')
            : value,
        )
      }),
    )
  }
  return known(wrapOne(data))
}

function mustBeNetwork(data: Data, what: string): Network {
  return (
    (typeof data === 'string' ? parseNetwork(data) : undefined) ?? raise(`${what}: ${strOf(data)} is not a network`)
  )
}

function integer(data: Data | undefined, what: string): bigint {
  if (typeof data === 'bigint') return data
  return typeof data === 'string' && /^\s*[-+]?\d+\s*$/.test(data)
    ? BigInt(data.trim())
    : raise(`${what}: not an integer`)
}

export const networkFilters: FilterTable = {
  ipaddr: addressFilter('ipaddr', false),
  ipv4: addressFilter('ipv4', 4n),
  ipv6: addressFilter('ipv6', 6n),
  ipwrap: typed(
    'ipwrap',
    pure('ipwrap', [['query', '']], (data, [query]) => {
      if (typeof data !== 'string' && !isList(data) && typeof data !== 'boolean') {
        return raise(`Unrecognized type <${typeName(data)}> for ipwrap filter <value>`)
      }
      return wrap(data, query as Data)
    }),
  ),
  ipmath: pure('ipmath', ['amount'], (data, [amount]) => {
    if (typeof data === 'boolean') return raise(`You must pass a valid IP address; ${strOf(data)} is invalid`)
    if (typeof data !== 'string') return giveUp('ipmath of anything but text is not modelled')
    const network = mustBeNetwork(data, 'ipmath')
    return known(address(network, network.value + integer(amount, 'ipmath')))
  }),
  nthhost: pure('nthhost', [['query', '']], (data, [nth]) => {
    const network = typeof data === 'string' ? parseNetwork(data) : undefined
    if (network === undefined) return known(false)
    const index = integer(nth, 'nthhost')
    const size = sizeOf(network)
    if (size <= 1n || index >= size || -index > size) return known(false)
    return known(address(network, firstOf(network) + (index < 0n ? size + index : index)))
  }),
  ipsubnet: pure(
    'ipsubnet',
    [
      ['query', ''],
      ['index', 'x'],
    ],
    (data, [query, index]) => {
      const subject = typeof data === 'string' || typeof data === 'bigint' ? subjectOf(data, false) : undefined
      if (subject === undefined) return known(false)
      const { network } = subject
      if (query === '') return known(subnet(subject))
      const wanted = strOf(query as Data)
      if (!/^\d+$/.test(wanted)) return giveUp('ipsubnet with an address is not modelled')
      const prefix = Number(wanted)
      if (prefix > widthOf(network.version)) return known(false)
      if (sizeOf(network) === 1n) {
        if (index !== 'x') return giveUp('ipsubnet of an address with an index is not modelled')
        return known(subnet({ ...subject, network: { ...network, prefix } }))
      }
      if (prefix < network.prefix) return giveUp('ipsubnet to a larger network is not modelled')
      const count = 1n << BigInt(prefix - network.prefix)
      if (index === 'x') return known(String(count))
      const nth = integer(index, 'ipsubnet')
      const place = nth < 0n ? count + nth : nth
      if (place < 0n || place >= count) return known(false)
      const value = firstOf(network) + place * (1n << BigInt(widthOf(network.version) - prefix))
      return known(networkText({ version: network.version, value, prefix }))
    },
  ),
}

function versionTest(name: string, accepts: (network: Network, hasPrefix: boolean) => boolean): TestTable[string] {
  return pureTest(name, [], data => {
    if (typeof data !== 'string') return false
    const network = parseStrict(data)
    return network !== undefined && accepts(network, data.includes('/'))
  })
}

/** Tests of ansible.utils build on Python's ipaddress: whole addresses only, and networks without host bits. */
function parseStrict(text: string): Network | undefined {
  const network = parseNetwork(text)
  if (network === undefined || (parsePartial(text) !== undefined && parseIpv4(text) === undefined)) return undefined
  return !text.includes('/') || network.value === firstOf(network) ? network : undefined
}

export const addressTests: TestTable = {
  ip: versionTest('ip', () => true),
  ip_address: versionTest('ip_address', (_network, hasPrefix) => !hasPrefix),
  ipv4: versionTest('ipv4', network => network.version === 4),
  ipv4_address: versionTest('ipv4_address', (network, hasPrefix) => network.version === 4 && !hasPrefix),
  ipv6: versionTest('ipv6', network => network.version === 6),
  ipv6_address: versionTest('ipv6_address', (network, hasPrefix) => network.version === 6 && !hasPrefix),
  in_network: pureTest('in_network', ['network'], (data, [outer]) => {
    const inner = typeof data === 'string' ? parseStrict(data) : undefined
    const range = typeof outer === 'string' ? parseStrict(outer) : undefined
    return inner !== undefined && range !== undefined && within(inner, range)
  }),
}
