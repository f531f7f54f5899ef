/** An address as `ip addr` prints it. */
export interface PrintedAddress {
  readonly device: string
  readonly family: 4 | 6
  readonly address: string
  /** 32 for a point-to-point address without one. */
  readonly prefix: number
  /** Empty where there is none. */
  readonly broadcast: string
  readonly scope: string
  /** The label, of IPv4 only: `eth0`, `eth0:1`. */
  readonly label: string
  /** Not the first of its network (IPv4), or temporary (IPv6). */
  readonly secondary: boolean
}

/** The addresses in what `ip addr` or `ip -o addr` prints, in that order; lines of another kind are passed over. */
export function parseAddresses(output: string): readonly PrintedAddress[] {
  const addresses: PrintedAddress[] = []
  let device = ''
  for (const line of output.split('\n')) {
    const header = /^[0-9]+: ([^\s:@]+)(?:@[^\s:]+)?:?\s/.exec(line)
    device = header?.[1] ?? device
    const found = /^(?:[0-9]+: \S+)?\s+(inet6?) (.*)$/.exec(line.split('\\')[0] ?? '')
    const parsed =
      found === null ? undefined : addressOf(device, found[1] === 'inet' ? 4 : 6, (found[2] ?? '').trim().split(/\s+/))
    if (parsed !== undefined) addresses.push(parsed)
  }
  return addresses
}

function addressOf(device: string, family: 4 | 6, words: readonly string[]): PrintedAddress | undefined {
  const [first = ''] = words
  const after = (word: string): string | undefined => {
    const at = words.indexOf(word)
    return at === -1 ? undefined : words[at + 1]
  }
  const [address = '', own] = first.split('/')
  // Of an IPv6 address with a peer the length stands with the peer.
  const length = family === 6 && own === undefined ? after('peer')?.split('/')[1] : own
  const prefix = length === undefined ? 32 : Number(length)
  if (address === '' || !Number.isInteger(prefix)) return undefined
  const broadcast = family === 4 && own !== undefined && words[1] === 'brd' ? (words[2] ?? '') : ''
  const secondary = words.includes('secondary') || words.includes('temporary')
  return {
    device,
    family,
    address,
    prefix,
    broadcast,
    scope: after('scope') ?? '',
    label: words.at(-1) ?? '',
    secondary,
  }
}

/** What `ip route get` says of the way to an address. */
export interface PrintedRoute {
  readonly device?: string
  readonly source?: string
  readonly gateway?: string
}

/** The first line of `ip route get ADDRESS`; empty where it does not begin with the address: there is no way to it. */
export function parseRouteGet(output: string, address: string): PrintedRoute {
  const words = (output.split('\n')[0] ?? '').split(/\s+/)
  if (words[0] !== address) return {}
  const after = (word: string): string | undefined => {
    const at = words.lastIndexOf(word)
    return at === -1 ? undefined : words[at + 1]
  }
  const [device, source, gateway] = [after('dev'), after('src'), after('via')]
  return {
    ...(device !== undefined && { device }),
    ...(source !== undefined && { source }),
    ...(gateway !== undefined && gateway !== address && { gateway }),
  }
}
