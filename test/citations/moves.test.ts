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
  block: marker => `Above.\n\n<!-- whofixes ${marker} -->\n<!-- /whofixes -->\n\nBelow.\n\n`,
  inline: marker => `It says <!-- whofixes ${marker} --><!-- /whofixes --> here.\n\n`,
  cell: marker =>
    `| what | is |\n| --- | --- |\n| it | <!-- whofixes ${marker.replaceAll('|', '\\|')} --><!-- /whofixes --> |\n\n`,
  html: marker => `<div>\n<p>It says <!-- whofixes ${marker} --><!-- /whofixes --></p>\n</div>\n\n`,
  list: marker => `1. One:\n\n   > <!-- whofixes ${marker} -->\n   > <!-- /whofixes -->\n\n2. Two\n\n`,
}

const settings = '<!-- whofixes template short {link} -->\n\n'

interface Cited {
  readonly status: number
  readonly citations: readonly ReportedCitation[]
  readonly text: string
}

/** What `cite` says of the markers of a document, and how it ends. */
function cite(path: string, ...args: readonly string[]): Cited {
  const { status, out, err } = runWhofixes(['cite', path, '--format', 'json', ...args])
  assert.deepEqual(err, [])
  const [document] = (JSON.parse(out) as { documents: readonly ReportedDocument[] }).documents
  const citations = (document?.citations ?? []).filter(({ kind }) => kind === 'marker')
  return { status, citations, text: readFileSync(path, 'utf8') }
}

function placeText(place: CitedPlace | null): string | null {
  return place && `${place.file}:${place.first}-${place.last}`
}

/** All that a row says of what is found. */
function compare(move: Move, citation: ReportedCitation | undefined, isBlock: boolean): void {
  assert.ok(citation !== undefined)
  const { state, says, cited, now, nearest } = citation
  assert.equal(state, move.is, `${move.it}: ${says}`)
  if (move.cited !== undefined) assert.equal(placeText(cited), move.cited, move.it)
  if (move.now !== undefined) assert.equal(placeText(now), move.now, move.it)
  assert.ok(says.includes(move.says ?? ''), `${move.it}: ${says}`)
  const diff = citation.diff?.split('\n') ?? []
  // In a line the usual templates show less.
  for (const start of isBlock ? (move.diff ?? []) : []) {
    assert.ok(
      diff.some(line => line.startsWith(start)),
      `${move.it}: ${citation.diff}`,
    )
  }
  if (move.nearest !== undefined) assert.equal(nearest && `${nearest.file}:${nearest.line}`, move.nearest, move.it)
}

/** The text between the markers, a piece a marker. */
function bodiesOf(text: string): readonly string[] {
  return [...text.matchAll(/<!-- whofixes (?!template).*?-->.*?<!-- \/whofixes.*?-->/gs)].map(([piece]) => piece)
}

/** What stands outside of the markers. */
function outsideOf(text: string): string {
  return text.replaceAll(/<!-- whofixes (?!template).*?-->.*?<!-- \/whofixes.*?-->/gs, '…')
}

describe('what becomes of a citation', () => {
  let root = ''
  let path = ''
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'whofixes-test-'))
    makeClone(root)
    path = join(root, 'page.md')
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  for (const [context, documentOf] of Object.entries(contexts)) {
    const isBlock = context === 'block' || context === 'list'
    const write = (rows: readonly Move[]): string => {
      const text = settings + rows.map(({ marker }) => documentOf(marker)).join('')
      writeFileSync(path, text)
      return text
    }

    it(`is said of what cannot be written, ${context}`, () => {
      const rows = moves.filter(({ to }) => to === undefined)
      const start = write(rows)
      withReleases(root, () => {
        const { status, citations, text } = cite(path, '--source', 'v1.0.0', '--write', '--accept')
        assert.equal(status, 2)
        assert.equal(citations.length, rows.length)
        for (const [index, row] of rows.entries()) compare(row, citations[index], isBlock)
        assert.equal(text, start)
      })
    })

    for (const to of ['v1.1.0', 'v1.2.0']) {
      it(`is told in ${to}, and written where that is wished, ${context}`, () => {
        const rows = moves.filter(move => move.to === to)
        const start = write(rows)
        withReleases(root, () => {
          const first = cite(path, '--source', 'v1.0.0', '--write')
          assert.ok(first.citations.length === rows.length && first.status === 0)
          assert.ok(first.citations.every(({ state, written }) => state === 'unwritten' && written))
          assert.equal(outsideOf(first.text), outsideOf(start))
          const again = cite(path, '--source', 'v1.0.0', '--write')
          assert.equal(again.text, first.text)
          // Its own version is what each is checked against.
          const own = cite(path)
          assert.equal(own.status, 0)
          assert.ok(own.citations.every(({ state, written }) => state === 'true' && !written))

          const moved = cite(path, '--source', to, '--write')
          assert.equal(moved.status, 1)
          const [before, after] = [bodiesOf(first.text), bodiesOf(moved.text)]
          for (const [index, row] of rows.entries()) {
            compare(row, moved.citations[index], isBlock)
            const isLeft = row.is === 'changed' || row.is === 'gone' || row.marker.includes('source=')
            assert.equal(after[index] === before[index], isLeft, row.it)
          }
          assert.equal(cite(path, '--source', to, '--write').text, moved.text)

          const accepted = cite(path, '--source', to, '--write', '--accept')
          const last = cite(path, '--source', to)
          assert.equal(outsideOf(last.text), outsideOf(start))
          for (const [index, row] of rows.entries()) {
            assert.equal(last.citations[index]?.state, row.is === 'gone' ? 'gone' : 'true', row.it)
            assert.equal(last.citations[index]?.citation, row.becomes ?? row.marker, row.it)
          }
          assert.equal(cite(path, '--source', to, '--write', '--accept').text, accepted.text)
        })
      })
    }
  }
})
