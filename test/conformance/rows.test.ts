import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rankings } from './levels.js'
import { themes } from './trees.js'

/** What a file of cases holds, where it is not a plain list of them. */
const listIn = (cases: unknown): readonly unknown[] =>
  Array.isArray(cases) ? cases : (cases as { readonly cases: readonly unknown[] }).cases

function casesIn(file: string): readonly unknown[] {
  return listIn(JSON.parse(readFileSync(new URL(`../../../test/${file}.json`, import.meta.url), 'utf8')))
}

const rowsOfTrees = themes.flatMap(({ trees }) => trees.flatMap(({ row }) => row ?? []))

/** Facts about Ansible, run through the real tools, by kind: how many there are, and where they are tested. */
const kinds: readonly { readonly kind: string; readonly count: number; readonly cases: () => readonly unknown[] }[] = [
  { kind: 'jinja-eval', count: 364, cases: () => casesIn('jinja/expressions') },
  { kind: 'jinja-string', count: 21, cases: () => casesIn('jinja/strings') },
  { kind: 'when', count: 40, cases: () => casesIn('jinja/conditions') },
  { kind: 'yaml11', count: 151, cases: () => casesIn('yaml/yaml11') },
  { kind: 'freeform-args', count: 68, cases: () => casesIn('ansible/freeform-args') },
  { kind: 'task-parse', count: 33, cases: () => casesIn('ansible/task-parse') },
  { kind: 'fqcn', count: 87, cases: () => casesIn('ansible/module-names') },
  { kind: 'hosts-pattern', count: 30, cases: () => casesIn('inventory/hosts-pattern') },
  { kind: 'inventory', count: 20, cases: () => casesIn('inventory/inventory') },
  { kind: 'playbook', count: 110, cases: () => rowsOfTrees },
  { kind: 'precedence', count: 4, cases: () => rankings },
]

describe('facts about Ansible', () => {
  for (const { kind, count, cases } of kinds) {
    it(`${kind}: all ${count} are tested, none twice`, () => {
      const all = cases().map(each => JSON.stringify(each))
      assert.ok(all.length >= count, `only ${all.length} are left`)
      assert.equal(new Set(all).size, all.length)
    })
  }

  it('every version from 2.16 on ranks the levels of variables in the same way', () => {
    const [, now, ...later] = rankings
    for (const { version, strongestFirst } of later) assert.deepEqual(strongestFirst, now?.strongestFirst, version)
  })
})
