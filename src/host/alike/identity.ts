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

/** Puts the values of each of two hosts in the place of the other's: a text of one in the words of the other. */
export function exchange(one: Identity, other: Identity): (text: string) => string {
  return text => {
    const apart = one.mask(text).replaceAll('⟦', '⦃').replaceAll('⟧', '⦄')
    const back = one.unmask(other.mask(apart))
    return other.unmask(back.replaceAll('⦃', '⟦').replaceAll('⦄', '⟧'))
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, '\\$&')
}
