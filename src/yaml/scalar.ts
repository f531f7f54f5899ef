import type { ScalarData } from './node.js'

/** The tags of YAML 1.1 a plain scalar can resolve to. */
export type PlainTag = 'null' | 'bool' | 'int' | 'float' | 'timestamp' | 'merge' | 'value' | 'str'

/** What a scalar stands for, or why PyYAML refuses it although its form looked right. */
export type ScalarReading = { readonly data: ScalarData } | { readonly refused: string }

/** Python refuses to turn longer decimal texts into an int; the same bound keeps any number cheap here. */
const maxNumberLength = 4300

const boolForm = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/
const nullForm = /^(?:~|null|Null|NULL|)$/
const intForm =
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/
const floatForm =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const dateForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/
const timeForm =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?$/

/**
 * The YAML 1.1 tag PyYAML's resolver gives a plain scalar with this text; a text that resolves to anything but `str`
 * has to be quoted to stay text. Rule: the implicit resolvers of YAML 1.1 in PyYAML's narrower forms (`y` and `1e3` are text).
 */
export function plainTagOf(text: string): PlainTag {
  switch (text.charCodeAt(0)) {
    case 0x3c: // <
      return text === '<<' ? 'merge' : 'str'
    case 0x3d: // =
      return text === '=' ? 'value' : 'str'
    case 0x7e: // ~
      return text === '~' ? 'null' : 'str'
    case 0x4e: // N
    case 0x6e: // n
      if (nullForm.test(text)) return 'null'
      return boolForm.test(text) ? 'bool' : 'str'
    case 0x46: // F
    case 0x4f: // O
    case 0x54: // T
    case 0x59: // Y
    case 0x66: // f
    case 0x6f: // o
    case 0x74: // t
    case 0x79: // y
      return boolForm.test(text) ? 'bool' : 'str'
    case 0x2b: // +
    case 0x2d: // -
    case 0x2e: // .
      return numberTagOf(text)
    default: {
      if (text === '') return 'null'
      const first = text.charCodeAt(0)
      if (first < 0x30 || first > 0x39) return 'str'
      if (dateForm.test(text) || (text.includes(':') && timeForm.test(text))) return 'timestamp'
      return numberTagOf(text)
    }
  }
}

function numberTagOf(text: string): PlainTag {
  if (floatForm.test(text)) return 'float'
  return intForm.test(text) ? 'int' : 'str'
}

/** The value of a scalar under a tag of YAML 1.1, as PyYAML's safe constructor makes it. Dates stay their source text. */
export function scalarUnder(tag: 'null' | 'bool' | 'int' | 'float' | 'timestamp' | 'str', text: string): ScalarReading {
  switch (tag) {
    case 'null':
      return { data: null }
    case 'bool':
      return boolUnder(text)
    case 'int':
      return intUnder(text)
    case 'float':
      return floatUnder(text)
    case 'timestamp':
      return timestampUnder(text)
    case 'str':
      return { data: text }
  }
}

const boolWords: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['no', false],
  ['true', true],
  ['false', false],
  ['on', true],
  ['off', false],
])

function boolUnder(text: string): ScalarReading {
  const data = boolWords.get(text.toLowerCase())
  return data === undefined ? { refused: `${quoted(text)} is not a boolean` } : { data }
}

function intUnder(text: string): ScalarReading {
  const refused: ScalarReading = { refused: `${quoted(text)} is not an integer` }
  if (text.length > maxNumberLength) return { refused: 'an integer this long is not read' }
  const { negative, digits } = withoutSign(text.replaceAll('_', ''))
  const magnitude = magnitudeOf(digits)
  if (magnitude === undefined) return refused
  return { data: negative ? -magnitude : magnitude }
}

function magnitudeOf(digits: string): bigint | undefined {
  if (digits.startsWith('0b')) return /^0b[01]+$/.test(digits) ? BigInt(digits) : undefined
  if (digits.startsWith('0x')) return /^0x[0-9a-fA-F]+$/.test(digits) ? BigInt(digits) : undefined
  if (/^0[0-7]*$/.test(digits)) return BigInt(`0o${digits}`)
  if (/^[1-9][0-9]*$/.test(digits)) return BigInt(digits)
  if (!/^[1-9][0-9]*(?::[0-9]+)+$/.test(digits)) return undefined
  return digits.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n)
}

function floatUnder(text: string): ScalarReading {
  if (text.length > maxNumberLength) return { refused: 'a number this long is not read' }
  const { negative, digits } = withoutSign(text.replaceAll('_', '').toLowerCase())
  const magnitude = floatMagnitudeOf(digits)
  if (magnitude === undefined) return { refused: `${quoted(text)} is not a number` }
  return { data: negative ? -magnitude : magnitude }
}

function floatMagnitudeOf(digits: string): number | undefined {
  if (digits === '.inf') return Number.POSITIVE_INFINITY
  if (digits === '.nan') return Number.NaN
  const parts = digits.split(':')
  if (!parts.every(part => /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$/.test(part))) return undefined
  return parts.reduce((sum, part) => sum * 60 + Number(part), 0)
}

function withoutSign(text: string): { negative: boolean; digits: string } {
  const signed = text.startsWith('-') || text.startsWith('+')
  return { negative: text.startsWith('-'), digits: signed ? text.slice(1) : text }
}

/** Python's date type refuses days that no calendar has, and Ansible then refuses the file. */
function timestampUnder(text: string): ScalarReading {
  const parts = timeForm.exec(text)
  if (!parts) return { refused: `${quoted(text)} is not a date` }
  const [year, month, day, hour, minute, second] = parts.slice(1).map(part => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const isDay = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  const isTime = hour <= 23 && minute <= 59 && second <= 59
  return isDay && isTime ? { data: text } : { refused: `${quoted(text)} is a date that does not exist` }
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
