import assert from 'node:assert/strict'
import { join } from 'node:path'
import { readFacts } from '../../src/inventory/facts.js'
import type { Dict } from '../../src/jinja/value.js'
import { UsageError } from '../../src/source/diagnostic.js'
import { collector, inDirectory } from './places.js'

const fail = (): void => assert.fail()

function dataOf(facts: Dict | undefined, name: string): unknown {
  const value = facts?.get(name)
  return value?.kind === 'known' ? value.data : value
}

describe('facts', () => {
  it('of ansible -m setup, many hosts, coloured', () => {
    const text =
      '[WARNING]: something first\n' +
      '\x1b[0;32mnode1 | SUCCESS => {\x1b[0m\n\x1b[0;32m    "ansible_facts": {"ansible_memtotal_mb": 1500, "gather_subset": ["all"]},\x1b[0m\n    "changed": false\n}\n' +
      '\x1b[1;31mnode2 | UNREACHABLE! => {\n    "changed": false,\n    "msg": "Failed to connect: } {",\n    "unreachable": true\n}\x1b[0m\n' +
      'node3 | SUCCESS => {"ansible_facts": {"ansible_motd": "node9 | SUCCESS => {\\n", "ansible_load": {"1m": 0.5}}, "changed": false}\n'
    inDirectory({ out: text }, directory => {
      const { report, told } = collector()
      const facts = readFacts(join(directory, 'out'), report)
      assert.deepEqual([...facts.keys()], ['node1', 'node3'])
      assert.deepEqual([...(facts.get('node1')?.keys() ?? [])], ['memtotal_mb', 'gather_subset'])
      assert.equal(dataOf(facts.get('node1'), 'memtotal_mb'), 1500n)
      assert.equal(dataOf(facts.get('node3'), 'motd'), 'node9 | SUCCESS => {\n')
      assert.deepEqual(dataOf(facts.get('node3'), 'load'), new Map([['1m', { kind: 'known', data: 0.5 }]]))
      assert.deepEqual(told, [
        `${directory}/out:6 facts-malformed: there are no facts of node2: Failed to connect: } {`,
      ])
    })
  })

  it('of a directory, one file a host', () => {
    const files = {
      'f/node1': '{"ansible_facts": {"ansible_swaptotal_mb": 0}, "changed": false}',
      'f/node2.json': '{"ansible_swaptotal_mb": 2, "module_setup": true, "facter_x": 1, "ansible_local": {"a": 1}}',
      'f/.hidden': 'nothing',
    }
    inDirectory(files, directory => {
      const facts = readFacts(join(directory, 'f'), fail)
      assert.deepEqual([...facts.keys()], ['node1', 'node2'])
      assert.equal(dataOf(facts.get('node1'), 'swaptotal_mb'), 0n)
      assert.deepEqual(
        [...(facts.get('node2')?.keys() ?? [])],
        ['swaptotal_mb', 'module_setup', 'facter_x', 'ansible_local'],
      )
    })
  })

  it('of a plain object are for any host; of objects by host for those', () => {
    const files = {
      plain: '{"memtotal_mb": 1, "ansible_os_family": "Debian"}',
      hosts: '{"a": {"ansible_facts": {"x": 1.0}}, "b": {"ansible_facts": {}}}',
    }
    inDirectory(files, directory => {
      assert.equal(dataOf(readFacts(join(directory, 'plain'), fail).get('*'), 'os_family'), 'Debian')
      const hosts = readFacts(join(directory, 'hosts'), fail)
      assert.deepEqual([...hosts.keys()], ['a', 'b'])
      assert.equal(dataOf(hosts.get('a'), 'x'), 1)
    })
  })

  const bad: readonly (readonly [note: string, text: string, says: RegExp])[] = [
    ['broken JSON', '{\n"a": 1,\n}\n', /bad:3: expected a JSON object of facts/],
    ['JSON that ends too soon', '{\n"a": {"b": 1\n', /bad:2: expected a JSON object of facts/],
    ['an unknown word', '{\n"a": 1,\n"b": tru\n}\n', /bad:[234]: expected a JSON object of facts/],
    ['a list', '[1]', /bad:1: expected a JSON object of facts.*, got a list/],
    ['nothing', '', /bad:1: expected a JSON object of facts/],
    ['prose', 'no facts here\n', /bad:1: expected a JSON object of facts/],
    [
      'ansible_facts of another kind',
      '{"ansible_facts": []}',
      /bad:1: expected a JSON object under ansible_facts, got a list/,
    ],
    [
      'an answer cut off',
      'n1 | SUCCESS => {\n "ansible_facts": {\n  "a": 1\n',
      /bad:3: expected a JSON object of facts/,
    ],
    [
      'only hosts that did not answer',
      'n1 | FAILED! => {"failed": true, "msg": "no"}\n',
      /bad:1: .*none of 1 answered/,
    ],
  ]
  for (const [note, text, says] of bad) {
    it(`refuses ${note} with file and line`, () => {
      inDirectory({ bad: text }, directory => {
        assert.throws(
          () => readFacts(join(directory, 'bad'), () => {}),
          (error: unknown) => error instanceof UsageError && says.test(error.message) && !error.message.includes('\n'),
        )
      })
    })
  }

  it('refuses a path where there is nothing, and an empty directory', () => {
    assert.throws(() => readFacts('/no/such/facts', fail), UsageError)
    inDirectory({ 'f/.keep': '' }, directory => assert.throws(() => readFacts(join(directory, 'f'), fail), UsageError))
  })
})
