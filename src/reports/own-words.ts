import type { ReportedHost, ReportedHostName } from './preflight.js'

/** A text of a group as it is for one of its hosts: with its own names, addresses and numbers. */
export function inWordsOf({ own }: ReportedHostName, text: string, written: (word: string) => string): string {
  if (own === undefined) return text
  return text.replace(/⟦[^⟧]*⟧/g, found => {
    const word = own.get(found)
    return word === undefined ? found : written(word)
  })
}

/**
 * A group's answers for all its hosts: what is the same for all stands as it is, numbers as from the least to the most, and of
 * everything else which thing of the host's own it is (`<PID of port 10250>`).
 */
export function inWordsOfAll(group: ReportedHost): ReportedHost {
  const known = new Map<string, string>()
  return filled(group, found => {
    const before = known.get(found)
    if (before !== undefined) return before
    const words = ofAll(found, group.hosts)
    known.set(found, words)
    return words
  })
}

function ofAll(placeholder: string, hosts: readonly ReportedHostName[]): string {
  const values = [...new Set(hosts.flatMap(({ own }) => own?.get(placeholder) ?? []))]
  const [only, another] = values
  if (only !== undefined && another === undefined) return only
  if (placeholder.endsWith('_mb⟧') && values.every(value => /^[0-9]+$/.test(value))) {
    const numbers = values.map(Number)
    return `${Math.min(...numbers)} to ${Math.max(...numbers)}`
  }
  return `<${placeholder.slice(1, -1)}>`
}

function filled(group: ReportedHost, words: (placeholder: string) => string): ReportedHost {
  const { hosts, ...answers } = group
  return { hosts, ...mapTexts(answers, text => text.replace(/⟦[^⟧]*⟧/g, words)) }
}

/** The same with every text in it changed; what stands in maps and functions stays. */
export function mapTexts<T>(value: T, change: (text: string, key: string) => string, key = ''): T {
  if (typeof value === 'string') return change(value, key) as T
  if (Array.isArray(value)) return value.map(each => mapTexts(each, change, key)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change, name)])) as T
}
