import assert from 'node:assert/strict'
import { isMap, isScalar, parseDocument } from 'yaml'
import { defaultRequest } from '../../src/analyze.js'
import { auditVersions, openVersion, type Version } from '../../src/commands/audit.js'
import type { Change } from '../../src/reports/audit.js'
import { renderAuditJson } from '../../src/reports/audit-json.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import type { SourceTree } from '../../src/source/tree.js'
import { parseOutput } from '../schemas/valid.js'
import { describeWithClone } from './clone.js'

const pairs = [
  ['v2.20.0', 'v2.21.0'],
  ['v2.27.0', 'v2.28.0'],
  ['v2.30.0', 'v2.31.0'],
  ['v2.31.0', 'master'],
] as const

/** The names of roles' defaults, by another YAML reader and without any rule of roles but their folders. */
function defaultNames(tree: SourceTree): ReadonlySet<string> {
  const names = new Set<string>()
  const walk = (directory: string): void => {
    for (const name of tree.list(directory)) {
      const path = `${directory}/${name}`
      if (tree.entryKind(path) === 'directory') {
        walk(path)
        continue
      }
      if (!/\/defaults\/.*\.ya?ml$/.test(path)) continue
      const { contents } = parseDocument(tree.read(path)?.text ?? '', { logLevel: 'silent' })
      for (const { key } of isMap(contents) ? contents.items : []) if (isScalar(key)) names.add(String(key.value))
    }
  }
  walk('roles')
  return names
}

describeWithClone('an audit of two releases', () => {
  const versions = new Map<string, Version>()
  const version = (revision: string): Version => {
    const known = versions.get(revision) ?? openVersion(openRevision(clonePath(), revision), defaultRequest)
    versions.set(revision, known)
    return known
  }
  after(() => versions.clear())

  for (const [old, fresh] of pairs) {
    describe(`${old} → ${fresh}`, () => {
      let changes: readonly Change[] = []
      before(() => {
        const audit = auditVersions(version(old), version(fresh), defaultRequest)
        parseOutput(renderAuditJson(audit))
        changes = audit.changes
      })
      const named = (...kinds: readonly string[]): readonly string[] =>
        changes.flatMap(({ kind, name }) => (kinds.includes(kind) ? [name] : [])).toSorted()

      it('tells each name that left or joined the defaults, once', () => {
        const [before, now] = [defaultNames(version(old).tree), defaultNames(version(fresh).tree)]
        const gone = [...before].filter(name => !now.has(name)).toSorted()
        const joined = [...now].filter(name => !before.has(name)).toSorted()
        assert.deepEqual(
          named('variable-removed', 'variable-renamed', 'default-removed', 'default-became-vars').filter(
            name => !now.has(name),
          ),
          gone,
        )
        const renamed = changes.flatMap(({ to, kind }) => (kind === 'variable-renamed' && to !== undefined ? [to] : []))
        const told = [...named('variable-added', 'default-added'), ...renamed.filter(name => !before.has(name))]
        assert.deepEqual(told.toSorted(), joined)
      })

      it('cites lines that are there', () => {
        for (const { old: was, new: is, says } of changes) {
          for (const [place, { tree }] of [
            [was, version(old)],
            [is, version(fresh)],
          ] as const) {
            if (place === null) continue
            const line = tree.read(place.file)?.text.split('\n')[place.line - 1]
            assert.ok(line !== undefined && line.trim() !== '', `${says}: ${place.file}:${place.line}`)
          }
        }
      })

      it('asks for nothing without an inventory but the Ansible that is needed', () => {
        const required = changes.filter(({ action }) => action === 'required').map(({ kind }) => kind)
        assert.deepEqual(
          [...new Set(required)].filter(kind => kind !== 'ansible-version'),
          [],
        )
      })
    })
  }

  for (const revision of ['v2.20.0', 'v2.31.0', 'master']) {
    it(`${revision} against itself changes nothing`, () => {
      assert.deepEqual(auditVersions(version(revision), version(revision), defaultRequest).changes, [])
    })
  }
})
