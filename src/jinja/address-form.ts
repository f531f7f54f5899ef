import ipaddr from 'ipaddr.js'

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
