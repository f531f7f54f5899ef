import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReportedCitation, ReportedDocument } from '../../src/reports/citations.js'
import { clonePath } from '../../src/source/clone.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { describeWithClone } from './clone.js'

/**
 * By document and version what became of each citation, in the order of the text: its state, and where what it cites stands
 * there, else what comes nearest (`~`). From v2.20.0, which the documents are about, to v2.28.0; accepted there, on to `master`.
 */
type States = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

/** The branch as it was when the states were looked up; a newer clone has it too. */
const master = '46dbdd3994b32640bcd806b0097f50e8fdf1d514'

const documents = new URL('../../../test/citations/documents/', import.meta.url)
const states = JSON.parse(readFileSync(new URL('states.json', documents), 'utf8')) as States

function stateText({ state, now, nearest }: ReportedCitation): string {
  if (now === null)
    return nearest === null ? state : `${state} ~${nearest.file}${nearest.line === null ? '' : `:${nearest.line}`}`
  const lines = now.first === null ? '' : now.last === now.first ? `:${now.first}` : `:${now.first}-${now.last}`
  return `${state} ${now.file}${lines}`
}

describeWithClone('releases: documents that cite kubespray', () => {
  let root = ''
  let paths: readonly string[] = []

  function cite(...args: readonly string[]): { status: number; documents: readonly ReportedDocument[] } {
    const { status, out, err } = runWhofixes(['cite', ...paths, '--format', 'json', ...args])
    assert.deepEqual(err, [])
    return { status, ...(JSON.parse(out) as { documents: readonly ReportedDocument[] }) }
  }

  function compare(version: string, cited: readonly ReportedDocument[]): void {
    const found = Object.fromEntries(
      Object.keys(states).map((name, index) => [name, (cited[index]?.citations ?? []).map(stateText)]),
    )
    for (const name of Object.keys(states))
      assert.deepEqual(found[name], states[name]?.[version], `${name} in ${version}`)
  }

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'whofixes-test-'))
    mkdirSync(root, { recursive: true })
    paths = Object.keys(states).map(name => {
      const path = join(root, name)
      writeFileSync(path, readFileSync(new URL(name, documents)))
      return path
    })
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  it('are filled from the release they are about', () => {
    const { documents: cited } = cite('--write')
    for (const { citations } of cited) {
      assert.ok(citations.every(({ kind, state, written }) => kind !== 'marker' || (state === 'unwritten' && written)))
    }
    compare('v2.20.0', cite('--source', 'v2.20.0').documents)
  })

  it('are checked against v2.28.0, and moved there', () => {
    const { status, documents: cited } = cite('--source', 'v2.28.0')
    compare('v2.28.0', cited)
    // One link names a version there is none of.
    assert.equal(status, 3)
    cite('--source', 'v2.28.0', '--write', '--accept', '--links')
    const texts = paths.map(path => readFileSync(path, 'utf8'))
    const again = cite('--source', 'v2.28.0', '--write', '--accept', '--links')
    assert.deepEqual(
      paths.map(path => readFileSync(path, 'utf8')),
      texts,
    )
    const markers = again.documents.flatMap(({ citations }) => citations.filter(({ kind }) => kind === 'marker'))
    assert.ok(markers.length > 10 && markers.every(({ state }) => state === 'true'))
  })

  it('are checked against master from there', () => {
    compare('master', cite('--source', `${clonePath()}@${master}`).documents)
  })
})
