import type { Environment } from '../jinja/environment.js'
import type { ExpressionRules } from '../jinja/rules.js'
import { type Cause, type Dict, failure, known, mergeCauses, type Option, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import { LazyDict } from './lazy-dict.js'
import { evaluateNode } from './node-value.js'
import type { Origin, OriginPlace, ResolvedVariable } from './resolved.js'

/**
 * What one place says about a name: a definition still to be templated, or a value that is final (facts, `set_fact`,
 * results). With `maybe` it is not certain that the place takes effect, and weaker places count too.
 */
export interface Entry {
  readonly origin: Origin
  readonly at: Span
  readonly content: { readonly node: Node } | { readonly value: Value }
  readonly maybe?: readonly Cause[]
  /** Set for all hosts of the play at once (`run_once`). */
  readonly everyHost?: true
}

/** The entries of one precedence level. A name may have several (uncertain) ones, the latest first. */
export interface Layer {
  readonly entries: (name: string) => readonly Entry[]
  readonly names: () => Iterable<string>
}

/** Counts changes of what is mutable during a run, so that a scope knows which of its values still hold. */
export interface ChangeLog {
  readonly version: () => number
  readonly changedAt: (name: string) => number
}

export interface Scope extends Environment {
  /** With the definition that won and those it won over. */
  readonly resolve: (name: string) => ResolvedVariable
  /** The places that give a name its value now: one, or each that may where that is not certain; none where nothing does. */
  readonly placesOf: (name: string) => readonly OriginPlace[]
  /** The names that are defined at one of these levels, whatever wins. */
  readonly namesAt: (origins: readonly Origin[]) => readonly string[]
  /** Runs an evaluation and says which names it read, also through the templates of other names. */
  readonly withReads: <T>(evaluation: () => T) => { readonly result: T; readonly reads: ReadonlySet<string> }
}

export interface ScopeOptions {
  readonly rules?: ExpressionRules
  readonly changes: ChangeLog
  /** The value of a name that no layer defines: undefined, or unknown where it is a fact not gathered yet. */
  readonly missing: (name: string) => Value
  /** What the user asked to take as given; undefined leaves the value as it is. */
  readonly assume: (name: string, value: () => Value) => Value | undefined
  readonly lookup: (scope: Scope) => Environment['lookup']
  readonly readYaml: Environment['readYaml']
  readonly unmodelled: NonNullable<Environment['unmodelled']>
  /** Whether mappings of several levels are put together (`hash_behaviour = merge`) instead of the strongest winning. */
  readonly mergesMappings: boolean
  readonly template: (scope: Scope) => Environment['template']
}

interface Remembered {
  readonly value: Value
  readonly reads: ReadonlySet<string>
  readonly version: number
}

/** A scope that sees the same, but for these names: what does not touch them is taken from it instead of evaluated anew. */
export interface ScopeBase {
  readonly scope: Scope
  readonly differs: ReadonlySet<string>
}

/**
 * The variables one statement sees: layers from the strongest to the weakest. Values are templated when used, with the
 * variables of that moment (rule 68), and remembered until something they read changes.
 */
export function createScope(layers: readonly Layer[], options: ScopeOptions, base?: ScopeBase): Scope {
  const remembered = new Map<string, Remembered>()
  const inProgress = new Set<string>()
  let reads = new Set<string>()

  const withReads = <T>(evaluation: () => T): { result: T; reads: ReadonlySet<string> } => {
    const outer = reads
    const inner = new Set<string>()
    reads = inner
    try {
      return { result: evaluation(), reads: inner }
    } finally {
      reads = outer
      for (const name of inner) outer.add(name)
    }
  }

  const isCurrent = ({ reads: names, version }: Remembered): boolean => {
    if (version === options.changes.version()) return true
    for (const name of names) if (options.changes.changedAt(name) > version) return false
    return true
  }

  const variable = (name: string): Value => {
    const before = remembered.get(name)
    if (before && isCurrent(before)) {
      for (const read of before.reads) reads.add(read)
      return before.value
    }
    if (base && !base.differs.has(name)) {
      const { result, reads: names } = base.scope.withReads(() => base.scope.variable(name))
      if (disjoint(base.differs, names)) {
        for (const read of names) reads.add(read)
        return result
      }
    }
    if (inProgress.has(name)) {
      const at = entriesOf(name)[0]?.at
      const says = `'${name}' is defined by itself (a recursive loop)`
      return at ? failure(says, at) : options.missing(name)
    }
    inProgress.add(name)
    try {
      const version = options.changes.version()
      const { result: value, reads: names } = withReads(() => {
        reads.add(name)
        const value = () => {
          const winner = combine(entriesOf(name), evaluateEntry, () => options.missing(name))
          return options.mergesMappings ? mergeWeaker(winner, allEntriesOf(name), evaluateEntry) : winner
        }
        return options.assume(name, value) ?? value()
      })
      // While a name is still being evaluated further out, a recursive read of it is not a lasting answer.
      if (inProgress.size === 1 || value.kind !== 'failure') remembered.set(name, { value, reads: names, version })
      return value
    } finally {
      inProgress.delete(name)
    }
  }

  const entriesOf = (name: string): readonly Entry[] => {
    const found: Entry[] = []
    for (const layer of layers) {
      for (const entry of layer.entries(name)) {
        found.push(entry)
        if (entry.maybe === undefined) return found
      }
    }
    return found
  }

  // A role's own definitions stand in its own layer and in the play's.
  const allEntriesOf = (name: string): readonly Entry[] => withoutRepeats(layers.flatMap(layer => layer.entries(name)))

  const evaluateEntry = (entry: Entry): Value => {
    if ('value' in entry.content) return entry.content.value
    const value = evaluateNode(entry.content.node, scope)
    // Rule 114: a variable whose own template hits an undefined name counts as undefined.
    return value.kind === 'failure' && value.undefined ? { kind: 'undefined', says: value.says, at: value.at } : value
  }

  const resolve = (name: string): ResolvedVariable => {
    const [winner, ...weaker] = allEntriesOf(name)
    return {
      name,
      value: variable(name),
      winner: winner && placeOf(winner),
      overridden: weaker.map(entry => ({ ...placeOf(entry), value: evaluateEntry(entry) })),
    }
  }

  const scope: Scope = {
    ...(options.rules && { rules: options.rules }),
    variable,
    variableNames: () => [...new Set(layers.flatMap(layer => [...layer.names()]))],
    lookup: (plugin, terms, named, at) => options.lookup(scope)(plugin, terms, named, at),
    template: (text, at) => options.template(scope)(text, at),
    readYaml: options.readYaml,
    unmodelled: options.unmodelled,
    resolve,
    placesOf: name => entriesOf(name).map(placeOf),
    namesAt: origins =>
      scope
        .variableNames()
        .filter(name => layers.some(layer => layer.entries(name).some(({ origin }) => origins.includes(origin)))),
    withReads,
  }
  return scope
}

function withoutRepeats(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry, index) => !entries.slice(0, index).some(({ at }) => at === entry.at))
}

function placeOf(entry: Entry): OriginPlace {
  return { origin: entry.origin, at: entry.at }
}

/** The certain entry's value, or one of several where stronger entries may or may not take effect. */
function combine(entries: readonly Entry[], evaluateEntry: (entry: Entry) => Value, missing: () => Value): Value {
  const [first] = entries
  if (first === undefined) return missing()
  if (first.maybe === undefined) return evaluateEntry(first)
  const uncertain = entries.flatMap(entry => entry.maybe ?? [])
  const options: Option[] = []
  for (const entry of entries)
    addOptions(
      options,
      evaluateEntry(entry),
      entry.maybe ?? [{ says: 'its value otherwise', at: entry.at }, ...uncertain],
    )
  if (entries.at(-1)?.maybe !== undefined) addOptions(options, missing(), uncertain)
  const [only, second] = options
  if (only !== undefined && second === undefined) return only.value
  return { kind: 'one-of', options }
}

/** The winning value with what weaker levels have in their mappings of the same name, level by level (rule 69). */
function mergeWeaker(winner: Value, entries: readonly Entry[], evaluateEntry: (entry: Entry) => Value): Value {
  if (entries.length < 2) return winner
  const open = entries.flatMap(entry => entry.maybe ?? [])
  if (open.length > 0) return isMapping(winner) || winner.kind === 'one-of' ? unknown(open) : winner
  let merged = winner
  for (const entry of entries.slice(1)) {
    if (!isMapping(merged)) break
    merged = mergeMappings(evaluateEntry(entry), merged)
  }
  return merged
}

function mergeMappings(weaker: Value, stronger: Value): Value {
  if (weaker.kind === 'unknown') return unknown(weaker.causes)
  if (!isMapping(weaker) || !isMapping(stronger)) return stronger
  const merged = new Map(weaker.data)
  for (const [key, value] of stronger.data) {
    const before = merged.get(key)
    merged.set(key, before === undefined ? value : mergeMappings(before, value))
  }
  return known(merged)
}

function isMapping(value: Value): value is Value & { readonly kind: 'known'; readonly data: Dict } {
  return value.kind === 'known' && value.data instanceof Map && !(value.data instanceof LazyDict)
}

function addOptions(options: Option[], value: Value, because: readonly Cause[]): void {
  const more = value.kind === 'one-of' ? value.options : [{ value, because }]
  for (const option of more) {
    const same = options.findIndex(other => sameKnown(other.value, option.value))
    const before = options[same]
    if (before === undefined) options.push(option)
    else options[same] = { value: before.value, because: mergeCauses([...before.because, ...option.because]) }
  }
}

/** Only plain scalars are compared: it is enough to merge a value that is set again to what it was. */
function sameKnown(a: Value, b: Value): boolean {
  if (a.kind === 'undefined' && b.kind === 'undefined') return true
  return a.kind === 'known' && b.kind === 'known' && typeof a.data !== 'object' && a.data === b.data
}

function disjoint(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const name of a) if (b.has(name)) return false
  return true
}
