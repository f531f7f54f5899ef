import assert from 'node:assert/strict'
import { join } from 'node:path'
import { runWhofixes } from '../commands/run-whofixes.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { makeClone, withReleases } from './small-releases.js'

/** What a document of somebody else says, and what is told of it in v1.2.0. */
interface Row {
  readonly it: string
  readonly text: string
  readonly says: readonly (readonly [citation: string, state: string, nearest?: string])[]
}

const rows: readonly Row[] = [
  {
    it: 'finds a path below a directory that holds kubespray',
    text: 'Set it in `vendor/kubespray/roles/kubernetes/preinstall/defaults/main.yml`, not in `~/kubespray/roles/spare/tasks/main.yml`.',
    says: [
      ['roles/kubernetes/preinstall/defaults/main.yml', 'true'],
      ['roles/spare/tasks/main.yml', 'gone'],
    ],
  },
  {
    it: "takes roles of nobody it knows for the author's own",
    text: 'Our `roles/printer/tasks/main.yml` and `playbooks/printer/all.yml` come later.',
    says: [],
  },
  {
    it: 'tells a file that a role of kubespray does not have, and one of a role it had',
    text: 'See `roles/kubernetes/node/tasks/printer.yml` and `roles/spare/tasks/main.yml`.',
    says: [
      ['roles/kubernetes/node/tasks/printer.yml', 'gone', 'roles/kubernetes/node/tasks'],
      ['roles/spare/tasks/main.yml', 'gone'],
    ],
  },
  {
    it: 'names the one file of that name further down',
    text: 'See `roles/kubernetes/node/kubelet.conf.j2`.',
    says: [['roles/kubernetes/node/kubelet.conf.j2', 'gone', 'roles/kubernetes/node/templates/kubelet.conf.j2']],
  },
  {
    it: 'looks a branch of releases up in the newest of them',
    text: 'https://github.com/kubernetes-sigs/kubespray/blob/release-1.0/docs/swap.md and blob/release-9.9 of the same: https://github.com/kubernetes-sigs/kubespray/blob/release-9.9/docs/swap.md',
    says: [
      ['https://github.com/kubernetes-sigs/kubespray/blob/release-1.0/docs/swap.md', 'moved'],
      ['https://github.com/kubernetes-sigs/kubespray/blob/release-9.9/docs/swap.md', 'unchecked'],
    ],
  },
]

interface Told {
  readonly documents: readonly {
    readonly citations: readonly { citation: string; state: string; nearest: { file: string } | null }[]
  }[]
}

describe('citations of documents that stand elsewhere', () => {
  for (const { it: name, text, says } of rows) {
    it(name, () => {
      withTemporary(root => {
        makeClone(root)
        writeFiles(root, { 'notes/page.md': `${text}\n` })
        const { out } = withReleases(root, () =>
          runWhofixes(['cite', join(root, 'notes/page.md'), '--source', 'v1.2.0', '--all', '--format', 'json']),
        )
        const told = (JSON.parse(out) as Told).documents[0]?.citations ?? []
        assert.deepEqual(
          told.map(({ citation, state, nearest }, index) =>
            says[index]?.[2] === undefined ? [citation, state] : [citation, state, nearest?.file],
          ),
          says.map(each => [...each]),
        )
      })
    })
  }
})
