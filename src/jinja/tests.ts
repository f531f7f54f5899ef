import { apply } from './apply.js'
import { bind, pure, pureTest, type TestFunction, type TestTable } from './call.js'
import { addressTests } from './filters/network.js'
import { compare } from './operators.js'
import {
  contains,
  dataOf,
  equal,
  giveUp,
  isDict,
  isList,
  isNumber,
  isTuple,
  lookUp,
  membersOf,
  raise,
  strOf,
  truthOfData,
  typeName,
} from './python.js'
import { matcherOf } from './regex.js'
import type { Comparator } from './syntax.js'
import type { Data, Value } from './value.js'
import { known, unknown } from './value.js'
import { compareVersions } from './version.js'

/** A test of the input's own kind and value, without arguments. */
function simple(name: string, work: (data: Data) => boolean): TestFunction {
  return pureTest(name, [], data => work(data))
}

/** A test that only looks at the type: Python's `isinstance` and `is` answer for an undefined value too. */
function ofType(name: string, work: (data: Data) => boolean, ofUndefined = false): TestFunction {
  const test = simple(name, work)
  return (input, given) => (input.kind === 'undefined' ? known(ofUndefined) : test(input, given))
}

/** A test of task results, which an undefined value is not: the type is looked at first. */
function ofResult(name: string, test: TestFunction): TestFunction {
  return (input, given) =>
    input.kind === 'undefined' ? raise(`The '${name}' test expects a dictionary`) : test(input, given)
}

function comparing(comparator: Comparator): TestFunction {
  return (input, given) => {
    const [other] = bind(comparator, ['other'], given)
    return compare(comparator, input, other as Value, given.context.at)
  }
}

/** Reads a flag of a task result. The flag may be unknown; the result itself must be a dict. */
function flagOf(name: string, key: string, fallback: boolean): TestFunction {
  const ofWhole = ofResult(
    name,
    pure(name, [], data => {
      if (!isDict(data)) return raise(`The '${name}' test expects a dictionary`)
      return lookUp(data, key) ?? known(fallback)
    }),
  )
  return (input, given) => {
    const field = input.kind === 'unknown' ? input.fields?.get(key) : undefined
    if (field === undefined) return ofWhole(input, given)
    return field.kind === 'undefined' ? known(fallback) : field
  }
}

function negated(test: TestFunction): TestFunction {
  return (input, given) =>
    apply([test(input, given)], given.context.at, ([value]) => known(!truthOfData(dataOf(value as Value))))
}

const failed = flagOf('failed', 'failed', false)
const unreachable = flagOf('unreachable', 'unreachable', false)
const succeeded = negated(failed)

const changed: TestFunction = ofResult(
  'changed',
  pure('changed', [], data => {
    if (!isDict(data)) return raise("The 'changed' test expects a dictionary")
    const own = lookUp(data, 'changed')
    if (own !== undefined) return own
    const results = lookUp(data, 'results')
    if (results === undefined) return known(false)
    const list = dataOf(results)
    if (!isList(list)) return known(false)
    if (list.length === 0) return raise('list index out of range')
    if (!isDict(dataOf(list[0] as Value))) return known(false)
    return known(
      list.some(item => {
        const result = dataOf(item)
        const flag = isDict(result) ? lookUp(result, 'changed') : raise('a result is not a dictionary')
        return flag !== undefined && truthOfData(dataOf(flag))
      }),
    )
  }),
)

function asyncFlag(name: string): TestFunction {
  const test = pureTest(name, [], data => {
    if (!isDict(data)) return raise(`The '${name}' test expects a dictionary`)
    const flag = lookUp(data, name)
    return flag === undefined || equal(dataOf(flag), 1n)
  })
  return ofResult(name, test)
}

function searching(kind: 'match' | 'search'): TestFunction {
  return pureTest(
    kind,
    [
      ['pattern', ''],
      ['ignorecase', false],
      ['multiline', false],
    ],
    (data, [pattern, ignore, multi]) => {
      if (typeof pattern !== 'string') return raise('first argument must be string or compiled pattern')
      const matcher = matcherOf(pattern, {
        ignoreCase: truthOfData(ignore ?? null),
        multiLine: truthOfData(multi ?? null),
      })
      return matcher[kind](strOf(data)) !== null
    },
  )
}

const regexTest: TestFunction = (input, given) => {
  const type = given.named.get('match_type') ?? given.positional[3] ?? known('search')
  const rest = new Map([...given.named].filter(([name]) => name !== 'match_type'))
  const kind = dataOf(type) === 'match' ? 'match' : 'search'
  return searching(kind)(input, { ...given, positional: given.positional.slice(0, 3), named: rest })
}

const version: TestFunction = pure(
  'version',
  ['version', ['operator', 'eq'], ['strict', null], ['version_type', null]],
  (data, [other, operator, strict, type]) => {
    if (strict !== null && type !== null) return raise("Cannot specify both 'strict' and 'version_type'")
    if (!truthOfData(data)) return raise('Input version value cannot be empty')
    if (!truthOfData(other as Data)) return raise('Version parameter to compare against cannot be empty')
    const scheme =
      strict !== null && truthOfData(strict as Data) ? 'strict' : type === null ? 'loose' : strOf(type as Data)
    const result = compareVersions(strOf(data), strOf(other as Data), strOf(operator as Data), scheme)
    return result === undefined ? giveUp(`version_type ${scheme} is not modelled`) : known(result)
  },
)

function subset(part: Data, whole: Data): boolean {
  for (const item of membersOf(whole)) if (!isDict(whole)) mustBeHashable(dataOf(item))
  for (const item of membersOf(part)) mustBeHashable(dataOf(item))
  return membersOf(part).every(item => inSet(whole, dataOf(item)))
}

/** Python builds sets here, so members must be hashable. */
function mustBeHashable(data: Data): void {
  if (isList(data) || isDict(data)) raise(`unhashable type: '${typeName(data)}'`)
}

function inSet(whole: Data, data: Data): boolean {
  return contains(isDict(whole) ? whole : { kind: 'tuple', items: membersOf(whole) }, data)
}

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'yes', 'on', '1', 'true', 't', '1.0'].map(word => [word, true] as const),
  ...['n', 'no', 'off', '0', 'false', 'f', '0.0'].map(word => [word, false] as const),
])

function truthy(data: Data, convert: Data | undefined): boolean {
  if (convert === undefined || !truthOfData(convert)) return truthOfData(data)
  if (typeof data === 'string') return booleanWords.get(data.trim().toLowerCase()) ?? truthOfData(data)
  return truthOfData(data)
}

/** `is`: identity. Small ints, texts, bools and none are one object each; containers only with themselves. */
function sameObject(left: Data, right: Data): boolean {
  if (typeof left === 'object' && left !== null) return left === right
  return typeof left === typeof right && (left === right || (typeof left === 'number' && Object.is(left, right)))
}

/** `defined` and `undefined` alone may look at what is undefined. */
function definedness(wanted: boolean): TestFunction {
  return (input, given) => {
    if (input.kind === 'unknown') return unknown(input.causes)
    if (given.positional.length > 0) return raise('the test takes no argument')
    return known((input.kind !== 'undefined') === wanted)
  }
}

function notAText(data: Data): boolean {
  return isList(data) || isDict(data) || isTuple(data)
}

const tests: TestTable = {
  defined: definedness(true),
  undefined: definedness(false),
  none: ofType('none', data => data === null),
  boolean: ofType('boolean', data => typeof data === 'boolean'),
  true: ofType('true', data => data === true),
  false: ofType('false', data => data === false),
  integer: ofType('integer', data => typeof data === 'bigint'),
  float: ofType('float', data => typeof data === 'number'),
  number: ofType('number', data => isNumber(data)),
  string: ofType('string', data => typeof data === 'string'),
  mapping: ofType('mapping', data => isDict(data)),
  iterable: simple('iterable', data => typeof data === 'string' || notAText(data)),
  sequence: ofType('sequence', data => typeof data === 'string' || notAText(data)),
  callable: ofType('callable', data => typeof data === 'object' && data !== null && 'call' in data, true),
  lower: simple('lower', data => /\p{Ll}/u.test(strOf(data)) && !/\p{Lu}|\p{Lt}/u.test(strOf(data))),
  upper: simple('upper', data => /\p{Lu}/u.test(strOf(data)) && !/\p{Ll}|\p{Lt}/u.test(strOf(data))),
  odd: simple('odd', data => modulo(data, 2n) === 1n),
  even: simple('even', data => modulo(data, 2n) === 0n),
  escaped: ofType('escaped', () => false, true),
  vault_encrypted: simple('vault_encrypted', () => false),
  nan: simple('nan', data => typeof data === 'number' && Number.isNaN(data)),
  any: simple('any', data => anyOf(data, true)),
  all: simple('all', data => !anyOf(data, false)),
  divisibleby: pureTest('divisibleby', ['num'], (data, [by]) => modulo(data, by as Data) === 0n),
  eq: comparing('=='),
  ne: comparing('!='),
  lt: comparing('<'),
  le: comparing('<='),
  gt: comparing('>'),
  ge: comparing('>='),
  in: comparing('in'),
  sameas: (input, given) => {
    // Each use of an undefined name is an object of its own.
    const other = given.positional[0] ?? given.named.get('other')
    if (input.kind === 'undefined' || other?.kind === 'undefined') return known(false)
    return pureTest('sameas', ['other'], (data, [other]) => sameObject(data, other as Data))(input, given)
  },
  contains: (input, given) => {
    const [value] = bind('contains', ['value'], given)
    return compare('in', value as Value, input, given.context.at)
  },
  subset: pureTest('subset', ['b'], (data, [other]) => subset(data, other as Data)),
  superset: pureTest('superset', ['b'], (data, [other]) => subset(other as Data, data)),
  truthy: pureTest('truthy', [['convert_bool', false]], (data, [convert]) => truthy(data, convert)),
  falsy: pureTest('falsy', [['convert_bool', false]], (data, [convert]) => !truthy(data, convert)),
  match: searching('match'),
  search: searching('search'),
  regex: regexTest,
  version,
  failed,
  succeeded,
  changed,
  skipped: flagOf('skipped', 'skipped', false),
  unreachable,
  reachable: negated(unreachable),
  started: asyncFlag('started'),
  finished: asyncFlag('finished'),
  abs: simple('abs', data => strOf(data).startsWith('/')),
  ...addressTests,
}

function modulo(data: Data, by: Data): bigint | number {
  if (!isNumber(data) || !isNumber(by)) return raise('not all arguments converted during string formatting')
  if (typeof data === 'number' || typeof by === 'number') {
    const rest = Number(data) % Number(by)
    return Number.isInteger(rest) ? BigInt(rest) : rest
  }
  const divisor = BigInt(by)
  if (divisor === 0n) return raise('integer division or modulo by zero')
  const rest = BigInt(data) % divisor
  return rest < 0n !== divisor < 0n && rest !== 0n ? rest + divisor : rest
}

/** Whether some member's truth is the wanted one; one that surely is decides whatever the unknown others are. */
function anyOf(data: Data, wanted: boolean): boolean {
  let openMember: Value | null = null
  for (const member of membersOf(data)) {
    if (member.kind === 'unknown') openMember ??= member
    else if (truthOfData(dataOf(member)) === wanted) return true
  }
  if (openMember !== null) dataOf(openMember)
  return false
}

const aliases: Readonly<Record<string, string>> = {
  '==': 'eq',
  equalto: 'eq',
  '!=': 'ne',
  '<': 'lt',
  lessthan: 'lt',
  '<=': 'le',
  '>': 'gt',
  greaterthan: 'gt',
  '>=': 'ge',
  failure: 'failed',
  success: 'succeeded',
  successful: 'succeeded',
  change: 'changed',
  skip: 'skipped',
  version_compare: 'version',
  issubset: 'subset',
  issuperset: 'superset',
  isnan: 'nan',
  is_abs: 'abs',
}

/** Names without the collections that ship them; `a.b.c` of another collection stays as it is. */
export function plainTestName(name: string): string {
  const plain = name.replace(/^(?:ansible\.(?:builtin|legacy|utils|netcommon)|community\.general)\./, '')
  return aliases[plain] ?? plain
}

/** The test of this name, with or without its collection; undefined for one that is not modelled. */
export function testNamed(name: string): TestFunction | undefined {
  const plain = plainTestName(name)
  return Object.hasOwn(tests, plain) ? tests[plain] : undefined
}

/** Every test that is modelled, aliases included. */
export function testNames(): readonly string[] {
  return [...Object.keys(tests), ...Object.keys(aliases)].sort()
}
