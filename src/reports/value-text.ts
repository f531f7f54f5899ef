import { causeText } from '../effects/argument.js'
import type { Data, Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'

/** A value as JSON, for reports: what is not known stands as `{"unknown": why}`, alternatives as `{"oneOf": […]}`. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Turns a value into JSON. Whole numbers beyond what JSON readers keep exact become text. */
export function jsonOf(value: Value): Json {
  switch (value.kind) {
    case 'known':
      return jsonOfData(value.data)
    case 'undefined':
      return null
    case 'unknown':
      return { unknown: value.causes[0]?.says ?? 'not known before the run' }
    case 'failure':
      return { unknown: value.says }
    case 'one-of':
      return { oneOf: value.options.map(option => jsonOf(option.value)) }
  }
}

function jsonOfData(data: Data): Json {
  if (data === null || typeof data === 'boolean' || typeof data === 'string') return data
  if (typeof data === 'number') return Number.isFinite(data) ? data : String(data)
  if (typeof data === 'bigint') {
    const number = Number(data)
    return Number.isSafeInteger(number) ? number : String(data)
  }
  if (Array.isArray(data)) return (data as readonly Value[]).map(jsonOf)
  if (data instanceof Map) {
    const entries = [...(data as ReadonlyMap<unknown, Value>)].map(
      ([key, member]) => [String(key), jsonOf(member)] as const,
    )
    return Object.fromEntries(entries)
  }
  if ('kind' in data && data.kind === 'tuple') return data.items.map(jsonOf)
  return null
}

/** Whether this JSON stands for a value that is not known. */
export function isNotKnown(value: Json): boolean {
  return typeof value === 'object' && value !== null && 'unknown' in value
}

/** Why a value is not known, with places; null for one that is. */
export function whyUnknown(value: Value): string | null {
  switch (value.kind) {
    case 'known':
      return null
    case 'undefined':
    case 'failure':
      return `${value.says} (${placeOf(value.at)})`
    case 'unknown':
      return value.causes.map(causeText).join('; ') || 'not known before the run'
    case 'one-of': {
      const because = value.options.flatMap(option => option.because.map(causeText))
      return [...new Set(because)].join('; ') || 'one of a few alternatives'
    }
  }
}

/** JSON for people on one line: text as it is, everything else as JSON; at most `width` characters. */
export function valueText(value: Json, width = 120): string {
  const text = wholeText(value)
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}

function wholeText(value: Json): string {
  if (typeof value === 'string') return oneLine(value)
  if (typeof value === 'object' && value !== null) {
    if ('oneOf' in value && Array.isArray(value.oneOf)) return value.oneOf.map(wholeText).join(' or ')
    if (isNotKnown(value)) return '(not known)'
  }
  return JSON.stringify(value)
}

function oneLine(text: string): string {
  if (text === '') return "''"
  // A text that looks like a number or a boolean is quoted: the difference is what people stumble over.
  if (/^(?:[-+]?[\d._]+|true|false|null|yes|no|none)$/i.test(text) && !/[.].*[.]/.test(text)) return `"${text}"`
  return text.replaceAll('\n', '\\n')
}
