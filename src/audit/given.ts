import { readExtraVars } from '../inventory/extra-vars.js'
import type { Definition } from '../inventory/inventory.js'
import type { Side } from './side.js'

/** A variable the user has set: in the inventory, beside it, on the command line or in a wrapper's own files. */
export type Given = ReadonlyMap<string, readonly Definition[]>

/**
 * What the user has set, by name, in the order of the sources. Without an inventory of the user's own only extra vars (and
 * what `beside` has) are theirs.
 */
export function givenBy({ analysis }: Side, extraVars: readonly string[], beside: readonly Definition[]): Given {
  const { inventory, variableFiles } = analysis
  const isTheirs = inventory.sources.length > 0
  const ofInventory = isTheirs
    ? [
        ...[...inventory.groups.values()].flatMap(({ variables }) => variables),
        ...[...inventory.hosts.values()].flatMap(({ variables }) => variables),
        ...variableFiles.flatMap(({ definitions, beside: where }) => (where === 'inventory' ? definitions : [])),
      ]
    : []
  const given = new Map<string, Definition[]>()
  for (const definition of [...ofInventory, ...beside, ...readExtraVars(extraVars, () => {})]) {
    const known = given.get(definition.name)
    if (known === undefined) given.set(definition.name, [definition])
    else known.push(definition)
  }
  return given
}
