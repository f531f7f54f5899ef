import { ANY_NAME, type Definition } from '../ansible/statement.js'
import { type Cause, mergeCauses, unknown, type Value } from '../jinja/value.js'
import { once } from '../source/once.js'
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

/** A layer that is made when something is first looked up in it. */
export function deferredLayer(make: () => Layer): Layer {
  const layer = once(make)
  return { entries: name => layer().entries(name), names: () => layer().names() }
}

/** A role's definitions are asked for in every frame it stands in. */
const made = new WeakMap<readonly Definition[], Map<Origin, Layer>>()

function makeLayer(origin: Origin, definitions: readonly Definition[]): Layer {
  const byName = new Map<string, Entry[]>()
  const ofAny: Entry[] = []
  for (const definition of definitions) {
    if (definition.name === ANY_NAME) {
      const entry = entryOfAny(origin, definition)
      for (const entries of [...byName.values(), ofAny]) entries.unshift(entry)
      continue
    }
    const { name, node, at } = definition
    const entry: Entry = { origin, at, content: { node } }
    const before = byName.get(name)
    if (before) before.unshift(entry)
    else byName.set(name, [entry, ...ofAny])
  }
  return { entries: name => byName.get(name) ?? ofAny, names: () => byName.keys() }
}

/** What a place that could not be read says about any name: perhaps nothing, perhaps anything. */
export function entryOfAny(origin: Origin, { node, at }: Pick<Definition, 'node' | 'at'>): Entry {
  const why = node.kind === 'unreadable' ? `: ${node.says}` : ''
  const cause = { says: `${at.file.path} cannot be read and may define it${why}`, at, unread: true } as const
  return { origin, at, content: { value: unknown([cause]) }, maybe: [cause] }
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

/** The same entries where it is not certain that the place takes effect. */
export function uncertain(layer: Layer, maybe: readonly Cause[]): Layer {
  return {
    entries: name =>
      layer.entries(name).map(entry => ({ ...entry, maybe: mergeCauses([...maybe, ...(entry.maybe ?? [])]) })),
    names: layer.names,
  }
}

/** A level that gets stronger definitions while a run goes on. */
export function growingLayer(first: Layer): {
  readonly layer: Layer
  /** Puts a layer before all others; with `maybe` where it is not certain that it is there. */
  readonly put: (layer: Layer, maybe: readonly Cause[] | undefined) => void
} {
  const layers = [first]
  return {
    layer: {
      entries: name => (layers.length === 1 ? first.entries(name) : layers.flatMap(layer => layer.entries(name))),
      names: () => layers.flatMap(layer => [...layer.names()]),
    },
    put: (layer, maybe) => {
      layers.unshift(maybe === undefined ? layer : uncertain(layer, maybe))
    },
  }
}

/**
 * What a run has set so far for its host: `set_fact`, registered results, `include_vars`. An entry that is not certain
 * keeps what it may replace behind it.
 */
export interface Store extends Layer {
  /** ANY_NAME sets what may stand for every name; such an entry has `maybe`. */
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
    changedAt: name => Math.max(changes.get(name) ?? 0, changes.get(ANY_NAME) ?? 0),
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
  let ofAny: readonly Entry[] = []
  return {
    entries: name => byName.get(name) ?? ofAny,
    names: () => byName.keys(),
    set: (name, entry) => {
      if (name === ANY_NAME) {
        if (ofAny.length >= mostEntries) return
        for (const [each, entries] of byName) byName.set(each, [entry, ...entries])
        ofAny = [entry, ...ofAny]
        changes.note(name)
        return
      }
      const before = entry.maybe === undefined ? [] : (byName.get(name) ?? ofAny)
      byName.set(name, before.length < mostEntries ? [entry, ...before] : [cannotTell(name, entry, before)])
      changes.note(name)
    },
  }
}
