import { type FilterTable, pure } from '../call.js'
import { giveUp, isNumber, raise, strOf, truthOfData, typeName } from '../python.js'
import type { Data } from '../value.js'
import { known } from '../value.js'

function numberOf(data: Data | undefined, what: string): number {
  return data !== undefined && isNumber(data) ? Number(data) : raise(`${what} can only be used on numbers`)
}

const baseDigits = (base: number): RegExp => {
  const last = base <= 10 ? `0-${base - 1}` : `0-9a-${String.fromCharCode(86 + base)}`
  return new RegExp(`^[${last}]+(?:_[${last}]+)*$`, 'i')
}
const prefixes: Readonly<Record<number, RegExp>> = { 16: /^0x_?/i, 8: /^0o_?/i, 2: /^0b_?/i }

/** Python's `int(text, base)`; undefined where it raises ValueError. */
export function parseInteger(text: string, base: number): bigint | undefined {
  const trimmed = text.trim()
  const sign = /^[-+]/.exec(trimmed)?.[0] ?? ''
  let digits = trimmed.slice(sign.length)
  let radix = base
  if (base === 0) {
    const known = [16, 8, 2].find(candidate => (prefixes[candidate] as RegExp).test(digits))
    if (known === undefined && /^0[\d_]*[1-9]/.test(digits)) return undefined
    radix = known ?? 10
  }
  const prefix = prefixes[radix]
  if (prefix?.test(digits)) digits = digits.replace(prefix, '')
  if (radix < 2 || radix > 36 || !baseDigits(radix).test(digits)) return undefined
  const plain = digits.replaceAll('_', '').toLowerCase()
  let value = 0n
  if (radix === 10) value = BigInt(plain)
  else if (plain.length > 2000) return giveUp('a number this long is not read')
  else for (const digit of plain) value = value * BigInt(radix) + BigInt(Number.parseInt(digit, radix))
  return sign === '-' ? -value : value
}

/** Python's `float(text)`; undefined where it raises ValueError. */
export function parseFloatText(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  if (/^[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+(?:_\d+)*)?$/.test(trimmed)) {
    return Number(trimmed.replaceAll('_', ''))
  }
  if (/^[-+]?(?:inf|infinity)$/.test(trimmed)) return trimmed.startsWith('-') ? -Infinity : Infinity
  return /^[-+]?nan$/.test(trimmed) ? Number.NaN : undefined
}

function toInteger(data: Data, fallback: Data, base: number): Data {
  if (typeof data === 'string') {
    const whole = parseInteger(data, base)
    if (whole !== undefined) return whole
    const real = parseFloatText(data)
    return real !== undefined && Number.isFinite(real) ? BigInt(Math.trunc(real)) : fallback
  }
  if (typeof data === 'boolean') return data ? 1n : 0n
  if (typeof data === 'bigint') return data
  if (typeof data === 'number') return Number.isFinite(data) ? BigInt(Math.trunc(data)) : fallback
  return fallback
}

function roundHalfEven(value: number, digits: number): number {
  if (digits === 0) {
    const floor = Math.floor(value)
    const rest = value - floor
    if (rest !== 0.5) return Math.round(value)
    return floor % 2 === 0 ? floor : floor + 1
  }
  if (digits > 0 && digits <= 20 && Math.abs(value) < 1e15) return Number(value.toFixed(digits))
  return giveUp('this rounding is not modelled')
}

const units: readonly (readonly [string, number])[] = [
  ['Y', 2 ** 80],
  ['Z', 2 ** 70],
  ['E', 2 ** 60],
  ['P', 2 ** 50],
  ['T', 2 ** 40],
  ['G', 2 ** 30],
  ['M', 2 ** 20],
  ['K', 2 ** 10],
  ['B', 1],
]

function humanToBytes(text: string, defaultUnit: Data, isBits: Data): bigint {
  const match = /^\s*(\d*\.?\d*)\s*([A-Za-z]+)?/.exec(text)
  if (match === null || (match[1] ?? '') === '')
    return raise(`human_to_bytes() can't interpret following string: ${text}`)
  const unit = match[2] ?? (defaultUnit === null ? undefined : strOf(defaultUnit))
  if (unit === undefined) return BigInt(roundHalfEven(Number(match[1]), 0))
  const scale = units.find(([letter]) => letter === unit[0]?.toUpperCase())?.[1]
  if (scale === undefined) return raise(`human_to_bytes() failed to convert ${text}`)
  const rest = unit.slice(1)
  const long = truthOfData(isBits) ? /^(?:b|bits?)?$/i : /^(?:B|bytes?)?$/
  if (unit.length > 1 && !long.test(rest)) return raise(`human_to_bytes() failed to convert ${text}`)
  return BigInt(roundHalfEven(Number(match[1]) * scale, 0))
}

export const numberFilters: FilterTable = {
  int: pure(
    'int',
    [
      ['default', 0n],
      ['base', 10n],
    ],
    (data, [fallback, base]) => known(toInteger(data, fallback as Data, typeof base === 'bigint' ? Number(base) : 10)),
  ),
  float: pure('float', [['default', 0]], (data, [fallback]) => {
    const value = typeof data === 'string' ? parseFloatText(data) : isNumber(data) ? Number(data) : undefined
    return known(value ?? (fallback as Data))
  }),
  abs: pure('abs', [], data => {
    if (typeof data === 'number') return known(Math.abs(data))
    if (!isNumber(data)) return raise(`bad operand type for abs(): '${typeName(data)}'`)
    const whole = BigInt(data)
    return known(whole < 0n ? -whole : whole)
  }),
  round: pure(
    'round',
    [
      ['precision', 0n],
      ['method', 'common'],
    ],
    (data, [precision, method]) => {
      const digits = numberOf(precision, 'round')
      const value = numberOf(data, 'round')
      if (method === 'common') {
        if (typeof data === 'bigint' || typeof data === 'boolean')
          return digits >= 0 ? known(BigInt(data)) : giveUp('this rounding is not modelled')
        return known(roundHalfEven(value, digits))
      }
      if (method !== 'ceil' && method !== 'floor') return raise('method must be common, ceil or floor')
      // Python rounds to an int first, which has no negative zero.
      return known((Math[method](value * 10 ** digits) + 0) / 10 ** digits)
    },
  ),
  log: pure('log', [['base', Math.E]], (data, [base]) => {
    const value = numberOf(data, 'log()')
    if (value <= 0) return raise('math domain error')
    const of = numberOf(base, 'log()')
    return known(of === 10 ? Math.log10(value) : of === Math.E ? Math.log(value) : Math.log(value) / Math.log(of))
  }),
  pow: pure('pow', ['y'], (data, [by]) => known(numberOf(data, 'pow()') ** numberOf(by, 'pow()'))),
  root: pure('root', [['base', 2n]], (data, [base]) => {
    const by = numberOf(base, 'root()')
    return known(by === 2 ? Math.sqrt(numberOf(data, 'root()')) : numberOf(data, 'root()') ** (1 / by))
  }),
  human_to_bytes: pure(
    'human_to_bytes',
    [
      ['default_unit', null],
      ['isbits', false],
    ],
    (data, [unit, bits]) => known(humanToBytes(strOf(data), unit as Data, bits as Data)),
  ),
  human_readable: pure(
    'human_readable',
    [
      ['isbits', false],
      ['unit', null],
    ],
    (data, [bits, unit]) => {
      const size = numberOf(data, 'human_readable()')
      const wanted = unit === null ? undefined : strOf(unit as Data).toUpperCase()
      const found =
        units.find(([letter, limit]) => (wanted === undefined ? size >= limit : letter === wanted)) ??
        (['B', 1] as const)
      const base = truthOfData(bits as Data) ? 'bits' : 'Bytes'
      const suffix = found[1] === 1 ? base : (found[0] as string) + (truthOfData(bits as Data) ? 'b' : 'B')
      return known(`${(size / found[1]).toFixed(2)} ${suffix}`)
    },
  ),
}
