import { apply } from './apply.js'
import type { Context } from './call.js'
import { observed } from './observed.js'
import { dataOf, isDict, isList, isTuple, membersOf, raise, strOf, truthOfData, typeName } from './python.js'
import { matcherOf } from './regex.js'
import type { Data, Dict, Value } from './value.js'
import { failure, known, unknown } from './value.js'

type Options = ReadonlyMap<string, Value>
/** A lookup that needs nothing but its terms and the variables: gives the plugin's list. */
type Lookup = (terms: readonly Value[], options: Options, context: Context) => readonly Value[]

function listsOf(terms: readonly Value[]): readonly (readonly Value[])[] {
  return terms.map(term => {
    const data = dataOf(term)
    return isList(data) ? data : isTuple(data) ? data.items : [term]
  })
}

function flattenOnce(terms: readonly Value[]): readonly Value[] {
  return listsOf(terms).flat()
}

function flattenAll(terms: readonly Value[]): readonly Value[] {
  return terms.flatMap(term => {
    const data = dataOf(term)
    if (isList(data)) return flattenAll(data)
    if (isTuple(data)) return flattenAll(data.items)
    return data === null || data === 'None' || data === 'null' ? [] : [term]
  })
}

const lookups: Readonly<Record<string, Lookup>> = {
  items: flattenOnce,
  list: terms => terms,
  flattened: flattenAll,
  indexed_items: terms =>
    flattenOnce(terms).map((item, index) => known({ kind: 'tuple', items: [known(BigInt(index)), item] })),
  dict: terms =>
    listsOf(terms)
      .flat()
      .flatMap(term => {
        const data = dataOf(term)
        if (!isDict(data)) return raise(`with_dict expects a dict, got ${typeName(data)}`)
        return [...data].map(([key, value]) =>
          known(
            new Map<string, Value>([
              ['key', known(key)],
              ['value', value],
            ]),
          ),
        )
      }),
  nested: terms => {
    if (terms.length === 0) return raise('with_nested requires at least one element in the nested list')
    // Rows are flattened by one level where two lists meet, and once more at the end.
    const [first = [], ...rest] = listsOf(terms)
    return rest
      .reduce<readonly Value[]>(
        (rows, list) => rows.flatMap(row => list.map(item => known(flattenOnce([row, item])))),
        first,
      )
      .map(row => known(flattenOnce(membersOf(dataOf(row)))))
  },
  together: terms => {
    if (terms.length === 0) return raise('with_together requires at least one element in each list')
    const lists = listsOf(terms)
    const longest = Math.max(...lists.map(list => list.length))
    return Array.from({ length: longest }, (_, index) => known(lists.map(list => list[index] ?? known(null))))
  },
  subelements: terms => subelementsOf(terms),
  sequence: (terms, options) => terms.flatMap(term => sequenceOf(dataOf(term), options)),
  vars: (terms, options, context) => terms.map(term => variableNamed(dataOf(term), options, context)),
  varnames: (terms, _options, context) =>
    terms.flatMap(term => {
      const pattern = dataOf(term)
      if (typeof pattern !== 'string') return raise('Invalid setting identifier, expected str')
      const matcher = matcherOf(pattern, {})
      return context.environment
        .variableNames()
        .filter(name => matcher.search(name) !== null)
        .map(name => known(name))
    }),
}
const aliases: Readonly<Record<string, string>> = { cartesian: 'nested' }

/** `with_subelements` terms: a list (or dict) of mappings, the dotted key of a list in each, and flags (rule 105). */
function subelementsOf([elements, key, flags]: readonly Value[]): readonly Value[] {
  const path = textOfTerm(key).split('.')
  const options = flags === undefined ? null : dataOf(flags)
  const skipMissing =
    options !== null && isDict(options) && truthOfData(dataOf(options.get('skip_missing') ?? known(false)))
  const data = elements === undefined ? null : dataOf(elements)
  const items = isDict(data)
    ? [...data.values()]
    : isList(data)
      ? data
      : raise('subelements lookup expects a dictionary or a list')
  return items.flatMap(item => {
    const outer = dataOf(item)
    if (!isDict(outer)) return raise(`subelements lookup expects a dictionary, got '${strOf(outer)}'`)
    const skipped = outer.get('skipped')
    if (skipped !== undefined && dataOf(skipped) !== false) return []
    const taken = takeOut(outer, path)
    if (taken === undefined) {
      return skipMissing ? [] : raise(`could not find '${path.join('.')}' key in iterated item '${strOf(outer)}'`)
    }
    return taken.list.map(inner => known([known(taken.rest), inner]))
  })
}

function textOfTerm(term: Value | undefined): string {
  const data = term === undefined ? null : dataOf(term)
  return typeof data === 'string' ? data : raise('the subelements lookup expects a list of two or three items')
}

/** The list at a path of keys, and the mapping without it. */
function takeOut(
  dict: Dict,
  [key = '', ...path]: readonly string[],
): { list: readonly Value[]; rest: Dict } | undefined {
  const value = dict.get(key)
  if (value === undefined) return undefined
  const data = dataOf(value)
  if (path.length === 0) {
    if (!isList(data)) return raise(`the key ${key} should point to a list, got '${strOf(data)}'`)
    return { list: data, rest: new Map([...dict].filter(([name]) => name !== key)) }
  }
  const inner = isDict(data) ? takeOut(data, path) : undefined
  return inner && { list: inner.list, rest: new Map([...dict, [key, known(inner.rest)] as const]) }
}

function variableNamed(name: Data, options: Options, context: Context): Value {
  if (typeof name !== 'string') return raise(`Invalid setting identifier, "${strOf(name)}" is not a string`)
  const value = context.environment.variable(name)
  const isUndefined = value.kind === 'undefined'
  if (!isUndefined) return value
  const fallback = options.get('default')
  const isNone = fallback?.kind === 'known' && fallback.data === null
  if (fallback !== undefined && !isNone) return fallback
  return failure(`No variable found with this name: ${name}`, context.at, true)
}

const shortSequence = /^(?:(0?x?[\da-f]+)\s*-\s*)?(0?x?[\da-f]+)(?:\/(-?0?x?[\da-f]+))?(?::(.+))?$/i

/** `with_sequence` terms: `start=… end=… count=… stride=… format=…`, or the short `start-end/stride:format`. */
function sequenceOf(term: Data, options: Options): readonly Value[] {
  const settings = new Map<string, string>()
  for (const [name, value] of options) settings.set(name, strOf(dataOf(value)))
  const words = strOf(term)
  const short = shortSequence.exec(words)
  if (short !== null) {
    const [, start, end, stride, format] = short
    for (const [name, value] of Object.entries({ start, end, stride, format })) {
      if (value !== undefined) settings.set(name, value)
    }
  } else {
    for (const word of words.split(/\s+/).filter(part => part !== '')) {
      const [name = '', ...value] = word.split('=')
      if (value.length === 0 || !/^(?:start|end|count|stride|format)$/.test(name)) {
        return raise(`unknown error parsing with_sequence arguments: '${words}'`)
      }
      settings.set(name, value.join('='))
    }
  }
  const integer = (name: string): number | undefined => {
    const value = settings.get(name)
    if (value === undefined) return undefined
    const number = Number(/^0\d+$/.test(value) ? `0o${value.slice(1)}` : value)
    return Number.isInteger(number) ? number : raise(`can't parse ${name}=${value} as integer`)
  }
  const start = integer('start') ?? 1
  const stride = integer('stride') ?? 1
  const count = integer('count')
  const end =
    integer('end') ?? (count === undefined ? undefined : count === 0 ? start - stride : start + count * stride - stride)
  if (end === undefined) return raise('must specify count or end in with_sequence')
  if (count === 0 || stride === 0) return []
  if (stride > 0 ? end < start : end > start) return raise('to count backwards make stride negative')
  if (Math.abs((end - start) / stride) > 100_000) return raise('with_sequence is too long')
  const format = settings.get('format') ?? '%d'
  const texts: Value[] = []
  for (let value = start; stride > 0 ? value <= end : value >= end; value += stride) {
    texts.push(known(sequenceText(format, value)))
  }
  return texts
}

function sequenceText(format: string, value: number): string {
  const match = /^([^%]*)%(0?)(\d*)([dxXo])([^%]*)$/s.exec(format)
  if (match === null) return raise(`bad formatting string: ${format}`)
  const [, before = '', zero, width = '', kind = 'd', after = ''] = match
  const base = kind === 'o' ? 8 : kind === 'd' ? 10 : 16
  const digits = value.toString(base).padStart(Number(width), zero === '0' ? '0' : ' ')
  return before + (kind === 'X' ? digits.toUpperCase() : digits) + after
}

/** A lookup's name without the prefix of ansible-core. */
function plainName(name: string): string {
  const plain = name.replace(/^ansible\.(?:builtin|legacy)\./, '')
  return aliases[plain] ?? plain
}

/** The lookups that need nothing but their terms and the variables. */
export function lookupNames(): readonly string[] {
  return [...Object.keys(lookups), ...Object.keys(aliases)]
}

/** Whether a lookup of this name is one of them. */
export function isLookup(name: string): boolean {
  return Object.hasOwn(lookups, plainName(name))
}

const settings: ReadonlySet<string> = new Set(['wantlist', 'errors', 'allow_unsafe'])

/**
 * `lookup(name, …)` and `query(…)`: the plugin's list, or as rule 138 joins it (texts with commas, a single item
 * unwrapped). Plugins that read files or the control host are the environment's; it answers with the plugin's list.
 */
export function runLookup(
  name: string,
  terms: readonly Value[],
  named: Options,
  isQuery: boolean,
  context: Context,
): Value {
  const options = new Map([...named].filter(([key]) => !settings.has(key)))
  const errors = named.get('errors') ?? known('strict')
  const wantList = named.get('wantlist') ?? known(false)
  return apply([errors, wantList], context.at, given => {
    const [mode, wanted] = given.map(single => dataOf(single))
    const asList = isQuery || truthOfData(wanted ?? null)
    const found = listOf(plainName(name), name, terms, options, context)
    if (found.kind === 'failure' && mode !== 'strict' && !found.undefined) return asList ? known([]) : known(null)
    return apply([found], context.at, ([single]) =>
      asList || single?.kind !== 'known' ? (single as Value) : markedText(joined(single.data)),
    )
  })
}

function listOf(plain: string, name: string, terms: readonly Value[], options: Options, context: Context): Value {
  return observed('lookup', plain, terms, lookedUp(plain, name, terms, options, context))
}

function lookedUp(plain: string, name: string, terms: readonly Value[], options: Options, context: Context): Value {
  if (!Object.hasOwn(lookups, plain)) {
    const answer = context.environment.lookup(plain, terms, options, context.at)
    if (answer === undefined) {
      const says = `lookup ${name} is not modelled`
      context.environment.unmodelled?.(says, context.at)
      return unknown([{ says, at: context.at, unread: true }])
    }
    return answer.kind === 'known' && !isList(answer.data) ? known([answer]) : answer
  }
  return apply(terms, context.at, singles => {
    for (const single of [...singles, ...options.values()])
      if (single.kind === 'undefined') return failure(single.says, context.at, true)
    return known((lookups[plain] as Lookup)(singles, options, context))
  })
}

function markedText(value: Value): Value {
  return value.kind === 'known' && typeof value.data === 'string' ? { ...value, lookedUp: true } : value
}

/** Texts are joined with commas, a single item stands for itself, anything else stays a list. */
function joined(list: Data): Value {
  const items = membersOf(list)
  const [only] = items
  if (only !== undefined && items.length === 1) return only
  const areTexts = items.length > 0 && items.every(item => typeof dataOf(item) === 'string')
  return known(areTexts ? items.map(item => dataOf(item)).join(',') : list)
}
