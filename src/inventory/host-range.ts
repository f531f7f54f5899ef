/** A host name with the port that may follow it. */
export interface Address {
  readonly host: string
  readonly port: number | undefined
}

const NUMERIC_RANGE = String.raw`\[[0-9]+:[0-9]+(?::[0-9]+)?\]`
const HEX_RANGE = String.raw`\[[0-9a-f]+:[0-9a-f]+(?::[0-9]+)?\]`
const LABEL_RANGE = String.raw`\[(?:[a-z]:[a-z]|[0-9]+:[0-9]+)(?::[0-9]+)?\]`

const OCTET = `(?:[01]?[0-9]{1,2}|2[0-4][0-9]|25[0-5]|${NUMERIC_RANGE})`
const IPV4 = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`, 'i')

const HEX = `(?:[0-9a-f]{1,4}|${HEX_RANGE})`
/** Ansible anchors only the last form at the end of the text: `a::b-anything` passes as an address too. */
const IPV6 = new RegExp(
  [
    `^(?:${HEX}:){7}${HEX}`,
    `^(?:${HEX}:){1,6}:`,
    ...[1, 2, 3, 4, 5, 6].map(before => `^(?:${HEX}:){${before}}(?::${HEX}){1,${7 - before}}`),
    `^:(?::${HEX}){1,6}`,
    `^${HEX}?::`,
    `^(?:0:){6}(?:${HEX}\\.){3}${HEX}`,
    `^(?:0:){5}ffff:(?:${HEX}\\.){3}${HEX}$`,
  ].join('|'),
  'i',
)

const WORD = String.raw`\p{L}\p{M}\p{N}_`
const LABEL = `(?:[${WORD}]|${LABEL_RANGE})(?:[${WORD}-]|${LABEL_RANGE})*(?<![_-])`
const HOSTNAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'iu')

const BRACKETED_PORT = /^\[(.+)\]:([0-9]+)$/
const PLAIN_PORT = /^((?:[^:[\]]|\[[^\]]*\])*):([0-9]+)$/

/**
 * Splits `host:22`, `[v6]:22` and the like, ranges allowed; undefined where the text is no address Ansible knows.
 * Source of the rule: Ansible's `parse_address`, checked against ansible-core 2.14.
 */
export function parseAddress(text: string): Address | undefined {
  let host = text
  let port: number | undefined
  for (const form of [BRACKETED_PORT, PLAIN_PORT]) {
    const match = form.exec(host)
    if (match?.[1] !== undefined) {
      host = match[1]
      port = Number(match[2])
    }
  }
  return IPV4.test(host) || IPV6.test(host) || HOSTNAME.test(host) ? { host, port } : undefined
}

/** More hosts than any cluster has; a range beyond it is refused rather than built. */
const MOST_HOSTS = 100_000
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** The hosts a pattern of an inventory stands for (`node[01:10]:2222`), or what is wrong with it. */
export function expandHosts(pattern: string): { hosts: readonly string[]; port: number | undefined } | string {
  const address = parseAddress(pattern)
  const base = address?.host ?? pattern
  const hosts: string[] = []
  const problem = base.includes('[') ? expandRange(base, hosts, 0) : undefined
  if (problem !== undefined) {
    const shown = pattern.length > 80 ? `${pattern.slice(0, 77)}...` : pattern
    return `${problem} in host pattern '${shown}'`
  }
  return { hosts: base.includes('[') ? hosts : [base], port: address?.port }
}

function expandRange(text: string, hosts: string[], depth: number): string | undefined {
  const parts = text.replace('[', '|').replace(']', '|').split('|')
  const [head, range, tail] = parts
  if (parts.length !== 3 || head === undefined || range === undefined || tail === undefined || depth > 20) {
    return 'expected ranges of the form [begin:end] or [begin:end:step]'
  }
  const names = namesOf(range)
  if (typeof names === 'string') return names
  for (const name of names) {
    const host = head + name + tail
    if (host.includes('[')) {
      const problem = expandRange(host, hosts, depth + 1)
      if (problem !== undefined) return problem
    } else hosts.push(host)
    if (hosts.length > MOST_HOSTS) return `more than ${MOST_HOSTS} hosts`
  }
  return undefined
}

/** The members of `01:10:3`, in order. */
function namesOf(range: string): readonly string[] | string {
  const bounds = range.split(':')
  if (bounds.length !== 2 && bounds.length !== 3) return 'expected [begin:end] or [begin:end:step]'
  const begin = bounds[0] || '0'
  const end = bounds[1] ?? ''
  const step = wholeNumber(bounds[2] ?? '1')
  if (end === '') return 'expected an end of the range'
  const width = begin.length > 1 && begin.startsWith('0') ? begin.length : 0
  if (width > 0 && width !== end.length) return 'expected begin and end of the range of one length'
  if (step === undefined || step === 0) return 'expected a step other than 0'
  const first = LETTERS.indexOf(begin)
  const last = LETTERS.indexOf(end)
  if (first !== -1 && last !== -1) {
    if (first > last) return 'expected begin of the range before its end'
    const letters: string[] = []
    for (let at = first; step > 0 && at <= last; at += step) letters.push(LETTERS[at] ?? '')
    return letters
  }
  const from = wholeNumber(begin)
  const to = wholeNumber(end)
  if (from === undefined || to === undefined) return 'expected numbers or letters as begin and end of the range'
  if (Math.abs(to - from) / Math.abs(step) > MOST_HOSTS) return `more than ${MOST_HOSTS} hosts`
  const numbers: string[] = []
  // As Python's range(from, to + 1, step): a negative step stops before the end + 1.
  if (step > 0) for (let n = from; n <= to; n += step) numbers.push(String(n).padStart(width, '0'))
  else for (let n = from; n > to + 1; n += step) numbers.push(String(n).padStart(width, '0'))
  return numbers
}

function wholeNumber(text: string): number | undefined {
  return /^[+-]?[0-9]{1,15}$/.test(text) ? Number(text) : undefined
}
