import type { SourceFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'

/** A line of /proc/net/tcp or tcp6 in state LISTEN. */
export interface ListeningSocket {
  readonly address: string
  readonly port: number
  /** 0 where no process can have it open. */
  readonly inode: string
  readonly place: HostPlace
}

const LISTEN = '0A'

/**
 * The listening sockets of /proc/net/tcp or tcp6 (Documentation/networking/proc_net_tcp): columns `sl local remote st … inode`,
 * addresses as 32-bit words in the order of the machine, ports big-endian. Lines that are no such line are given back apart.
 */
export function parseTcpSockets(
  file: SourceFile,
  bigEndian = false,
): { readonly sockets: readonly ListeningSocket[]; readonly bad: readonly HostPlace[] } {
  const sockets: ListeningSocket[] = []
  const bad: HostPlace[] = []
  for (const [index, line] of file.text.split('\n').entries()) {
    if (line.trim() === '' || (index === 0 && /^\s*sl\s/.test(line))) continue
    const place: HostPlace = { file: file.path, line: index + 1, says: line.trim().slice(0, 160) }
    const [slot = '', local = '', , state = ''] = line.trim().split(/\s+/)
    const inode = line.trim().split(/\s+/)[9] ?? ''
    const found = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/i.exec(local)
    if (found === null || !/^[0-9]+:$/.test(slot) || !/^[0-9A-F]{2}$/i.test(state) || !/^[0-9]+$/.test(inode)) {
      bad.push(place)
      continue
    }
    if (state.toUpperCase() !== LISTEN) continue
    const port = Number.parseInt(found[2] ?? '', 16)
    const address = addressOf(found[1] ?? '', bigEndian)
    sockets.push({ address, port, inode, place: { ...place, says: `listens on ${hostPort(address, port)}` } })
  }
  return { sockets, bad }
}

/** `[::1]:80`, `127.0.0.1:80`. */
export function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

function addressOf(hex: string, bigEndian: boolean): string {
  const words = Buffer.from(hex, 'hex')
  if (!bigEndian) words.swap32()
  if (words.length === 4) return [...words].join('.')
  const isMapped = words.subarray(0, 10).every(byte => byte === 0) && words[10] === 255 && words[11] === 255
  if (isMapped) return `::ffff:${[...words.subarray(12)].join('.')}`
  const groups = Array.from({ length: 8 }, (_each, at) => words.readUInt16BE(2 * at).toString(16))
  return compressed(groups)
}

/** RFC 5952: the longest run of at least two groups of zeros is left out, of equal ones the first. */
function compressed(groups: readonly string[]): string {
  let best = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start++) {
    let length = 0
    while (groups[start + length] === '0') length++
    if (length > best.length) best = { start, length }
  }
  if (best.length < 2) return groups.join(':')
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`
}

/** An IPv6 address as the kernel's tables and `ss` print it; undefined for what is none. */
export function plainIpv6(text: string): string | undefined {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(':')) return undefined
  const dotted = /^(.*:)([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)$/.exec(text)
  const bytes = dotted?.[2]?.split('.').map(Number) ?? []
  if (bytes.some(byte => byte > 255)) return undefined
  const tail = [0, 2].map(at => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16)).join(':')
  const whole = dotted === null ? text : `${dotted[1]}${tail}`
  const halves = whole.split('::')
  if (halves.length > 2) return undefined
  const [head, rest] = halves.map(half => (half === '' ? [] : half.split(':')))
  const missing = 8 - (head?.length ?? 0) - (rest?.length ?? 0)
  if (rest === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...(head ?? []), ...(rest === undefined ? [] : [...Array<string>(missing).fill('0'), ...rest])]
  if (!groups.every(group => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  const plain = groups.map(group => Number.parseInt(group, 16))
  if (plain.slice(0, 5).every(group => group === 0) && plain[5] === 0xffff)
    return `::ffff:${[plain[6] ?? 0, plain[7] ?? 0].flatMap(group => [group >> 8, group & 255]).join('.')}`
  return compressed(plain.map(group => group.toString(16)))
}
