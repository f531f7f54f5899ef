import { apply, type Single } from '../../jinja/apply.js'
import { attributeOf, itemOf, sliceOf } from '../../jinja/attributes.js'
import type { Context } from '../../jinja/call.js'
import type { Environment } from '../../jinja/environment.js'
import { applyFilter, applyTest, scopeOf } from '../../jinja/evaluate.js'
import type { Operation } from '../../jinja/observed.js'
import { compare, operate } from '../../jinja/operators.js'
import type { BinaryOperator, Comparator } from '../../jinja/syntax.js'
import { type Callable, type Dict, unknown, type Value } from '../../jinja/value.js'
import type { Span } from '../../source/text.js'
import { LazyDict } from '../../variables/lazy-dict.js'
import type { Identity } from './identity.js'
import { factAt } from './question.js'
import { amounts } from './watched.js'

/** A text, number, truth or null, or a short list of them; own names in it as placeholders. */
type Plain = null | boolean | bigint | number | string | readonly Plain[]

/** An operation on a host's own names, and what it gave. */
interface Guard {
  readonly kind: Operation['kind']
  readonly name: string
  readonly names: readonly string[]
  readonly operands: readonly Operand[]
  readonly result: string
  /** The result where it is no text or number: another host has to come to the very same. */
  readonly same: Value | undefined
}

/** With placeholders for own names; or as it is, where it is the same for all hosts: a mapping, a list of hosts. */
type Operand = { readonly plain: Plain } | { readonly asIs: Value }

/** What a run made of a host's own names and amounts: another host may have its answers only where it comes to the same. */
export interface Guards {
  readonly names: readonly Guard[]
  /** With which numbers a fact was compared, how it stands to them, and whether anything else was made of it. */
  readonly amounts: readonly Amount[]
}

interface Amount {
  readonly fact: string
  readonly thresholds: readonly number[]
  readonly stands: string
  readonly value: string
  readonly exact: boolean
}

/** Longer lists stay as they are: most are those of the hosts of groups. */
const LONGEST = 12

/** Collects guards from what is evaluated while a run is followed. */
export function collectGuards(
  identity: Identity,
  facts: Dict | undefined,
): { readonly told: (operation: Operation) => void; readonly guards: () => Guards } {
  const names = new Map<string, Guard>()
  const own = [...amounts].flatMap(fact => {
    const value = amountOf(facts, fact)
    return value === undefined ? [] : [{ fact, value, thresholds: new Set<number>(), exact: false }]
  })
  return {
    told: ({ kind, name, names: named, operands, result }) => {
      if (own.length > 0) {
        const numbers = operands.map(numberOf)
        for (const each of own) {
          if (!numbers.includes(each.value)) continue
          if (kind === 'comparison') {
            for (const number of numbers) if (number !== undefined) each.thresholds.add(number)
          } else if (kind !== 'filter' || !/^(?:int|float|default|d)$/.test(name)) each.exact = true
        }
      }
      const given = operands.map(each => operandOf(each, identity))
      if (!given.some(({ isOwn }) => isOwn)) return
      // What is kept for a host is asked of it elsewhere.
      if (operands.some(each => each.kind === 'known' && each.data instanceof LazyDict)) return
      const key = `${kind} ${name} ${named.join(' ')} ${given.map(each => keyOf(each.operand)).join(' ')}`
      if (names.has(key)) return
      const same = plainOf(result) === undefined && result.kind === 'known' ? result : undefined
      const guarded = given.map(({ operand }) => operand)
      names.set(key, { kind, name, names: named, operands: guarded, result: resultText(result, identity), same })
    },
    guards: () => ({
      names: [...names.values()],
      amounts: own.map(({ fact, value, thresholds, exact }) => {
        const sorted = [...thresholds].filter(each => each !== value).sort((left, right) => left - right)
        return { fact, thresholds: sorted, stands: stands(value, sorted), value: String(value), exact }
      }),
    }),
  }
}

/** Whether a run comes to the same with the names and amounts of another host. */
export function guardsHold({ names, amounts }: Guards, identity: Identity, facts: Dict | undefined): boolean {
  const sameAmounts = amounts.every(({ fact, thresholds, stands: before, value: exactly, exact }) => {
    const value = amountOf(facts, fact)
    if (value === undefined) return false
    return exact ? String(value) === exactly : stands(value, thresholds) === before
  })
  if (!sameAmounts) return false
  return names.every(guard => {
    const values = guard.operands.map(each =>
      'plain' in each ? plainValue(mapTexts(each.plain, identity.unmask)) : each.asIs,
    )
    const result = again(guard, values)
    if (guard.same !== undefined) return result.kind === 'known' && dataOf(result) === dataOf(guard.same)
    return result !== NEVER && resultText(result, identity) === guard.result
  })
}

/** Of what cannot be done again. */
const NEVER: Value = unknown([])

/** A list with a name of the host's own in it is one of hosts: it stays as it is, and so does what is no text or number. */
function operandOf(value: Value, identity: Identity): { readonly operand: Operand; readonly isOwn: boolean } {
  const plain = plainOf(value)
  if (plain === undefined || (Array.isArray(plain) && plain.some(each => isHostName(each, identity))))
    return { operand: { asIs: value }, isOwn: false }
  const masked = mapTexts(plain, identity.mask)
  return { operand: { plain: masked }, isOwn: textOf(masked) !== textOf(plain) }
}

function isHostName(plain: Plain, { values }: Identity): boolean {
  return typeof plain === 'string' && [values.get('⟦name⟧'), values.get('⟦short name⟧')].includes(plain)
}

/** Objects have no text: each is told apart by a number of its own. */
function keyOf(operand: Operand): string {
  if ('plain' in operand) return textOf(operand.plain)
  const data = operand.asIs.kind === 'known' ? operand.asIs.data : undefined
  if (typeof data !== 'object' || data === null) return operand.asIs.kind
  const number = numbers.get(data) ?? ++numbered
  numbers.set(data, number)
  return `#${number}`
}

const numbers = new WeakMap<object, number>()
let numbered = 0

function dataOf(value: Value): unknown {
  return value.kind === 'known' ? value.data : undefined
}

/** Does an operation again with other operands. */
function again({ kind, name, names }: Guard, operands: readonly Value[]): Value {
  const [first, second] = operands as readonly [Value, Value]
  const places = operands.length - names.length
  const positional = operands.slice(1, places)
  const named = new Map(names.map((each, index) => [each, operands[places + index] as Value]))
  switch (kind) {
    case 'comparison':
      return compare(name as Comparator, first, second, nowhere)
    case 'operator':
      return operate(name as BinaryOperator, first, second, nowhere)
    case 'filter':
      return applyFilter(name, first, positional, named, alone)
    case 'test':
      return applyTest(name, first, positional, named, alone)
    case 'item':
      return apply(operands, nowhere, ([of, key]) => itemOf(of as Single, key as Single, nowhere))
    case 'lookup':
      return NEVER
    case 'slice':
      return apply(operands, nowhere, ([of, ...bounds]) => sliceOf(of as Single, bounds as readonly Single[], nowhere))
    case 'method': {
      const method = attributeOf(first as Single, name, nowhere)
      if (method.kind !== 'known') return method
      return apply(operands, nowhere, () => (method.data as Callable).call(positional, named, nowhere))
    }
  }
}

function amountOf(facts: Dict | undefined, fact: string): number | undefined {
  const value = factAt(facts, [fact])
  return value === undefined ? undefined : numberOf(value)
}

function numberOf(value: Value): number | undefined {
  if (value.kind !== 'known') return undefined
  return typeof value.data === 'bigint' || typeof value.data === 'number' ? Number(value.data) : undefined
}

/** On which side of each number a value lies. */
function stands(value: number, thresholds: readonly number[]): string {
  return thresholds.map(each => Math.sign(value - each)).join(' ')
}

function plainOf(value: Value): Plain | undefined {
  if (value.kind !== 'known') return undefined
  const { data } = value
  if (data === null || typeof data !== 'object') return data
  if (!Array.isArray(data) || data.length > LONGEST) return undefined
  const items = (data as readonly Value[]).map(plainOf)
  return items.every(item => item !== undefined) ? items : undefined
}

function mapTexts(plain: Plain, change: (text: string) => string): Plain {
  if (typeof plain === 'string') return change(plain)
  return Array.isArray(plain) ? plain.map((each: Plain) => mapTexts(each, change)) : plain
}

function plainValue(plain: Plain): Value {
  return { kind: 'known', data: Array.isArray(plain) ? plain.map(plainValue) : (plain as string) }
}

function textOf(plain: Plain): string {
  return JSON.stringify(plain, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
}

function resultText(result: Value, { mask }: Identity): string {
  const plain = plainOf(result)
  if (plain !== undefined) return textOf(mapTexts(plain, mask))
  return result.kind === 'failure' || result.kind === 'undefined' ? `${result.kind} ${mask(result.says)}` : result.kind
}

const nowhere: Span = { file: { path: '', text: '' }, start: 0, end: 0 }

/** An operation on plain values needs nothing around it. */
const nothing: Environment = {
  variable: name => ({ kind: 'undefined', says: `'${name}' is undefined`, at: nowhere }),
  variableNames: () => [],
  lookup: () => undefined,
  template: (_text, at) => unknown([{ says: 'nothing is templated here', at }]),
  readYaml: (_text, at) => unknown([{ says: 'nothing is read here', at }]),
}

const alone: Context = scopeOf(nothing, nowhere).context
