import { printExpression } from '../jinja/print.js'
import { type Place, placeOfSpan } from '../reports/place.js'
import type { Matching } from './matching/matching.js'
import type { NameRead, Owner, RoleIndex } from './role-index.js'

/** A new name for an old one, with the places that show it. */
export interface Rename {
  readonly to: string
  readonly evidence: readonly { readonly old: Place; readonly new: Place }[]
}

/** Looks for the new name of one that NEW does not have any more. */
export type FindRename = (name: string, reads: readonly NameRead[]) => Rename | undefined

/**
 * A rename is claimed only where the same place (the same keyword of the same task, the same template, the same default)
 * holds the very same expression with just the name exchanged, and at least half of the places that are still there do.
 * A name that OLD read there as well is none that came instead.
 */
export function renamesIn(
  old: Pick<RoleIndex, 'reads'>,
  fresh: Pick<RoleIndex, 'reads'>,
  matching: Matching,
): FindRename {
  const [before, places] = [placesOf(old), placesOf(fresh)]
  return (name, reads) => {
    const found = new Map<string, { old: Place; new: Place }[]>()
    let standing = 0
    for (const read of reads) {
      const place = placeIn(read, matching)
      const now = place === undefined ? undefined : places.get(place)
      if (now === undefined) continue
      standing += 1
      const had = before.get(`${keyOf(read.owner)} ${read.slot}`) ?? []
      const shown = new Set<string>()
      for (const other of now) {
        if (other.name === name || shown.has(other.name)) continue
        if (!isExchanged(read, other) || countOf(had, other) >= countOf(now, other)) continue
        shown.add(other.name)
        found.set(other.name, [
          ...(found.get(other.name) ?? []),
          { old: placeOfSpan(read.at), new: placeOfSpan(other.at) },
        ])
      }
    }
    const [best, second] = [...found].sort((a, b) => b[1].length - a[1].length)
    if (best === undefined || best[1].length * 2 < standing) return undefined
    if (second !== undefined && second[1].length === best[1].length) return undefined
    return { to: best[0], evidence: best[1] }
  }
}

/** How often a place reads this name in this very expression. */
function countOf(reads: readonly NameRead[], { name, whole }: NameRead): number {
  const text = whole === undefined ? '' : printExpression(whole)
  return reads.filter(
    each => each.name === name && (each.whole === undefined ? '' : printExpression(each.whole)) === text,
  ).length
}

/** Whether two reads stand in the same expression but for the name. */
function isExchanged(old: NameRead, fresh: NameRead): boolean {
  // A template is one place, and many of its expressions are just a name: there the line around it counts.
  if (old.owner.kind === 'template' && exchangedLine(old) !== exchangedLine(fresh)) return false
  if (old.whole === undefined || fresh.whole === undefined) return old.whole === fresh.whole
  return exchanged(printExpression(old.whole), old.name) === exchanged(printExpression(fresh.whole), fresh.name)
}

/** A text with a mark in place of a name. */
function exchanged(text: string, name: string): string {
  return text.replaceAll(new RegExp(`(?<![\\w.])${escaped(name)}(?!\\w)`, 'g'), '\0')
}

/** The line a read begins on, with a mark in place of its name. */
function exchangedLine({ name, at: { file, start } }: NameRead): string {
  const begin = file.text.lastIndexOf('\n', start - 1) + 1
  const end = file.text.indexOf('\n', start)
  return exchanged(file.text.slice(begin, end < 0 ? undefined : end).trim(), name)
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** NEW's reads by the place they stand in. */
function placesOf({ reads }: Pick<RoleIndex, 'reads'>): ReadonlyMap<string, readonly NameRead[]> {
  const places = new Map<string, NameRead[]>()
  for (const read of [...reads.values()].flat()) {
    const key = `${keyOf(read.owner)} ${read.slot}`
    const known = places.get(key)
    if (known === undefined) places.set(key, [read])
    else known.push(read)
  }
  return places
}

/** The key of the place in NEW that stands where an OLD read stood; undefined where there is none any more. */
function placeIn({ owner, slot }: NameRead, matching: Matching): string | undefined {
  const fresh = matching.ownerOf(owner)
  return fresh === undefined ? undefined : `${keyOf(fresh)} ${slot}`
}

const identities = new WeakMap<object, number>()
let last = 0

function identityOf(object: object): number {
  const known = identities.get(object)
  if (known !== undefined) return known
  last += 1
  identities.set(object, last)
  return last
}

function keyOf(owner: Owner): string {
  switch (owner.kind) {
    case 'statement':
      return `statement ${identityOf(owner.placed.statement)}`
    case 'play':
      return `play ${identityOf(owner.play)}`
    case 'role-entry':
      return `role ${owner.path} ${owner.entry.role.split('/').at(-1)}`
    case 'template':
      return `template ${owner.path}`
    case 'import':
      return `import ${owner.path}`
    case 'definition':
      return `definition ${owner.defined.name}`
  }
}
