import assert from 'node:assert/strict'
import { follow, type HostFiles } from '../../src/evidence/host-files.js'
import { standsAt } from '../../src/host/answers/paths.js'
import { changedFiles } from '../../src/host/changed-files.js'
import { momentIn } from './answers/memory.js'
import { filesOf, type Written } from './files.js'

/** `/0` leads to `/1` and so on, over that many links, to a directory with a file. */
function chain(links: number): Readonly<Record<string, Exclude<Written, Uint8Array>>> {
  const each = Array.from({ length: links }, (_, at) => [`/${at}`, { link: `${at + 1}` }] as const)
  return { ...Object.fromEntries(each), [`/${links}/file`]: 'text' }
}

/** Everything that follows links, as whether it finds what stands at a path. */
const walkers: Readonly<Record<string, (files: HostFiles, path: string) => boolean>> = {
  'captured files': (files, path) => files.entry(path).kind === 'known',
  'changed files': (files, path) => changedFiles(files).entry(path).kind === 'known',
  'tasks that look': (files, path) => standsAt({ ...momentIn({}), files }, path, true)?.kind === 'known',
}

describe('links of a host', () => {
  for (const [who, finds] of Object.entries(walkers)) {
    it(`are followed by ${who} as far as Linux follows them: 40, and none after a circle`, () => {
      assert.ok(finds(filesOf(chain(40)), '/0/file'))
      assert.ok(!finds(filesOf(chain(41)), '/0/file'))
      assert.ok(!finds(filesOf({ '/a': { link: 'b' }, '/b': { link: 'a' } }), '/a/file'))
    })

    it(`lead ${who} up from where they lead`, () => {
      const files = filesOf({
        '/usr/lib/x/conf': 'text',
        '/x': { link: 'usr/lib/x' },
        '/y': { link: 'x/../dir' },
        '/usr/lib/dir/only': 'text',
        '/dir/other': 'text',
      })
      assert.ok(finds(files, '/x/conf') && finds(files, '/y/only') && finds(files, '/x/../dir/only'))
      assert.ok(!finds(files, '/y/other'))
    })
  }

  it('are followed to the end, 40 of them', () => {
    assert.equal(follow(filesOf(chain(40)), '/0').kind, 'known')
    assert.equal(follow(filesOf(chain(41)), '/0').kind, 'absent')
  })
})
