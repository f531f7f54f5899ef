import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { lastVersionWith } from '../../src/source/commits.js'
import { commitAll, git, makeRepository, withTemporary, writeFiles } from './trees.js'

/** A repository in which roles/a was there in v1.0.0 and v1.1.0, and a directory of it is removed before v1.2.0. */
function withHistory(test: (root: string, commits: readonly string[]) => void): void {
  withTemporary(place => {
    const root = join(place, 'repository')
    const first = makeRepository(root, { 'roles/a/tasks/main.yml': 'one\n', 'roles/a/tasks/it.yml': 'it\n' })
    git(root, 'tag', 'v1.0.0')
    writeFiles(root, { 'roles/a/tasks/it.yml': 'it changed\n' })
    const second = commitAll(root)
    git(root, 'tag', '--annotate', '--message', 'release', 'v1.1.0')
    rmSync(join(root, 'roles/a/tasks/it.yml'))
    const third = commitAll(root)
    git(root, 'tag', 'v1.2.0')
    writeFiles(root, { 'README.md': 'text\n' })
    const fourth = commitAll(root)
    test(root, [first, second, third, fourth])
  })
}

describe('the last version with a path', () => {
  it('is the commit before the one that removed it, and the newest release that has it', () => {
    withHistory((root, [, second, third]) => {
      const is = { removedBy: third, commit: second, release: 'v1.1.0' }
      assert.deepEqual(lastVersionWith(root, 'master', 'roles/a/tasks/it.yml'), is)
      assert.deepEqual(lastVersionWith(root, 'v1.2.0', 'roles/a/tasks/it.yml'), is)
      // Seen from a directory below, paths are those of its tree.
      assert.deepEqual(lastVersionWith(join(root, 'roles'), 'HEAD', 'a/tasks/it.yml'), is)
    })
  })

  it('is told of directories', () => {
    withHistory((root, [, , , fourth]) => {
      rmSync(join(root, 'roles'), { recursive: true })
      const removedBy = commitAll(root)
      assert.deepEqual(lastVersionWith(root, 'master', 'roles/a'), { removedBy, commit: fourth, release: 'v1.2.0' })
    })
  })

  it('is not there for what the revision has, what never was, and what cannot be asked', () => {
    withHistory((root, commits) => {
      assert.equal(lastVersionWith(root, commits[0] ?? '', 'roles/a/tasks/it.yml'), undefined)
      for (const path of ['README.md', 'never.yml', '', '*', 'a\nb', '../x', ':(glob)**']) {
        assert.equal(lastVersionWith(root, 'master', path), undefined, path)
      }
      assert.equal(lastVersionWith(root, 'no-such-revision', 'roles/a/tasks/it.yml'), undefined)
      assert.equal(lastVersionWith(root, '--all', 'roles/a/tasks/it.yml'), undefined)
    })
  })
})
