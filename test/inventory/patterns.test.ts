import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { emptyDraft } from '../../src/inventory/draft.js'
import { readIni } from '../../src/inventory/ini.js'
import { type Inventory, settle } from '../../src/inventory/inventory.js'
import { matchHosts, readPattern, splitPattern } from '../../src/inventory/patterns.js'

const rows: {
  readonly inventory: string
  readonly cases: readonly { readonly pattern: string; readonly expected: readonly string[] }[]
} = JSON.parse(readFileSync(new URL('../../../test/inventory/hosts-pattern.json', import.meta.url), 'utf8'))

function inventoryOf(text: string): Inventory {
  const draft = emptyDraft()
  assert.equal(readIni(draft, { path: 'hosts.ini', text }, '/hosts.ini'), undefined)
  return settle(draft, [], [])
}

describe('hosts patterns, as ansible --list-hosts answers', () => {
  const inventory = inventoryOf(rows.inventory)
  for (const { pattern, expected } of rows.cases) {
    it(pattern, () => assert.deepEqual(matchHosts(pattern, inventory), expected))
  }
})

describe('hosts patterns', () => {
  const inventory = inventoryOf('[a]\nn1\nn2\nn3\n[b]\nn3\nm.example\n')

  it('takes a list of patterns', () => assert.deepEqual(matchHosts(['a', '!n2'], inventory), ['n1', 'n3']))
  it('an empty list matches nothing, an empty text everything', () => {
    assert.deepEqual(matchHosts([], inventory), [])
    assert.deepEqual(matchHosts('', inventory), ['n1', 'n2', 'n3', 'm.example'])
  })
  it('keeps only hosts of the limit', () => assert.deepEqual(matchHosts('a', inventory, 'b'), ['n3']))
  it('counts subscripts from the end', () => {
    assert.deepEqual(matchHosts('a[-1]', inventory), ['n3'])
    assert.deepEqual(matchHosts('a[-2]', inventory), ['n2'])
    assert.deepEqual(matchHosts('a[-9]', inventory), [])
  })
  it('knows character classes', () => assert.deepEqual(matchHosts('[!m]*', inventory), ['n1', 'n2', 'n3', 'm.example']))
  it('says which term matches nothing', () => {
    assert.deepEqual(readPattern('a:nosuch', inventory), {
      hosts: ['n1', 'n2', 'n3'],
      problems: ["no group and no host is named 'nosuch'"],
    })
    assert.match(readPattern('a[7]', inventory).problems[0] ?? '', /'a\[7\]'/)
  })
  it('refuses a regular expression that could take for ever', () => {
    const { hosts, problems } = readPattern('~(n+)+$', inventory)
    assert.deepEqual(hosts, [])
    assert.match(problems[0] ?? '', /repeats a repetition/)
  })
  it('splits at colons outside brackets and addresses', () => {
    assert.deepEqual(splitPattern('a[0:1]:!b'), ['a[0:1]', '!b'])
    assert.deepEqual(splitPattern('fe80::1'), ['fe80::1'])
    assert.deepEqual(splitPattern('a | first'), ['a', '|', 'first'])
    assert.deepEqual(splitPattern('a[0:b]c:d['), ['a[0:b]c', 'd'])
    assert.deepEqual(splitPattern('['.repeat(1_000_000)), [])
  })
  it('is quick on a glob of many stars', () => {
    const long = inventoryOf(`[g]\n${'a'.repeat(5000)}\n`)
    assert.deepEqual(matchHosts(`${'*a'.repeat(2000)}*b`, long), [])
  })
})
