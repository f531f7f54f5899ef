import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type Audit, type Change, changeKinds, compareChanges, partOf, summaryOf } from '../../src/reports/audit.js'
import { renderAuditJson } from '../../src/reports/audit-json.js'
import { renderAuditMarkdown } from '../../src/reports/audit-markdown.js'
import { renderAuditText } from '../../src/reports/audit-text.js'
import { parseOutput } from '../schemas/valid.js'

const change = (given: Partial<Change> & Pick<Change, 'kind'>): Change => ({
  name: 'a_name',
  action: 'none',
  says: 'a_name changed',
  old: { file: 'roles/a/defaults/main.yml', line: 2, value: 1 },
  new: { file: 'roles/a/defaults/main.yml', line: 3 },
  inventory: [],
  ...given,
})

const source = (release: string) =>
  ({ kind: 'revision', release, commit: 'abc', path: 'kubespray', published: release }) as const

const changes = [
  change({ kind: 'task-moved', says: 'the task moved' }),
  change({ kind: 'variable-added', name: 'b_name', says: 'b_name is new' }),
  change({ kind: 'default-changed', action: 'advised', says: 'was a|b and is *c*' }),
  change({ kind: 'effect-added', says: 'Writes `/etc/a_b`' }),
  change({
    kind: 'variable-renamed',
    to: 'c_name',
    action: 'required',
    says: 'a_name is now c_name',
    inventory: [{ file: 'inventory/all.yml', line: 7 }],
    evidence: [{ old: { file: 'x.yml', line: 1 }, new: { file: 'x.yml', line: 4 } }],
  }),
  change({ kind: 'check-added', action: 'required', says: "the run stops at 'Check'", old: null }),
  change({ kind: 'verdict-changed', action: 'advised', name: 'swap', says: 'Swap is on: was up to a' }),
].toSorted(compareChanges)

const audit: Audit = {
  old: source('v2.30.0'),
  new: source('v2.31.0'),
  playbook: 'cluster.yml',
  host: 'node1',
  changes,
  notCompared: ['what is only recorded'],
  diagnostics: [],
}

describe('an audit told', () => {
  it('begins with what matters most', () => {
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      [
        'verdict-changed',
        'check-added',
        'variable-renamed',
        'default-changed',
        'effect-added',
        'variable-added',
        'task-moved',
      ],
    )
    assert.deepEqual(summaryOf(changes), { required: 2, advised: 2, none: 3 })
  })

  it('has a part for every kind, with or without a place in the inventory', () => {
    for (const kind of changeKinds) {
      assert.ok(partOf(change({ kind })))
      assert.ok(partOf(change({ kind, action: 'required', inventory: [{ file: 'a', line: 1 }] })))
    }
  })

  it('for people counts names that come and go, and lists them when asked', () => {
    const text = renderAuditText(audit)
    assert.match(text, /^From v2\.30\.0 to v2\.31\.0: cluster\.yml, host node1\n2 required, 2 advised, 3 for your/)
    assert.match(text, / {2}! variable-renamed: a_name is now c_name\n {6}yours: inventory\/all\.yml:7\n/)
    assert.match(text, / {6}read at x\.yml:1, now x\.yml:4\n/)
    assert.match(text, / {2}1 variable-added; --all lists them\n/)
    assert.match(text, /Not compared: what is only recorded/)
    assert.match(renderAuditText(audit, { all: true }), / {2}· variable-added: b_name is new\n/)
    assert.match(renderAuditText({ ...audit, changes: [], notCompared: [] }), /\nNothing changes\.\n$/)
  })

  it('in Markdown keeps tables whole and links to both versions', () => {
    const text = renderAuditMarkdown(audit)
    const rows = text.split('\n').filter(line => line.startsWith('| '))
    for (const row of rows) assert.equal(row.replaceAll('\\|', '').split('|').length, 8, row)
    assert.ok(text.includes('was a\\|b and is \\*c\\*'))
    assert.ok(text.includes('Writes `/etc/a_b`'), 'code is left alone')
    assert.ok(text.includes('/blob/v2.30.0/roles/a/defaults/main.yml#L2'))
    assert.ok(text.includes('/blob/v2.31.0/roles/a/defaults/main.yml#L3'))
    assert.ok(text.includes('<details><summary>1 effect-added</summary>'))
  })

  it('for machines holds every change whole', () => {
    const json = parseOutput(renderAuditJson(audit))
    assert.deepEqual(json.changes, JSON.parse(JSON.stringify(changes)))
    assert.deepEqual(json.summary, { required: 2, advised: 2, none: 3 })
    assert.match(json.schema, /whofixes-audit-1\.json$/)
    assert.deepEqual(json.old, {
      kind: 'revision',
      release: 'v2.30.0',
      commit: 'abc',
      path: 'kubespray',
      published: 'v2.30.0',
    })
  })

  it('has a row in the documentation for every kind', () => {
    const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8')
    const rows = page.split('\n').filter(line => line.startsWith('| `'))
    for (const kind of changeKinds)
      assert.ok(
        rows.some(row => row.split('|')[1]?.includes(`\`${kind}\``)),
        kind,
      )
  })
})
