import type { Span } from '../source/text.js'
import { applyToData, type Single } from './apply.js'
import { bind, type ParameterSpec } from './call.js'
import { formatBraces } from './format.js'
import { observed } from './observed.js'
import {
  charactersOf,
  checkSize,
  dataOf,
  equal,
  giveUp,
  isDict,
  isList,
  isTuple,
  keyOf,
  lookUp,
  membersOf,
  raise,
  strOf,
  typeName,
} from './python.js'
import type { Callable, Data, Dict, List, Undefined, Value } from './value.js'
import { known, unknown } from './value.js'

type Method<Self extends Data> = (self: Self, args: readonly Data[]) => Value
interface MethodEntry<Self extends Data> {
  readonly parameters: readonly ParameterSpec[]
  readonly call: Method<Self>
  /** What Python says of an undefined argument, where it does not name its type. */
  readonly ofUndefined?: string
}

function method<Self extends Data>(parameters: readonly ParameterSpec[], call: Method<Self>): MethodEntry<Self> {
  return { parameters, call }
}

function text(data: Data | undefined, what = 'argument'): string {
  return typeof data === 'string' ? data : raise(`${what} must be str, not ${typeName(data ?? null)}`)
}

function whole(data: Data | undefined): number {
  if (typeof data === 'boolean') return data ? 1 : 0
  return typeof data === 'bigint'
    ? Number(data)
    : raise(`'${typeName(data ?? null)}' object cannot be interpreted as an integer`)
}

const blanks = /[\s\x1c-\x1f\x85]/

/** Python's `str.strip` and its one-sided forms. */
export function strip(value: string, characters: Data | undefined, sides: 'both' | 'left' | 'right'): string {
  const drops =
    characters === null || characters === undefined
      ? (char: string) => blanks.test(char)
      : (char: string) => text(characters).includes(char)
  const chars = charactersOf(value)
  let start = 0
  let end = chars.length
  if (sides !== 'right') while (start < end && drops(chars[start] as string)) start++
  if (sides !== 'left') while (end > start && drops(chars[end - 1] as string)) end--
  return chars.slice(start, end).join('')
}

/** Python's `str.split`: no separator splits at runs of blanks and drops empty ends. */
export function split(value: string, separator: Data | undefined, limit: Data | undefined): readonly string[] {
  const most = limit === undefined || limit === null ? -1 : whole(limit)
  if (separator === null || separator === undefined) {
    const parts: string[] = []
    let rest = strip(value, null, 'left')
    while (rest !== '' && (most < 0 || parts.length < most)) {
      const end = rest.search(blanks)
      if (end === -1) break
      parts.push(rest.slice(0, end))
      rest = strip(rest.slice(end), null, 'left')
    }
    if (rest !== '') parts.push(most >= 0 && parts.length >= most ? strip(rest, null, 'right') : rest)
    return parts
  }
  const mark = text(separator, 'sep')
  if (mark === '') return raise('empty separator')
  const all = value.split(mark)
  if (most < 0 || all.length <= most + 1) return all
  return [...all.slice(0, most), all.slice(most).join(mark)]
}

function splitFromRight(value: string, separator: Data | undefined, limit: Data | undefined): readonly string[] {
  const most = limit === undefined || limit === null ? -1 : whole(limit)
  if (most < 0) return split(value, separator, limit)
  if (separator === null || separator === undefined) return giveUp('rsplit at blanks with a limit is not modelled')
  const mark = text(separator, 'sep')
  const all = split(value, mark, null)
  const cut = all.length - most
  return cut <= 1 ? all : [all.slice(0, cut).join(mark), ...all.slice(cut)]
}

function splitLines(value: string, keepEnds: boolean): readonly string[] {
  const lines =
    value.match(/[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g) ?? []
  const whole = lines.filter((line, index) => line !== '' || index < lines.length - 1)
  return keepEnds ? whole : whole.map(line => line.replace(/(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/, ''))
}

function listOfTexts(parts: readonly string[]): Value {
  return known(parts.map(part => known(part)))
}

/** Replaces like Python: all, or the first `count`; an empty pattern stands before each character. */
export function replaceText(value: string, from: string, to: string, count: number): string {
  if (from === '') {
    const chars = charactersOf(value)
    let left = count < 0 ? chars.length + 1 : count
    let result = ''
    for (const char of [...chars, '']) result += (left-- > 0 ? to : '') + char
    return result
  }
  if (count < 0) {
    const parts = value.split(from)
    checkSize(value.length + parts.length * to.length)
    return parts.join(to)
  }
  return split(value, from, BigInt(count)).join(to)
}

function affix(self: string, wanted: Data | undefined, test: (value: string, part: string) => boolean): boolean {
  if (wanted !== undefined && isTuple(wanted)) return wanted.items.some(item => test(self, text(dataOf(item))))
  return test(self, text(wanted, 'first arg'))
}

function indexIn(self: string, args: readonly Data[], find: (value: string, part: string) => number): number {
  const [part, start] = args
  const from = start === null || start === undefined ? 0 : whole(start)
  if (from < 0 || args[2] !== null) return giveUp('find with these bounds is not modelled')
  const found = find(self.slice(from), text(part, 'sub'))
  return found === -1 ? -1 : charactersOf(self.slice(0, from + found)).length
}

function capitalize(value: string): string {
  const [first = '', ...rest] = charactersOf(value)
  return first.toUpperCase() + rest.join('').toLowerCase()
}

/** Python's `str.center`: the odd blank goes left where the width is odd. */
export function center(value: string, width: number, fill: string): string {
  const space = width - charactersOf(value).length
  checkSize(space)
  if (space <= 0) return value
  const left = Math.floor(space / 2) + (space & width & 1)
  return fill.repeat(left) + value + fill.repeat(space - left)
}

const cased = /\p{Lu}|\p{Ll}|\p{Lt}/u

/** Python's `str.title`: each run of cased letters starts upper. */
export function titleCase(value: string): string {
  let inside = false
  let result = ''
  for (const char of value) {
    result += inside ? char.toLowerCase() : char.toUpperCase()
    inside = cased.test(char)
  }
  return result
}

const everyCharacter =
  (pattern: RegExp): Method<string> =>
  self =>
    known(self !== '' && charactersOf(self).every(char => pattern.test(char)))
const inside: readonly ParameterSpec[] = ['sub', ['start', null], ['end', null]]

function stripping(name: string, sides: 'both' | 'left' | 'right'): MethodEntry<string> {
  const entry = method<string>([['chars', null]], (self, [chars]) => known(strip(self, chars, sides)))
  return { ...entry, ofUndefined: `${name} arg must be None or str` }
}

const textMethods: Readonly<Record<string, MethodEntry<string>>> = {
  split: method(
    [
      ['sep', null],
      ['maxsplit', -1n],
    ],
    (self, [sep, limit]) => listOfTexts(split(self, sep, limit)),
  ),
  rsplit: method(
    [
      ['sep', null],
      ['maxsplit', -1n],
    ],
    (self, [sep, limit]) => listOfTexts(splitFromRight(self, sep, limit)),
  ),
  splitlines: method([['keepends', false]], (self, [keep]) => listOfTexts(splitLines(self, keep === true))),
  strip: stripping('strip', 'both'),
  lstrip: stripping('lstrip', 'left'),
  rstrip: stripping('rstrip', 'right'),
  startswith: method(['prefix'], (self, [part]) =>
    known(affix(self, part, (value, prefix) => value.startsWith(prefix))),
  ),
  endswith: method(['suffix'], (self, [part]) => known(affix(self, part, (value, suffix) => value.endsWith(suffix)))),
  removeprefix: method(['prefix'], (self, [part]) =>
    known(self.startsWith(text(part)) ? self.slice(text(part).length) : self),
  ),
  removesuffix: method(['suffix'], (self, [part]) =>
    known(text(part) !== '' && self.endsWith(text(part)) ? self.slice(0, -text(part).length) : self),
  ),
  upper: method([], self => known(self.toUpperCase())),
  lower: method([], self => known(self.toLowerCase())),
  casefold: method([], self => known(self.toLowerCase().replaceAll('ß', 'ss'))),
  capitalize: method([], self => known(capitalize(self))),
  title: method([], self => known(titleCase(self))),
  swapcase: method([], self =>
    known([...self].map(char => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase())).join('')),
  ),
  replace: method(['old', 'new', ['count', -1n]], (self, [from, to, count]) =>
    known(replaceText(self, text(from), text(to), whole(count))),
  ),
  find: method(inside, (self, args) => known(BigInt(indexIn(self, args, (value, part) => value.indexOf(part))))),
  rfind: method(inside, (self, args) => known(BigInt(indexIn(self, args, (value, part) => value.lastIndexOf(part))))),
  index: method(inside, (self, args) => {
    const found = indexIn(self, args, (value, part) => value.indexOf(part))
    return found === -1 ? raise('substring not found') : known(BigInt(found))
  }),
  count: method(['sub'], (self, [part]) =>
    known(BigInt(text(part) === '' ? charactersOf(self).length + 1 : self.split(text(part)).length - 1)),
  ),
  join: method(['iterable'], (self, [items]) =>
    known(
      membersOf(items as Data)
        .map((item, index) => text(dataOf(item), `sequence item ${index}: expected str instance,`))
        .join(self),
    ),
  ),
  partition: method(['sep'], (self, [sep]) => {
    const at = self.indexOf(text(sep))
    const parts = at === -1 ? [self, '', ''] : [self.slice(0, at), text(sep), self.slice(at + text(sep).length)]
    return known({ kind: 'tuple', items: parts.map(part => known(part)) })
  }),
  rpartition: method(['sep'], (self, [sep]) => {
    const at = self.lastIndexOf(text(sep))
    const parts = at === -1 ? ['', '', self] : [self.slice(0, at), text(sep), self.slice(at + text(sep).length)]
    return known({ kind: 'tuple', items: parts.map(part => known(part)) })
  }),
  zfill: method(['width'], (self, [width]) => {
    checkSize(whole(width))
    const plus = /^[-+]/.exec(self)?.[0] ?? ''
    return known(plus + self.slice(plus.length).padStart(whole(width) - plus.length, '0'))
  }),
  ljust: method(['width', ['fillchar', ' ']], (self, [width, fill]) => {
    checkSize(whole(width))
    return known(self.padEnd(whole(width), text(fill)))
  }),
  rjust: method(['width', ['fillchar', ' ']], (self, [width, fill]) => {
    checkSize(whole(width))
    return known(self.padStart(whole(width), text(fill)))
  }),
  center: method(['width', ['fillchar', ' ']], (self, [width, fill]) => known(center(self, whole(width), text(fill)))),
  isdigit: method([], everyCharacter(/^[\p{Nd}²³¹⁰-⁹₀-₉]$/u)),
  isnumeric: method([], everyCharacter(/^\p{N}$/u)),
  isdecimal: method([], everyCharacter(/^\p{Nd}$/u)),
  isalpha: method([], everyCharacter(/^\p{L}$/u)),
  isalnum: method([], everyCharacter(/^[\p{L}\p{N}]$/u)),
  isspace: method([], everyCharacter(blanks)),
  isascii: method([], self => known(/^[\x00-\x7f]*$/.test(self))),
  isupper: method([], self => known(/\p{Lu}/u.test(self) && !/\p{Ll}|\p{Lt}/u.test(self))),
  islower: method([], self => known(/\p{Ll}/u.test(self) && !/\p{Lu}|\p{Lt}/u.test(self))),
}

const changesInPlace: readonly ParameterSpec[] = [
  ['a', null],
  ['b', null],
]
function inPlace<Self extends Data>(name: string): MethodEntry<Self> {
  return method(changesInPlace, () => giveUp(`.${name}() changes a value in place, which is not modelled here`))
}

const listMethods: Readonly<Record<string, MethodEntry<List>>> = {
  index: method(['value'], (self, [wanted]) => {
    for (const [index, item] of self.entries()) if (equal(dataOf(item), wanted as Data)) return known(BigInt(index))
    return raise(`${strOf(wanted as Data)} is not in list`)
  }),
  count: method(['value'], (self, [wanted]) =>
    known(BigInt(self.filter(item => equal(dataOf(item), wanted as Data)).length)),
  ),
  copy: method([], self => known([...self])),
  ...Object.fromEntries(
    ['append', 'extend', 'insert', 'pop', 'remove', 'clear', 'sort', 'reverse'].map(name => [
      name,
      inPlace<List>(name),
    ]),
  ),
}

/** `keys()`, `values()` and `items()`: a view, which iterates but has no index. */
function view(name: 'dict_keys' | 'dict_values' | 'dict_items', items: readonly Value[]): Value {
  return known({ kind: 'tuple', view: name, items })
}

const dictMethods: Readonly<Record<string, MethodEntry<Dict>>> = {
  keys: method([], self =>
    view(
      'dict_keys',
      [...self.keys()].map(key => known(key)),
    ),
  ),
  values: method([], self => view('dict_values', [...self.values()])),
  items: method([], self =>
    view(
      'dict_items',
      [...self].map(([key, value]) => known({ kind: 'tuple', items: [known(key), value] })),
    ),
  ),
  copy: method([], self => known(new Map(self))),
  ...Object.fromEntries(
    ['pop', 'popitem', 'update', 'setdefault', 'clear', '__setitem__'].map(name => [name, inPlace<Dict>(name)]),
  ),
}

const methodNames: ReadonlySet<string> = new Set([
  ...Object.keys(textMethods),
  ...Object.keys(listMethods),
  ...Object.keys(dictMethods),
  'get',
  'format',
])

/** Whether some Python type has a method of this name, so that calling it on an unknown value says nothing of a key. */
export function isMethod(name: string): boolean {
  return methodNames.has(name)
}

function methodOf(data: Data, name: string): Value | undefined {
  if (typeof data === 'string') {
    return observedMethod(data, name, name === 'format' ? formatMethod(data) : bound(textMethods, data, name))
  }
  if (isList(data)) return observedMethod(data, name, bound(listMethods, data, name))
  if (isDict(data)) return observedMethod(data, name, name === 'get' ? getMethod(data) : bound(dictMethods, data, name))
  return undefined
}

/** Attributes Python has of each type, public ones that no method above models: what they give is unknown. */
const otherAttributes: Readonly<Record<string, readonly string[]>> = {
  str: [
    'encode',
    'expandtabs',
    'format_map',
    'isidentifier',
    'isprintable',
    'istitle',
    'maketrans',
    'rindex',
    'translate',
  ],
  dict: ['fromkeys'],
  tuple: ['count', 'index'],
  range: ['count', 'index', 'start', 'step', 'stop'],
  dict_keys: ['isdisjoint', 'mapping'],
  dict_values: ['mapping'],
  dict_items: ['isdisjoint', 'mapping'],
  int: [
    'as_integer_ratio',
    'bit_count',
    'bit_length',
    'conjugate',
    'denominator',
    'from_bytes',
    'imag',
    'numerator',
    'real',
    'to_bytes',
  ],
  float: ['as_integer_ratio', 'conjugate', 'fromhex', 'hex', 'imag', 'is_integer', 'real'],
}

function otherAttribute(data: Data, name: string, at: Span): Value | undefined {
  const type = typeof data === 'boolean' ? 'int' : typeName(data)
  const isThere = name.startsWith('__') || otherAttributes[type]?.includes(name) === true
  return isThere ? unknown([{ says: `the attribute ${name} of a ${type} is not modelled`, at }]) : undefined
}

/** A method, told of when it is called. */
function observedMethod(self: Data, name: string, method: Value | undefined): Value | undefined {
  if (method?.kind !== 'known') return method
  const callable = method.data as Callable
  const call: Callable['call'] = (positional, named, at) => {
    const operands = [known(self), ...positional, ...named.values()]
    return observed('method', name, operands, callable.call(positional, named, at), [...named.keys()])
  }
  return known({ ...callable, call })
}

function bound<Self extends Data>(
  table: Readonly<Record<string, MethodEntry<Self>>>,
  self: Self,
  name: string,
): Value | undefined {
  if (!Object.hasOwn(table, name)) return undefined
  const entry = table[name] as MethodEntry<Self>
  return known({
    kind: 'callable',
    name,
    call: (positional, named, at) => {
      const args = bind(name, entry.parameters, { positional, named })
      const isUndefined = args.some(arg => arg.kind === 'undefined')
      if (isUndefined && entry.ofUndefined !== undefined) return raise(entry.ofUndefined)
      return applyToData(args, at, data => entry.call(self, data))
    },
  })
}

function formatMethod(self: string): Value {
  return known({
    kind: 'callable',
    name: 'format',
    call: (positional, named, at) =>
      applyToData([...positional, ...named.values()], at, data => {
        const names = [...named.keys()]
        const byName = new Map(names.map((name, index) => [name, data[positional.length + index] as Data]))
        return known(formatBraces(self, data.slice(0, positional.length), byName))
      }),
  })
}

/** `get` gives the member as it is, known or not, and its default unused. */
function getMethod(self: Dict): Value {
  return known({
    kind: 'callable',
    name: 'get',
    call: (positional, named, at) => {
      const [key, fallback] = bind('get', ['key', ['default', null]], { positional, named }) as readonly [Value, Value]
      return applyToData([key], at, ([data]) => lookUp(self, data as Data) ?? fallback)
    },
  })
}

function missing(data: Data, key: Data, at: Span): Undefined {
  const type = data === null ? 'None' : `${typeName(data)} object`
  const says = typeof key === 'string' ? `'${type}' has no attribute '${key}'` : `${type} has no element ${strOf(key)}`
  return { kind: 'undefined', says, at }
}

/** `a.name`: a method first, then a key (rule 140). Undefined stays undefined, so that chains are safe. */
export function attributeOf(base: Single, name: string, at: Span): Value {
  if (base.kind !== 'known') return base
  const { data } = base
  const found = methodOf(data, name)
  if (found !== undefined) return found
  return (isDict(data) ? lookUp(data, name) : undefined) ?? otherAttribute(data, name, at) ?? missing(data, name, at)
}

/**
 * `a[key]`: a key or index first, then a method. An unknown key of a known container is unknown for that reason; of a
 * mapping that is not known as a whole, the members that are.
 */
export function itemOf(base: Single, key: Single, at: Span): Value {
  if (base.kind === 'unknown') {
    const field = key.kind === 'known' && typeof key.data === 'string' ? base.fields?.get(key.data) : undefined
    return field ?? unknown(base.causes)
  }
  if (base.kind !== 'known') return base
  if (key.kind !== 'known') return key
  const { data } = base
  const wanted = key.data
  if (isDict(data)) {
    if (isList(wanted) || isDict(wanted)) return missing(data, String(typeName(wanted)), at)
    const found = keyOf(wanted, data)
    if (found !== undefined) return data.get(found) as Value
  } else {
    const index = typeof wanted === 'boolean' ? (wanted ? 1n : 0n) : wanted
    if (typeof index === 'bigint') return elementAt(data, index) ?? missing(data, wanted, at)
  }
  const method = typeof wanted === 'string' ? methodOf(data, wanted) : undefined
  return method ?? otherAttribute(data, String(wanted), at) ?? missing(data, wanted, at)
}

function elementAt(data: Data, index: bigint): Value | undefined {
  const items =
    typeof data === 'string'
      ? charactersOf(data)
      : isList(data)
        ? data
        : isTuple(data) && (data.view === undefined || data.view === 'range')
          ? data.items
          : undefined
  if (items === undefined) return undefined
  const item = items.at(Number(index < 0n && -index > items.length ? BigInt(items.length) : index))
  return typeof item === 'string' ? known(item) : item
}

/** `a[from:to:step]` as Python slices texts, lists and tuples. */
export function sliceOf(base: Single, bounds: readonly Single[], at: Span): Value {
  return applyToData([base, ...bounds], at, ([data, from, to, step]) => {
    const sequence = data as Data
    const items =
      typeof sequence === 'string'
        ? charactersOf(sequence)
        : isList(sequence)
          ? sequence
          : isTuple(sequence)
            ? sequence.items
            : undefined
    if (items === undefined || (isTuple(sequence) && sequence.view !== undefined && sequence.view !== 'range')) {
      return raise(
        isDict(sequence) ? "unhashable type: 'slice'" : `'${typeName(sequence)}' object is not subscriptable`,
      )
    }
    const taken = sliceItems(items as readonly (string | Value)[], from as Data, to as Data, step as Data)
    if (typeof sequence === 'string') return known(taken.join(''))
    return known(isTuple(sequence) ? { ...sequence, items: taken as Value[] } : (taken as Value[]))
  })
}

function sliceItems<T>(items: readonly T[], from: Data, to: Data, step: Data): T[] {
  const by = step === null ? 1 : whole(step)
  if (by === 0) return raise('slice step cannot be zero')
  const size = items.length
  const bound = (data: Data, fallback: number): number => {
    if (data === null) return fallback
    const value = whole(data)
    const placed = value < 0 ? value + size : value
    return by > 0 ? Math.min(Math.max(placed, 0), size) : Math.min(Math.max(placed, -1), size - 1)
  }
  const start = bound(from, by > 0 ? 0 : size - 1)
  const end = bound(to, by > 0 ? size : -1)
  const taken: T[] = []
  for (let index = start; by > 0 ? index < end : index > end; index += by) taken.push(items[index] as T)
  return taken
}
