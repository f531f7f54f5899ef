import { readExtraVars } from '../inventory/extra-vars.js'
import type { Definition } from '../inventory/inventory.js'
import { hasTemplate, parseExpression, parseTemplate } from '../jinja/parser.js'
import type { Node } from '../yaml/node.js'
import { askedIn } from './asked.js'
import { walkTexts } from './role-index.js'
import type { Side } from './side.js'

/** A variable the user has set: in the inventory, beside it, on the command line or in a wrapper's own files. */
export interface GivenVariable extends Definition {
  /** Where even role vars do not win over it: extra vars, and perhaps what a wrapper sets. */
  readonly strong: boolean
}

export type Given = ReadonlyMap<string, readonly GivenVariable[]>

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
  const given = new Map<string, GivenVariable[]>()
  const all = [
    ...ofInventory.map(each => ({ ...each, strong: false })),
    ...[...beside, ...readExtraVars(extraVars, () => {})].map(each => ({ ...each, strong: true })),
  ]
  for (const definition of all) {
    const known = given.get(definition.name)
    if (known === undefined) given.set(definition.name, [definition])
    else known.push(definition)
  }
  return given
}

/** The names that the values of what the user has set ask for: they are read, whatever kubespray does with them. */
export function readByGiven(given: Given): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { node } of [...given.values()].flat()) for (const name of namesReadIn(node, 'templates')) names.add(name)
  return names
}

/** The names that templates anywhere in a value ask for; of tasks any text may be an expression without braces (`when`). */
export function namesReadIn(node: Node, texts: 'templates' | 'all'): readonly string[] {
  const names: string[] = []
  walkTexts(node, text => {
    if (typeof text.data !== 'string' || text.tag !== undefined) return
    if (texts === 'templates' && !hasTemplate(text.data)) return
    const parsed = hasTemplate(text.data) ? parseTemplate(text.data, text.span) : parseExpression(text.data, text.span)
    if (parsed.kind !== 'syntax-problem') names.push(...askedIn(parsed).names.map(({ name }) => name))
  })
  return names
}
