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
  const fields = new Map<string, Value>(value.kind === 'unknown' ? value.fields : [])
  for (const [field, inner] of assumption.fields) {
    fields.set(
      field,
      overlay(
        inner,
        () => unknown([{ says: `${name}.${field} is not known`, at, name: `${name}.${field}` }]),
        `${name}.${field}`,
        at,
      ),
    )
  }
  const causes = value.kind === 'unknown' ? value.causes : [{ says: `${name} is not known as a whole`, at, name }]
  return { kind: 'unknown', causes, fields }
}
