import assert from 'node:assert/strict'
import { join } from 'node:path'
import { openDirectory } from '../../src/source/directory.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'
import { comparableList } from './lists.js'
import { measure } from './measure.js'
import { findPlaybooks } from './playbooks.js'
import { countUnread, renderFigures } from './table.js'

const tree: Files = {
  'hosts.ini': 'localhost\n[web]\nlocalhost\n',
  'site.yml': `- import_playbook: deep/books/web.yml
- hosts: [web, "db:!old", localhost, "{{ others }}"]
  tasks:
    - {name: one, debug: {msg: x}}
`,
  'tasks.yml': '- {name: no play, debug: {msg: x}}\n',
  'vars.yaml': 'hosts: [web]\n',
  'linked.yml': { to: 'site.yml' },
  'deep/around': { to: '..' },
  'broken.yml': '- hosts: all\n  tasks: [\n',
  'templates/page.j2': '- hosts: all\n',
  '.hidden/site.yml': '- hosts: all\n',
  'deep/ansible.cfg': '[defaults]\nroles_path = parts\n',
  'deep/books/web.yml': `- hosts: web
  roles: [here, nowhere]
`,
  'deep/parts/here/tasks/main.yml': `- {name: two, debug: {msg: x}}
- {name: three, no_such_module: {}}
- include_tasks: gone.yml
`,
}

describe('the stress tool', () => {
  it('finds the playbooks of a repository, the directory each is played from, and the groups they are for', () => {
    withTemporary(root => {
      writeFiles(root, tree)
      assert.deepEqual(findPlaybooks(openDirectory(root)), {
        yamlFiles: 6,
        playbooks: [
          { root: 'deep', path: 'books/web.yml' },
          { root: '', path: 'site.yml' },
        ],
        groups: ['db', 'old', 'web'],
      })
    })
  })

  it('measures a playbook, with a place for everything that is not read', () => {
    withTemporary(root => {
      writeFiles(root, tree)
      const measured = measure(openDirectory(join(root, 'deep')), 'books/web.yml', join(root, 'hosts.ini'))
      assert.equal(measured.thrown, undefined)
      assert.equal(measured.plays, 1)
      assert.equal(measured.tasks, 3)
      assert.equal(measured.listable, false)
      assert.deepEqual(countUnread([measured, measured]), [
        ['gap', 2, '`parts/here/tasks/main.yml:3`'],
        ['module-unknown', 1, '`parts/here/tasks/main.yml:2`'],
        ['role-missing', 1, '`books/web.yml:2`'],
      ])
    })
  })

  it('says what is asked for and not there, and what was thrown', () => {
    withTemporary(root => {
      writeFiles(root, tree)
      const measured = measure(openDirectory(root), 'gone.yml', join(root, 'hosts.ini'))
      const [refused] = countUnread([measured])
      assert.deepEqual(refused?.slice(0, 2), ['refused', 1])
      const broken = { ...measured, refused: undefined, thrown: 'Error: oh\n  at x' }
      assert.deepEqual(countUnread([broken as never]), [['THROWN', 1, 'Error: oh']])
    })
  })

  it('prints figures as Markdown', () => {
    const measured = { plays: 1, tasks: 50, milliseconds: 500, unread: [], list: '', listable: true }
    const figures = { repository: 'r', revision: 'abc', yamlFiles: 7, measured: [measured, measured] }
    const lists = { equal: 1, made: 2 }
    assert.match(
      renderFigures([{ ...figures, lists }]),
      /^\| r \| abc \| 7 \| 2 \| 2 \| 100 \| 1\.0 s \| 100 \| 1 of 2 \|$/m,
    )
  })

  it('compares lists but for the order of the tags of a play', () => {
    const list = (tags: string): string => `\nplaybook: p\n\n  play #1 (h): n\tTAGS: [${tags}]\n    tasks:\n`
    assert.equal(comparableList(list('b,a')), comparableList(list('a,b')))
    assert.notEqual(comparableList(list('b,a')), comparableList(list('a')))
  })
})
