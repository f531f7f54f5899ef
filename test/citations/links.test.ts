import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CitationState, ReportedDocument } from '../../src/reports/citations.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { withTemporary } from '../source/trees.js'
import { makeClone, withReleases } from './small-releases.js'

/** A text with one link or path, what is said of it against v1.1.0, and what `--write --links` makes of the text; absent where it stays. */
interface Row {
  readonly text: string
  readonly is: CitationState
  readonly says?: string
  readonly becomes?: string
}

const blob = (place: string): string => `https://github.com/Kubernetes-Sigs/Kubespray/blob/${place}`
const swap = 'roles/kubernetes/preinstall/tasks/swap.yml'
const swapNow = 'roles/kubernetes/preinstall/tasks/0010-swapoff.yml'
const defaults = 'roles/kubernetes/preinstall/defaults/main.yml'

const rows: readonly Row[] = [
  { text: `[a](${blob(`v1.0.0/${swap}`)})`, is: 'moved', becomes: `[a](${blob(`v1.1.0/${swapNow}`)})` },
  { text: `[a](${blob(`v1.0.0/${defaults}`)})`, is: 'true', becomes: `[a](${blob(`v1.1.0/${defaults}`)})` },
  { text: `[a](${blob(`master/${defaults}`)})`, is: 'true' },
  { text: `\`${blob(`v1.0.0/${defaults}`)}\``, is: 'true' },
  { text: `[a](${blob(`HEAD~1/${defaults}`)})`, is: 'gone', says: 'no tag, branch or commit' },
  { text: `[a](${blob(`v1.0.0/${defaults}#L3-L0`)})`, is: 'gone', says: 'no range' },
  { text: `[a](${blob(`v1.0.0/${defaults}#L3-L2`)})`, is: 'gone', says: 'no range' },
  { text: `\`${defaults}:3-2\``, is: 'gone', says: 'no range' },
]

describe('links and paths of a text', () => {
  it('are told, and written where they are pinned and no code', () =>
    withTemporary(root => {
      makeClone(root)
      const path = join(root, 'page.md')
      writeFileSync(path, rows.map(({ text }) => `${text}\n\n`).join(''))
      withReleases(root, () => {
        const { out } = runWhofixes(['cite', path, '--format', 'json', '--source', 'v1.1.0', '--write', '--links'])
        const [document] = (JSON.parse(out) as { documents: readonly ReportedDocument[] }).documents
        for (const [index, { text, is, says = '' }] of rows.entries()) {
          const citation = document?.citations[index]
          assert.equal(citation?.state, is, `${text}: ${citation?.says}`)
          assert.ok(citation.says.includes(says), `${text}: ${citation.says}`)
        }
      })
      assert.deepEqual(
        readFileSync(path, 'utf8').trim().split('\n\n'),
        rows.map(({ text, becomes = text }) => becomes),
      )
    }))
})
