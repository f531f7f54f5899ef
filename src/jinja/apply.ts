import type { Span } from '../source/text.js'
import { failureOf, leniency, Raised, Split, Unresolved, unknownOf } from './python.js'
import type { Cause, Data, Failure, Known, OneOf, Option, Undefined, Unknown, Value } from './value.js'
import { failure, known, mergeCauses, unknown } from './value.js'

/** A value that is not a choice between alternatives. */
export type Single = Known | Undefined | Unknown | Failure

/** More alternatives than this are no longer told apart. */
export const optionLimit = 16

/**
 * Applies a pure function to operands. Alternatives among the operands distribute (each combination is worked out,
 * equal results merge); a failing operand fails the whole. The function sees known, undefined and unknown operands;
 * what it raises becomes a Failure, and an unknown member it needs makes the result Unknown.
 */
export function apply(operands: readonly Value[], at: Span, work: (operands: readonly Single[]) => Value): Value {
  const choices = operands.filter(operand => operand.kind === 'one-of')
  if (choices.length > 0) return distribute(operands, choices, at, work)
  const singles = operands as readonly Single[]
  const failed = singles.find(operand => operand.kind === 'failure')
  if (failed !== undefined) return failed
  return attempt(singles, at, work)
}

/** Like `apply` for functions of data alone: an undefined operand fails as in Ansible, an unknown one gives Unknown. */
export function applyToData(operands: readonly Value[], at: Span, work: (data: readonly Data[]) => Value): Value {
  return apply(operands, at, singles => {
    const data: Data[] = []
    const causes: Cause[] = []
    for (const single of singles) {
      if (single.kind === 'undefined') {
        if (single.lenient === true) return unknown([{ says: leniency, at }])
        return failure(single.says, at, true)
      }
      if (single.kind === 'unknown') causes.push(...single.causes)
      else if (single.kind === 'known') data.push(single.data)
    }
    return causes.length > 0 ? unknown(causes) : work(data)
  })
}

function attempt(singles: readonly Single[], at: Span, work: (operands: readonly Single[]) => Value): Value {
  try {
    return work(singles)
  } catch (error) {
    if (error instanceof Unresolved) return unknownOf(error, at)
    if (error instanceof Raised) return failureOf(error, at) as Failure
    if (error instanceof Split) return splitOn(error.on, singles, at, work)
    throw error
  }
}

function combinations(choices: readonly OneOf[]): number {
  return choices.reduce((count, choice) => count * choice.options.length, 1)
}

function causesOf(choices: readonly OneOf[]): readonly Cause[] {
  return mergeCauses(
    choices.flatMap(choice =>
      choice.options.flatMap(option =>
        option.value.kind === 'unknown' ? [...option.because, ...option.value.causes] : option.because,
      ),
    ),
  )
}

function distribute(
  operands: readonly Value[],
  choices: readonly OneOf[],
  at: Span,
  work: (operands: readonly Single[]) => Value,
): Value {
  // Too many to tell apart: what does not depend on the choices is still kept.
  if (combinations(choices) > optionLimit) {
    return apply(
      operands.map(operand => (operand.kind === 'one-of' ? withoutChoice(operand) : operand)),
      at,
      work,
    )
  }
  let rows: { operands: readonly Single[]; because: readonly Cause[] }[] = [{ operands: [], because: [] }]
  for (const operand of operands) {
    rows =
      operand.kind === 'one-of'
        ? rows.flatMap(row =>
            operand.options.map(option => ({
              operands: [...row.operands, option.value],
              because: [...row.because, ...option.because],
            })),
          )
        : rows.map(row => ({ operands: [...row.operands, operand], because: row.because }))
  }
  return alternatives(rows.map(row => ({ value: apply(row.operands, at, work), because: row.because })))
}

/** A member deep inside an operand has alternatives: the operand is taken apart into one operand per alternative. */
function splitOn(
  choice: OneOf,
  singles: readonly Single[],
  at: Span,
  work: (operands: readonly Single[]) => Value,
): Value {
  let found = false
  const spread = singles.map(single => {
    const variants = choice.options.map(option => replaceIn(single, choice, option.value))
    if (variants.every(variant => variant === single)) return single
    found = true
    return {
      kind: 'one-of',
      options: choice.options.map((option, index) => ({
        value: variants[index] as Single,
        because: option.because,
      })),
    } satisfies OneOf
  })
  // The choice came from elsewhere (a variable the function looked up): its alternatives cannot be put in.
  if (!found) return unknown(causesOf([choice]))
  return apply(spread, at, work)
}

function replaceIn(value: Single, choice: OneOf, by: Value): Single {
  if (value.kind !== 'known' || typeof value.data !== 'object' || value.data === null) return value
  const swap = (inner: Value): Value =>
    inner === choice ? by : inner.kind === 'known' ? replaceIn(inner, choice, by) : inner
  const { data } = value
  if (Array.isArray(data)) {
    const items = data.map(swap)
    return items.every((item, index) => item === data[index]) ? value : known(items)
  }
  if (data instanceof Map) {
    let changed = false
    const entries = [...data].map(([key, inner]) => {
      const swapped = swap(inner)
      if (swapped !== inner) changed = true
      return [key, swapped] as const
    })
    return changed ? known(new Map(entries)) : value
  }
  if ('kind' in data && data.kind === 'tuple') {
    const items = data.items.map(swap)
    return items.every((item, index) => item === data.items[index]) ? value : known({ ...data, items })
  }
  return value
}

/**
 * One value out of alternatives: equal ones merge, a single one that is left stands for itself, and too many (or only
 * unknown ones) become Unknown.
 */
export function alternatives(options: readonly { value: Value; because: readonly Cause[] }[]): Value {
  const flat: Option[] = []
  for (const { value, because } of options) {
    const inner: readonly Option[] =
      value.kind === 'one-of'
        ? value.options.map(option => ({ value: option.value, because: [...because, ...option.because] }))
        : [{ value, because }]
    for (const option of inner) {
      const index = flat.findIndex(other => same(other.value, option.value))
      const other = flat[index]
      if (other === undefined) flat.push({ value: option.value, because: mergeCauses(option.because) })
      else flat[index] = { value: other.value, because: mergeCauses([...other.because, ...option.because]) }
    }
  }
  const [first] = flat
  if (first === undefined) throw new Error('alternatives of nothing')
  if (flat.length === 1) return first.value
  if (flat.length > optionLimit || flat.every(option => option.value.kind === 'unknown')) {
    return withoutChoice({ kind: 'one-of', options: flat })
  }
  return { kind: 'one-of', options: flat }
}

/** Alternatives as one open value: of texts, what all of them begin and end with stays known. */
export function withoutChoice(choice: OneOf): Unknown {
  return unknown(causesOf([choice]), commonPieces(choice.options))
}

/**
 * What texts of which pieces are known have in common at both ends; undefined where one is no text, or nothing is. An open
 * piece between known ones is taken for part of their line, so texts of several lines have none.
 */
function commonPieces(options: readonly Option[]): readonly (string | null)[] | undefined {
  const texts: (readonly (string | null)[])[] = []
  for (const { value } of options) {
    if (value.kind === 'known' && typeof value.data === 'string') texts.push([value.data])
    else if (value.kind === 'unknown' && value.text !== undefined) texts.push(value.text)
    else return undefined
  }
  const [first, ...others] = texts
  if (first === undefined || texts.some(pieces => pieces.some(piece => piece?.includes('\n')))) return undefined
  if (others.every(other => isSamePieces(first, other))) return first
  const start = commonPiecesFrom(texts, commonStart)
  // What stands at the start is not taken for the end of a short text once more.
  const rest = texts.map(pieces => dropped(pieces, start))
  const end = commonPiecesFrom(
    rest.map(pieces => pieces.toReversed()),
    commonEnd,
  ).toReversed()
  const pieces = [...start, null, ...end]
  return pieces.length > 1 ? pieces : undefined
}

function isSamePieces(left: readonly (string | null)[], right: readonly (string | null)[]): boolean {
  return left.length === right.length && left.every((piece, index) => piece === right[index])
}

/** The pieces all begin with, the last as far as `common` says that it is the same. */
function commonPiecesFrom(
  texts: readonly (readonly (string | null)[])[],
  common: (pieces: readonly string[]) => string,
): readonly (string | null)[] {
  const [first = []] = texts
  let count = 0
  while (count < first.length && texts.every(pieces => pieces.length > count && pieces[count] === first[count])) count++
  const kept = first.slice(0, count)
  const next = texts.map(pieces => pieces[count] ?? '')
  const shared = common(next)
  const all = shared === '' ? kept : [...kept, shared]
  return all.filter((piece, index) => piece !== null || index < all.length - 1)
}

/** The pieces without those at the start, the last of which may be only the start of one. */
function dropped(pieces: readonly (string | null)[], start: readonly (string | null)[]): readonly (string | null)[] {
  const last = start.length - 1
  const rest = pieces.slice(Math.max(last, 0))
  const [first, ...others] = rest
  if (last < 0 || typeof first !== 'string') return rest
  return [first.slice(start[last]?.length), ...others]
}

function commonStart([first = '', ...others]: readonly string[]): string {
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}

function commonEnd([first = '', ...others]: readonly string[]): string {
  let from = 0
  for (const other of others) while (!other.endsWith(first.slice(from))) from++
  return first.slice(from)
}

/** Whether two values are surely the same in every way that can be seen (`1`, `1.0` and `true` are not). */
export function same(left: Value, right: Value): boolean {
  if (left === right) return true
  switch (left.kind) {
    case 'known':
      return (
        right.kind === 'known' &&
        left.protected === right.protected &&
        left.templated === right.templated &&
        sameData(left.data, right.data)
      )
    case 'undefined':
      return right.kind === 'undefined' && left.lenient === right.lenient
    case 'failure':
      return right.kind === 'failure' && left.undefined === right.undefined && left.says === right.says
    case 'unknown':
      return (
        right.kind === 'unknown' &&
        left.text === undefined &&
        right.text === undefined &&
        sameCauses(left.causes, right.causes)
      )
    case 'one-of':
      return (
        right.kind === 'one-of' &&
        left.options.length === right.options.length &&
        left.options.every((option, index) => same(option.value, (right.options[index] as Option).value))
      )
  }
}

function sameCauses(left: readonly Cause[], right: readonly Cause[]): boolean {
  return (
    left.length === right.length &&
    left.every((cause, index) => cause.says === right[index]?.says && cause.name === right[index]?.name)
  )
}

function sameData(left: Data, right: Data): boolean {
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null) {
    return Object.is(left, right)
  }
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => same(item, right[index]))
  }
  if (left instanceof Map) {
    if (!(right instanceof Map) || left.size !== right.size) return false
    const other = [...right]
    return [...left].every(([key, value], index) => {
      const entry = other[index] as [unknown, Value]
      return Object.is(entry[0], key) && same(value, entry[1])
    })
  }
  if ('kind' in left && left.kind === 'tuple' && 'kind' in right && right.kind === 'tuple') {
    return left.view === right.view && sameData(left.items, right.items)
  }
  return left === right
}
