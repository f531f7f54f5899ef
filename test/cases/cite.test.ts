import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CitationState, ReportedCitation, ReportedDocument } from '../../src/reports/citations.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { describeWithClone } from '../releases/clone.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** A text that cites what moved; the numbers are those of the project's list of cases. */
type Case = {
  readonly id: string
  readonly says: string
  readonly source: string
  readonly is: CitationState
} & (
  | { readonly marker: string; readonly to: string; readonly cited?: string; readonly now: string }
  /** A file of the release itself, and the line in which it names another. */
  | { readonly file: string; readonly line: number; readonly names: string; readonly nearest: string }
)

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/cases/cite.json', import.meta.url), 'utf8'),
)

function cite(...args: readonly string[]): readonly ReportedCitation[] {
  const { out, err } = runWhofixes(['cite', '--format', 'json', ...args])
  assert.deepEqual(err, [])
  return (JSON.parse(out) as { documents: readonly ReportedDocument[] }).documents.flatMap(each => each.citations)
}

function lineText(
  place: { readonly file: string; readonly first?: number | null; readonly line?: number | null } | null,
): string {
  const line = place?.first ?? place?.line ?? null
  return `${place?.file}${line === null ? '' : `:${line}`}`
}

describeWithClone('texts that cite what moved', () => {
  for (const each of cases) {
    it(`${each.id}: ${each.says}`, () => {
      withTemporary(root => {
        if ('marker' in each) {
          const page = join(root, 'page.md')
          writeFiles(root, { 'page.md': `<!-- whofixes ${each.marker} -->\n<!-- /whofixes -->\n` })
          cite(page, '--source', each.source, '--write')
          const [citation] = cite(page, '--source', each.to)
          assert.equal(citation?.state, each.is, citation?.says)
          assert.equal(lineText(citation?.now ?? null), each.now)
          if (each.cited !== undefined) assert.equal(lineText(citation?.cited ?? null), each.cited)
          return
        }
        const text = openRevision(clonePath(), each.source).read(each.file)?.text
        assert.ok(text !== undefined)
        writeFiles(root, { [each.file]: text })
        const citation = cite(join(root, each.file), '--source', each.source).find(({ line }) => line === each.line)
        assert.equal(citation?.state, each.is, citation?.says)
        assert.ok(citation.citation.includes(each.names), citation.citation)
        assert.equal(lineText(citation.nearest), each.nearest)
      })
    })
  }
})
