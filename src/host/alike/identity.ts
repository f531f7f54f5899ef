import ipaddr from 'ipaddr.js'

/** What stands in a text for a name of the host's own: `⟦name⟧`. */
export type Placeholder = string

/** The values that name one host and no other, by what they are: its name, addresses, processes. */
export interface Identity {
  /** By placeholder; of two with the same value the first counts. */
  readonly values: ReadonlyMap<Placeholder, string>
  /** Puts placeholders in the place of the values. */
  readonly mask: (text: string) => string
  /** Puts the values back. */
  readonly unmask: (text: string) => string
}

/**
 * The identity of a host from pairs of what a value is and the value; the order counts. A value is only taken for the host's own
 * where no letter or digit touches it (of an address no dot, either): never part of another name.
 */
export function identityOf(named: readonly (readonly [what: string, value: string])[]): Identity {
  const values = new Map<Placeholder, string>()
  const byValue = new Map<string, Placeholder>()
  for (const [what, value] of named) {
    if (value.length < 2 || byValue.has(value) || values.has(`⟦${what}⟧`)) continue
    values.set(`⟦${what}⟧`, value)
    byValue.set(value, `⟦${what}⟧`)
  }
  const longest = [...byValue.keys()].sort((left, right) => right.length - left.length)
  const pattern =
    longest.length === 0
      ? undefined
      : new RegExp(`(?<![A-Za-z0-9])(?<![0-9]\\.)(?:${longest.map(escaped).join('|')})(?![A-Za-z0-9]|\\.[0-9])`, 'g')
  return {
    values,
    mask: text =>
      pattern !== undefined && longest.some(value => text.includes(value))
        ? text.replace(pattern, found => byValue.get(found) ?? found)
        : text,
    unmask: text => (text.includes('⟦') ? text.replace(/⟦[^⟧]*⟧/g, found => values.get(found) ?? found) : text),
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, '\\$&')
}

/** A network that role code or an inventory names, as in `10.233.0.0/18`. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>

/** The networks that stand in a text. */
export function networksIn(text: string): readonly Network[] {
  const found = text.match(
    /(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}\/[0-9]{1,2}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\/[0-9]{1,3}/gi,
  )
  return (found ?? []).flatMap(each => (ipaddr.isValidCIDR(each) ? [ipaddr.parseCIDR(each)] : []))
}

/**
 * What conditions can ask of an own name or address without naming it: of a name which kinds of characters it has, where it
 * begins and ends and whether it is too long; of an address its family, its range and in which networks it lies.
 */
export function formOf(value: string, networks: readonly Network[]): string {
  if (ipaddr.isValid(value)) {
    const address = ipaddr.parse(value)
    const inside = networks.map(([network, bits]) =>
      network.kind() === address.kind() && address.match(network as never, bits) ? '1' : '0',
    )
    return `${address.kind()} ${address.range()} ${inside.join('')}`
  }
  const kind = (char: string): string =>
    /[a-z]/.test(char) ? 'a' : /[A-Z]/.test(char) ? 'A' : /[0-9]/.test(char) ? '0' : char
  const kinds = [...new Set([...value].map(kind))].sort().join('')
  const labels = value.split('.')
  const ends = labels.map(label => `${kind(label.at(0) ?? '')}${kind(label.at(-1) ?? '')}`)
  return `${kinds} ${[...new Set(ends)].join(' ')} ${labels.length} ${labels.some(({ length }) => length > 63)} ${value.length > 253}`
}
