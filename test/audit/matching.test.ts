import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { matchSides } from '../../src/audit/matching/matching.js'
import type { PlacedStatement, RoleIndex } from '../../src/audit/role-index.js'
import { placeName, withSides } from './sides.js'
import { writtenTree } from './written.js'

interface Row {
  readonly it: string
  readonly old: Readonly<Record<string, string>>
  readonly new: Readonly<Record<string, string>>
  readonly roles?: Readonly<Record<string, string | null>>
  readonly paths?: Readonly<Record<string, string | null>>
  readonly statements?: Readonly<Record<string, string>>
  readonly removed?: readonly string[]
  readonly added?: readonly string[]
  readonly plays?: number
}

const rows = JSON.parse(readFileSync(new URL('../../../test/audit/matching.json', import.meta.url), 'utf8')) as Row[]

function named(index: RoleIndex, name: string): PlacedStatement {
  const found = index.statements.find(placed => placeName(placed) === name)
  assert.ok(found, `no statement ${name}`)
  return found
}

describe('matching two versions', () => {
  for (const row of rows) {
    it(row.it, () => {
      withSides(row.old, row.new, (old, now) => {
        const matching = matchSides(old.index, now.index)
        for (const [from, to] of Object.entries(row.roles ?? {})) {
          assert.equal(matching.roleOf(from) ?? null, to, from)
          if (to !== null) assert.equal(matching.oldRoleOf(to), from)
        }
        for (const [from, to] of Object.entries(row.paths ?? {})) {
          assert.equal(matching.pathOf(from) ?? null, to, from)
          if (to !== null) assert.equal(matching.oldPathOf(to), from)
        }
        for (const [from, to] of Object.entries(row.statements ?? {})) {
          const match = matching.statementOf(named(old.index, from))
          assert.equal(match === undefined ? undefined : placeName(match), to, from)
          assert.equal(match && matching.oldStatementOf(match), named(old.index, from))
        }
        if (row.removed !== undefined) assert.deepEqual(matching.unmatched.old.map(placeName), row.removed)
        if (row.added !== undefined) assert.deepEqual(matching.unmatched.new.map(placeName), row.added)
        if (row.plays !== undefined) {
          assert.equal(old.index.plays.filter(play => matching.playOf(play) !== undefined).length, row.plays)
        }
      })
    })
  }

  it('matches each statement of a tree with itself', () => {
    fc.assert(
      fc.property(writtenTree, files => {
        withSides(files, files, (old, now) => {
          const matching = matchSides(old.index, now.index)
          for (const placed of old.index.statements) {
            const match = matching.statementOf(placed)
            assert.ok(match !== undefined && match.path === placed.path && match.ordinal === placed.ordinal)
          }
          for (const play of old.index.plays) assert.equal(matching.playOf(play)?.path, play.path)
          for (const role of old.index.roles) assert.equal(matching.roleOf(role), role)
        })
      }),
      { numRuns: 15 },
    )
  })
})
