import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { matchSides } from '../../src/audit/matching/matching.js'
import { indexRoles } from '../../src/audit/role-index.js'
import type { Side } from '../../src/audit/side.js'
import { wrapperChanges, wrapperDefinitions } from '../../src/audit/wrapper.js'
import { placeText } from '../../src/reports/place.js'
import { openDirectory } from '../../src/source/directory.js'
import { placeOf } from '../../src/source/text.js'
import { withTemporary, writeFiles } from '../source/trees.js'

type Files = Readonly<Record<string, string>>

interface Row {
  readonly name: string
  readonly wrapper: Files
  /** Kind, action, name, new name, sentence (where it is looked at), places in the wrapper; in order of kind and name. */
  readonly changes: readonly (readonly [string, string, string, string | null, string | null, readonly string[]])[]
  readonly definitions?: readonly string[]
}

const data: { readonly old: Files; readonly new: Files; readonly rows: readonly Row[] } = JSON.parse(
  readFileSync(new URL('../../../test/audit/wrapper.json', import.meta.url), 'utf8'),
)

function sideOf(directory: string, files: Files): Side {
  writeFiles(directory, files)
  const analysis = analyze(openDirectory(directory), defaultRequest)
  return { analysis, index: indexRoles(analysis.code) }
}

describe("a user's own playbooks between two versions", () => {
  for (const row of data.rows) {
    it(row.name, () => {
      withTemporary(root => {
        const old = sideOf(join(root, 'old'), data.old)
        const next = sideOf(join(root, 'new'), data.new)
        writeFiles(join(root, 'own'), row.wrapper)
        const wrapper = openDirectory(join(root, 'own'))
        const changes = wrapperChanges(wrapper, old, next, matchSides(old.index, next.index))
          .map(({ kind, action, name, to, says, inventory }) => [
            kind,
            action,
            name,
            to ?? null,
            says,
            inventory.map(placeText).sort(comparePlaces),
          ])
          .sort((left, right) => (`${left[0]} ${left[2]}` < `${right[0]} ${right[2]}` ? -1 : 1))
        const told = changes.map((change, number) =>
          row.changes[number]?.[4] === null ? change.with(4, null) : change,
        )
        assert.deepEqual(told, row.changes)
        assert.deepEqual(
          wrapperChanges(wrapper, old, old, matchSides(old.index, old.index)),
          [],
          'a version against itself',
        )
        if (row.definitions === undefined) return
        const definitions = wrapperDefinitions(wrapper).map(({ name, at }) => `${name} ${placeOf(at)}`)
        assert.deepEqual(definitions.sort(), row.definitions)
      })
    })
  }

  it('shows files that are there, in the old and in the new version', () => {
    withTemporary(root => {
      const old = sideOf(join(root, 'old'), data.old)
      const next = sideOf(join(root, 'new'), data.new)
      for (const [number, { wrapper }] of data.rows.entries()) {
        const own = join(root, `own${number}`)
        writeFiles(own, wrapper)
        for (const change of wrapperChanges(openDirectory(own), old, next, matchSides(old.index, next.index))) {
          assert.equal(old.analysis.code.tree.entryKind(change.old?.file ?? ''), 'file', change.says)
          assert.equal(change.new === null, change.to === undefined, change.says)
          if (change.new !== null) assert.equal(next.analysis.code.tree.entryKind(change.new.file), 'file', change.says)
        }
      }
    })
  })
})

function comparePlaces(left: string, right: string): number {
  const [leftFile = '', leftLine] = left.split(':')
  const [rightFile = '', rightLine] = right.split(':')
  return leftFile === rightFile ? Number(leftLine) - Number(rightLine) : leftFile < rightFile ? -1 : 1
}
