import assert from 'node:assert/strict'
import { join } from 'node:path'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { hostsOf } from '../../src/inventory/inventory.js'
import { openDirectory } from '../../src/source/directory.js'
import { withTemporary, writeFiles } from '../source/trees.js'

const hosts = Array.from({ length: 14 }, (_, index) => `n${index + 1}`)

const inventory = `[g]
${hosts.join('\n')}
n5 target=n1
n6 target=n2

[few]
n3
n4

[few:vars]
of_few=n1
`

/** Which hosts delegate to n1 by an expression. Whoever else is evaluated once for all has to be told apart by it. */
const delegating: readonly { readonly to: string; readonly hosts: readonly string[] }[] = [
  { to: 'inventory_hostname', hosts: ['n1'] },
  { to: "groups['g'][0]", hosts },
  { to: "groups['g'] | last", hosts: [] },
  { to: "'n1' if inventory_hostname == 'n7' else inventory_hostname", hosts: ['n1', 'n7'] },
  { to: "'n1' if inventory_hostname in ['n7', 'n8'] else inventory_hostname", hosts: ['n1', 'n7', 'n8'] },
  { to: 'target | default(inventory_hostname)', hosts: ['n1', 'n5'] },
  { to: 'hostvars[inventory_hostname].target | default(inventory_hostname)', hosts: ['n1', 'n5'] },
  { to: "'n1' if 'few' in group_names else inventory_hostname", hosts: ['n1', 'n3', 'n4'] },
  { to: 'of_few | default(inventory_hostname)', hosts: ['n1', 'n3', 'n4'] },
  { to: "inventory_hostname | replace('n12', 'n1')", hosts: ['n1', 'n12'] },
  { to: "inventory_hostname | regex_replace('[2-9]$', '')", hosts: ['n1', 'n12', 'n13', 'n14'] },
  { to: "'n' ~ (inventory_hostname[1:] | int % 10)", hosts: ['n1', 'n11'] },
  { to: "{'n6': 'n1'}[inventory_hostname] | default(inventory_hostname)", hosts: ['n1', 'n6'] },
  { to: "{'n6': 'n1', 'n7': 'n8'}.get(inventory_hostname, inventory_hostname)", hosts: ['n1', 'n6'] },
  { to: "['n1', 'n2'][groups['g'].index(inventory_hostname) % 2]", hosts: hosts.filter((_, index) => index % 2 === 0) },
  { to: 'inventory_hostname[:2]', hosts: ['n1', 'n10', 'n11', 'n12', 'n13', 'n14'] },
]

describe('a task that is evaluated for many hosts', () => {
  for (const { to, hosts: expected } of delegating) {
    it(`is delegated by ${expected.join(', ') || 'nobody'}: ${to}`, () =>
      withTemporary(directory => {
        const task = `    - debug: {msg: "{{ inventory_hostname }}"}\n      delegate_to: "{{ ${to} }}"\n`
        writeFiles(directory, { 'hosts.ini': inventory, 'site.yml': `- hosts: g\n  tasks:\n${task}` })
        const { run } = analyze(openDirectory(directory), {
          ...defaultRequest,
          playbook: 'site.yml',
          inventory: [join(directory, 'hosts.ini')],
          host: 'n1',
        })
        const sent = run.tasks
          .flatMap(({ task: { module }, invocations }) => (module === 'ansible.builtin.debug' ? invocations : []))
          .flatMap(({ arguments: given, runs, delegateTo }) => {
            const msg = given.get('msg')
            const isOwn = delegateTo === undefined || (delegateTo.kind === 'known' && delegateTo.data === 'n1')
            return runs.kind !== 'false' && isOwn && msg?.kind === 'known' ? [String(msg.data)] : []
          })
        assert.deepEqual([...new Set(sent)].sort(), [...expected].sort())
      }))
  }

  it('groups each host by what it is', () =>
    withTemporary(directory => {
      const tasks = [
        'group_by: {key: "kind_{{ target | default(\'plain\') }}"}',
        "group_by: {key: \"is_{{ inventory_hostname }}\"}\n      when: inventory_hostname in ['n2', 'n14']",
        `group_by: {key: few_and_plain}\n      when: "group_names | intersect(['few', 'kind_plain']) | length == 2"`,
      ]
      writeFiles(directory, {
        'hosts.ini': inventory,
        'site.yml': `- hosts: g\n  tasks:\n${tasks.map(task => `    - ${task}\n`).join('')}`,
      })
      const { run } = analyze(openDirectory(directory), {
        ...defaultRequest,
        playbook: 'site.yml',
        inventory: [join(directory, 'hosts.ini')],
        host: 'n1',
      })
      const members = (group: string): readonly string[] => hostsOf(run.inventory, group)
      assert.deepEqual(members('kind_n1'), ['n5'])
      assert.deepEqual(members('kind_n2'), ['n6'])
      assert.equal(members('kind_plain').length, 12)
      assert.deepEqual([members('is_n2'), members('is_n14'), members('is_n3')], [['n2'], ['n14'], []])
      assert.deepEqual(members('few_and_plain'), ['n3', 'n4'])
    }))
})
