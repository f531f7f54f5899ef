import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Followed, followLines } from '../../src/citations/follow/follow-lines.js'
import { fileLines, filesOf } from '../../src/citations/follow/version.js'

import type { Files } from '../source/trees.js'
import { withVersions } from './versions.js'
import { writtenLines } from './written-lines.js'

interface Row {
  readonly it: string
  readonly old: Files
  readonly new: Files
  readonly path: string
  readonly lines: readonly [first: number, last: number]
  /** Without the diff. */
  readonly is: unknown
  readonly diff?: string
}

const rows = JSON.parse(readFileSync(new URL('../../../test/citations/follow.json', import.meta.url), 'utf8')) as Row[]

function withoutDiff(followed: Followed): unknown {
  return followed.state === 'changed' ? { ...followed, diff: undefined } : followed
}

describe('following lines', () => {
  for (const row of rows) {
    it(row.it, () => {
      withVersions(row.old, row.new, (old, now) => {
        const followed = followLines(old, now, row.path, ...row.lines)
        const is = { ...(row.is as object), ...(followed.state === 'changed' ? { diff: undefined } : {}) }
        assert.deepEqual(withoutDiff(followed), is)
        if (row.diff !== undefined) assert.equal(followed.state === 'changed' && followed.diff, row.diff)
      })
    })
  }

  it('takes no numbers that are no lines', () => {
    withVersions({ a: 'one\ntwo\n' }, { a: 'one\ntwo\n' }, (old, now) => {
      for (const [first, last] of [
        [0, 1],
        [2, 1],
        [1.5, 2],
        [Number.NaN, 1],
        [1, Number.POSITIVE_INFINITY],
      ] as const) {
        assert.equal(followLines(old, now, 'a', first, last).state, 'absent', `${first} to ${last}`)
      }
    })
  })

  const range = fc.tuple(fc.nat(), fc.nat())

  /** A range of lines of a file with so many. */
  const within = ([one, other]: readonly [number, number], count: number): readonly [number, number] => {
    const [left, right] = [(one % count) + 1, (other % count) + 1]
    return left < right ? [left, right] : [right, left]
  }

  it('finds every range of a version in the same place of the same version', () => {
    fc.assert(
      fc.property(writtenLines, fc.array(range, { minLength: 3, maxLength: 3 }), (files, ranges) => {
        withVersions(files, files, (old, now) => {
          for (const path of filesOf(old)) {
            const count = fileLines(old, path)?.length ?? 0
            for (const each of count === 0 ? [] : ranges) {
              const [first, last] = within(each, count)
              assert.deepEqual(followLines(old, now, path, first, last), { state: 'same', path, first, last })
            }
          }
        })
      }),
      { numRuns: 15 },
    )
  })

  it('finds every range further down where lines were put before it', () => {
    const put = fc.array(fc.constantFrom('# Put before.', '', '# Once more.'), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(writtenLines, put, range, (files, lines, asked) => {
        const now = Object.fromEntries(
          Object.entries(files).map(([path, text]) => [path, `${lines.join('\n')}\n${String(text)}`]),
        )
        withVersions(files, now, (old, later) => {
          for (const path of filesOf(old)) {
            const count = fileLines(old, path)?.length ?? 0
            if (count === 0) continue
            const [first, last] = within(asked, count)
            const is = { state: 'same', path, first: first + lines.length, last: last + lines.length }
            assert.deepEqual(followLines(old, later, path, first, last), is)
          }
        })
      }),
      { numRuns: 15 },
    )
  })

  it('follows each line of tasks that changed places, not the same line of another', () => {
    const numbers = fc.integer({ min: 2, max: 8 }).chain(count => {
      const all = Array.from({ length: count }, (_, index) => index)
      return fc.shuffledSubarray(all, { minLength: count, maxLength: count })
    })
    const task = (number: number): string =>
      `- name: Task ${number}\n  copy:\n    dest: /etc/${number}\n    mode: "0644"\n  notify: restart\n`
    fc.assert(
      fc.property(numbers, order => {
        const path = 'roles/a/tasks/main.yml'
        const inOrder = order.toSorted((left, right) => left - right)
        withVersions({ [path]: inOrder.map(task).join('\n') }, { [path]: order.map(task).join('\n') }, (old, now) => {
          for (const number of order) {
            for (const line of [1, 2, 3, 4, 5]) {
              const [was, is] = [6 * number + line, 6 * order.indexOf(number) + line]
              assert.deepEqual(followLines(old, now, path, was, was), { state: 'same', path, first: is, last: is })
            }
          }
        })
      }),
      { numRuns: 15 },
    )
  })

  it('never answers with lines that are not there, and never takes other content for the same', () => {
    fc.assert(
      fc.property(writtenLines, writtenLines, range, (files, others, asked) => {
        withVersions(files, others, (old, now) => {
          for (const path of filesOf(old)) {
            const ours = fileLines(old, path) ?? []
            if (ours.length === 0) continue
            const [first, last] = within(asked, ours.length)
            const followed = followLines(old, now, path, first, last)
            assert.notEqual(followed.state, 'absent')
            if (followed.state !== 'same' && followed.state !== 'changed') continue
            const theirs = fileLines(now, followed.path) ?? []
            assert.ok(followed.first >= 1 && followed.first <= followed.last && followed.last <= theirs.length)
            const said = (lines: readonly string[], from: number, to: number): string =>
              lines
                .slice(from - 1, to)
                .map(line => line.trim())
                .filter(line => line !== '')
                .join('\n')
            const isSame = said(ours, first, last) === said(theirs, followed.first, followed.last)
            if (followed.state === 'same') assert.ok(isSame)
          }
        })
      }),
      { numRuns: 25 },
    )
  })
})
