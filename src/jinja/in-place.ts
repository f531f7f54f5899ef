import { fillDict } from './dicts.js'
import { dataOf, equal, isDict, isList, isTuple, keyOf, membersOf, put, raise, strOf } from './python.js'
import { type Body, childrenOf, type Expression, type Template } from './syntax.js'
import type { Cause, Data, Key, Value } from './value.js'
import { known } from './value.js'

/**
 * Lists and dicts one rendering made itself, so that `x.append(…)` may change them and every name that holds them sees it,
 * as in Python. A change that cannot be followed spoils the rendering: its whole result is then unknown.
 */
export interface Changes {
  /** False where the template has no such call: nothing is copied then. */
  readonly isPossible: boolean
  readonly own: WeakSet<object>
  /** What variables were when they were first read: the rendering's own copy of them. */
  readonly copies: Map<string, Value>
  /** Names the template reads outside loops and macros: Jinja2 looks those up once. */
  readonly atTop: ReadonlySet<string>
  /** How many open decisions are around: what may not happen cannot be followed. */
  open: number
  readonly spoiled: Cause[]
}

type Arguments = readonly [positional: readonly Value[], named: ReadonlyMap<string, Value>]
type Change<Self> = (self: Self, positional: readonly Value[], named: ReadonlyMap<string, Value>) => Value

const none = known(null)

function given(positional: readonly Value[], index: number, name: string): Value {
  return positional[index] ?? raise(`${name}() takes more arguments (${positional.length} given)`)
}

/** Python's index: counted from the end where negative. */
function placeOf(data: Data, size: number): number {
  const index = typeof data === 'bigint' || typeof data === 'boolean' ? Number(data) : raise('an integer is required')
  return index < 0 ? index + size : index
}

const listChanges: Readonly<Record<string, Change<Value[]>>> = {
  append: (self, positional) => {
    self.push(given(positional, 0, 'append'))
    return none
  },
  extend: (self, positional) => {
    self.push(...membersOf(dataOf(given(positional, 0, 'extend'))))
    return none
  },
  insert: (self, positional) => {
    const place = placeOf(dataOf(given(positional, 0, 'insert')), self.length)
    self.splice(Math.max(place, 0), 0, given(positional, 1, 'insert'))
    return none
  },
  pop: (self, positional) => {
    const place = positional[0] === undefined ? self.length - 1 : placeOf(dataOf(positional[0]), self.length)
    if (self.length === 0) return raise('pop from empty list')
    return self.splice(place, place < 0 ? 0 : 1)[0] ?? raise('pop index out of range')
  },
  remove: (self, positional) => {
    const wanted = dataOf(given(positional, 0, 'remove'))
    const place = self.findIndex(item => equal(dataOf(item), wanted))
    if (place === -1) return raise('list.remove(x): x not in list')
    self.splice(place, 1)
    return none
  },
  clear: self => {
    self.length = 0
    return none
  },
  reverse: self => {
    self.reverse()
    return none
  },
}

const dictChanges: Readonly<Record<string, Change<Map<Key, Value>>>> = {
  update: (self, positional, named) => {
    if (positional[0] !== undefined) fillDict(self, dataOf(positional[0]))
    for (const [key, value] of named) self.set(key, value)
    return none
  },
  pop: (self, positional) => {
    const key = dataOf(given(positional, 0, 'pop'))
    const found = keyOf(key, self)
    if (found === undefined) return positional[1] ?? raise(strOf(key))
    const value = self.get(found) as Value
    self.delete(found)
    return value
  },
  popitem: self => {
    const last = [...self].at(-1) ?? raise('popitem(): dictionary is empty')
    self.delete(last[0])
    return known({ kind: 'tuple', items: [known(last[0]), last[1]] })
  },
  setdefault: (self, positional) => {
    const key = dataOf(given(positional, 0, 'setdefault'))
    const found = keyOf(key, self)
    if (found !== undefined) return self.get(found) as Value
    const value = positional[1] ?? none
    put(self, key, value)
    return value
  },
  clear: self => {
    self.clear()
    return none
  },
  __setitem__: (self, positional) => {
    put(self, dataOf(given(positional, 0, '__setitem__')), given(positional, 1, '__setitem__'))
    return none
  },
}

const names: ReadonlySet<string> = new Set([...Object.keys(listChanges), ...Object.keys(dictChanges), 'sort'])

/** Whether a method of this name changes a list or dict in place. */
export function isChange(name: string): boolean {
  return names.has(name)
}

const callOfChange = /(?:append|extend|insert|pop|popitem|remove|clear|reverse|sort|update|setdefault|__setitem__)\s*\(/

/** The state of a rendering; only of a template (not of a bare expression) that has such a call changes are followed. */
export function startChanges(template: Template | null): Changes {
  const isPossible = template !== null && callOfChange.test(template.text)
  const atTop = isPossible ? namesAtTop(template) : new Set<string>()
  return { isPossible, own: new WeakSet(), copies: new Map(), atTop, open: 0, spoiled: [] }
}

/** Does the change; undefined where it cannot be followed exactly. */
export function changeInPlace(self: Data, name: string, args: Arguments, changes: Changes): Value | undefined {
  if (changes.open > 0 || typeof self !== 'object' || self === null || !changes.own.has(self)) return undefined
  const table: Readonly<Record<string, Change<never>>> = isList(self) ? listChanges : isDict(self) ? dictChanges : {}
  const change = Object.hasOwn(table, name) ? table[name] : undefined
  // A container that holds itself has no text and no end.
  if ([...args[0], ...args[1].values()].some(value => holds(value, self))) return undefined
  return change?.(self as never, ...args)
}

function holds(value: Value, container: Data): boolean {
  if (value.kind !== 'known') return false
  const { data } = value
  if (data === container) return true
  if (isList(data)) return data.some(item => holds(item, container))
  if (isTuple(data)) return data.items.some(item => holds(item, container))
  return data instanceof Map && data.constructor === Map && [...data.values()].some(item => holds(item, container))
}

/** A variable as the rendering's own: containers are copied, so that changing them changes nothing elsewhere. */
export function ownCopy(value: Value, changes: Changes): Value {
  if (value.kind !== 'known') return value
  const { data } = value
  if (Array.isArray(data))
    return {
      ...value,
      data: claimed(
        data.map(item => ownCopy(item, changes)),
        changes,
      ),
    }
  // A mapping computed on demand (`hostvars`) stays as it is.
  if (!(data instanceof Map) || data.constructor !== Map) return value
  return { ...value, data: claimed(new Map([...data].map(([key, item]) => [key, ownCopy(item, changes)])), changes) }
}

/** Filters whose result Python makes anew. */
const fresh: ReadonlySet<string> = new Set([
  ...[
    'list',
    'combine',
    'sort',
    'unique',
    'union',
    'flatten',
    'dict2items',
    'items2dict',
    'dict',
    'split',
    'from_yaml',
  ],
  ...['from_json', 'difference', 'intersect', 'symmetric_difference'],
])

/** The result of such a filter, as a container of this rendering. */
export function freshResult(name: string, value: Value, changes: Changes): Value {
  return fresh.has(name) ? claimedCopy(value, changes) : value
}

/** A value whose outermost container this rendering made. */
export function claimedCopy(value: Value, changes: Changes): Value {
  if (value.kind !== 'known') return value
  if (Array.isArray(value.data)) return { ...value, data: claimed([...value.data], changes) }
  if (!(value.data instanceof Map) || value.data.constructor !== Map) return value
  return { ...value, data: claimed(new Map(value.data), changes) }
}

function claimed<T extends object>(data: T, changes: Changes): T {
  changes.own.add(data)
  return data
}

function namesAtTop(template: Template): ReadonlySet<string> {
  const found = new Set<string>()
  const read = (expression: Expression | null): void => {
    if (expression === null) return
    if (expression.kind === 'name') found.add(expression.name)
    for (const child of childrenOf(expression)) read(child)
  }
  const readBody = (body: Body): void => {
    for (const statement of body) {
      switch (statement.kind) {
        case 'output':
        case 'do':
          read(statement.expression)
          break
        case 'if':
          for (const branch of statement.branches) {
            read(branch.test)
            readBody(branch.body)
          }
          readBody(statement.otherwise)
          break
        case 'for':
          read(statement.over)
          break
        case 'set':
          read(statement.value)
          break
        case 'with':
          for (const binding of statement.bindings) read(binding.value)
          break
        case 'filter-block':
          read(statement.filter)
          break
        case 'call-block':
          read(statement.call)
          break
        default:
          break
      }
    }
  }
  readBody(template.body)
  return found
}
