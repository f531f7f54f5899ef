import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { groupsOf, type Inventory } from '../../src/inventory/inventory.js'
import { readInventory } from '../../src/inventory/read.js'
import { placeOf } from '../../src/source/text.js'
import { collector, inDirectory, plain } from './places.js'

interface Row {
  readonly note: string
  readonly ini?: string
  readonly yaml?: string
  readonly expectedHostvars?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly expectedGroups?: Readonly<Record<string, { children?: readonly string[]; hosts?: readonly string[] }>>
  readonly expected?: { readonly $error: string }
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../../../test/inventory/inventory.json', import.meta.url), 'utf8'),
)

/** A host's variables as ansible-inventory prints them: those of its groups, weakest first, then its own. */
export function variablesOf(inventory: Inventory, host: string): Record<string, unknown> {
  const variables: Record<string, unknown> = {}
  for (const group of groupsOf(inventory, host)) {
    for (const { name, node } of inventory.groups.get(group)?.variables ?? []) variables[name] = plain(node)
  }
  for (const { name, node } of inventory.hosts.get(host)?.variables ?? []) variables[name] = plain(node)
  return variables
}

/** Groups as ansible-inventory prints them: what is empty is left out. */
export function groupsIn(inventory: Inventory): Record<string, { children?: string[]; hosts?: string[] }> {
  const groups: Record<string, { children?: string[]; hosts?: string[] }> = {}
  for (const group of inventory.groups.values()) {
    const shown: { children?: string[]; hosts?: string[] } = {}
    if (group.children.length > 0) shown.children = [...group.children]
    if (group.hosts.length > 0 && group.name !== 'all') shown.hosts = [...group.hosts]
    if (Object.keys(shown).length > 0) groups[group.name] = shown
  }
  return groups
}

describe('inventory sources, as ansible-inventory reads them', () => {
  for (const row of rows) {
    it(row.note, () => {
      const name = row.yaml === undefined ? 'hosts.ini' : 'hosts.yml'
      inDirectory({ [name]: row.yaml ?? row.ini ?? '' }, directory => {
        const { report, told } = collector()
        const inventory = readInventory([join(directory, name)], report)
        if (row.expected?.$error === 'parse') {
          assert.equal(inventory.refused.length, 1)
          assert.equal(inventory.hosts.size, 0)
          assert.match(told[0] ?? '', /hosts\.(ini|yml):\d+ inventory-syntax: /)
          return
        }
        const hostvars = Object.fromEntries(
          [...inventory.hosts.keys()].map(host => [host, variablesOf(inventory, host)]),
        )
        assert.deepEqual(hostvars, row.expectedHostvars)
        assert.deepEqual(groupsIn(inventory), row.expectedGroups)
      })
    })
  }
})

describe('places of inventory variables', () => {
  it('name the value and the assignment in the INI file', () => {
    const text = '[g]\nh a=1 b="x y"\n[g:vars]\n  c = [1, 2]\n'
    inDirectory({ 'hosts.ini': text }, directory => {
      const inventory = readInventory([join(directory, 'hosts.ini')], () => assert.fail())
      const cut = (name: string): unknown => {
        const found = [
          ...(inventory.hosts.get('h')?.variables ?? []),
          ...(inventory.groups.get('g')?.variables ?? []),
        ].find(definition => definition.name === name)
        assert.ok(found)
        const { start, end } = found.node.span
        return [placeOf(found.at), text.slice(found.at.start, found.at.end), text.slice(start, end)]
      }
      const file = join(directory, 'hosts.ini')
      assert.deepEqual(cut('a'), [`${file}:2`, 'a=1', '1'])
      assert.deepEqual(cut('b'), [`${file}:2`, 'b="x y"', '"x y"'])
      assert.deepEqual(cut('c'), [`${file}:4`, 'c = [1, 2]', '[1, 2]'])
    })
  })
})
