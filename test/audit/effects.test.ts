import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { deedsOf } from '../../src/audit/host/deeds.js'
import { effectChanges } from '../../src/audit/host/effects.js'
import { stoppedNote } from '../../src/audit/host/stopped.js'
import { matchSides } from '../../src/audit/matching/matching.js'
import { formulaOf, isSameCondition } from '../../src/audit/matching/same-condition.js'
import type { Change } from '../../src/reports/audit.js'
import type { Files } from '../source/trees.js'
import { withSides } from './sides.js'
import { filesOf, plainNaming, writtenRoles, writtenTree } from './written.js'

interface Row {
  readonly it: string
  readonly old: Files
  readonly new: Files
  readonly usedTags?: readonly string[]
  /** What is said of runs that stop; null: nothing. */
  readonly stoppedNote?: string | null
  /** Kind, action, name (`*`: any) and, where it is given, what it says. */
  readonly changes: readonly (readonly [kind: string, action: string, name: string, says?: string])[]
}

const rows = JSON.parse(readFileSync(new URL('../../../test/audit/effects.json', import.meta.url), 'utf8')) as Row[]

function changesBetween(old: Files, now: Files, usedTags: readonly string[] = []): readonly Change[] {
  return withSides(old, now, (ours, theirs) =>
    effectChanges(ours, theirs, matchSides(ours.index, theirs.index), usedTags),
  )
}

describe('effects of two versions', () => {
  for (const row of rows) {
    it(row.it, () => {
      const changes = changesBetween(row.old, row.new, row.usedTags)
      assert.deepEqual(
        changes.map(({ kind, action, name, says }, index) => {
          const [, , wanted, words] = row.changes[index] ?? []
          return [kind, action, wanted === '*' ? '*' : name, ...(words === undefined ? [] : [says])]
        }),
        row.changes,
      )
      const { stoppedNote: note } = row
      if (note !== undefined) assert.equal(withSides(row.old, row.new, stoppedNote) ?? null, note)
      for (const change of changes) assert.ok(change.old !== null || change.new !== null, change.says)
    })
  }

  it('are none between a tree and itself', () => {
    fc.assert(
      fc.property(writtenTree, files => {
        assert.deepEqual(changesBetween(files, files), [])
      }),
      { numRuns: 15 },
    )
  })

  it('are moved things at most where files, roles and tasks are only called otherwise', () => {
    const otherNaming = {
      role: (name: string) => name.replaceAll('-', '_'),
      file: (index: number) => `01${index}5-part.yml`,
      task: (name: string | undefined) => name && `${name.toUpperCase()} now`,
    }
    fc.assert(
      fc.property(writtenRoles, roles => {
        const changes = changesBetween(filesOf(roles, plainNaming), filesOf(roles, otherNaming))
        const kinds = new Set(changes.map(({ kind }) => kind))
        kinds.delete('task-moved')
        kinds.delete('role-renamed')
        assert.deepEqual([...kinds], [])
        assert.ok(changes.every(({ action }) => action === 'none'))
      }),
      { numRuns: 15 },
    )
  })

  it('of one task that is added are exactly what it does', () => {
    const task = {
      name: 'Something that no other does',
      module: { 'ansible.builtin.copy': { dest: '/srv/only/here', content: 'x' } },
      when: undefined,
    }
    fc.assert(
      fc.property(writtenRoles, fc.nat(), ({ roles }, at) => {
        const [first, ...others] = roles
        if (first === undefined) return
        const [file = [], ...files] = first.files
        const position = at % (file.length + 1)
        const longer = [...file.slice(0, position), task, ...file.slice(position)]
        const now = { roles: [{ name: first.name, files: [longer, ...files] }, ...others] }
        const changes = changesBetween(filesOf({ roles }, plainNaming), filesOf(now, plainNaming))
        assert.deepEqual(
          changes.map(({ kind, name }) => [kind, name]),
          [['effect-added', '/srv/only/here']],
        )
      }),
      { numRuns: 15 },
    )
  })
})

describe('conditions in other words', () => {
  const same: readonly (readonly [string, string, boolean])[] = [
    ['a and b', 'b and a', true],
    ['not (a or b)', 'not a and not b', true],
    ['x != 1', 'not x == 1', true],
    ['x in [1, 2]', 'x == 2 or x == 1', true],
    ['x is undefined', 'x is not defined', true],
    ['a | default(false) | bool', 'a', true],
    ['a | default(true)', 'a', false],
    ['x >= 2', 'not 2 > x', true],
    ['x > 2', 'x >= 2', false],
    ["ansible_facts['os_family'] == 'A'", "'A' == ansible_os_family", true],
    ["ansible_os_family == 'A'", "ansible_os_family == 'B'", false],
    ['a', 'a or b', false],
    ['a or not a', 'true', true],
    ["old.rc == 0 and 'old' in x", "new.rc == 0 and 'old' in x", true],
    ['`tool` succeeds', '`tool` succeeds', true],
    ['`tool` succeeds', '`other` succeeds', false],
  ]
  for (const [left, right, is] of same) {
    it(`${left} · ${right}`, () => {
      const old = formulaOf([[left]], name => (name === 'old' ? 'new' : name))
      assert.equal(
        isSameCondition(
          old,
          formulaOf([[right]], name => name),
        ),
        is,
      )
    })
  }

  it('are the same as written where there are too many to go through', () => {
    const many = Array.from({ length: 30 }, (_, index) => `v${index}`)
    const read = (texts: readonly string[]) => formulaOf([texts], name => name)
    assert.ok(isSameCondition(read(many), read(many.toReversed())))
    assert.ok(!isSameCondition(read(many), read(many.slice(1))))
  })
})

describe('deeds', () => {
  it('are none of what a script does where nobody knows it stands', () => {
    const at = { file: { path: 'x', text: '' }, start: 0, end: 0 }
    const path = { kind: 'known', data: 'relative' } as const
    assert.deepEqual(deedsOf({ kind: 'file', path, change: 'written', content: undefined, target: undefined, at }), [])
  })
})
