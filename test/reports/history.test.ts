import assert from 'node:assert/strict'
import { runWhofixes } from '../commands/run-whofixes.js'
import { smallTree } from '../commands/small-tree.js'
import { type Files, git, withTemporary, writeFiles } from '../source/trees.js'

interface Change {
  readonly release: string
  readonly changed: readonly string[]
  readonly now: { readonly fixedBy: string; readonly condition: string | null }
  readonly tasks: readonly { readonly file: string; readonly line: number; readonly effect: string }[]
  readonly gone: readonly { readonly effect: string }[]
  readonly commits: readonly string[]
}

const kernel = 'roles/kubernetes/preinstall/tasks/kernel.yml'
const text = (path: string): string => String(smallTree[path])

/** Releases of a small tree in kubespray's shape, each with the files that change in it. */
const releases: readonly (readonly [tag: string, files: Files])[] = [
  ['v2.30.0', { ...smallTree, 'roles/kubernetes/node/tasks/main.yml': '- debug:\n' }],
  ['v2.30.1', { [kernel]: `---\n# only a comment more${text(kernel).slice(3)}` }],
  ['v2.31.0', { [kernel]: text(kernel).replace('value: "1"', 'value: "0"') }],
  [
    'v2.32.0',
    {
      [kernel]: `${text(kernel).replace('sysctl:', 'sysctl:\n    ignoreerrors: true')}  when: ansible_memtotal_mb > 100\n`,
    },
  ],
]

describe('history', () => {
  it('tells each release that says otherwise than the one before, and the commit', () => {
    withTemporary(path => {
      git(path, 'init', '--quiet')
      for (const [tag, files] of releases) {
        writeFiles(path, files)
        git(path, 'add', '-A')
        git(path, 'commit', '--quiet', '--allow-empty', '-m', tag)
        git(path, 'tag', tag)
      }
      const words = ['history', 'ip_forward', path, '--format', 'json', '--fresh']
      const { status, out, err } = runWhofixes(words)
      assert.equal(status, 0)
      assert.deepEqual(err, [])
      const { releases: asked, changes } = JSON.parse(out) as { releases: number; changes: readonly Change[] }
      assert.equal(asked, 4)
      assert.deepEqual(
        changes.map(({ release, changed, now }) => [release, changed, now.fixedBy]),
        [
          ['v2.30.0', ['verdict'], 'kubespray'],
          ['v2.31.0', ['verdict', 'task'], 'operator'],
          ['v2.32.0', ['verdict', 'condition', 'task', 'note'], 'kubespray'],
        ],
      )
      const last = changes[2] ?? assert.fail()
      assert.match(last.now.condition ?? '', /memtotal/)
      assert.equal(last.tasks[0]?.file, kernel)
      assert.deepEqual(last.commits, [git(path, 'rev-parse', 'v2.32.0').trim()])
      assert.deepEqual(changes[1]?.commits, [git(path, 'rev-parse', 'v2.31.0').trim()])

      const later = runWhofixes([...words, '--since', 'v2.31.0'])
      assert.equal(later.status, 0)
      assert.equal(JSON.parse(later.out).releases, 2)
      const refused = runWhofixes([...words, '--since', 'v9.9.9'])
      assert.equal(refused.status, 2)
      assert.match(refused.err.join('\n'), /--since v9\.9\.9: .* has no such release tag/)
    })
  })

  it('refuses what is no repository or no problem', () => {
    for (const [words, says] of [
      [['history', 'swap', '/nowhere'], /nowhere: not a directory/],
      [['history', 'nothing', '.'], /no problem 'nothing'; there are swap/],
    ] as const) {
      const { status, err } = runWhofixes(words)
      assert.equal(status, 2)
      assert.match(err.join('\n'), says)
    }
  })
})
