import assert from 'node:assert/strict'
import fc from 'fast-check'
import { addressText, parseAddress, type TaskAddress, wordsOf } from '../../src/addresses/address.js'
import { type AddressedTask, addressesIn } from '../../src/addresses/addressed.js'
import { openCode } from '../../src/run/code.js'
import { treeOf } from '../inventory/places.js'

const role = 'roles/node/tasks/main.yml'

function tasksOf(files: Readonly<Record<string, string>>): readonly AddressedTask[] {
  return addressesIn(openCode(treeOf(files), () => {})).all()
}

function textsOf(files: Readonly<Record<string, string>>): readonly string[] {
  return tasksOf(files).map(({ address }) => addressText(address))
}

const withoutContent = (text: string): string => text.replace(/@.*$/, '')

const swapOff = `- name: Turn it off
  command: /sbin/swapoff -a
  when: is_on
`

describe('address of a task', () => {
  it('says owner, name, module and content', () => {
    assert.match(textsOf({ [role]: swapOff })[0] ?? '', /^node:turn-it-off:command@[0-9a-f]{7}$/)
  })

  const alike: readonly (readonly [what: string, other: string, path?: string, than?: string])[] = [
    ['lines above', `# a word\n\n${swapOff}`],
    [
      'quotes, order of keys, comments',
      `- when: "is_on"   # why\n  command: '/sbin/swapoff -a'\n  name: 'Turn it off'\n`,
    ],
    ['the full name of the module', swapOff.replace('command:', 'ansible.builtin.command:')],
    ['blanks in expressions', swapOff.replace('is_on', 'a  |  bool'), role, swapOff.replace('is_on', 'a|bool')],
    [
      'the other way to write a mode',
      '- name: x\n  file: { path: /x, mode: 0644 }\n',
      role,
      '- name: x\n  file: { path: /x, mode: "0644" }\n',
    ],
    ['a file with another number', swapOff, 'roles/node/tasks/0070-off.yml'],
    ['a block around it', `- block:\n${swapOff.replaceAll(/^(?=.)/gm, '    ')}`],
  ]
  for (const [what, other, path = role, than = swapOff] of alike) {
    it(`stays the same with ${what}`, () => {
      assert.deepEqual(textsOf({ [path]: other }), textsOf({ [role]: than }))
    })
  }

  const different: readonly (readonly [what: string, other: string])[] = [
    ['another argument', swapOff.replace('-a', '-a -v')],
    ['another condition', swapOff.replace('is_on', 'is_off')],
    ['a blank within a command', swapOff.replace('swapoff -a', 'swapoff  -a')],
    ['a tag', `${swapOff}  tags: [swap]\n`],
    ['a keyword', `${swapOff}  become: true\n`],
    ['a loop', `${swapOff}  loop: [1, 2]\n`],
    ['a variable of its own', `${swapOff}  vars: { a: 1 }\n`],
  ]
  for (const [what, other] of different) {
    it(`has another content with ${what}`, () => {
      const [ours] = tasksOf({ [role]: swapOff })
      const [theirs] = tasksOf({ [role]: other })
      assert.notEqual(theirs?.address.content, ours?.address.content)
      assert.equal(theirs?.address.name, ours?.address.name)
    })
  }

  it('keeps its content under another name', () => {
    const [ours] = tasksOf({ [role]: swapOff })
    const [theirs] = tasksOf({ [role]: swapOff.replace('Turn it off', 'Swap | Turn off') })
    assert.equal(theirs?.address.content, ours?.address.content)
    assert.equal(theirs?.address.name, 'swap-turn-off')
  })

  it('counts tasks with the same name and module of a role, by file and from top to bottom', () => {
    const tasks = textsOf({
      'roles/node/tasks/b.yml': '- name: Say\n  debug: { msg: 3 }\n',
      'roles/node/tasks/a.yml':
        '- name: Say\n  debug: { msg: 1 }\n- name: Say\n  debug: { msg: 2 }\n- name: Say\n  command: x\n',
      'roles/node/handlers/main.yml': '- name: say\n  debug: { msg: 4 }\n',
      'roles/etcd/tasks/main.yml': '- name: Say\n  debug: { msg: 5 }\n',
    })
    assert.deepEqual(tasks.map(withoutContent), [
      'etcd:say:debug',
      'node:say:debug',
      'node:say:debug#2',
      'node:say:command',
      'node:say:debug#3',
      'node:say:debug#4',
    ])
  })

  it('is owned by the file outside of roles, and has a sign for a task without a name', () => {
    const play = '- hosts: all\n  pre_tasks:\n    - meta: flush_handlers\n  tasks:\n    - name: Say\n      debug:\n'
    assert.deepEqual(textsOf({ 'playbooks/site.yml': play }).map(withoutContent), [
      'playbooks/site.yml:-:meta',
      'playbooks/site.yml:say:debug',
    ])
  })

  it('has those of a file that includes others by the old word', () => {
    const text = '- include: other.yml\n- name: Say\n  debug:\n'
    assert.deepEqual(textsOf({ [role]: text }).map(withoutContent), ['node:-:include', 'node:say:debug'])
  })

  it('finds a task by where it is written, whoever read the file', () => {
    const files = { [role]: swapOff, 'site.yml': '- hosts: all\n  tasks:\n    - name: Say\n      debug:\n' }
    const ours = addressesIn(openCode(treeOf(files), () => {}))
    for (const { task, address } of tasksOf(files)) assert.deepEqual(ours.of(task), address)
  })
})

describe('address as text', () => {
  const address: fc.Arbitrary<TaskAddress> = fc.record({
    owner: fc.stringMatching(/^[a-z0-9_-]+(\/[a-z0-9._-]+){0,3}$/),
    name: fc.string().map(wordsOf),
    module: fc.stringMatching(/^[a-z_]+$/),
    ordinal: fc.integer({ min: 1, max: 99 }),
    content: fc.stringMatching(/^[0-9a-f]{7}$/),
  })

  it('is read as what it was written from', () => {
    fc.assert(
      fc.property(address, one => {
        const { ordinal, ...rest } = one
        assert.deepEqual(parseAddress(addressText(one)), ordinal === 1 ? { ...rest } : { ...one })
      }),
    )
  })

  const rows: readonly (readonly [text: string, read: object | undefined])[] = [
    ['kubernetes/node:turn-it-off', { owner: 'kubernetes/node', name: 'turn-it-off' }],
    ['roles/node:Turn it off', { owner: 'node', name: 'turn-it-off' }],
    ['node:a:ansible.builtin.command', { owner: 'node', name: 'a', module: 'command' }],
    ['node:a:command#2', { owner: 'node', name: 'a', module: 'command', ordinal: 2 }],
    ['node:a@0123abc', { owner: 'node', name: 'a', content: '0123abc' }],
    ['node', undefined],
    ['node:', undefined],
    [':a', undefined],
    ['node:a:command#0', undefined],
    ['node:a:command#x', undefined],
    ['node:a:command@12', undefined],
    ['node:a:command@0123abc@0123abc', undefined],
    ['a:b:c:d', undefined],
    ['', undefined],
  ]
  for (const [text, read] of rows) {
    it(`${JSON.stringify(text)} is ${read === undefined ? 'none' : 'one'}`, () => {
      assert.deepEqual(parseAddress(text), read)
    })
  }
})
