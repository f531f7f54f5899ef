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

  /** Files, the hosts of the inventory, what is read (host → memtotal_mb), what is told. */
  interface Form {
    readonly says: string
    readonly files: Readonly<Record<string, string>>
    readonly path: string
    readonly hosts?: readonly string[]
    readonly memory: Readonly<Record<string, bigint>>
    readonly told?: readonly string[]
  }

  const envelope = (memory: number): string =>
    `{"ansible_facts": {"ansible_memtotal_mb": ${memory}, "module_setup": true}, "changed": false}`
  const cached = (memory: number): string =>
    `{\n    "_ansible_facts_gathered": true,\n    "ansible_memtotal_mb": ${memory}\n}`
  const failed =
    '{"changed": false, "module_stderr": "sh: 1: not found", "module_stdout": "", "msg": "it failed", "rc": 127}'
  const forms: readonly Form[] = [
    {
      says: 'one line a host (-o), with one that is not reachable and one that failed',
      files: {
        out: `[WARNING]: provided hosts list is empty\nn1 | SUCCESS => ${envelope(1)}\nn2 | UNREACHABLE!: Failed to connect: timed out\nn3 | FAILED! => ${failed}\n\x1b[0;32mn4 | SUCCESS => ${envelope(4)}\x1b[0m\x1b[K\n`,
      },
      path: 'out',
      memory: { n1: 1n, n4: 4n },
      told: [
        'out:3 facts-malformed: there are no facts of n2: Failed to connect: timed out',
        'out:4 facts-malformed: there are no facts of n3: it failed',
      ],
    },
    {
      says: 'behind warnings of several lines, with Windows line ends',
      files: {
        out: `[DEPRECATION WARNING]: a\r\nb. n9 is old\r\nn1 | SUCCESS => {\r\n  "ansible_facts": {"ansible_memtotal_mb": 1},\r\n  "changed": false\r\n}\r\n`,
      },
      path: 'out',
      memory: { n1: 1n },
    },
    {
      says: 'a host that came back changed',
      files: { out: `n1 | CHANGED => ${envelope(1)}\n` },
      path: 'out',
      memory: { n1: 1n },
    },
    {
      says: 'a directory of --tree, where a host failed without saying so',
      files: {
        't/n1': envelope(1),
        't/n2': failed,
        't/n3': '{"changed": false, "msg": "no route", "unreachable": true}',
      },
      path: 't',
      memory: { n1: 1n },
      told: [
        't/n2:1 facts-malformed: there are no facts of n2: it failed',
        't/n3:1 facts-malformed: there are no facts of n3: no route',
      ],
    },
    {
      says: 'a fact cache',
      files: { 'c/n1.example.com': cached(1), 'c/n2': cached(2) },
      path: 'c',
      hosts: ['n2', 'n1.example.com'],
      memory: { 'n1.example.com': 1n, n2: 2n },
    },
    {
      says: 'a fact cache with a prefix',
      files: { 'c/prod_n1': cached(1), 'c/prod_n2': cached(2), 'c/prod_other': cached(3) },
      path: 'c',
      hosts: ['n1', 'n2', '2'],
      memory: { n1: 1n, n2: 2n, other: 3n },
    },
    {
      says: 'a fact cache of hosts that end like others, without a prefix',
      files: { 'c/prod_n1': cached(1), 'c/n1': cached(2) },
      path: 'c',
      hosts: ['n1', 'prod_n1'],
      memory: { n1: 2n, prod_n1: 1n },
    },
    {
      says: 'names that have no prefix in common',
      files: { 'c/a_n1': cached(1), 'c/b_n2': cached(2) },
      path: 'c',
      hosts: ['n1', 'n2'],
      memory: { a_n1: 1n, b_n2: 2n },
    },
    {
      says: 'a directory of all of these, one host twice',
      files: {
        'm/all.txt': `n1 | SUCCESS => ${envelope(1)}\nn2 | UNREACHABLE!: no\n`,
        'm/n3.json': envelope(3),
        'm/n4': cached(4),
        'm/z.json': `{"n3": ${envelope(33)}}`,
        'm/.git': 'nothing',
      },
      path: 'm',
      memory: { n1: 1n, n3: 33n, n4: 4n },
      told: [
        'm/all.txt:2 facts-malformed: there are no facts of n2: no',
        'm/z.json:1 facts-malformed: there are facts of n3 in another file too; these count',
      ],
    },
    {
      says: 'what the json callback prints, behind a warning',
      files: {
        out: `[WARNING]: something\n{"plays": [{"play": {"name": "Ansible Ad-Hoc"}, "tasks": [{"hosts": {"n1": ${envelope(1)}, "n2": {"changed": false, "msg": "gone", "unreachable": true}}}]}], "stats": {}}\n`,
      },
      path: 'out',
      memory: { n1: 1n },
      told: ['out:2 facts-malformed: there are no facts of n2: gone'],
    },
    {
      says: 'an object behind a byte order mark',
      files: { out: `\uFEFF${envelope(1)}` },
      path: 'out',
      memory: { '*': 1n },
    },
  ]
  for (const { says, files, path, hosts, memory, told: expected = [] } of forms) {
    it(`of ${says}`, () => {
      inDirectory(files, directory => {
        const { report, told } = collector()
        const facts = readFacts(join(directory, path), report, hosts)
        const read = [...facts].map(([host, each]) => [host, dataOf(each, 'memtotal_mb')] as const)
        assert.deepEqual(Object.fromEntries(read), memory)
        assert.deepEqual(
          told.map(line => line.slice(directory.length + 1)),
          expected,
        )
      })
    })
  }

  it('of answers cut anywhere, is read or refused with file and line', () => {
    const text = `[WARNING]: x\nn1 | SUCCESS => {\n  "ansible_facts": {"ansible_memtotal_mb": 1}\n}\nn2 | FAILED! => ${failed}\nn3 | UNREACHABLE!: no\n`
    const pieces = Array.from({ length: text.length + 1 }, (_, end) => [`out${end}`, text.slice(0, end)] as const)
    inDirectory(Object.fromEntries(pieces), directory => {
      for (const [name] of pieces) {
        try {
          assert.ok(readFacts(join(directory, name), () => {}).size > 0)
        } catch (error) {
          assert.ok(error instanceof UsageError && /out\d+:\d+: expected /.test(error.message), String(error))
        }
      }
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
    ['answers of another module', 'n1 | SUCCESS | rc=0 >>\nhello\n', /bad:1: expected a JSON object of facts/],
    ['only hosts that cannot be reached', 'n1 | UNREACHABLE!: no\n', /bad:1: expected the facts of a host/],
    [
      'only hosts that did not answer',
      'n1 | FAILED! => {"failed": true, "msg": "no"}\n',
      /bad:1: expected the facts of a host, but none answered/,
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
