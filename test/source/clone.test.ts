import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { clonePath, fetchClone, hasClone } from '../../src/source/clone.js'
import { UsageError } from '../../src/source/diagnostic.js'
import { openSource } from '../../src/source/open.js'
import { openRevision } from '../../src/source/revision.js'
import { commitAll, git, makeRepository, withTemporary, writeFiles } from './trees.js'

describe('the local clone', () => {
  const before = process.env.XDG_CACHE_HOME
  const withCache = (test: (root: string) => void) => () =>
    withTemporary(root => {
      process.env.XDG_CACHE_HOME = join(root, 'cache')
      try {
        test(root)
      } finally {
        if (before === undefined) delete process.env.XDG_CACHE_HOME
        else process.env.XDG_CACHE_HOME = before
      }
    })
  const fetchFrom = (from: string): string[] => {
    const lines: string[] = []
    fetchClone(from, line => lines.push(line))
    return lines
  }

  it(
    'is made, then updated, with all tags and the default branch',
    withCache(root => {
      const upstream = join(root, 'upstream')
      makeRepository(upstream, { x: 'one' })
      git(upstream, 'tag', 'v1.0.0')
      assert.equal(hasClone(), false)
      assert.equal(openSource('v1.0.0'), undefined)
      const said = fetchFrom(upstream)
      assert.match(said.at(-1) ?? '', /^master is at .*newest release v1\.0\.0$/)
      assert.equal(hasClone(), true)
      assert.equal(openSource('v1.0.0')?.read('x')?.text, 'one')
      assert.equal(openSource('v1.1.0'), undefined)

      writeFiles(upstream, { x: 'two' })
      commitAll(upstream)
      git(upstream, 'tag', '--annotate', '--message', 'm', 'v1.1.0')
      fetchFrom(upstream)
      assert.equal(openSource('v1.1.0')?.read('x')?.text, 'two')
      assert.equal(openRevision(clonePath(), 'master').read('x')?.text, 'two')
      assert.deepEqual(readdirSync(dirname(clonePath())), ['kubespray.git'])
    }),
  )

  it(
    'names a detached HEAD by the branch at its commit, else master',
    withCache(root => {
      const upstream = join(root, 'upstream')
      makeRepository(upstream, { x: 'one' })
      git(upstream, 'branch', '--move', 'main')
      git(upstream, 'checkout', '--quiet', '--detach')
      fetchFrom(upstream)
      assert.equal(openRevision(clonePath(), 'main').read('x')?.text, 'one')

      writeFiles(upstream, { x: 'nameless' })
      commitAll(upstream)
      fetchFrom(upstream)
      assert.equal(openRevision(clonePath(), 'master').read('x')?.text, 'nameless')
      assert.equal(openRevision(clonePath(), 'HEAD').read('x')?.text, 'nameless')
    }),
  )

  it(
    'stays as it was when a fetch fails, and leaves nothing behind',
    withCache(root => {
      const nowhere = join(root, 'nowhere')
      const refused = (from: string, message: RegExp): void =>
        assert.throws(
          () => fetchFrom(from),
          error => error instanceof UsageError && message.test(error.message),
        )
      refused(nowhere, /does not appear to be a git repository/)
      assert.equal(hasClone(), false)
      assert.deepEqual(readdirSync(dirname(clonePath())), [])
      refused('--upload-pack=touch x', /neither a URL nor a repository/)

      const upstream = join(root, 'upstream')
      makeRepository(upstream, { x: 'one' })
      fetchFrom(upstream)
      refused(nowhere, /does not appear to be a git repository/)
      assert.equal(openRevision(clonePath(), 'master').read('x')?.text, 'one')
    }),
  )

  it(
    'does not overwrite what stands in its place',
    withCache(root => {
      const upstream = join(root, 'upstream')
      makeRepository(upstream, { x: 'one' })
      mkdirSync(clonePath(), { recursive: true })
      writeFileSync(join(clonePath(), 'mine'), '')
      assert.throws(() => fetchFrom(upstream), UsageError)
      assert.deepEqual(readdirSync(clonePath()), ['mine'])
    }),
  )
})
