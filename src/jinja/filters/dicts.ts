import { applyToData } from '../apply.js'
import { type FilterFunction, type FilterTable, pure } from '../call.js'
import { fillDict } from '../dicts.js'
import {
  compareText,
  contains,
  dataOf,
  equal,
  giveUp,
  isDict,
  isList,
  keyOf,
  less,
  lookUp,
  membersOf,
  put,
  raise,
  Split,
  strOf,
  truthOfData,
  typeName,
  Unresolved,
} from '../python.js'
import type { Data, Dict, Key, Value } from '../value.js'
import { known, unknown } from '../value.js'
import { flattenOnce } from './sequences.js'

type ListMerge = 'replace' | 'keep' | 'append' | 'prepend' | 'append_rp' | 'prepend_rp'
const listMerges: ReadonlySet<string> = new Set<ListMerge>([
  'replace',
  'keep',
  'append',
  'prepend',
  'append_rp',
  'prepend_rp',
])

function mergeLists(low: readonly Value[], high: readonly Value[], how: ListMerge): readonly Value[] {
  const without = (): readonly Value[] => low.filter(item => !contains(high, dataOf(item)))
  switch (how) {
    case 'replace':
      return high
    case 'keep':
      return low
    case 'append':
      return [...low, ...high]
    case 'prepend':
      return [...high, ...low]
    case 'append_rp':
      return [...without(), ...high]
    case 'prepend_rp':
      return [...high, ...without()]
  }
}

/** Ansible's `merge_hash`; a member that is unknown on either side, and would be merged, is unknown. */
function mergeDicts(low: Data, high: Data, recursive: boolean, how: ListMerge, depth = 0): Dict {
  if (!isDict(low) || !isDict(high)) {
    return raise(`failed to combine variables, expected dicts but got a '${typeName(low)}' and a '${typeName(high)}'`)
  }
  if (depth > 200) return raise('maximum recursion depth exceeded')
  // Nothing is merged into an empty or an equal one, not even lists that would be appended.
  if (low.size === 0 || surelyEqual(low, high, how)) return new Map(high)
  const merged = new Map<Key, Value>(low)
  for (const [key, value] of high) {
    const at = keyOf(key, merged)
    const old = at === undefined ? undefined : merged.get(at)
    merged.set(at ?? key, old === undefined ? value : mergeMember(old, value, recursive, how, depth))
  }
  return merged
}

/** Open members could make both equal, which matters where lists would be joined. */
function surelyEqual(low: Dict, high: Dict, how: ListMerge): boolean {
  if (low.size !== high.size) return false
  try {
    return equal(low, high)
  } catch (error) {
    if (how === 'replace' && (error instanceof Unresolved || error instanceof Split)) return false
    throw error
  }
}

function mergeMember(old: Value, value: Value, recursive: boolean, how: ListMerge, depth: number): Value {
  if (!recursive && how === 'replace') return value
  if (old.kind === 'known' && value.kind === 'known') {
    if (isDict(old.data) && isDict(value.data)) {
      return recursive ? known(mergeDicts(old.data, value.data, recursive, how, depth + 1)) : value
    }
    if (isList(old.data) && isList(value.data)) return known(mergeLists(old.data, value.data, how))
    return value
  }
  if (old.kind === 'known' && !isDict(old.data) && !isList(old.data)) return value
  if (value.kind === 'known' && !isDict(value.data) && !isList(value.data)) return value
  const causes = [old, value].flatMap(side => (side.kind === 'unknown' ? side.causes : []))
  return causes.length > 0 ? unknown(causes) : known(dataOf(old.kind === 'known' ? value : old))
}

const combine: FilterFunction = (input, given) => {
  for (const name of given.named.keys()) {
    if (name !== 'recursive' && name !== 'list_merge') {
      return raise("'recursive' and 'list_merge' are the only valid keyword arguments")
    }
  }
  const recursive = given.named.get('recursive') ?? known(false)
  const how = given.named.get('list_merge') ?? known('replace')
  return applyToData([recursive, how, input, ...given.positional], given.context.at, ([deep, merge, ...terms]) => {
    terms.forEach(checkDefined)
    const dicts = flattenOnce(terms.map(term => known(term))).map(dataOf)
    if (dicts.length === 0) return known(new Map())
    if (!listMerges.has(strOf(merge as Data))) return raise("merge_hash: 'list_merge' argument is not one it knows")
    // From the right, as Ansible does; it shows where lists are merged.
    const recursively = truthOfData(deep as Data)
    return known(dicts.reduceRight((high, low) => mergeDicts(low, high, recursively, merge as ListMerge)))
  })
}

/** `combine` looks for undefined members at any depth before it does anything. */
function checkDefined(data: Data): void {
  const members = isDict(data) ? data.values() : isList(data) ? data : []
  for (const member of members) {
    if (member.kind === 'undefined' && member.lenient !== true) raise(member.says, true)
    if (member.kind === 'known') checkDefined(member.data)
  }
}

function pair(keyName: Data, valueName: Data, key: Key, value: Value): Value {
  const made = new Map<Key, Value>()
  put(made, keyName, known(key))
  put(made, valueName, value)
  return known(made)
}

function keyList(data: Data): readonly Data[] {
  return membersOf(data).map(dataOf)
}

/** `community.general.keep_keys` and `ansible.utils.keep_keys` / `remove_keys`: on a list of dicts, keys by equality. */
function keysFilter(keep: boolean): FilterFunction {
  return pure(
    keep ? 'keep_keys' : 'remove_keys',
    ['target', ['matching_parameter', 'equality']],
    (data, [target, how]) => {
      if (how !== 'equality' && how !== 'equal') return raise('only equality is read')
      const wanted = typeof target === 'string' ? [target] : keyList(target as Data)
      const dicts = isList(data)
        ? data.map(dataOf)
        : giveUp('keep_keys of anything but a list of dicts is not modelled')
      return known(
        dicts.map(item => {
          if (!isDict(item)) return giveUp('keep_keys of anything but a list of dicts is not modelled')
          return known(new Map([...item].filter(([key]) => wanted.some(one => equal(one, key)) === keep)))
        }),
      )
    },
  )
}

export const dictFilters: FilterTable = {
  combine,
  dict2items: pure(
    'dict2items',
    [
      ['key_name', 'key'],
      ['value_name', 'value'],
    ],
    (data, [keyName, valueName]) => {
      if (!isDict(data)) return raise(`dict2items requires a dictionary, got ${typeName(data)} instead.`)
      return known([...data].map(([key, value]) => pair(keyName as Data, valueName as Data, key, value)))
    },
  ),
  items2dict: pure(
    'items2dict',
    [
      ['key_name', 'key'],
      ['value_name', 'value'],
    ],
    (data, [keyName, valueName]) => {
      if (!isList(data)) return raise(`items2dict requires a list, got ${typeName(data)} instead.`)
      const made = new Map<Key, Value>()
      for (const item of data) {
        const dict = dataOf(item)
        if (!isDict(dict)) return raise('items2dict requires a list of dictionaries')
        const key = lookUp(dict, keyName as Data)
        const value = lookUp(dict, valueName as Data)
        if (key === undefined || value === undefined) {
          return raise(
            `items2dict requires each dictionary in the list to contain the keys '${strOf(keyName as Data)}' and '${strOf(valueName as Data)}'`,
          )
        }
        put(made, dataOf(key), value)
      }
      return known(made)
    },
  ),
  dictsort: pure(
    'dictsort',
    [
      ['case_sensitive', false],
      ['by', 'key'],
      ['reverse', false],
    ],
    (data, [sensitive, by, reverse]) => {
      if (!isDict(data)) return raise(`'${typeName(data)} object' has no attribute 'items'`)
      if (by !== 'key' && by !== 'value') return raise('You can only sort by either "key" or "value"')
      const fold = (part: Data): Data =>
        typeof part === 'string' && !truthOfData(sensitive as Data) ? part.toLowerCase() : part
      const entries = [...data].map(([key, value]) => ({
        sorted: fold(by === 'key' ? key : dataOf(value)),
        item: known({ kind: 'tuple', items: [known(key), value] }),
      }))
      const order = (a: Data, b: Data): number =>
        typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : less(a, b) ? -1 : less(b, a) ? 1 : 0
      const back = truthOfData(reverse as Data)
      entries.sort((a, b) => (back ? order(b.sorted, a.sorted) : order(a.sorted, b.sorted)))
      return known(entries.map(entry => entry.item))
    },
  ),
  items: (input, given) => {
    if (input.kind === 'undefined') return known([])
    return pure('items', [], data => {
      if (!isDict(data)) return raise('Can only get item pairs from a mapping.')
      return known([...data].map(([key, value]) => known({ kind: 'tuple', items: [known(key), value] })))
    })(input, given)
  },
  dict: pure('dict', [], data => {
    const made = new Map<Key, Value>()
    fillDict(made, data)
    return known(made)
  }),
  dict_kv: pure('dict_kv', ['key'], (data, [key]) => {
    const made = new Map<Key, Value>()
    put(made, key as Data, known(data))
    return known(made)
  }),
  rekey_on_member: pure('rekey_on_member', ['key', ['duplicates', 'error']], (data, [key, duplicates]) => {
    if (typeof data === 'string') return raise('Type is not a valid list, set, or dict')
    const made = new Map<Key, Value>()
    for (const member of isDict(data) ? data.values() : membersOf(data)) {
      const item = dataOf(member)
      if (!isDict(item)) return raise('List item is not a valid dict')
      const value = lookUp(item, key as Data)
      if (value === undefined) return raise(`Key ${strOf(key as Data)} was not found`)
      if (keyOf(dataOf(value), made) !== undefined && duplicates === 'error') {
        return raise(`Key ${strOf(dataOf(value))} is not unique, cannot correctly turn into dict`)
      }
      put(made, dataOf(value), member)
    }
    return known(made)
  }),
  keep_keys: keysFilter(true),
  remove_keys: keysFilter(false),
}
