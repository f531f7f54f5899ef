import { apply, applyToData, type Single } from '../apply.js'
import { itemOf } from '../attributes.js'
import { type Context, type FilterFunction, type FilterTable, pure } from '../call.js'
import { sum } from '../operators.js'
import {
  checkSize,
  contains,
  dataOf,
  equal,
  isDict,
  isList,
  isTuple,
  keyOf,
  lengthOf,
  less,
  membersOf,
  raise,
  strOf,
  textOfValue,
  truthOfData,
  typeName,
} from '../python.js'
import type { Data, Key, Undefined, Value } from '../value.js'
import { known } from '../value.js'
import { parseInteger } from './numbers.js'

function integer(data: Data | undefined): number {
  return typeof data === 'bigint' ? Number(data) : raise(`an integer is required, not ${typeName(data ?? null)}`)
}

function emptySequence(word: string, context: Context): Undefined {
  return { kind: 'undefined', says: `No ${word} item, sequence was empty.`, at: context.at }
}

/**
 * Jinja2's `attribute=`: a dotted path, digits are indexes. Keys come before methods, and a missing part is undefined
 * and may be followed on, unless a default is given.
 */
function pathReader(path: Data, context: Context, fallback: Value | null = null): (item: Value) => Value {
  const parts: readonly Data[] =
    typeof path === 'string'
      ? path.split('.').map(part => (/^\d+$/.test(part) ? (parseInteger(part, 10) ?? part) : part))
      : [path]
  return item =>
    parts.reduce<Value>((value, part) => {
      const next = apply([value], context.at, ([base]) => itemOf(base as Single, known(part), context.at))
      return next.kind === 'undefined' && fallback !== null ? fallback : next
    }, item)
}

function ignoreCase(data: Data): Data {
  return typeof data === 'string' ? data.toLowerCase() : data
}

/** A stable sort with Python's `<`, raising its type errors. */
function sortBy<T>(items: readonly T[], key: (item: T) => readonly (() => Data)[], reverse: boolean): T[] {
  // Nothing is compared, so nothing has to be there.
  if (items.length < 2) return [...items]
  const keyed = items.map(item => ({ item, keys: key(item) }))
  // A later key is looked at only where the earlier ones are equal, so it may be missing elsewhere.
  const order = (a: readonly (() => Data)[], b: readonly (() => Data)[]): number => {
    for (const [index, read] of a.entries()) {
      const [left, right] = [read(), (b[index] as () => Data)()]
      if (less(left, right)) return -1
      if (less(right, left)) return 1
    }
    return 0
  }
  keyed.sort((a, b) => (reverse ? order(b.keys, a.keys) : order(a.keys, b.keys)))
  return keyed.map(entry => entry.item)
}

const first: FilterFunction = pure('first', [], (data, _args, context) => {
  return membersOf(data)[0] ?? emptySequence('first', context)
})

const last: FilterFunction = pure('last', [], (data, _args, context) => {
  return membersOf(data).at(-1) ?? emptySequence('last', context)
})

const join: FilterFunction = pure(
  'join',
  [
    ['d', ''],
    ['attribute', null],
  ],
  (data, [separator, attribute], context) => {
    const read = attribute === null ? (item: Value) => item : pathReader(attribute as Data, context)
    return known(
      membersOf(data)
        .map(item => textOfValue(read(item)))
        .join(strOf(separator as Data)),
    )
  },
)

/** Applies the filter or reads the attribute for each member; unknown members stay unknown members. */
const map: FilterFunction = (input, given) =>
  applyToData([input], given.context.at, ([data]) => {
    const { context } = given
    // What is false, whatever its type, gives nothing.
    const members = truthOfData(data as Data) ? membersOf(data as Data) : []
    const attribute = given.named.get('attribute')
    const [name, ...positional] = given.positional
    if (name === undefined) {
      if (attribute === undefined) return raise('map requires a filter argument')
      const fallback = given.named.get('default') ?? null
      for (const key of given.named.keys()) {
        if (key !== 'attribute' && key !== 'default') return raise(`Unexpected keyword argument '${key}'`)
      }
      return known(stopAtFailure(members.map(pathReader(dataOf(attribute), context, fallback))))
    }
    const filter = dataOf(name)
    if (typeof filter !== 'string') return raise('map requires the name of a filter')
    return known(
      stopAtFailure(
        members.map(member =>
          member.kind === 'failure' ? member : context.filter(filter, member, positional, given.named),
        ),
      ),
    )
  })

function stopAtFailure(values: readonly Value[]): readonly Value[] {
  for (const value of values) if (value.kind === 'failure') raise(value.says, value.undefined)
  return values
}

/** `select`, `reject` and their attribute forms. One member whose test is open leaves the whole list open. */
function selecting(wanted: boolean, byAttribute: boolean): FilterFunction {
  return (input, given) =>
    applyToData([input], given.context.at, ([data]) => {
      const { context } = given
      const [path, ...afterPath] = given.positional
      if (byAttribute && path === undefined) return raise('Missing parameter for attribute name')
      const read = byAttribute ? pathReader(dataOf(path as Value), context) : (item: Value) => item
      const [test, ...args] = byAttribute ? afterPath : given.positional
      const name = test === undefined ? null : strOf(dataOf(test))
      const kept = (truthOfData(data as Data) ? membersOf(data as Data) : []).filter(member => {
        const subject = read(member)
        if (name === null && subject.kind === 'undefined' && subject.lenient === true) return !wanted
        const outcome = name === null ? subject : context.test(name, subject, args, given.named)
        return truthOfData(dataOf(outcome)) === wanted
      })
      return known(kept)
    })
}

function hashKey(data: Data, caseSensitive: boolean): Data {
  return caseSensitive ? data : ignoreCase(data)
}

function isHashable(data: Data): boolean {
  return !isList(data) && !isDict(data)
}

/** Members without repeats, in order. */
function distinct(items: readonly Value[], key: (item: Value) => Data): Value[] {
  const seenKeys = new Map<Key, Value>()
  const seenOthers: Data[] = []
  return items.filter(item => {
    const data = key(item)
    if (isHashable(data) && !isTuple(data)) {
      if (keyOf(data, seenKeys) !== undefined) return false
      seenKeys.set(data as Key, item)
      return true
    }
    if (seenOthers.some(other => equal(other, data))) return false
    seenOthers.push(data)
    return true
  })
}

const unique: FilterFunction = pure(
  'unique',
  [
    ['case_sensitive', null],
    ['attribute', null],
  ],
  (data, [sensitive, attribute], context) => {
    const items = membersOf(data)
    const read = attribute === null ? (item: Value) => item : pathReader(attribute as Data, context)
    const values = items.map(read)
    if (attribute !== null && values.some(value => value.kind === 'undefined'))
      return raise("Jinja2's unique filter failed and we cannot fall back to Ansible's version")
    const keys = values.map(value => dataOf(value))
    const plain = keys.every(isHashable)
    if (!plain && (sensitive === false || attribute !== null)) {
      return raise("Jinja2's unique filter failed and we cannot fall back to Ansible's version")
    }
    // Members Python cannot hash make Ansible fall back to comparing them, with case.
    const exact = !plain || truthOfData(sensitive as Data)
    return known(distinct(items, item => hashKey(dataOf(read(item)), exact)))
  },
)

/** Set operations: Ansible leaves the order open from 2.16 on where members can be hashed; here it is that of the input. */
function setOperation(work: (left: readonly Value[], right: readonly Value[]) => readonly Value[]): FilterFunction {
  return pure('set operation', ['b'], (data, [other]) =>
    known(distinct(work(membersOf(data), membersOf(other as Data)), dataOf)),
  )
}

/** Python adds both, which takes two lists or two tuples. */
function alike(filter: FilterFunction): FilterFunction {
  return (input, given) => {
    const [other] = given.positional
    const types = [input, other].flatMap(value => (value?.kind === 'known' ? [typeName(value.data)] : []))
    if (types.includes('list') && types.includes('tuple'))
      return raise('can only concatenate list (not "tuple") to list')
    return filter(input, given)
  }
}

function isIn(item: Value, list: readonly Value[]): boolean {
  return contains(list, dataOf(item))
}

function flatten(items: readonly Value[], levels: number, skipNulls: boolean, depth = 0): readonly Value[] {
  if (depth > 200) return raise('maximum recursion depth exceeded')
  return items.flatMap(item => {
    const data = dataOf(item)
    if (skipNulls && (data === null || data === 'None' || data === 'null')) return []
    const inner = isList(data) ? data : isTuple(data) && data.view === undefined ? data.items : undefined
    return inner !== undefined && levels >= 1 ? flatten(inner, levels - 1, skipNulls, depth + 1) : [item]
  })
}

/** Ansible's `flatten` of members, for filters that flatten their arguments. */
export function flattenOnce(items: readonly Value[]): readonly Value[] {
  return flatten(items, 1, true)
}

function extreme(word: string, better: (a: Data, b: Data) => boolean): FilterFunction {
  return pure(
    word,
    [
      ['case_sensitive', false],
      ['attribute', null],
    ],
    (data, [sensitive, attribute], context) => {
      const items = membersOf(data)
      const read = attribute === null ? (item: Value) => item : pathReader(attribute as Data, context)
      const keyOfItem = (item: Value): Data => hashKey(dataOf(read(item)), truthOfData(sensitive as Data))
      let best: Value | undefined
      for (const item of items) if (best === undefined || better(keyOfItem(item), keyOfItem(best))) best = item
      return best ?? emptySequence('aggregated', context)
    },
  )
}

function product(lists: readonly (readonly Value[])[]): readonly Value[] {
  checkSize(lists.reduce((size, list) => size * list.length, 20))
  return lists
    .reduce<readonly (readonly Value[])[]>((rows, list) => rows.flatMap(row => list.map(item => [...row, item])), [[]])
    .map(items => known({ kind: 'tuple', items }))
}

/** Filters over the input and any number of further lists. */
function overLists(
  work: (lists: readonly (readonly Value[])[], named: ReadonlyMap<string, Value>) => readonly Value[],
): FilterFunction {
  return (input, given) =>
    applyToData([input, ...given.positional], given.context.at, lists => known(work(lists.map(membersOf), given.named)))
}

function transpose(lists: readonly (readonly Value[])[], length: number, fill: Value | null): readonly Value[] {
  return Array.from({ length }, (_, index) =>
    known({ kind: 'tuple', items: lists.map(list => list[index] ?? (fill as Value)) }),
  )
}

function choose(items: readonly Value[], size: number, ordered: boolean): readonly Value[] {
  const rows: (readonly number[])[] = []
  const extend = (row: readonly number[]): void => {
    checkSize(rows.length * 100)
    if (row.length === size) {
      rows.push(row)
      return
    }
    const from = ordered ? 0 : (row[row.length - 1] ?? -1) + 1
    for (let index = from; index < items.length; index++) if (!row.includes(index)) extend([...row, index])
  }
  extend([])
  return rows.map(row => known({ kind: 'tuple', items: row.map(index => items[index] as Value) }))
}

const groupBy: FilterFunction = pure(
  'groupby',
  ['attribute', ['default', null], ['case_sensitive', false]],
  (data, [attribute, fallback, sensitive], context) => {
    const read = pathReader(attribute as Data, context, fallback === null ? null : known(fallback as Data))
    const exact = truthOfData(sensitive as Data)
    const keyOfItem = (item: Value): Data => hashKey(dataOf(read(item)), exact)
    const groups: { key: Data; shown: Value; items: Value[] }[] = []
    for (const item of sortBy(membersOf(data), entry => [() => keyOfItem(entry)], false)) {
      const key = keyOfItem(item)
      const group = groups.at(-1)
      if (group !== undefined && equal(group.key, key)) group.items.push(item)
      else groups.push({ key, shown: read(item), items: [item] })
    }
    return known(groups.map(group => known({ kind: 'tuple', items: [group.shown, known(group.items)] })))
  },
)

const subelementsOf: FilterFunction = pure(
  'subelements',
  ['subelements', ['skip_missing', false]],
  (data, [path, skip]) => {
    const elements = isDict(data)
      ? [...data.values()]
      : isList(data)
        ? data
        : raise('obj must be a list of dicts or a nested dict')
    const steps =
      typeof path === 'string' ? path.split('.').map(part => part as Data) : membersOf(path as Data).map(dataOf)
    const pairs = elements.flatMap(element => {
      let inner: Data = dataOf(element)
      for (const step of steps) {
        if (!isDict(inner)) return raise(`the key ${strOf(step)} should point to a dictionary`)
        const key = keyOf(step, inner)
        if (key === undefined) {
          if (truthOfData(skip as Data)) return []
          return raise(`could not find '${strOf(step)}' key in iterated item`)
        }
        inner = dataOf(inner.get(key) as Value)
      }
      if (!isList(inner)) return raise(`the key should point to a list, got ${typeName(inner)}`)
      return inner.map(value => known({ kind: 'tuple', items: [element, value] }))
    })
    return known(pairs)
  },
)

const subelements: FilterFunction = (input, given) =>
  input.kind === 'undefined' ? raise('obj must be a list of dicts or a nested dict') : subelementsOf(input, given)

export const sequenceFilters: FilterTable = {
  first,
  last,
  length: pure('length', [], data => known(BigInt(lengthOf(data)))),
  join,
  list: pure('list', [], data => known([...membersOf(data)])),
  map,
  select: selecting(true, false),
  reject: selecting(false, false),
  selectattr: selecting(true, true),
  rejectattr: selecting(false, true),
  unique,
  union: alike(setOperation((left, right) => [...left, ...right])),
  intersect: setOperation((left, right) => left.filter(item => isIn(item, right))),
  difference: setOperation((left, right) => left.filter(item => !isIn(item, right))),
  symmetric_difference: alike(
    setOperation((left, right) => [
      ...left.filter(item => !isIn(item, right)),
      ...right.filter(item => !isIn(item, left)),
    ]),
  ),
  flatten: pure(
    'flatten',
    [
      ['levels', null],
      ['skip_nulls', true],
    ],
    (data, [levels, skip]) =>
      known(
        flatten(
          membersOf(data),
          levels === null ? Number.POSITIVE_INFINITY : integer(levels),
          truthOfData(skip as Data),
        ),
      ),
  ),
  sort: pure(
    'sort',
    [
      ['reverse', false],
      ['case_sensitive', false],
      ['attribute', null],
    ],
    (data, [reverse, sensitive, attribute], context) => {
      const exact = truthOfData(sensitive as Data)
      const paths = attribute === null ? [] : typeof attribute === 'string' ? attribute.split(',') : [attribute as Data]
      const readers = paths.length === 0 ? [(item: Value) => item] : paths.map(path => pathReader(path, context))
      const keys = (item: Value): readonly (() => Data)[] =>
        readers.map(read => () => hashKey(dataOf(read(item)), exact))
      return known(sortBy(membersOf(data), keys, truthOfData(reverse as Data)))
    },
  ),
  min: extreme('min', (a, b) => less(a, b)),
  max: extreme('max', (a, b) => less(b, a)),
  sum: pure(
    'sum',
    [
      ['attribute', null],
      ['start', 0n],
    ],
    (data, [attribute, start], context) => {
      const read = attribute === null ? (item: Value) => item : pathReader(attribute as Data, context)
      const items = membersOf(data).map(item => known(dataOf(read(item))))
      return known(sum(items, start as Data))
    },
  ),
  reverse: pure('reverse', [], data => {
    if (typeof data === 'string') return known(membersOf(data).map(dataOf).reverse().join(''))
    return known([...membersOf(data)].reverse())
  }),
  batch: pure('batch', ['linecount', ['fill_with', null]], (data, [size, fill]) => {
    const rows: Value[][] = []
    for (const item of membersOf(data)) {
      const row = rows.at(-1)
      if (row === undefined || row.length === integer(size)) rows.push([item])
      else row.push(item)
    }
    const tail = rows.at(-1)
    if (fill !== null && tail !== undefined) while (tail.length < integer(size)) tail.push(known(fill as Data))
    return known(rows.map(row => known(row)))
  }),
  slice: pure('slice', ['slices', ['fill_with', null]], (data, [slices, fill]) => {
    const items = membersOf(data)
    const count = integer(slices)
    if (count < 1) return raise('integer division or modulo by zero')
    checkSize(count * 20)
    const size = Math.floor(items.length / count)
    const longer = items.length % count
    const rows = Array.from({ length: count }, (_, index) => {
      const start = index * size + Math.min(index, longer)
      const row = items.slice(start, start + size + (index < longer ? 1 : 0))
      return known(fill !== null && index >= longer && longer > 0 ? [...row, known(fill as Data)] : row)
    })
    return known(rows)
  }),
  groupby: groupBy,
  zip: overLists(lists => transpose(lists, Math.min(...lists.map(list => list.length)), null)),
  zip_longest: overLists((lists, named) =>
    transpose(lists, Math.max(...lists.map(list => list.length)), named.get('fillvalue') ?? known(null)),
  ),
  product: overLists(product),
  permutations: pure('permutations', [['r', null]], (data, [size]) =>
    known(choose(membersOf(data), size === null ? membersOf(data).length : integer(size), true)),
  ),
  combinations: pure('combinations', ['r'], (data, [size]) => known(choose(membersOf(data), integer(size), false))),
  subelements,
}
