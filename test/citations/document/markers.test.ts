import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readDocument } from '../../../src/citations/document/document.js'
import { lineOf } from '../../../src/source/text.js'

interface Row {
  readonly name: string
  readonly path?: string
  readonly text: readonly string[]
  /** Context, what the opening says, what the closing says, body. */
  readonly markers?: readonly (readonly string[])[]
  readonly settings?: readonly string[]
  /** Line and what is said. */
  readonly problems?: readonly (readonly [number, string])[]
}

const rows = JSON.parse(
  readFileSync(new URL('../../../../test/citations/document/markers.json', import.meta.url), 'utf8'),
) as readonly Row[]

describe('markers of a document', () => {
  for (const { name, path = 'x.md', text, markers, settings = [], problems = [] } of rows) {
    for (const [ends, lineEnd] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
      it(`${name} (${ends})`, () => {
        for (const bom of ['', '\ufeff']) {
          const document = readDocument({ path, text: bom + text.join(lineEnd) })
          // Lines of places are counted by LF, as editors do; a lone CR ends none.
          const told = document.problems.map(({ says, at }) => [ends === 'CR' ? 0 : lineOf(at), says])
          assert.deepEqual(
            told,
            problems.map(([line, says]) => [ends === 'CR' ? 0 : line, says]),
          )
          const read = document.markers.map(({ context, says, state, body }) => [context, says, state, body])
          if (markers !== undefined) assert.deepEqual(read, markers)
          assert.deepEqual(
            document.settings.map(({ says }) => says),
            settings,
          )
          for (const { at, open, close } of document.markers) {
            assert.match(document.file.text.slice(open.start, open.end), /^(?:<!--|\{\/\*)[\s\S]*(?:-->|\*\/\})$/)
            assert.match(document.file.text.slice(close.start, close.end), /^(?:<!--|\{\/\*)[\s\S]*(?:-->|\*\/\})$/)
            assert.deepEqual([at.start, at.end], [open.start, close.end])
          }
        }
      })
    }
  }

  const noMdx = 'See `roles/a/b.yml` and https://a.example/b\n\n<!-- no -->\n'
  const unread: readonly {
    readonly path: string
    readonly text: string
    readonly problem?: readonly [number, RegExp]
  }[] = [
    { path: 'x.mdx', text: noMdx },
    {
      path: 'x.mdx',
      text: `${noMdx}{/* whofixes verdict swap */}\n`,
      problem: [3, /^not MDX, so no marker is looked for: /],
    },
    { path: 'x.mdx', text: `See \`roles/a/b.yml\`: https://a.example/b\n\na < b and {oops\n` },
    { path: 'x.md', text: `See \`roles/a/b.yml\`: https://a.example/b\n\n${'- '.repeat(200)}\n` },
    {
      path: 'x.md',
      text: `See \`roles/a/b.yml\`: https://a.example/b\n\n${'- '.repeat(200)}whofixes\n`,
      problem: [3, /^more than 100/],
    },
  ]
  for (const { path, text, problem } of unread) {
    const about = problem === undefined ? 'is no problem where it names no marker' : 'says where it cannot be read'
    it(`${path} that is none ${about}, and still has its links and paths: ${JSON.stringify(text.slice(-30))}`, () => {
      const { problems, links, paths } = readDocument({ path, text })
      assert.equal(problems.length, problem === undefined ? 0 : 1)
      if (problem !== undefined) {
        assert.match(problems[0]?.says ?? '', problem[1])
        assert.equal(lineOf(problems[0]?.at ?? assert.fail()), problem[0])
      }
      assert.deepEqual([links.length, paths.length], [1, 1])
    })
  }
})
