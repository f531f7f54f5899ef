import { type Data, type Key, known, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'

/** What the user asked to take as given (`--assume NAME=VALUE`), by the first part of the name. */
export type Assumptions = ReadonlyMap<string, Assumption>

interface Assumption {
  readonly value?: Value
  readonly fields: ReadonlyMap<string, Assumption>
}

/** Dotted names (`modinfo_br_netfilter.rc`) give a part of a value; the rest of it stays as it is. */
export function gatherAssumptions(given: readonly { readonly name: string; readonly value: Data }[]): Assumptions {
  interface Draft {
    value?: Value
    readonly fields: Map<string, Draft>
  }
  const root = new Map<string, Draft>()
  for (const { name, value } of given) {
    let level = root
    const parts = name.split('.')
    for (const [depth, part] of parts.entries()) {
      const before: Draft = level.get(part) ?? { fields: new Map() }
      level.set(part, before)
      if (depth === parts.length - 1) before.value = known(value)
      level = before.fields
    }
  }
  return root
}

/** The value of a name with what is assumed of it; undefined when nothing is. `at` is where an unknown rest is said. */
export function assumed(assumptions: Assumptions, name: string, actual: () => Value, at: Span): Value | undefined {
  const assumption = assumptions.get(name)
  return assumption && overlay(assumption, actual, name, at)
}

function overlay(assumption: Assumption, actual: () => Value, name: string, at: Span): Value {
  if (assumption.value) return assumption.value
  const value = actual()
  if (value.kind === 'known' && value.data instanceof Map) {
    const merged = new Map<Key, Value>(value.data)
    for (const [field, inner] of assumption.fields) {
      merged.set(
        field,
        overlay(
          inner,
          () => (value.data instanceof Map ? (value.data.get(field) ?? value) : value),
          `${name}.${field}`,
          at,
        ),
      )
    }
    return known(merged)
  }
  if (value.kind === 'known' && Array.isArray(value.data)) {
    const items: readonly Value[] = value.data
    return known(
      items.map((item, index) => {
        const inner = assumption.fields.get(String(index))
        return inner === undefined ? item : overlay(inner, () => item, `${name}.${index}`, at)
      }),
    )
  }
  const given = fieldsOf(value)
  const fields = new Map<string, Value>(given)
  for (const [field, inner] of assumption.fields) {
    fields.set(
      field,
      overlay(
        inner,
        () => given?.get(field) ?? unknown([{ says: `${name}.${field} is not known`, at, name: `${name}.${field}` }]),
        `${name}.${field}`,
        at,
      ),
    )
  }
  const causes = value.kind === 'unknown' ? value.causes : [{ says: `${name} is not known as a whole`, at, name }]
  return { kind: 'unknown', causes, fields }
}

/** What is known of the members of a result; of one that may also be skipped, those it has where it is not. */
function fieldsOf(value: Value): ReadonlyMap<string, Value> | undefined {
  if (value.kind === 'unknown') return value.fields
  if (value.kind !== 'one-of') return undefined
  return value.options.flatMap(option => (option.value.kind === 'unknown' ? (option.value.fields ?? []) : []))[0]
}
