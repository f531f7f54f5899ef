import { isTuple } from '../jinja/python.js'
import { asStored } from '../jinja/template.js'
import { known, type Option, type Value } from '../jinja/value.js'
import { LazyDict } from './lazy-dict.js'

/**
 * A value as a variable that holds it gives it back: final, no longer the result of a template. Ansible templates what a
 * variable holds when it is used, which makes lists of all tuples in it (so the items of `with_indexed_items` are lists).
 */
export function storedValue(value: Value): Value {
  const stored = asStored(value)
  if (stored.kind !== 'one-of') return withoutTuples(stored)
  return {
    kind: 'one-of',
    options: stored.options.map(option => ({ ...option, value: withoutTuples(option.value) })),
  }
}

/** The same value where there are none. */
function withoutTuples<V extends Value | Option['value']>(value: V): V | ReturnType<typeof known> {
  if (value.kind !== 'known' || typeof value.data !== 'object' || value.data === null) return value
  const { data } = value
  if (isTuple(data)) return known(data.items.map(withoutTuples))
  if (Array.isArray(data)) {
    const items: readonly Value[] = data
    const kept = items.map(withoutTuples)
    return kept.every((item, index) => item === items[index]) ? value : known(kept)
  }
  // What is computed when looked at (`hostvars`) is not looked at.
  if (!(data instanceof Map) || data instanceof LazyDict) return value
  const changed = [...data].flatMap(([key, member]) => {
    const kept = withoutTuples(member)
    return kept === member ? [] : [[key, kept] as const]
  })
  return changed.length === 0 ? value : known(new Map([...data, ...changed]))
}
