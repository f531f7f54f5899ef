import { printExpression } from '../jinja/print.js'
import { childrenOf, type Expression } from '../jinja/syntax.js'
import type { Value } from '../jinja/value.js'
import type { Change } from '../reports/audit.js'
import { placeOfSpan } from '../reports/place.js'
import { jsonOf, valueText } from '../reports/value-text.js'
import type { NameRead } from './role-index.js'
import type { Compared } from './side.js'
import { seenValues } from './values.js'

/**
 * What the user has set and NEW looks up in a table that has no such entry: a `kube_version` without checksums. Found where
 * a default or var of NEW subscripts a table that is known by the very name: whatever the other subscripts come to, nothing
 * is there, where there is something for NEW's own default.
 */
export function unavailableVersions({ new: fresh, given }: Compared): readonly Change[] {
  if (given.size === 0) return []
  const seen = seenValues(fresh.analysis.roles)
  const lookUp = (name: string): Value | undefined => seen.get(name)?.[0]?.variable.value
  const defaultOf = (name: string): Value | undefined =>
    seen.get(name)?.[0]?.variable.overridden.findLast(({ origin }) => origin === 'role defaults')?.value
  const missing = new Map<string, { readonly read: NameRead; readonly lookup: Expression }[]>()
  for (const read of [...fresh.index.reads.values()].flat()) {
    if (read.owner.kind !== 'definition' || read.whole === undefined) continue
    // What nothing looks at stops nothing.
    if (!fresh.index.reads.has(read.owner.defined.name)) continue
    for (const lookup of lookupsIn(read.whole, read.name)) {
      for (const index of indexesOf(lookup)) {
        if (index.kind !== 'name' || !given.has(index.name) || isThere(lookup, lookUp)) continue
        const { name } = index
        // A table that has nothing for NEW's own default either says nothing of what was set.
        if (!isThere(lookup, each => (each === name ? defaultOf(name) : lookUp(each)))) continue
        missing.set(name, [...(missing.get(name) ?? []), { read, lookup }])
      }
    }
  }
  return [...missing].map(([name, found]): Change => {
    const [first] = found
    const owners = new Set(found.map(({ read }) => (read.owner.kind === 'definition' ? read.owner.defined.name : '')))
    const value = lookUp(name)
    const shown = value === undefined ? '' : ` ${valueText(jsonOf(value), 40)}`
    const more = owners.size === 1 ? '' : ` and ${owners.size - 1} more`
    return {
      kind: 'version-unavailable',
      name,
      action: 'required',
      says: `there is nothing for ${name}${shown}: \`${first === undefined ? '' : printExpression(first.lookup)}\` has no such entry, so ${[...owners][0]}${more} cannot be worked out`,
      old: null,
      new: first === undefined ? null : placeOfSpan(first.read.at),
      inventory: (given.get(name) ?? []).map(({ at }) => placeOfSpan(at)),
    }
  })
}

/** Subscripts of a table (`table[a][b]`), the widest first, that nothing falls back on. */
function lookupsIn(expression: Expression, table: string): readonly Expression[] {
  if ((expression.kind === 'item' || expression.kind === 'attribute') && rootOf(expression) === table)
    return [expression]
  // `default`, a test or a branch is there for a table without the entry.
  if (expression.kind === 'filter' && /^(?:default|d)$/.test(expression.name)) return []
  if (/^(?:conditional|test|and|or|not|comparison)$/.test(expression.kind)) return []
  return childrenOf(expression).flatMap(child => lookupsIn(child, table))
}

function rootOf(expression: Expression): string | undefined {
  if (expression.kind === 'item' || expression.kind === 'attribute') return rootOf(expression.of)
  return expression.kind === 'name' ? expression.name : undefined
}

/** The subscripts of a chain, first one first. */
function indexesOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'item') return [...indexesOf(expression.of), expression.index]
  if (expression.kind !== 'attribute') return []
  const { name: data, start, end, depth } = expression
  return [...indexesOf(expression.of), { kind: 'constant', data, start, end, depth }]
}

/** Whether anything can be at the end of a chain of subscripts; a subscript that is not known may be any. */
function isThere(lookup: Expression, lookUp: (name: string) => Value | undefined): boolean {
  const table = rootOf(lookup)
  const value = table === undefined ? undefined : lookUp(table)
  if (value === undefined) return true
  let reached: readonly Value[] = [value]
  for (const index of indexesOf(lookup)) {
    const key = keyOf(index, lookUp)
    const next: Value[] = []
    for (const each of reached) {
      if (each.kind !== 'known') return true
      if (!(each.data instanceof Map)) return true
      for (const [name, member] of each.data as ReadonlyMap<unknown, Value>) {
        if (key === undefined || String(name) === key) next.push(member)
      }
    }
    reached = next
  }
  return reached.length > 0
}

function keyOf(index: Expression, lookUp: (name: string) => Value | undefined): string | undefined {
  if (index.kind === 'constant') return String(index.data)
  const value = index.kind === 'name' ? lookUp(index.name) : undefined
  if (value?.kind !== 'known') return undefined
  const { data } = value
  return typeof data === 'object' ? undefined : String(data)
}
