import assert from 'node:assert/strict'
import { findingsOfCitations } from '../../src/reports/citation-findings.js'
import type { CitationsReport } from '../../src/reports/citations.js'
import { findingFormats, renderFindings } from '../../src/reports/finding-formats.js'
import type { ReportedSource } from '../../src/reports/report.js'

const source: ReportedSource = {
  kind: 'revision',
  release: 'v2.31.0',
  commit: 'c'.repeat(40),
  path: '/clone',
  published: 'v2.31.0',
}

const reportOn = (paths: readonly string[]): CitationsReport => ({
  source,
  documents: paths.map(path => ({
    path,
    written: false,
    citations: [],
    problems: [{ line: 2, says: `wrong in ${path}` }],
  })),
})

const invocation = { version: '1.2.3', exitStatus: 2, directory: '/repository' }

describe('findings of citations', () => {
  it('have the same category in SARIF whatever documents are looked at', () => {
    const categories = [['a.md'], ['a.md', 'docs/b.md'], []].map(paths => {
      const log = JSON.parse(renderFindings('sarif', findingsOfCitations(reportOn(paths), source), invocation))
      return log.runs[0].automationDetails.id
    })
    assert.deepEqual(categories, ['whofixes/cite/', 'whofixes/cite/', 'whofixes/cite/'])
  })

  it('name each document, in each format', () => {
    for (const format of findingFormats) {
      const text = renderFindings(format, findingsOfCitations(reportOn(['a.md', 'docs/b.md']), source), invocation)
      for (const path of ['a.md', 'docs/b.md']) assert.ok(text.includes(`wrong in ${path}`), `${format}: ${path}`)
    }
  })
})
