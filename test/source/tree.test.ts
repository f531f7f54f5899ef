import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { UsageError } from '../../src/source/diagnostic.js'
import { openDirectory } from '../../src/source/directory.js'
import { openSource } from '../../src/source/open.js'
import { openRevision, releaseTags } from '../../src/source/revision.js'
import { decodeUtf8 } from '../../src/source/store.js'
import { pathToOpen } from '../../src/source/text.js'
import type { SourceTree } from '../../src/source/tree.js'
import { commitAll, type Files, git, makeRepository, withTemporary, writeFiles } from './trees.js'

const files: Files = {
  'cluster.yml': '- hosts: all\n',
  'roles/a/tasks/main.yml': '- debug:\n',
  'roles/a/tasks/zz.yml': 'é\n',
  'roles/b': { to: 'a' },
  'roles/a/files': { to: '../../shared/files' },
  'shared/files/one.txt': 'one',
  'shared/up': { to: '../roles/b/tasks' },
  'shared/self': { to: '..' },
  'broken.yml': { to: 'nowhere.yml' },
  'out.yml': { to: '../../etc/hostname' },
  'absolute.yml': { to: '/etc/hostname' },
  'loop/x': { to: 'y' },
  'loop/y': { to: 'x' },
  'deep/over': { to: '../roles/../../elsewhere' },
  'latin1.txt': Buffer.from('caf\xe9 au lait', 'latin1'),
  'cut.txt': Buffer.from([0x61, 0xe2, 0x82]),
  'mark.yml': '\ufeffa: 1\n',
  'large.txt': Buffer.alloc(2 * 1024 * 1024, 0x61),
  'huge.txt': Buffer.alloc(11 * 1024 * 1024, 0x61),
  'picture.png': 'text all the same',
  'empty.yml': '',
  'Z.yml': 'z',
  'é.yml': 'e',
}

interface Seen {
  readonly places: Record<string, string | undefined>
  readonly kinds: Record<string, string | undefined>
  readonly texts: Record<string, number | string | undefined>
  readonly lists: Record<string, readonly string[]>
  readonly found: readonly string[]
}

function look(tree: SourceTree): Seen {
  const paths = [
    ...Object.keys(files),
    ...[
      '',
      '.',
      'roles',
      'roles/',
      './roles//a',
      'roles/b/tasks/main.yml',
      'roles/b/files/one.txt',
      'shared/up/zz.yml',
    ],
    ...[
      'shared/self/shared/self/cluster.yml',
      'roles/a/../a/tasks/main.yml',
      '../x',
      '..',
      'loop/x/z',
      'cluster.yml/x',
    ],
    ...['broken.yml/x', 'nothing', 'nothing/here', '.git/HEAD'],
  ]
  const texts: Record<string, number | string | undefined> = {}
  const places: Record<string, string | undefined> = {}
  for (const path of paths) {
    const file = tree.read(path)
    places[path] = file && pathToOpen(file)
    texts[path] = file && file.text.length > 100 ? file.text.length : file?.text
    assert.equal(tree.read(path), file, 'the same object at each call')
  }
  return {
    kinds: Object.fromEntries(paths.map(path => [path, tree.entryKind(path)])),
    texts,
    places,
    lists: Object.fromEntries(paths.map(path => [path, tree.list(path)])),
    found: tree.diagnostics().map(({ code, message, at }) => `${at.file.path}: ${code}: ${message}`),
  }
}

function failure(open: () => unknown): string {
  try {
    open()
  } catch (error) {
    assert.ok(error instanceof UsageError, String(error))
    assert.ok(!error.message.includes('\n'))
    return error.message
  }
  return assert.fail('should be a UsageError')
}

describe('a directory and a revision of it', () => {
  let seen: Seen
  let committed: Seen
  before(() =>
    withTemporary(root => {
      const commit = makeRepository(join(root, 'tree'), files)
      const tree = openDirectory(join(root, 'tree'))
      assert.deepEqual(tree.origin, { kind: 'directory', path: join(root, 'tree'), commit })
      seen = look(tree)
      const revision = openRevision(join(root, 'tree'), commit.slice(0, 10))
      assert.deepEqual(revision.origin, {
        kind: 'revision',
        path: join(root, 'tree'),
        revision: commit.slice(0, 10),
        commit,
      })
      committed = look(revision)
    }),
  )

  it('are the same tree', () => assert.deepEqual(committed, seen))

  it('follow links inside, through directories and several at a time', () => {
    assert.equal(seen.texts['roles/b/tasks/main.yml'], '- debug:\n')
    assert.equal(seen.texts['roles/b/files/one.txt'], 'one')
    assert.equal(seen.texts['shared/up/zz.yml'], 'é\n')
    assert.equal(seen.texts['shared/self/shared/self/cluster.yml'], '- hosts: all\n')
    assert.equal(seen.kinds['roles/b'], 'directory')
    assert.deepEqual(seen.lists['roles/b'], ['files', 'tasks'])
  })

  it('say where a text stands that a link leads to', () => {
    assert.equal(seen.places['roles/b/files/one.txt'], 'shared/files/one.txt')
    assert.equal(seen.places['roles/b/tasks/main.yml'], 'roles/a/tasks/main.yml')
  })

  it('count links that leave, loop or lead nowhere as missing', () => {
    for (const path of ['out.yml', 'absolute.yml', 'loop/x', 'loop/y', 'deep/over', 'broken.yml']) {
      assert.equal(seen.kinds[path], undefined)
      assert.equal(seen.texts[path], undefined)
    }
  })

  it('say what they refused, once', () => {
    assert.deepEqual(seen.found.map(line => line.split(': ').slice(0, 2).join(' ')).sort(), [
      'absolute.yml link-outside',
      'cut.txt file-not-utf8',
      'deep/over link-outside',
      'huge.txt file-too-large',
      'latin1.txt file-not-utf8',
      'loop/x link-loop',
      'loop/y link-loop',
      'out.yml link-outside',
    ])
    assert.ok(seen.found.some(line => line.startsWith('latin1.txt') && line.includes('offset 3')))
    assert.ok(seen.found.some(line => line.startsWith('cut.txt') && line.includes('offset 1')))
  })

  it('read what is large, empty, called like a picture or marked with a byte order mark', () => {
    assert.equal(seen.texts['large.txt'], 2 * 1024 * 1024)
    assert.equal(seen.texts['empty.yml'], '')
    assert.equal(seen.texts['picture.png'], 'text all the same')
    assert.equal(seen.texts['mark.yml'], '\ufeffa: 1\n')
  })

  it('list names in byte order, without .git', () => {
    const names = seen.lists[''] ?? []
    assert.equal(names[0], 'Z.yml')
    assert.equal(names.at(-1), 'é.yml')
    assert.ok(!names.includes('.git'))
  })

  it('take paths as they are normalised, and nothing above the root', () => {
    assert.equal(seen.kinds[''], 'directory')
    assert.equal(seen.kinds['./roles//a'], 'directory')
    assert.equal(seen.texts['roles/a/../a/tasks/main.yml'], '- debug:\n')
    assert.equal(seen.kinds['..'], undefined)
    assert.equal(seen.kinds['cluster.yml/x'], undefined)
  })
})

describe('openDirectory', () => {
  it('follows links out where it may', () =>
    withTemporary(root => {
      writeFiles(root, { 'in/link': { to: '../out' }, 'out/x': 'x', 'in/loop': { to: 'loop' } })
      const tree = openDirectory(join(root, 'in'), { links: 'anywhere' })
      assert.equal(tree.read('link/x')?.text, 'x')
      assert.equal(tree.entryKind('loop'), undefined)
      assert.deepEqual(
        tree.diagnostics().map(({ code }) => code),
        ['link-loop'],
      )
    }))

  it('takes an absolute link that stays inside', () =>
    withTemporary(root => {
      writeFiles(root, { 'a/x': 'x', b: { to: join(root, 'a') } })
      assert.equal(openDirectory(root).read('b/x')?.text, 'x')
    }))

  it('does not wait for a FIFO', () =>
    withTemporary(root => {
      if (spawnSync('mkfifo', [join(root, 'pipe')]).status !== 0) return
      const tree = openDirectory(root)
      assert.equal(tree.entryKind('pipe'), undefined)
      assert.equal(tree.read('pipe'), undefined)
      assert.deepEqual(
        tree.diagnostics().map(({ code }) => code),
        ['file-unreadable'],
      )
    }))

  it('says what may not be read', function () {
    if (process.getuid?.() === 0) return this.skip()
    return withTemporary(root => {
      writeFiles(root, { secret: 'x', 'closed/x': 'x' })
      chmodSync(join(root, 'secret'), 0)
      chmodSync(join(root, 'closed'), 0)
      const tree = openDirectory(root)
      assert.equal(tree.read('secret'), undefined)
      assert.deepEqual(tree.list('closed'), [])
      chmodSync(join(root, 'closed'), 0o700)
      assert.deepEqual(
        tree.diagnostics().map(({ code }) => code),
        ['file-unreadable', 'file-unreadable'],
      )
    })
  })

  it('has no commit outside a work tree, and a line for what is no directory', () =>
    withTemporary(root => {
      writeFiles(root, { file: '' })
      assert.equal(openDirectory(root).origin.commit, undefined)
      assert.equal(
        failure(() => openDirectory(join(root, 'no'))),
        `${join(root, 'no')}: no such directory`,
      )
      assert.equal(
        failure(() => openDirectory(join(root, 'file'))),
        `${join(root, 'file')}: not a directory`,
      )
    }))
})

describe('openRevision', () => {
  it('takes tags, branches and commits, of bare repositories and of directories inside one', () =>
    withTemporary(root => {
      const work = join(root, 'work')
      const first = makeRepository(work, { 'sub/x': 'old', y: 'y' })
      git(work, 'tag', 'v1.0.0')
      git(work, 'tag', '--annotate', '--message', 'm', 'v1.10.0')
      git(work, 'tag', 'v1.9.0-rc1')
      writeFiles(work, { 'sub/x': 'new' })
      const second = commitAll(work)
      git(work, 'tag', 'v1.9.0')
      writeFiles(work, { 'sub/x': 'on disk only' })
      git(root, 'clone', '--quiet', '--bare', work, join(root, 'bare.git'))
      for (const repository of [work, join(root, 'bare.git')]) {
        for (const revision of ['v1.0.0', 'v1.10.0', first, first.slice(0, 8), 'master~1']) {
          assert.equal(openRevision(repository, revision).read('sub/x')?.text, 'old')
        }
        assert.equal(openRevision(repository, 'master').read('sub/x')?.text, 'new')
        assert.deepEqual(releaseTags(repository), [
          { tag: 'v1.0.0', commit: first },
          { tag: 'v1.9.0', commit: second },
          { tag: 'v1.10.0', commit: first },
        ])
      }
      const inside = openRevision(join(work, 'sub'), 'v1.0.0')
      assert.deepEqual(inside.list(''), ['x'])
      assert.equal(inside.read('x')?.text, 'old')
      mkdirSync(join(work, 'young'))
      assert.match(
        failure(() => openRevision(join(work, 'young'), 'v1.0.0')),
        /no directory young/,
      )
    }))

  it('names the revision, the repository and similar tags where there is no such revision', () =>
    withTemporary(root => {
      makeRepository(root, { x: '' })
      for (const tag of ['v2.30.0', 'v2.31.0', 'v2.31.1', 'v2.31.2', 'v1.0.0']) git(root, 'tag', tag)
      assert.equal(
        failure(() => openRevision(root, 'v2.31')),
        `${root}@v2.31: the repository has no revision v2.31; similar tags: v2.31.2, v2.31.1, v2.31.0`,
      )
      assert.match(
        failure(() => openRevision(root, '2.30.0')),
        /similar tags: v2\.30\.0/,
      )
      assert.match(
        failure(() => openRevision(root, 'nothing-alike')),
        /no revision nothing-alike$/,
      )
    }))

  it('never takes a revision for an option, nor a path for a revision', () =>
    withTemporary(root => {
      makeRepository(root, { x: '' })
      for (const revision of ['-x', '--all', '--output=y', '', 'HEAD:x', 'a\0b', 'HEAD\nHEAD']) {
        assert.match(
          failure(() => openRevision(root, revision).list('')),
          /has no revision/s,
        )
      }
    }))

  it('refuses what is no repository', () =>
    withTemporary(root => {
      assert.match(
        failure(() => openRevision(root, 'master')),
        /not a git repository/,
      )
      assert.match(
        failure(() => openRevision(join(root, 'no'), 'master')),
        /No such file or directory/,
      )
    }))
})

describe('openSource', () => {
  it('tells directories, revisions and paths with an @ apart', () =>
    withTemporary(root => {
      const plain = join(root, 'kube')
      makeRepository(plain, { x: 'committed' })
      writeFiles(plain, { x: 'on disk' })
      makeRepository(join(root, 'k@v1'), { x: 'other' })
      writeFiles(root, { 'kube@master/x': 'a directory of that name' })
      const text = (source: string): string | undefined => openSource(source)?.read('x')?.text
      assert.equal(text(plain), 'on disk')
      assert.equal(text(`${plain}@HEAD`), 'committed')
      assert.equal(text(`${plain}@HEAD@{0}`), 'committed')
      assert.equal(text(`${plain}@master`), 'a directory of that name')
      assert.equal(text(join(root, 'k@v1')), 'other')
      assert.equal(text(`${join(root, 'k@v1')}@master`), 'other')
      assert.match(
        failure(() => openSource(`${plain}@`)),
        /revision is missing/,
      )
      assert.match(
        failure(() => openSource(join(root, 'none@master'))),
        /no such directory/,
      )
    }))
})

describe('decodeUtf8', () => {
  it('finds the byte where UTF-8 ends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(0x80, 0xff, 0xc0, 0xe2, 0xf8), (text, byte) => {
        const good = Buffer.from(text, 'utf8')
        assert.equal(decodeUtf8(good), text)
        assert.deepEqual(decodeUtf8(Buffer.concat([good, Buffer.from([byte]), Buffer.from('(')])), {
          invalidAt: good.length,
        })
      }),
    )
  })
})
