import { ownEntry } from '../../source/own-entry.js'
import type { SourceFile } from '../../source/text.js'

/** A row of /proc/net/route: an IPv4 route of the main table. */
export interface Route {
  readonly device: string
  readonly destination: number
  readonly mask: number
  /** 0: the network is at the device. */
  readonly gateway: number
  readonly metric: number
  readonly flags: number
}

const REJECTS = 0x200
const IS_UP = 0x1

/** The routes of /proc/net/route on a little-endian machine; undefined where a line is none. */
export function parseRoutes(file: SourceFile): readonly Route[] | undefined {
  const routes: Route[] = []
  for (const [index, line] of file.text.split('\n').entries()) {
    if (index === 0 || line.trim() === '') continue
    const [device = '', destination = '', gateway = '', flags = '', , , metric = '', mask = ''] = line
      .trim()
      .split(/\s+/)
    const hex = /^[0-9A-F]{8}$/i
    if (
      ![destination, gateway, mask].every(word => hex.test(word)) ||
      !/^[0-9A-F]{4}$/i.test(flags) ||
      !/^[0-9]+$/.test(metric)
    )
      return undefined
    routes.push({
      device,
      destination: word(destination),
      gateway: word(gateway),
      mask: word(mask),
      metric: Number(metric),
      flags: Number.parseInt(flags, 16),
    })
  }
  return routes
}

function word(hex: string): number {
  return Buffer.from(hex, 'hex').readUInt32LE()
}

/** The routes that lead to an address, those that count first alone: the longest network, of it the smallest metric. */
export function routesTo(routes: readonly Route[], address: number): readonly Route[] {
  const fitting = routes.filter(
    ({ destination, mask, flags }) => (flags & IS_UP) !== 0 && (address & mask) >>> 0 === destination,
  )
  const longest = Math.max(...fitting.map(({ mask }) => mask))
  const near = fitting.filter(({ mask }) => mask === longest)
  const least = Math.min(...near.map(({ metric }) => metric))
  return near.filter(({ metric }) => metric === least)
}

/** Whether a route refuses what goes there. */
export function isRejected({ flags }: Route): boolean {
  return (flags & REJECTS) !== 0
}

/** The number of a dotted IPv4 address. */
export function ipv4Number(text: string): number {
  return text.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}

/** A number as a dotted IPv4 address. */
export function ipv4Text(number: number): string {
  return [24, 16, 8, 0].map(shift => (number >>> shift) & 255).join('.')
}

/** The mask of a length. */
export function maskOf(prefix: number): number {
  return prefix === 0 ? 0 : (0xffffffff << (32 - prefix)) >>> 0
}

/** The length of a mask. */
export function prefixOf(mask: number): number {
  return mask === 0 ? 0 : Math.clz32(~mask >>> 0)
}

/**
 * What the host takes for its own in /proc/net/fib_trie: addresses that stand there alone (`/32 host LOCAL`). These are its
 * addresses, and may be more (a load balancer's). `tables` says whether there are others than the usual two.
 */
export function parseLocal(file: SourceFile): { readonly addresses: readonly string[]; readonly otherTables: boolean } {
  const addresses = new Set<string>()
  let otherTables = false
  let leaf = ''
  for (const line of file.text.split('\n')) {
    if (/^Id [0-9]+:/.test(line)) otherTables = true
    leaf = /^\s*\|-- ([0-9.]+)/.exec(line)?.[1] ?? leaf
    if (/^\s*\/32 host LOCAL/.test(line)) addresses.add(leaf)
  }
  return { addresses: [...addresses], otherTables }
}

/** A line of /proc/net/if_inet6. */
export interface Ipv6Address {
  readonly device: string
  readonly address: string
  readonly prefix: number
  readonly scope: string
  readonly temporary: boolean
}

const SCOPES: Readonly<Record<string, string>> = { '00': 'global', '10': 'host', '20': 'link', '40': 'site' }
/** As `ip addr` puts them: the widest scope first. */
const WIDEST = ['global', 'site', 'link', 'host']
const IS_TEMPORARY = 0x01

/** The addresses of /proc/net/if_inet6; `plain` writes 32 digits as an address. Undefined where a line is none, or has a scope without a name. */
export function parseIpv6Addresses(
  file: SourceFile,
  plain: (groups: string) => string | undefined,
): readonly Ipv6Address[] | undefined {
  const addresses: Ipv6Address[] = []
  for (const line of file.text.split('\n')) {
    if (line.trim() === '') continue
    const [digits = '', , length = '', scope = '', flags = '', device = ''] = line.trim().split(/\s+/)
    const address = /^[0-9a-f]{32}$/.test(digits) ? plain(digits.match(/.{4}/g)?.join(':') ?? '') : undefined
    const named = ownEntry(SCOPES, scope)
    if (address === undefined || named === undefined || device === '') return undefined
    const temporary = (Number.parseInt(flags, 16) & IS_TEMPORARY) !== 0
    addresses.push({ device, address, prefix: Number.parseInt(length, 16), scope: named, temporary })
  }
  return addresses.toSorted((left, right) => WIDEST.indexOf(left.scope) - WIDEST.indexOf(right.scope))
}
