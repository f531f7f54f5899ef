import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CitationState, CitedPlace, ReportedCitation, ReportedDocument } from '../../src/reports/citations.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { makeClone, withReleases } from './small-releases.js'

/** A marker written from v1.0.0, and what becomes of it in another version; without `to`, what is said of it at once. */
interface Move {
  readonly it: string
  readonly marker: string
  readonly to?: string
  readonly is: CitationState
  /** `file:first-last`. */
  readonly cited?: string | null
  readonly now?: string | null
  /** A piece of the sentence. */
  readonly says?: string
  /** Lines of the diff begin with these. */
  readonly diff?: readonly string[]
  /** `file:line`. */
  readonly nearest?: string
  /** What the marker says once it is written. */
  readonly becomes?: string
}

const moves: readonly Move[] = JSON.parse(
  readFileSync(new URL('../../../test/citations/moves.json', import.meta.url), 'utf8'),
)

/** Where a marker can stand. */
const contexts: Readonly<Record<string, (marker: string) => string>> = {
  block: marker => `Above.\n\n<!-- whofixes ${marker} -->\n<!-- /whofixes -->\n\nBelow.\n`,
  inline: marker => `It says <!-- whofixes ${marker} --><!-- /whofixes --> here.\n`,
  cell: marker => `| what | is |\n| --- | --- |\n| it | <!-- whofixes ${marker} --><!-- /whofixes --> |\n`,
  html: marker => `<div>\n<p>It says <!-- whofixes ${marker} --><!-- /whofixes --></p>\n</div>\n`,
  list: marker => `1. One:\n\n   > <!-- whofixes ${marker} -->\n   > <!-- /whofixes -->\n\n2. Two\n`,
}

const settings = '<!-- whofixes template short {link} -->\n\n'

/** What `cite` says of the document's only citation, and how it ends. */
function cite(path: string, ...args: readonly string[]): { status: number; citation: ReportedCitation; text: string } {
  const { status, out, err } = runWhofixes(['cite', path, '--format', 'json', ...args])
  assert.deepEqual(err, [])
  const [document] = (JSON.parse(out) as { documents: readonly ReportedDocument[] }).documents
  const [citation, ...more] = (document?.citations ?? []).filter(({ kind }) => kind === 'marker')
  assert.ok(citation !== undefined && more.length === 0, out)
  return { status, citation, text: readFileSync(path, 'utf8') }
}

function placeText(place: CitedPlace | null): string | null {
  return place && `${place.file}:${place.first}-${place.last}`
}

const statusOf: Readonly<Record<CitationState, number>> = {
  true: 0,
  moved: 1,
  changed: 1,
  gone: 1,
  unwritten: 1,
  unchecked: 3,
  invalid: 2,
}

/** All that a row says of what is found. */
function compare(
  move: Move,
  { status, citation }: { status: number; citation: ReportedCitation },
  isBlock: boolean,
): void {
  assert.equal(citation.state, move.is, citation.says)
  assert.equal(status, statusOf[move.is])
  if (move.cited !== undefined) assert.equal(placeText(citation.cited), move.cited)
  if (move.now !== undefined) assert.equal(placeText(citation.now), move.now)
  assert.ok(citation.says.includes(move.says ?? ''), citation.says)
  const diff = citation.diff?.split('\n') ?? []
  // In a line the usual templates show less.
  for (const start of isBlock ? (move.diff ?? []) : [])
    assert.ok(
      diff.some(line => line.startsWith(start)),
      citation.diff ?? '',
    )
  const { nearest } = citation
  if (move.nearest !== undefined) assert.equal(nearest && `${nearest.file}:${nearest.line}`, move.nearest)
}

describe('what becomes of a citation', () => {
  let root = ''
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'whofixes-test-'))
    makeClone(root)
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  for (const move of moves) {
    for (const [context, documentOf] of Object.entries(contexts)) {
      it(`${move.it}, ${context}`, () => {
        const path = join(root, 'page.md')
        const isBlock = context === 'block' || context === 'list'
        const start = settings + documentOf(move.marker.replaceAll('|', context === 'cell' ? '\\|' : '|'))
        writeFileSync(path, start)
        withReleases(root, () => {
          const first = cite(path, '--source', 'v1.0.0')
          if (move.to === undefined) {
            compare(move, first, isBlock)
            const tried = cite(path, '--source', 'v1.0.0', '--write', '--accept')
            assert.equal(tried.text, start, 'what cannot be looked up is not written')
            return
          }
          assert.equal(first.citation.state, 'unwritten')
          assert.equal(first.status, 1)

          const written = cite(path, '--source', 'v1.0.0', '--write')
          assert.ok(written.citation.written && written.status === 0)
          const again = cite(path, '--source', 'v1.0.0', '--write')
          assert.equal(again.text, written.text)
          assert.ok(!again.citation.written)
          // Its own version is what it is checked against.
          const own = cite(path)
          assert.equal(own.citation.state, 'true', own.citation.says)
          assert.equal(own.status, 0)

          compare(move, cite(path, '--source', move.to), isBlock)
          const refused = cite(path, '--source', move.to, '--write')
          if (move.is === 'changed' || move.is === 'gone') {
            assert.equal(refused.text, written.text, 'only what moved is written')
            assert.equal(refused.status, 1)
          }
          const accepted = cite(path, '--source', move.to, '--write', '--accept')
          if (move.is === 'gone') {
            assert.equal(accepted.text, written.text)
            return
          }
          const last = cite(path)
          assert.equal(last.citation.state, 'true', last.citation.says)
          assert.equal(last.citation.citation, move.becomes ?? move.marker)
          assert.equal(cite(path, '--source', move.to, '--write', '--accept').text, accepted.text)
        })
      })
    }
  }
})
