import assert from 'node:assert/strict'
import fc from 'fast-check'
import { linesOf, matchLines, unifiedDiff } from '../../src/audit/matching/lines.js'

interface Row {
  readonly it: string
  readonly old: string
  readonly new: string
  /** The new line (from 1) of each old one: with `~` where it says something else, `-` for none. */
  readonly is: string
}

const rows: readonly Row[] = [
  { it: 'keeps what is the same', old: 'a b c', new: 'a b c', is: '1 2 3' },
  { it: 'finds lines behind what was added before them', old: 'a b', new: 'x y a b', is: '3 4' },
  { it: 'takes the later of two alike beginnings for the old one', old: 'a -x b', new: 'a -x new -x b', is: '1 4 5' },
  {
    it: 'does not take a line that others have too for one that is gone',
    old: 'a if x } m z',
    new: 'a do y } in w } n z',
    is: '1 - - - - 9',
  },
  {
    it: 'takes it where it stands once between what is the same',
    old: 'a } b } c',
    new: 'a } b n } c',
    is: '1 2 3 5 6',
  },
  { it: 'takes what stands in the place of a line for it', old: 'a size=1 c', new: 'a size=2 c', is: '1 ~2 3' },
  {
    it: 'pairs replaced lines by their words',
    old: 'a one=1 two=2 b',
    new: 'a nil one=3 end=0 two=4 b',
    is: '1 ~3 ~5 6',
  },
  { it: 'finds nothing in nothing', old: 'a b', new: '', is: '- -' },
]

const shown = (matches: ReturnType<typeof matchLines>): string =>
  matches.map(match => (match === undefined ? '-' : `${match.isSame ? '' : '~'}${match.at + 1}`)).join(' ')

describe('matching lines', () => {
  for (const row of rows) {
    it(row.it, () => {
      assert.equal(shown(matchLines(row.old.split(' '), row.new === '' ? [] : row.new.split(' '))), row.is)
    })
  }

  const lines = fc.array(fc.constantFrom('{', '}', '', 'a: 1', 'a: 2', 'b: 1', '  b: 1', 'end'), { maxLength: 30 })

  it('matches in order, each line at most once, and calls the same only what says the same', () => {
    fc.assert(
      fc.property(lines, lines, (old, now) => {
        let before = -1
        for (const [index, match] of matchLines(old, now).entries()) {
          if (match === undefined) continue
          assert.ok(match.at > before && match.at < now.length)
          before = match.at
          if (match.isSame) assert.equal(old[index]?.trim(), now[match.at]?.trim())
        }
      }),
    )
  })

  it('matches all of a text that something was put before or behind', () => {
    fc.assert(
      fc.property(lines, lines, (old, put) => {
        const count = old.length
        for (const [at, match] of matchLines(old, [...old, ...put]).entries()) assert.equal(match?.at, at)
        const shifted = matchLines(old, [...put.map(line => `${line} put`), ...old])
        assert.equal(shifted.length, count)
        for (const [at, match] of shifted.entries()) assert.equal(match?.at, at + put.length)
      }),
    )
  })

  it('goes through large texts that have nothing in common, and repeat themselves, in bounded time', () => {
    const large = (of: (index: number) => string): readonly string[] =>
      Array.from({ length: 20_000 }, (_, at) => of(at))
    const started = performance.now()
    matchLines(
      large(at => `old ${at}`),
      large(at => `new ${at}`),
    )
    matchLines(
      large(at => `line ${at % 7}`),
      large(at => `line ${at % 11}`),
    )
    assert.ok(performance.now() - started < 30_000)
  })
})

describe('unified diffs', () => {
  it('have the line numbers of the files', () => {
    const old = { label: 'v1:a.yml', first: 10, lines: ['one', 'two', 'three'] }
    const now = { label: 'v2:b.yml', first: 25, lines: ['one', '2', 'three'] }
    const diff = '--- v1:a.yml\n+++ v2:b.yml\n@@ -10,3 +25,3 @@\n one\n-two\n+2\n three\n'
    assert.equal(unifiedDiff(old, now), diff)
  })
})

describe('lines of a text', () => {
  it('end with a newline of either kind, the last one or not', () => {
    assert.deepEqual(linesOf('a\r\n\nb\n'), ['a', '', 'b'])
    assert.deepEqual(linesOf('a\nb'), ['a', 'b'])
    assert.deepEqual(linesOf(''), [])
  })
})
