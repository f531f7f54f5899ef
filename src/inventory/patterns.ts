import { parseAddress } from './host-range.js'
import { hostsOf, type Inventory, LOCALHOST_NAMES } from './inventory.js'
import { compileRegex } from './regex.js'

/** What a hosts pattern stands for, and what Ansible would say about parts of it. */
export interface Matched {
  readonly hosts: readonly string[]
  /** Terms that match no group and no host, or cannot be read; each in one line. */
  readonly problems: readonly string[]
}

/**
 * The hosts of a play's `hosts:` (already templated) in Ansible's order; `limit` is `--limit`.
 * Nothing is ever thrown: a term that matches nothing adds nothing, see `readPattern` for what is wrong with it.
 */
export function matchHosts(
  pattern: string | readonly string[],
  inventory: Inventory,
  limit?: string | readonly string[],
): readonly string[] {
  const { hosts } = readPattern(pattern, inventory)
  if (limit === undefined) return hosts
  const allowed = new Set(readPattern(limit, inventory).hosts)
  return hosts.filter(host => allowed.has(host))
}

/**
 * The hosts of a pattern with the problems of its terms: plain terms are united, then `&` terms intersect, then `!`
 * terms exclude, wherever they stand; without a plain term it starts from all hosts.
 * Source of the rule: Ansible's inventory manager, checked against ansible-core 2.14 and 2.18.
 */
export function readPattern(pattern: string | readonly string[], inventory: Inventory): Matched {
  const terms = typeof pattern === 'string' ? splitPattern(pattern) : pattern.flatMap(splitPattern)
  if (terms.length === 0 && typeof pattern !== 'string') return { hosts: [], problems: [] }
  const plain = terms.filter(term => !/^[!&]/.test(term))
  const problems: string[] = []
  let hosts = new Set<string>()
  for (const term of plain.length > 0 ? plain : ['all']) {
    for (const host of matchTerm(term, inventory, problems)) hosts.add(host)
  }
  for (const term of terms.filter(each => each.startsWith('&'))) {
    const kept = new Set(matchTerm(term.slice(1), inventory, problems))
    hosts = new Set([...hosts].filter(host => kept.has(host)))
  }
  for (const term of terms.filter(each => each.startsWith('!'))) {
    for (const host of matchTerm(term.slice(1), inventory, problems)) hosts.delete(host)
  }
  return { hosts: [...hosts], problems }
}

/** Splits at commas; without any, at blanks and at colons that are neither of a range nor of an address. */
export function splitPattern(pattern: string): readonly string[] {
  const terms = pattern.includes(',') ? pattern.split(',') : parseAddress(pattern) ? [pattern] : splitAtColons(pattern)
  return terms.map(term => term.trim()).filter(term => term !== '')
}

function splitAtColons(pattern: string): readonly string[] {
  const terms: string[] = []
  const lastClose = pattern.lastIndexOf(']')
  let start = 0
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? ''
    // Brackets hold together what is between them; one that is never closed, or opened, splits.
    if (char === '[' && at < lastClose) at = pattern.indexOf(']', at)
    else if (char === ':' || char === '[' || char === ']' || /\s/.test(char)) {
      terms.push(pattern.slice(start, at))
      start = at + 1
    }
  }
  terms.push(pattern.slice(start))
  return terms
}

function matchTerm(term: string, inventory: Inventory, problems: string[]): readonly string[] {
  if (inventory.hosts.has(term)) return [term]
  if (term === '') {
    problems.push('expected a group or host after the ! or & of the hosts pattern')
    return []
  }
  const { base, subscript } = splitSubscript(term)
  // With repeats, as Ansible counts a host once for each group the glob matches.
  const hosts = membersOf(base, inventory, problems)
  if (hosts.length === 0 || subscript === undefined) return hosts
  const chosen = subscript(hosts)
  if (chosen.length === 0) problems.push(`no host matches '${term}': there are ${hosts.length} hosts`)
  return chosen
}

type Subscript = (hosts: readonly string[]) => readonly string[]

function splitSubscript(term: string): { base: string; subscript?: Subscript } {
  if (term.startsWith('~')) return { base: term }
  const match = /^(.+)\[(?:(-?[0-9]+)|([0-9]+)[:-]([0-9]*))\]$/.exec(term)
  if (match?.[1] === undefined) return { base: term }
  const base = match[1]
  if (match[2] !== undefined) {
    const index = Number(match[2])
    return { base, subscript: hosts => hosts.slice(index, index === -1 ? undefined : index + 1).slice(0, 1) }
  }
  const start = Number(match[3])
  const end = match[4] ? Number(match[4]) : undefined
  // Ansible takes an end of 0 for no end at all: `g[1:0]` is `g[1]`.
  if (end === 0) return { base, subscript: hosts => hosts.slice(start, start + 1) }
  return { base, subscript: hosts => hosts.slice(start, end === undefined ? undefined : end + 1) }
}

function membersOf(base: string, inventory: Inventory, problems: string[]): readonly string[] {
  const matches = matcherFor(base)
  if (typeof matches === 'string') {
    problems.push(matches)
    return []
  }
  const groups = [...inventory.groups.keys()].filter(matches)
  const found = groups.flatMap(group => hostsOf(inventory, group))
  if (groups.length === 0 || base.startsWith('~') || /[.?*[]/.test(base)) {
    for (const host of inventory.hosts.keys()) if (matches(host)) found.push(host)
  }
  if (found.length > 0 || groups.length > 0 || base === 'all') return found
  if (LOCALHOST_NAMES.includes(base)) {
    // The three names are one host: the one the inventory has, if it has any.
    return [[...inventory.hosts.keys()].find(host => LOCALHOST_NAMES.includes(host)) ?? base]
  }
  problems.push(`no group and no host is named '${base}'`)
  return []
}

type Matcher = (name: string) => boolean

function matcherFor(base: string): Matcher | string {
  if (base.startsWith('~')) return regexMatcher(base.slice(1))
  return /[?*[]/.test(base) ? globMatcher(base) : name => name === base
}

type Piece = { readonly kind: 'star' } | { readonly kind: 'one'; readonly matches: Matcher }

/** What a shell glob matches, as Python's fnmatch has it, case kept. */
export function globMatcher(glob: string): (name: string) => boolean {
  const pieces = parseGlob(glob)
  return name => matchesGlob(pieces, name)
}

function parseGlob(glob: string): readonly Piece[] {
  const pieces: Piece[] = []
  const chars = [...glob]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    if (char === '*') pieces.push({ kind: 'star' })
    else if (char === '?') pieces.push({ kind: 'one', matches: () => true })
    else if (char === '[') {
      let close = at + 1
      if (chars[close] === '!') close++
      if (chars[close] === ']') close++
      while (close < chars.length && chars[close] !== ']') close++
      if (close >= chars.length) pieces.push({ kind: 'one', matches: name => name === '[' })
      else {
        pieces.push({ kind: 'one', matches: parseClass(chars.slice(at + 1, close)) })
        at = close
      }
    } else pieces.push({ kind: 'one', matches: name => name === char })
  }
  return pieces
}

function parseClass(chars: readonly string[]): Matcher {
  const negated = chars[0] === '!'
  const members = negated ? chars.slice(1) : chars
  const ranges: [string, string][] = []
  for (let at = 0; at < members.length; at++) {
    const low = members[at] ?? ''
    const high = members[at + 2]
    if (members[at + 1] === '-' && high !== undefined) {
      ranges.push([low, high])
      at += 2
    } else ranges.push([low, low])
  }
  return char => ranges.some(([low, high]) => low <= char && char <= high) !== negated
}

/** Matches without backtracking over more than the last star, so that no glob is slow. */
function matchesGlob(pieces: readonly Piece[], name: string): boolean {
  const chars = [...name]
  let piece = 0
  let at = 0
  let star = -1
  let resume = 0
  while (at < chars.length) {
    const wanted = pieces[piece]
    if (wanted?.kind === 'one' && wanted.matches(chars[at] ?? '')) {
      piece++
      at++
    } else if (wanted?.kind === 'star') {
      star = piece++
      resume = at
    } else if (star !== -1) {
      piece = star + 1
      at = ++resume
    } else return false
  }
  while (pieces[piece]?.kind === 'star') piece++
  return piece === pieces.length
}

/** A `~regex`, as Python's re.match: from the start of the name, not to its end. */
function regexMatcher(source: string): Matcher | string {
  const regex = compileRegex(source, 'yu')
  if (typeof regex === 'string') return `the pattern '~${source}' ${regex}`
  return name => {
    regex.lastIndex = 0
    return regex.test(name)
  }
}
