import type { Found } from '../../evidence/host-files.js'

/** What the kernel makes of a text written to a key: the value it shows then, or that it refuses it and keeps the old one. */
export type Written = { readonly kind: 'takes'; readonly value: string } | { readonly kind: 'refuses' }

interface IntegerRule {
  readonly least?: bigint
  readonly most?: bigint
  /** Whatever is not 0 becomes 1. */
  readonly oneBit?: true
}

/** Keys the kernel reads as one number, with their bounds. Source: the ctl_table entries of the kernel, 4.18 to 6.12. */
const INTEGERS: readonly (readonly [RegExp, IntegerRule])[] = [
  [/^net\/bridge\/bridge-nf-/, { oneBit: true }],
  [/^net\/ipv4\/(ip_forward|ip_nonlocal_bind)$/, {}],
  [/^net\/ipv4\/conf\/[^/]+\//, {}],
  [/^net\/ipv6\/conf\/[^/]+\/(?!stable_secret$)/, {}],
  [/^vm\/overcommit_memory$/, { least: 0n, most: 2n }],
  [/^vm\/panic_on_oom$/, { least: 0n, most: 2n }],
  [/^vm\/swappiness$/, { least: 0n, most: 200n }],
  [/^vm\/max_map_count$/, { least: 0n }],
  [/^kernel\/(panic|panic_on_oops)$/, {}],
  [/^kernel\/keys\/(root_)?max(keys|bytes)$/, { least: 1n }],
  [/^fs\/inotify\/max_/, { least: 0n }],
  [/^fs\/may_detach_mounts$/, { least: 0n, most: 1n }],
]

const LARGEST = 2n ** 31n - 1n

/**
 * What the kernel makes of a value. A number may be decimal, octal or hexadecimal and end at a blank: `1 # on` is 1. Keys that
 * are not known to be numbers keep the text. Source: kernel kernel/sysctl.c proc_get_long, do_proc_dointvec_conv.
 */
export function writtenTo(path: string, text: string): Written {
  const rule = INTEGERS.find(([pattern]) => pattern.test(path))?.[1]
  if (rule === undefined) return { kind: 'takes', value: text }
  const number = leadingNumber(text)
  if (number === undefined || number > LARGEST || number < -LARGEST - 1n) return { kind: 'refuses' }
  if (rule.least !== undefined && number < rule.least) return { kind: 'refuses' }
  if (rule.most !== undefined && number > rule.most) return { kind: 'refuses' }
  return { kind: 'takes', value: rule.oneBit === true && number !== 0n ? '1' : String(number) }
}

function leadingNumber(text: string): bigint | undefined {
  const found = /^[\s]*(-?)(0[xX][0-9a-fA-F]+|\d+)(?=[ \t\n\0]|$)/.exec(text)
  const digits = found?.[2]
  if (digits === undefined || digits.length > 20) return undefined
  if (/^0[0-9]+$/.test(digits) && /[89]/.test(digits)) return undefined
  const value = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits)
  return found?.[1] === '-' ? -value : value
}

/** Values of keys nobody sets, where they do not depend on how the kernel was built. Source: the kernel's own initial values. */
const DEFAULTS: readonly (readonly [RegExp, string])[] = [
  [/^net\/ipv4\/ip_forward$/, '0'],
  [/^net\/ipv[46]\/conf\/[^/]+\/(forwarding|mc_forwarding|disable_policy)$/, '0'],
  [/^net\/ipv4\/conf\/[^/]+\/(rp_filter|proxy_arp|route_localnet|arp_ignore|arp_announce|src_valid_mark)$/, '0'],
  [/^net\/ipv4\/conf\/[^/]+\/(accept_redirects|send_redirects)$/, '1'],
  [/^net\/ipv[46]\/ip_nonlocal_bind$/, '0'],
  [/^net\/bridge\/bridge-nf-call-(iptables|ip6tables|arptables)$/, '1'],
  [/^net\/ipv4\/ip_local_reserved_ports$/, ''],
  [/^vm\/(overcommit_memory|panic_on_oom)$/, '0'],
  [/^vm\/swappiness$/, '60'],
  [/^vm\/max_map_count$/, '65530'],
  [/^kernel\/panic$/, '0'],
  [/^kernel\/keys\/root_maxkeys$/, '1000000'],
  [/^kernel\/keys\/root_maxbytes$/, '25000000'],
  [/^fs\/inotify\/max_user_instances$/, '128'],
  [/^fs\/may_detach_mounts$/, '0'],
]

/** The value the kernel gives a key before anybody writes it. */
export function defaultOf(path: string): Found<string> {
  const value = DEFAULTS.find(([pattern]) => pattern.test(path))?.[1]
  if (value !== undefined) return { kind: 'known', value }
  return {
    kind: 'unknown',
    because: `nothing sets ${path.replaceAll('/', '.')}, and its default depends on the kernel`,
  }
}

/** Keys every kernel that runs containers has, whether or not /proc/sys was captured. */
export const ALWAYS_THERE: readonly string[] = [
  'net/ipv4/ip_forward',
  'net/ipv4/ip_nonlocal_bind',
  'net/ipv4/ip_local_reserved_ports',
  ...['all', 'default', 'lo'].flatMap(of =>
    ['forwarding', 'rp_filter', 'accept_redirects', 'send_redirects', 'route_localnet'].map(
      name => `net/ipv4/conf/${of}/${name}`,
    ),
  ),
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'vm/swappiness',
  'vm/max_map_count',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
  'fs/inotify/max_user_instances',
  'fs/inotify/max_user_watches',
]

/** Whether a key is there on every host. */
export function isAlwaysThere(path: string): boolean {
  return ALWAYS_THERE.includes(path)
}

/** Keys that come and go with a kernel module. Source: man sysctl.d(5); the module that registers each table. */
const OF_MODULES: readonly (readonly [RegExp, string])[] = [
  [/^net\/bridge\//, 'br_netfilter'],
  [/^net\/netfilter\/nf_conntrack_/, 'nf_conntrack'],
  [/^net\/nf_conntrack_max$/, 'nf_conntrack'],
  [/^net\/ipv4\/vs\//, 'ip_vs'],
  [/^net\/mpls\//, 'mpls_router'],
]

/** The module a key comes with. */
export function moduleOfKey(path: string): string | undefined {
  return OF_MODULES.find(([pattern]) => pattern.test(path))?.[1]
}

/** A key of one interface (or `all`, `default`), taken apart. */
export interface InterfaceKey {
  readonly version: '4' | '6'
  readonly of: string
  readonly name: string
}

/** The parts of `net/ipv4/conf/eth0/rp_filter`. */
export function interfaceKey(path: string): InterfaceKey | undefined {
  const [, version, of, name] = /^net\/ipv([46])\/conf\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (of === undefined || name === undefined) return undefined
  return { version: version === '6' ? '6' : '4', of, name }
}

const FORWARD = 'net/ipv4/ip_forward'
const ALL_FORWARDING = 'net/ipv4/conf/all/forwarding'

/** One name for a variable that has two: `net.ipv4.ip_forward` is `net.ipv4.conf.all.forwarding`. */
export function variableOf(path: string): string {
  return path === ALL_FORWARDING ? FORWARD : path
}

/** All paths of a variable. */
export function pathsOf(variable: string): readonly string[] {
  return variable === FORWARD ? [FORWARD, ALL_FORWARDING] : [variable]
}

/** The variables whose writing can change this one, itself included. */
export function influencesOn(variable: string): readonly string[] {
  const key = interfaceKey(variable)
  if (key === undefined || key.of === 'all') {
    return variable === 'net/ipv4/conf/all/accept_redirects' ? [variable, FORWARD] : [variable]
  }
  const sibling = (of: string): string => `net/ipv${key.version}/conf/${of}/${key.name}`
  const all = spreads(sibling('all')) ? [variableOf(sibling('all'))] : []
  return [...new Set([variable, sibling('default'), ...all])]
}

/** Whether writing the key of `all` sets those of every interface. */
function spreads(path: string): boolean {
  return /^net\/ipv4\/conf\/all\/forwarding$|^net\/ipv6\/conf\/all\/(forwarding|disable_ipv6)$/.test(path)
}

/**
 * What else changes when a variable is written: every other variable to which its new value, or the opposite, goes.
 * Source: kernel net/ipv4/devinet.c inet_forward_change (only where the value changes), net/ipv6/addrconf.c.
 */
export function alsoWritten(
  variable: string,
  value: string,
  before: string | undefined,
  others: readonly string[],
): ReadonlyMap<string, string> {
  const also = new Map<string, string>()
  if (variable === FORWARD) {
    if (value === before) return also
    for (const other of others) {
      if (/^net\/ipv4\/conf\/[^/]+\/forwarding$/.test(other)) also.set(other, value)
      if (other === 'net/ipv4/conf/all/accept_redirects') also.set(other, value === '0' ? '1' : '0')
    }
    return also
  }
  const name = /^net\/ipv6\/conf\/all\/(forwarding|disable_ipv6)$/.exec(variable)?.[1]
  if (name === undefined) return also
  const ofInterface = new RegExp(`^net/ipv6/conf/[^/]+/${name}$`)
  for (const other of others) if (other !== variable && ofInterface.test(other)) also.set(other, value)
  return also
}
