import type { FilterFunction, FilterTable } from './call.js'
import { choiceFilters } from './filters/choice.js'
import { dictFilters } from './filters/dicts.js'
import { networkFilters } from './filters/network.js'
import { numberFilters } from './filters/numbers.js'
import { pathFilters } from './filters/paths.js'
import { sequenceFilters } from './filters/sequences.js'
import { serialFilters } from './filters/serial.js'
import { textFilters } from './filters/texts.js'

const filters: FilterTable = {
  ...choiceFilters,
  ...textFilters,
  ...numberFilters,
  ...sequenceFilters,
  ...dictFilters,
  ...serialFilters,
  ...pathFilters,
  ...networkFilters,
}

const aliases: Readonly<Record<string, string>> = {
  d: 'default',
  count: 'length',
  e: 'escape',
  sha1: 'checksum',
}

/** Names without the collections that ship them; a filter of another collection stays unmodelled. */
function plainName(name: string): string {
  const plain = name.replace(/^(?:ansible\.(?:builtin|legacy|utils|netcommon)|community\.general)\./, '')
  return aliases[plain] ?? plain
}

/** The filter of this name, with or without its collection; undefined for one that is not modelled. */
export function filterNamed(name: string): FilterFunction | undefined {
  const plain = plainName(name)
  return Object.hasOwn(filters, plain) ? filters[plain] : undefined
}

/** Every filter that is modelled, aliases included. */
export function filterNames(): readonly string[] {
  return [...Object.keys(filters), ...Object.keys(aliases).filter(alias => filterNamed(alias) !== undefined)].sort()
}
