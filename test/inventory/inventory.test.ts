import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyDraft } from '../../src/inventory/draft.js'
import { readIni } from '../../src/inventory/ini.js'
import {
  addHost,
  addToGroup,
  groupNamesOf,
  groupsOf,
  hostsOf,
  type Inventory,
  settle,
} from '../../src/inventory/inventory.js'
import { readInventory } from '../../src/inventory/read.js'
import { readInventorySettings } from '../../src/inventory/settings.js'
import { UsageError } from '../../src/source/diagnostic.js'
import { collector, inDirectory, treeOf } from './places.js'

function inventoryOf(text: string): Inventory {
  const draft = emptyDraft()
  assert.equal(readIni(draft, { path: 'hosts.ini', text }, '/hosts.ini'), undefined)
  return settle(draft, [], [])
}

interface BadSource {
  readonly note: string
  readonly name: string
  readonly text: string
  readonly told: string
}

const badSources: readonly BadSource[] = JSON.parse(
  readFileSync(new URL('../../../test/inventory/bad-sources.json', import.meta.url), 'utf8'),
)

describe('groups that change during a run', () => {
  const inventory = inventoryOf('[a]\nn1\nn2\n[p:children]\na\n')

  it('a new group holds the host and lies under its parents', () => {
    const after = addToGroup(inventory, ['n1'], 'new', ['p', 'top'])
    assert.deepEqual(hostsOf(after, 'new'), ['n1'])
    assert.deepEqual(hostsOf(after, 'top'), ['n1'])
    assert.deepEqual(groupNamesOf(after, 'n1'), ['a', 'new', 'p', 'top'])
    assert.deepEqual(groupNamesOf(after, 'n2'), ['a', 'p'])
  })

  it('the inventory before it stays as it was', () => {
    addToGroup(inventory, ['n1'], 'new')
    assert.equal(inventory.groups.has('new'), false)
    assert.deepEqual(hostsOf(inventory, 'a'), ['n1', 'n2'])
  })

  it('a host that is a member through a child is not added again', () => {
    assert.deepEqual(addToGroup(inventory, ['n1'], 'p').groups.get('p')?.hosts, [])
  })

  it('an ungrouped host leaves ungrouped', () => {
    const before = inventoryOf('lonely\n')
    assert.deepEqual(groupNamesOf(before, 'lonely'), ['ungrouped'])
    assert.deepEqual(groupNamesOf(addToGroup(before, ['lonely'], 'g'), 'lonely'), ['g'])
  })

  it('a parent that already lies below is left as it is', () => {
    assert.deepEqual(groupsOf(addToGroup(inventory, ['n1'], 'p', ['a']), 'n1'), ['all', 'p', 'a'])
  })

  it('add_host makes hosts and groups', () => {
    const after = addHost(inventory, 'n9', ['a', 'fresh'])
    assert.deepEqual(hostsOf(after, 'p'), ['n1', 'n2', 'n9'])
    assert.deepEqual(hostsOf(after, 'fresh'), ['n9'])
  })
})

describe('inventory sources that cannot be read', () => {
  for (const { note, name, text, told } of badSources) {
    it(note, () => {
      inDirectory({ [`bad/${name}`]: text, 'good.ini': '[g]\nn1\n' }, directory => {
        const collected = collector()
        const bad = join(directory, 'bad', name)
        const inventory = readInventory([bad, join(directory, 'good.ini')], collected.report)
        assert.deepEqual(collected.told, [`${bad}:${told}`])
        assert.equal(inventory.refused[0]?.path, bad)
        // What is good is read all the same, and nothing of what is not.
        assert.deepEqual([...inventory.hosts.keys()], ['n1'])
      })
    })
  }

  it('a path where there is nothing is wrong usage', () => {
    assert.throws(
      () => readInventory(['/no/such/hosts.ini'], () => {}),
      (error: unknown) =>
        error instanceof UsageError && /^\/no\/such\/hosts\.ini: expected an inventory/.test(error.message),
    )
  })

  it('bytes that are not UTF-8 refuse the file', () => {
    inDirectory({}, directory => {
      const { report, all } = collector()
      writeFileSync(join(directory, 'hosts.ini'), Buffer.from([0x5b, 0x67, 0x5d, 0x0a, 0xff, 0x0a]))
      const inventory = readInventory([join(directory, 'hosts.ini')], report)
      assert.deepEqual(
        all.map(({ code }) => code),
        ['file-not-utf8'],
      )
      assert.equal(inventory.refused.length, 1)
    })
  })

  it('a file of a million lines is read in moderate time', () => {
    const text = `[g]\n${'h[1:9] a=1\n'.repeat(200_000)}`
    const started = Date.now()
    assert.equal(hostsOf(inventoryOf(text), 'g').length, 9)
    assert.ok(Date.now() - started < 10_000)
  })

  it('deep nesting of values and endless ranges are no trouble', () => {
    assert.equal(inventoryOf(`h a=${'['.repeat(100_000)}\n`).hosts.size, 1)
    const draft = emptyDraft()
    const fault = readIni(draft, { path: 'x', text: 'h[0:9999][0:9999]\n' }, '/x')
    assert.match(fault?.says ?? '', /more than 100000 hosts/)
    const long = readIni(emptyDraft(), { path: 'x', text: `h a=${'1'.repeat(5_000_000)}\n` }, '/x')
    assert.match(long?.says ?? '', /expected lines of at most 262144 characters/)
  })
})

describe('inventory directories', () => {
  const files = {
    'inv/10-first': '[a]\nn1\n',
    'inv/20-second.yml': 'b:\n  hosts:\n    n2:\n',
    'inv/30.ini': '[c]\nn3\n',
    'inv/.hidden': 'n4\n',
    'inv/group_vars/all.yml': 'x: 1\n',
    'inv/artifacts/old': 'n5\n',
    'inv/sub/more': 'n6\n',
  }

  it("follow Ansible's default of what is no inventory", () => {
    inDirectory(files, directory => {
      const inventory = readInventory([join(directory, 'inv')], () => assert.fail())
      assert.deepEqual([...inventory.hosts.keys()], ['n1', 'n2', 'n5', 'n6'])
      assert.deepEqual(inventory.sources, [{ path: join(directory, 'inv'), directory: join(directory, 'inv') }])
    })
  })

  it('follow ansible.cfg', () => {
    const text =
      '[defaults]\ninventory_ignore_extensions = ~, .yml ; no YAML\n[inventory]\nignore_patterns = artifacts, ^sub$\n'
    const settings = readInventorySettings(treeOf({ 'ansible.cfg': text }))
    assert.deepEqual(settings, { ignoreExtensions: ['~', '.yml'], ignorePatterns: ['artifacts', '^sub$'] })
    inDirectory(files, directory => {
      const inventory = readInventory([join(directory, 'inv')], () => assert.fail(), settings)
      assert.deepEqual([...inventory.hosts.keys()], ['n1', 'n3'])
    })
  })

  it('that a link leads back into end somewhere', () => {
    inDirectory({ 'inv/hosts': 'n1\n' }, directory => {
      mkdirSync(join(directory, 'inv/sub'))
      symlinkSync('..', join(directory, 'inv/sub/up'))
      assert.deepEqual([...readInventory([join(directory, 'inv')], () => {}).hosts.keys()], ['n1'])
    })
  })
})

describe('host lists', () => {
  it('name hosts with their ports', () => {
    const inventory = readInventory(['n1,n2:2222, n[1:2],'], () => assert.fail())
    assert.deepEqual([...inventory.hosts.keys()], ['n1', 'n2', 'n[1:2]'])
    assert.equal(inventory.hosts.get('n2')?.variables[0]?.name, 'ansible_port')
    assert.deepEqual(inventory.sources, [{ path: 'n1,n2:2222, n[1:2],' }])
  })
})

describe('several inventories', () => {
  it('are read one after the other into one', () => {
    inDirectory({ 'a.ini': '[g]\nn1 v=1\n', 'b.yml': 'g:\n  hosts:\n    n2:\n    n1:\n      v: 2\n' }, directory => {
      const paths = [join(directory, 'a.ini'), join(directory, 'b.yml')]
      const inventory = readInventory(paths, () => assert.fail())
      assert.deepEqual(hostsOf(inventory, 'g'), ['n1', 'n2'])
      const values = inventory.hosts.get('n1')?.variables.map(({ node }) => node.kind === 'scalar' && node.data)
      assert.deepEqual(values, [1n, 2n])
      assert.equal(inventory.hosts.get('n2')?.source, paths[1])
    })
  })
})
