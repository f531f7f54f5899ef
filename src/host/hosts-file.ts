import { type Found, type HostFiles, textAt } from '../evidence/host-files.js'
import { parseLocal } from './facts/ip-tables.js'

export const HOSTS = '/etc/hosts'

/** A line of /etc/hosts: an address and its names. */
export interface HostsLine {
  readonly line: number
  readonly address: string
  readonly names: readonly string[]
}

/** What a line of a hosts file says; undefined where it names nothing. Source: man hosts(5). */
export function hostsLineOf(line: string): Omit<HostsLine, 'line'> | undefined {
  const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
  return address === undefined || address === '' || names.length === 0 ? undefined : { address, names }
}

/** The lines of /etc/hosts that give an address names. */
export function hostsLines(files: HostFiles): Found<readonly HostsLine[]> {
  const text = textAt(files, HOSTS)
  if (text.kind !== 'known') return text
  const value = text.value.text.split('\n').flatMap((raw, index) => {
    const said = hostsLineOf(raw)
    return said === undefined ? [] : [{ line: index + 1, ...said }]
  })
  return { kind: 'known', value }
}

/** Whether an IPv4 address is one of the host's own; undefined where that is not known, and for other addresses. */
export function isOwnAddress(files: HostFiles, address: string): boolean | undefined {
  const table = textAt(files, '/proc/net/fib_trie')
  if (table.kind !== 'known' || !/^[0-9]+(\.[0-9]+){3}$/.test(address)) return undefined
  const { addresses } = parseLocal(table.value)
  return addresses.length === 0 ? undefined : addresses.includes(address)
}

/** 127.0.0.0/8 and ::1. */
export function isLoopback(address: string): boolean {
  return /^127\.|^::1$/.test(address)
}
