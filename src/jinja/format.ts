import {
  charactersOf,
  checkSize,
  dataOf,
  floatText,
  giveUp,
  isDict,
  isTuple,
  lookUp,
  raise,
  reprOf,
  strOf,
  typeName,
} from './python.js'
import type { Data } from './value.js'

const directive = /%(?:\(([^)]*)\))?([-#0 +]*)(\*|\d+)?(?:\.(\*|\d+))?[hlL]?(.)?/gs

/** Python's `text % data`: a tuple gives the values in order, a dict by name, anything else is the only value. */
export function formatPercent(text: string, data: Data): string {
  const values = isTuple(data) && data.view === undefined ? data.items.map(dataOf) : [data]
  let used = 0
  let named = false
  const take = (): Data => {
    if (used >= values.length) return raise('not enough arguments for format string')
    return values[used++] as Data
  }
  const result = text.replace(
    directive,
    (_all, name: string | undefined, flags: string, widthText, precisionText, kind) => {
      if (kind === undefined) return raise('incomplete format')
      if (kind === '%') return '%'
      const width = widthText === '*' ? Number(dataNumber(take())) : Number(widthText ?? 0)
      const precision =
        precisionText === '*' ? Number(dataNumber(take())) : precisionText === undefined ? null : Number(precisionText)
      checkSize(width)
      checkSize(precision ?? 0)
      let value: Data
      if (name === undefined) value = take()
      else {
        if (!isDict(data)) return raise('format requires a mapping')
        named = true
        const member = lookUp(data, name)
        if (member === undefined) return raise(`'${name}'`)
        value = dataOf(member)
      }
      return pad(formatOne(kind, flags, precision, value), flags, width, 'diufFeEgGxXo'.includes(kind))
    },
  )
  if (!named && used < values.length && !isDict(data) && !Array.isArray(data)) {
    return raise('not all arguments converted during string formatting')
  }
  return result
}

function dataNumber(data: Data): bigint {
  return typeof data === 'bigint' ? data : raise('* wants int')
}

function formatOne(kind: string, flags: string, precision: number | null, value: Data): string {
  switch (kind) {
    case 's':
    case 'r':
    case 'a': {
      const text = kind === 's' ? strOf(value) : reprOf(value)
      return precision === null ? text : charactersOf(text).slice(0, precision).join('')
    }
    case 'c':
      return typeof value === 'string' ? value : String.fromCodePoint(Number(dataNumber(value)))
    case 'd':
    case 'i':
    case 'u': {
      const whole =
        typeof value === 'boolean' ? (value ? 1n : 0n) : typeof value === 'number' ? BigInt(Math.trunc(value)) : value
      if (typeof whole !== 'bigint') return raise(`%${kind} format: a real number is required, not ${typeName(value)}`)
      return signed(whole < 0n, String(whole < 0n ? -whole : whole).padStart(precision ?? 0, '0'), flags)
    }
    case 'x':
    case 'X':
    case 'o': {
      const whole = typeof value === 'boolean' ? (value ? 1n : 0n) : value
      if (typeof whole !== 'bigint') return raise(`%${kind} format: an integer is required, not ${typeName(value)}`)
      const digits = (whole < 0n ? -whole : whole).toString(kind === 'o' ? 8 : 16).padStart(precision ?? 0, '0')
      const prefixed = flags.includes('#') ? `0${kind}${digits}` : digits
      return signed(whole < 0n, kind === 'X' ? prefixed.toUpperCase() : prefixed, flags)
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G': {
      const number = typeof value === 'bigint' || typeof value === 'boolean' ? Number(value) : value
      if (typeof number !== 'number') return raise(`must be real number, not ${typeName(value)}`)
      if (!Number.isFinite(number)) return signed(number < 0, floatText(Math.abs(number)), flags)
      const text = realText(kind.toLowerCase(), Math.abs(number), precision ?? 6)
      return signed(number < 0 || Object.is(number, -0), kind === kind.toUpperCase() ? text.toUpperCase() : text, flags)
    }
    default:
      return raise(`unsupported format character '${kind}'`)
  }
}

function realText(kind: string, value: number, precision: number): string {
  if (precision > 100 || value >= 1e21) return giveUp('a number this long is not formatted')
  if (kind === 'f') return value.toFixed(precision)
  if (kind === 'e') return exponentText(value.toExponential(precision))
  const digits = Math.max(precision, 1)
  const exponent = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1])
  const text =
    exponent < -4 || exponent >= digits
      ? value.toExponential(digits - 1)
      : value.toFixed(Math.max(digits - 1 - exponent, 0))
  const [mantissa = '', power] = text.split('e')
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa
  return power === undefined ? short : exponentText(`${short}e${power}`)
}

function exponentText(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

function signed(negative: boolean, digits: string, flags: string): string {
  if (negative) return `-${digits}`
  return flags.includes('+') ? `+${digits}` : flags.includes(' ') ? ` ${digits}` : digits
}

function pad(text: string, flags: string, width: number, isNumeric: boolean): string {
  if (text.length >= width) return text
  if (flags.includes('-')) return text.padEnd(width)
  if (flags.includes('0') && isNumeric) {
    const sign = /^[-+ ]?(?:0[xXo])?/.exec(text)?.[0] ?? ''
    return sign + text.slice(sign.length).padStart(width - sign.length, '0')
  }
  return text.padStart(width)
}

const field = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g

/** Python's `text.format(…)`, with format specs for width, alignment, zero padding and precision. */
export function formatBraces(text: string, positional: readonly Data[], named: ReadonlyMap<string, Data>): string {
  let automatic = 0
  return text.replace(
    field,
    (all, path: string | undefined, conversion: string | undefined, spec: string | undefined) => {
      if (all === '{{') return '{'
      if (all === '}}') return '}'
      if (path === undefined) return raise("Single '{' or '}' encountered in format string")
      if (/[.[]/.test(path)) return giveUp('attributes in a format string are not modelled')
      let value: Data | undefined
      if (path === '') value = positional[automatic++]
      else if (/^\d+$/.test(path)) value = positional[Number(path)]
      else value = named.get(path)
      if (value === undefined) return raise(`Replacement index ${path || automatic - 1} out of range`)
      const shown: Data = conversion === 'r' ? reprOf(value) : conversion === 's' ? strOf(value) : value
      return spec === undefined || spec === '' ? strOf(shown) : formatSpec(shown, spec)
    },
  )
}

function formatSpec(value: Data, spec: string): string {
  const match = /^(?:(.)?([<>^]))?([-+ ]?)(0?)(\d*)(?:\.(\d+))?([a-zA-Z%]?)$/s.exec(spec)
  if (match === null) return giveUp(`the format spec ${spec} is not modelled`)
  const [, fill = ' ', align, plus = '', zero, width = '', precision, kind = ''] = match
  const isNumeric = typeof value === 'bigint' || typeof value === 'number'
  if (kind !== '' && !'sdxXofeg'.includes(kind)) return giveUp(`the format spec ${spec} is not modelled`)
  if (!isNumeric && typeof value !== 'string') return giveUp(`the format spec ${spec} is not modelled here`)
  if (typeof value === 'number' && kind === '' && precision !== undefined) {
    return giveUp(`the format spec ${spec} is not modelled`)
  }
  const text =
    kind === '' && isNumeric
      ? signed(value < 0, strOf(value < 0 ? -value : value), plus)
      : formatOne(kind === '' ? 's' : kind, plus, precision === undefined ? null : Number(precision), value)
  const size = Number(width)
  checkSize(size)
  if (zero === '0' && align === undefined) return pad(text, '0', size, true)
  const side = align ?? (isNumeric ? '>' : '<')
  if (side === '<') return text.padEnd(size, fill)
  if (side === '>') return text.padStart(size, fill)
  const left = Math.floor((size - text.length) / 2)
  return text.padStart(text.length + Math.max(left, 0), fill).padEnd(size, fill)
}
