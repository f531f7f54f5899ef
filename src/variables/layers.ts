import type { Definition } from '../ansible/statement.js'
import { unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { Origin } from './resolved.js'
import type { ChangeLog, Entry, Layer } from './scope.js'

/** Definitions of one precedence level, weakest first: for one name the last counts, the others are overridden. */
export function layerOf(origin: Origin, definitions: readonly Definition[]): Layer {
  const before = made.get(definitions)?.get(origin)
  if (before) return before
  const layer = makeLayer(origin, definitions)
  const ofDefinitions = made.get(definitions) ?? new Map<Origin, Layer>()
  made.set(definitions, ofDefinitions.set(origin, layer))
  return layer
}

/** A role's definitions are asked for in every frame it stands in. */
const made = new WeakMap<readonly Definition[], Map<Origin, Layer>>()

function makeLayer(origin: Origin, definitions: readonly Definition[]): Layer {
  const byName = new Map<string, Entry[]>()
  for (const { name, node, at } of definitions) {
    const entry: Entry = { origin, at, content: { node } }
    const before = byName.get(name)
    if (before) before.unshift(entry)
    else byName.set(name, [entry])
  }
  return { entries: name => byName.get(name) ?? [], names: () => byName.keys() }
}

/** Values that are known by computing them when asked for. */
export function valuesLayer(origin: Origin, at: Span, values: ReadonlyMap<string, Value>): Layer {
  return {
    entries: name => {
      const value = values.get(name)
      return value === undefined ? [] : [{ origin, at, content: { value } }]
    },
    names: () => values.keys(),
  }
}

/**
 * What a run has set so far for its host: `set_fact`, registered results, `include_vars`. An entry that is not certain
 * keeps what it may replace behind it.
 */
export interface Store extends Layer {
  readonly set: (name: string, entry: Entry) => void
}

export interface Changes extends ChangeLog {
  readonly note: (name: string) => void
}

/** Counts changes of variables, so that a cached value knows when it is out of date. */
export function createChanges(): Changes {
  let version = 0
  const changes = new Map<string, number>()
  return {
    version: () => version,
    changedAt: name => changes.get(name) ?? 0,
    note: name => {
      version += 1
      changes.set(name, version)
    },
  }
}

/** More uncertain entries than this for one name are not told apart any more: the name becomes unknown. */
const mostEntries = 12

function cannotTell(name: string, entry: Entry, before: readonly Entry[]): Entry {
  const causes = [entry, ...before].flatMap(({ maybe }) => maybe ?? [])
  const says = `${name} may have been set in more than ${mostEntries} places`
  return { origin: entry.origin, at: entry.at, content: { value: unknown([{ says, at: entry.at, name }, ...causes]) } }
}

/** Variables that tasks set, newest first; what only may have been set stands before what it may have replaced. */
export function createStore(changes: Changes): Store {
  const byName = new Map<string, readonly Entry[]>()
  return {
    entries: name => byName.get(name) ?? [],
    names: () => byName.keys(),
    set: (name, entry) => {
      const before = entry.maybe === undefined ? [] : (byName.get(name) ?? [])
      byName.set(name, before.length < mostEntries ? [entry, ...before] : [cannotTell(name, entry, before)])
      changes.note(name)
    },
  }
}
