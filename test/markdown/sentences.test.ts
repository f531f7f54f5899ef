import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { holdsPhrases, type Phrase } from '../../src/markdown/phrases.js'
import { sentencesOf } from '../../src/markdown/sentences.js'
import { lineOf } from '../../src/source/text.js'

interface Row {
  readonly name: string
  readonly markdown: readonly string[]
  /** Line, text, what it stands under. */
  readonly sentences: readonly (readonly [number, string, readonly string[]])[]
}

const rows = JSON.parse(
  readFileSync(new URL('../../../test/markdown/sentences.json', import.meta.url), 'utf8'),
) as readonly Row[]

describe('sentences of Markdown', () => {
  for (const { name, markdown, sentences } of rows) {
    it(name, () => {
      const found = sentencesOf({ path: 'README.md', text: markdown.join('\n') })
      assert.deepEqual(
        found.map(({ at, text, under }) => [lineOf(at), text, under]),
        sentences,
      )
    })
  }

  it('takes hostile text in its stride', function () {
    this.timeout(20_000)
    const texts = [
      '['.repeat(200_000),
      '- '.repeat(100_000),
      '> '.repeat(100_000),
      '`'.repeat(200_000),
      'a. '.repeat(200_000),
    ]
    const lines = Array.from({ length: 20_000 }, (_, index) => `${' '.repeat(index % 300)}- item ${index}`).join('\n')
    for (const text of [...texts, lines]) {
      const before = performance.now()
      sentencesOf({ path: 'README.md', text })
      assert.ok(performance.now() - before < 3000, text.slice(0, 10))
    }
  })
})

describe('phrases', () => {
  const cases: readonly (readonly [string, readonly Phrase[], boolean])[] = [
    ['The servers allow IPv4 forwarding.', ['ipv4 forwarding', 'servers'], true],
    ['The servers allow forwarding of IPv4.', ['ipv4 forwarding'], false],
    ['It is python3', ['python'], false],
    ['| TCP | 10257 | kube-scheduler |', ['10257', 'kube-scheduler'], true],
    ['| TCP | 10257 | kube-scheduler |', ['scheduler'], false],
    ['A master', [['control plane', 'master']], true],
    ['A control plane', [['control plane', 'master']], true],
    ['Memory: 2 GB', ['memory', ['MB', 'GB']], true],
  ]
  for (const [text, phrases, expected] of cases) {
    it(`${text} ${expected ? 'holds' : 'does not hold'} ${JSON.stringify(phrases)}`, () =>
      assert.equal(holdsPhrases(text, phrases), expected))
  }
})
