import { causeText } from '../effects/argument.js'
import type { Data, Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import { LazyDict } from '../variables/lazy-dict.js'

/** A value as JSON, for reports: what is not known stands as `{"unknown": why}`, alternatives as `{"oneOf": […]}`. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * Turns a value into JSON. Whole numbers beyond what JSON readers keep exact become text. A variable that holds all variables
 * (`{{ vars }}`) holds itself: such mappings are shown a few levels deep.
 */
export function jsonOf(value: Value): Json {
  return jsonWithin(value, 0)
}

/** How many mappings of variables may stand inside each other: all hosts, one of them, its facts. */
const mostMappings = 3

function jsonWithin(value: Value, mappings: number): Json {
  switch (value.kind) {
    case 'known':
      return jsonOfData(value.data, mappings)
    case 'undefined':
      return null
    case 'unknown':
      return { unknown: value.causes[0]?.says ?? 'not known before the run' }
    case 'failure':
      return { unknown: value.says }
    case 'one-of':
      return { oneOf: value.options.map(option => jsonWithin(option.value, mappings)) }
  }
}

function jsonOfData(data: Data, mappings: number): Json {
  const inside = data instanceof LazyDict ? mappings + 1 : mappings
  if (inside > mostMappings) return { unknown: 'variables that hold all variables are not shown to the end' }
  const jsonInside = (value: Value): Json => jsonWithin(value, inside)
  if (data === null || typeof data === 'boolean' || typeof data === 'string') return data
  if (typeof data === 'number') return Number.isFinite(data) ? data : String(data)
  if (typeof data === 'bigint') {
    const number = Number(data)
    return Number.isSafeInteger(number) ? number : String(data)
  }
  if (Array.isArray(data)) return (data as readonly Value[]).map(jsonInside)
  if (data instanceof Map) {
    const entries = [...(data as ReadonlyMap<unknown, Value>)].map(
      ([key, member]) => [String(key), jsonInside(member)] as const,
    )
    return Object.fromEntries(entries)
  }
  if ('kind' in data && data.kind === 'tuple') return data.items.map(jsonInside)
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
