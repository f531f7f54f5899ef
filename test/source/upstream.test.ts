import assert from 'node:assert/strict'
import { clonePath, fetchClone } from '../../src/source/clone.js'
import { openDirectory } from '../../src/source/directory.js'
import { openRevision } from '../../src/source/revision.js'
import { publicReference } from '../../src/source/upstream.js'
import { commitAll, git, makeRepository, withTemporary, writeFiles } from './trees.js'

/**
 * A repository with an older and a newer commit: which of them is recorded as v1.0.0, what git knows of it, and what the revision
 * is called in public: the release, `commit` for its own commit, null for nothing.
 */
interface Row {
  readonly it: string
  readonly tag?: 'older' | 'newer'
  readonly recorded?: 'older' | 'newer'
  readonly remote?: string
  /** What the remote-tracking branch is at. */
  readonly tracked?: 'older' | 'newer'
  readonly revision: string
  readonly is: 'v1.0.0' | 'commit' | null
}

const upstream = 'https://github.com/kubernetes-sigs/kubespray.git'

const rows: readonly Row[] = [
  { it: 'a commit that is nowhere else', revision: 'HEAD', is: null },
  { it: 'a tag that is nowhere else', tag: 'newer', revision: 'v1.0.0', is: null },
  { it: 'the tag of a recorded release', tag: 'older', recorded: 'older', revision: 'v1.0.0', is: 'v1.0.0' },
  { it: "a fork's tag called like it", tag: 'newer', recorded: 'older', revision: 'v1.0.0', is: null },
  { it: 'a commit before a recorded release', tag: 'newer', recorded: 'newer', revision: 'HEAD~1', is: 'commit' },
  { it: 'a commit after a recorded release', tag: 'older', recorded: 'older', revision: 'HEAD', is: null },
  { it: "a commit of kubespray's branch", remote: upstream, tracked: 'newer', revision: 'HEAD~1', is: 'commit' },
  { it: 'a commit that was not pushed', remote: upstream, tracked: 'older', revision: 'HEAD', is: null },
  { it: 'a branch of a fork', remote: 'https://github.com/me/kubespray', tracked: 'newer', revision: 'HEAD', is: null },
  {
    it: 'a tag that was not fetched',
    tag: 'older',
    remote: upstream,
    tracked: 'newer',
    revision: 'v1.0.0',
    is: 'commit',
  },
  ...[
    ['git@github.com:kubernetes-sigs/kubespray.git', 'commit'],
    ['ssh://git@github.com/Kubernetes-Sigs/Kubespray', 'commit'],
    ['https://github.com/kubernetes-incubator/kubespray/', 'commit'],
    ['https://github.com.example.org/kubernetes-sigs/kubespray', null],
    ['https://example.org/github.com/kubernetes-sigs/kubespray', null],
    ['https://github.com/kubernetes-sigs/kubespray-fork', null],
  ].map(([remote = '', is]) => ({ it: `a remote ${remote}`, remote, tracked: 'newer', revision: 'HEAD', is }) as Row),
]

/** Runs something with another place for the local clone. */
function withCache<T>(path: string, run: () => T): T {
  const before = process.env.XDG_CACHE_HOME
  process.env.XDG_CACHE_HOME = path
  try {
    return run()
  } finally {
    if (before === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = before
  }
}

function twoCommits(root: string): Readonly<Record<'older' | 'newer', string>> {
  const older = makeRepository(root, { 'cluster.yml': '[]\n' })
  writeFiles(root, { 'cluster.yml': '---\n[]\n' })
  return { older, newer: commitAll(root) }
}

describe('what a revision is called in public', () => {
  for (const { it: what, tag, recorded, remote, tracked, revision, is } of rows) {
    it(`is known of ${what}`, () =>
      withTemporary(root =>
        withCache(`${root}/cache`, () => {
          const repository = `${root}/repository`
          const commits = twoCommits(repository)
          if (tag !== undefined) git(repository, 'tag', '--annotate', '--message', 'a', 'v1.0.0', commits[tag])
          if (remote !== undefined) git(repository, 'remote', 'add', 'there', remote)
          if (tracked !== undefined) git(repository, 'update-ref', 'refs/remotes/there/master', commits[tracked])
          const { origin } = openRevision(repository, revision)
          const found = publicReference(origin, () => recorded && commits[recorded])
          assert.equal(found, is === 'commit' ? origin.commit : is)
        }),
      ))
  }

  it('is nothing for a directory', () =>
    withTemporary(root => {
      const { older } = twoCommits(root)
      git(root, 'checkout', '--quiet', older)
      assert.equal(
        publicReference(openDirectory(root).origin, () => older),
        null,
      )
    }))

  it('is the tag or commit that the local clone has, and nothing for what it has not', () =>
    withTemporary(root =>
      withCache(`${root}/cache`, () => {
        const repository = `${root}/repository`
        const { older, newer } = twoCommits(repository)
        git(repository, 'tag', 'v1.0.0', older)
        fetchClone(repository, () => {})
        const named = (path: string, revision: string): string | null =>
          publicReference(openRevision(path, revision).origin, () => undefined)
        assert.deepEqual([named(clonePath(), 'v1.0.0'), named(clonePath(), 'master')], ['v1.0.0', newer])
        assert.deepEqual([named(repository, 'v1.0.0'), named(repository, 'HEAD')], ['v1.0.0', newer])
        writeFiles(repository, { 'cluster.yml': '---\n- hosts: all\n' })
        commitAll(repository)
        assert.equal(named(repository, 'HEAD'), null)
      }),
    ))
})
