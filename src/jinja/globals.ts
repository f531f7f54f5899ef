import { applyToData } from './apply.js'
import type { Context } from './call.js'
import { fillDict } from './dicts.js'
import { runLookup } from './lookups.js'
import { checkSize, raise, strOf, typeName } from './python.js'
import type { Data, Dict, Key, Value } from './value.js'
import { failure, known, unknown } from './value.js'

type GlobalFunction = (positional: readonly Value[], named: ReadonlyMap<string, Value>, context: Context) => Value

function range(positional: readonly Value[], _named: ReadonlyMap<string, Value>, context: Context): Value {
  return applyToData(positional, context.at, data => {
    const numbers = data.map(part =>
      typeof part === 'boolean' || typeof part === 'bigint'
        ? BigInt(part)
        : raise(`'${typeName(part)}' object cannot be interpreted as an integer`),
    )
    if (numbers.length === 0 || numbers.length > 3) return raise('range expected 1 to 3 arguments')
    const [start, end] = numbers.length === 1 ? [0n, numbers[0] as bigint] : (numbers as [bigint, bigint])
    const step = numbers[2] ?? 1n
    if (step === 0n) return raise('range() arg 3 must not be zero')
    const distance = step > 0n ? end - start : start - end
    const size = step > 0n ? step : -step
    const count = distance <= 0n ? 0n : (distance + size - 1n) / size
    checkSize(count * 20n)
    const items = Array.from({ length: Number(count) }, (_, index) => known(start + BigInt(index) * step))
    return known({ kind: 'tuple', view: 'range', items })
  })
}

function dict(positional: readonly Value[], named: ReadonlyMap<string, Value>, context: Context): Value {
  return applyToData(positional, context.at, ([first]) => {
    const made = new Map<Key, Value>()
    if (first !== undefined) fillDict(made, first)
    for (const [key, value] of named) made.set(key, value)
    return known(made)
  })
}

const namespaces = new WeakSet<Dict>()

/** Whether a dict was made by `namespace(…)`: the only thing `{% set a.b = … %}` may change. */
export function isNamespace(dict: Dict): boolean {
  return namespaces.has(dict)
}

/** What `loop(…)` calls, by the loop variable of a recursive loop. */
export const recursions = new WeakMap<Dict, (over: Value) => Value>()

const globals: Readonly<Record<string, GlobalFunction>> = {
  range,
  dict,
  namespace: (positional, named, context) => {
    const made = dict(positional, named, context)
    if (made.kind === 'known') namespaces.add(made.data as Dict)
    return made
  },
  lookup: (positional, named, context) => lookup(positional, named, false, context),
  query: (positional, named, context) => lookup(positional, named, true, context),
  q: (positional, named, context) => lookup(positional, named, true, context),
  now: (_positional, _named, context) => unknown([{ says: 'the time of the run', at: context.at }]),
  undef: (positional, named, context) => {
    const hint = positional[0] ?? named.get('hint')
    const says = hint?.kind === 'known' && hint.data !== null ? strOf(hint.data) : ''
    return {
      kind: 'undefined',
      says: says === '' ? 'Mandatory variable has not been overridden' : says,
      at: context.at,
    }
  },
}

function lookup(
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
  wantList: boolean,
  context: Context,
): Value {
  const [plugin, ...terms] = positional
  if (plugin === undefined) return failure("lookup() missing 1 required positional argument: 'name'", context.at)
  return applyToData([plugin], context.at, ([name]) => runLookup(strOf(name as Data), terms, named, wantList, context))
}

/** Functions of the random or changing kind Jinja2 offers; templates that use them are unknown there. */
const unmodelled: ReadonlySet<string> = new Set(['lipsum', 'cycler', 'joiner'])

/** Whether there is a global function of this name that is modelled. */
export function isGlobal(name: string): boolean {
  return Object.hasOwn(globals, name)
}

/** A global function of Ansible's environment; a variable of the same name wins over it. */
export function globalNamed(name: string, context: Context): Value | undefined {
  if (unmodelled.has(name)) {
    const says = `function ${name} is not modelled`
    context.environment.unmodelled?.(says, context.at)
    return unknown([{ says, at: context.at, unread: true }])
  }
  if (!Object.hasOwn(globals, name)) return undefined
  const call = globals[name] as GlobalFunction
  return known({ kind: 'callable', name, call: (positional, named, at) => call(positional, named, { ...context, at }) })
}
