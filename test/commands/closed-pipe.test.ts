import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withTemporary, writeFiles } from '../source/trees.js'
import { smallTree } from './small-tree.js'

const program = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** A shell line with the program as `$PROGRAM` and the tree as `$TREE`; what is said on the shell's standard error. */
function shell(line: string, tree: string): string {
  const ran = spawnSync('sh', ['-c', line], {
    encoding: 'utf8',
    env: { ...process.env, PROGRAM: `${process.execPath} ${program}`, TREE: tree, XDG_CACHE_HOME: '/nonexistent' },
  })
  return ran.stderr
}

describe('a reader that stops reading', () => {
  const lines = [
    ['only the first line', '{ $PROGRAM tasks $TREE; echo $? >&2; } | head -1 >/dev/null', '0\n'],
    ['nothing at all', '{ $PROGRAM report $TREE --format json; echo $? >&2; } | true', '0\n'],
    ['nothing at all of a report in a form for people', '{ $PROGRAM $TREE; echo $? >&2; } | true', '0\n'],
  ] as const
  for (const [name, line, said] of lines) {
    it(name, () =>
      withTemporary(root => {
        writeFiles(root, smallTree)
        assert.equal(shell(line, root), said)
      }),
    )
  }

  it('nothing at all of what is said on standard error', () =>
    withTemporary(root => {
      const defaults = 'roles/kubespray-defaults/defaults/main.yml'
      writeFiles(join(root, 'tree'), {
        ...smallTree,
        [defaults]: `${String(smallTree[defaults])}kubelet_fail_swap_on: true\n`,
      })
      // The status goes round the pipe, since all that is said goes into it.
      const line = '{ { $PROGRAM answer $TREE 2>&1 >/dev/null; echo $? >&3; } | true; } 3>&2'
      assert.equal(shell(line, join(root, 'tree')), '0\n')
    }))
})
