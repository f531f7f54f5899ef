import assert from 'node:assert/strict'
import { withTemporary, writeFiles } from '../source/trees.js'
import { runWhofixes } from './run-whofixes.js'

const site = `- hosts: all
  gather_facts: false
  tasks:
    - {name: memory, assert: {that: ansible_memtotal_mb >= wanted_mb}, vars: {wanted_mb: 1500}}
    - {name: closed, fail: {msg: no}, when: broken | default(false)}
`

/** Facts as ansible prints them, or none; how the command ends; what it says. */
const cases: readonly {
  readonly says: string
  readonly facts?: string
  readonly args?: readonly string[]
  readonly status: number
  readonly out?: RegExp
  readonly err?: RegExp
}[] = [
  {
    says: 'a stop',
    facts: 'node1 | SUCCESS => {"ansible_facts": {"ansible_memtotal_mb": 1400}, "changed": false}\n',
    status: 1,
    out: /The run stops here\n {2}memory {2}cluster.yml:4\n {4}because ansible_facts.memtotal_mb is 1400, wanted_mb is 1500\n/,
  },
  {
    says: 'no stop',
    facts: '{"ansible_memtotal_mb": 1500}',
    status: 0,
    out: /\n0 stop, 0 unknown, 1 pass, 1 skipped\n/,
  },
  {
    says: 'an open check',
    status: 3,
    out: /to tell: ansible_memtotal_mb is a fact: --facts FILE, of ansible node1 -m/,
  },
  { says: 'an open check that is not asked for', args: ['--only', 'stops'], status: 0 },
  {
    says: 'a host that did not answer',
    facts: 'node1 | UNREACHABLE!: no route\nnode2 | SUCCESS => {"ansible_facts": {}}\n',
    status: 3,
    err: /facts:1: warning: there are no facts of node1: no route\n/,
  },
  {
    says: 'only what is skipped',
    args: ['--only', 'skipped,passes'],
    status: 0,
    out: /\n {4}closed {2}cluster.yml:5\n/,
  },
  { says: 'no outcome', args: ['--only', 'fails'], status: 2, err: /expected stops, unknown, passes, skipped/ },
  { says: 'no role code', args: ['v0.0.1'], status: 2, err: /v0\.0\.1/ },
  {
    says: 'JUnit',
    facts: '{"ansible_memtotal_mb": 1400}',
    args: ['--format', 'junit'],
    status: 1,
    out: /<testcase classname="whofixes.checks" name="check: memory" time="0">\s*<failure type="check" message="The run stops at /,
  },
  {
    says: 'GitLab',
    facts: '{"ansible_memtotal_mb": 1400}',
    args: ['--format', 'gitlab'],
    status: 1,
    out: /"check_name": "check"/,
  },
  {
    says: 'SARIF',
    facts: '{"ansible_memtotal_mb": 1500}',
    args: ['--format', 'sarif'],
    status: 0,
    out: /"kind": "pass"/,
  },
]

describe('whofixes checks', () => {
  for (const { says, facts, args = [], status, out, err } of cases) {
    it(`${says} ends with ${status}`, () =>
      withTemporary(root => {
        writeFiles(root, { 'tree/cluster.yml': site, ...(facts === undefined ? {} : { facts }) })
        const source = args[0]?.startsWith('v') ? [] : [`${root}/tree`]
        const ran = runWhofixes([
          'checks',
          ...source,
          ...args,
          ...(facts === undefined ? [] : ['--facts', `${root}/facts`]),
        ])
        assert.equal(ran.status, status, ran.err.join('\n'))
        if (out) assert.match(ran.out, out)
        if (err) assert.match(`${ran.err.join('\n')}\n`, err)
      }))
  }
})
