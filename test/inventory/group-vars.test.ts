import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { readGroupVars, readInventoryVars, unmatchedGroupVars } from '../../src/inventory/group-vars.js'
import { readInventory } from '../../src/inventory/read.js'
import { placeOf } from '../../src/source/text.js'
import { collector, inDirectory, plain, treeOf } from './places.js'

describe('group_vars and host_vars', () => {
  it('stand in the order they are merged, each definition with its place', () => {
    const tree = treeOf({
      'pb/group_vars/all/10-first.yml': 'a: 1\nb: 2\n',
      'pb/group_vars/all/20-last.json': '{"a": 3}',
      'pb/group_vars/all/deeper/00.yml': 'a: 4\n',
      'pb/group_vars/all/with.dot/00.yml': 'a: 5\n',
      'pb/group_vars/all/.hidden.yml': 'a: 6\n',
      'pb/group_vars/all/old.yml~': 'a: 7\n',
      'pb/group_vars/all/notes.txt': 'a: 8\n',
      'pb/host_vars/n1.yml': 'a: 9\n',
    })
    const files = readGroupVars(tree, 'pb', 'playbook', () => assert.fail())
    const shown = files.flatMap(file =>
      file.definitions.map(({ name, node, at }) => [file.group ?? file.host, name, plain(node), placeOf(at)]),
    )
    assert.deepEqual(shown, [
      ['all', 'a', 1, 'pb/group_vars/all/10-first.yml:1'],
      ['all', 'b', 2, 'pb/group_vars/all/10-first.yml:2'],
      ['all', 'a', 3, 'pb/group_vars/all/20-last.json:1'],
      ['all', 'a', 4, 'pb/group_vars/all/deeper/00.yml:1'],
      ['n1', 'a', 9, 'pb/host_vars/n1.yml:1'],
    ])
  })

  it('a directory hides the file of its name, and says so', () => {
    const { report, told } = collector()
    const tree = treeOf({ 'group_vars/g/x.yml': 'a: 1\n', 'group_vars/g.yml': 'a: 2\n', 'group_vars/g.json': '{}' })
    const files = readGroupVars(tree, '', 'playbook', report)
    assert.deepEqual(
      files.map(({ file }) => file.path),
      ['group_vars/g/x.yml'],
    )
    assert.deepEqual(told, [
      'group_vars/g.yml:1 inventory-group: Ansible does not read it, as g stands beside it',
      'group_vars/g.json:1 inventory-group: Ansible does not read it, as g stands beside it',
    ])
  })

  it('keeps what is encrypted or malformed as unreadable, with the reason', () => {
    const { report, told } = collector()
    const tree = treeOf({
      'group_vars/all/secret.yml': '$ANSIBLE_VAULT;1.1;AES256\n3061\n',
      'group_vars/all/one.yml': 'plain: 1\ntoken: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3061\n',
      'group_vars/all/list.yml': '- a\n',
      'group_vars/all/broken.yml': 'a: [1\n',
      'group_vars/all/empty.yml': '# nothing yet\n',
      'group_vars/README.md': '# Notes\n\n* a: b: c\n',
    })
    const files = readGroupVars(tree, '', 'inventory', report)
    const by = new Map(files.map(file => [file.file.path.split('/').at(-1), file]))
    assert.match(by.get('secret.yml')?.unreadable?.says ?? '', /encrypted with Ansible Vault/)
    assert.equal(by.get('one.yml')?.unreadable, undefined)
    const token = by.get('one.yml')?.definitions[1]?.node
    assert.equal(token?.kind === 'scalar' && token.tag, 'vault')
    assert.match(by.get('list.yml')?.unreadable?.says ?? '', /expected a mapping of variables, got a list/)
    assert.equal(by.get('broken.yml')?.unreadable?.kind, 'unreadable')
    assert.deepEqual(by.get('empty.yml')?.definitions, [])
    assert.deepEqual(told.map(line => line.split(' ')[0]).sort(), [
      'group_vars/all/broken.yml:2',
      'group_vars/all/list.yml:1',
    ])
  })

  it('beside an inventory are shown by the path the user gave, links followed', () => {
    inDirectory(
      {
        'mine/hosts.ini': '[g]\nn1\n',
        'shared/g.yml': 'a: 1\n',
        'shared/stray.yml': 'a: 2\n',
        'mine/host_vars/n1.yml': 'b: 1\n',
      },
      directory => {
        symlinkSync('../shared', join(directory, 'mine/group_vars'))
        const fail = (): void => assert.fail()
        const inventory = readInventory([join(directory, 'mine/hosts.ini')], fail)
        const files = readInventoryVars(inventory, fail)
        assert.deepEqual(
          files.map(({ file }) => file.path),
          [
            join(directory, 'mine/group_vars/g.yml'),
            join(directory, 'mine/group_vars/stray.yml'),
            join(directory, 'mine/host_vars/n1.yml'),
          ],
        )
        assert.deepEqual(
          unmatchedGroupVars(files, inventory).map(({ group }) => group),
          ['stray'],
        )
      },
    )
  })
})
