import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readDocument } from '../../../src/citations/document/document.js'
import { writeBodies } from '../../../src/citations/document/write.js'

/** Pieces that make grammars go back or nest when they come often. */
const pieces = [
  ...[
    '[',
    ']',
    '[a](',
    'a]',
    '![',
    '[]',
    '[ (',
    '[a][b]\n',
    '[a]: b\n',
    '[^a]',
    '[^1]: a\n',
    '[a](((',
    '(',
    ')',
    '"',
    '\\',
  ],
  ...[
    '*a ',
    '*a _b ',
    'a**b',
    '~~a ',
    '`',
    'a`` b` ',
    '&a',
    '<',
    '<a ',
    '<a\n',
    '<b>',
    '</b>',
    '<a href="x">',
    '<!-- ',
    'a <!-- ',
  ],
  ...[
    'a <? ',
    '<script>',
    '</script>',
    '<textarea>x',
    '{',
    '}',
    '{/*',
    '{a}',
    '> ',
    '- ',
    '1. ',
    '> a\n',
    '- a\n',
    '-\n',
    '1. a\n',
  ],
  ...[
    'a\n',
    ' ',
    '\t',
    '\r',
    ' \n',
    '|a',
    '|a|b|\n',
    '| a |\n|-|\n',
    'http://',
    'http://a ',
    'www.',
    'a@',
    'a/',
    'a/b ',
    'roles/',
  ],
  ...[
    '<!-- whofixes a -->',
    '<!-- whofixes a -->x<!-- /whofixes -->',
    '<!-- whofixes a -->\n',
    '`a/b` ',
    '\0',
    '\ufeff',
  ],
]

describe('hostile documents', () => {
  for (const path of ['x.md', 'x.mdx', 'x.txt']) {
    it(`${path}: repeated pieces are read, or refused with a place, in bounded time`, function () {
      this.timeout(240_000)
      for (const piece of pieces) {
        const text = piece.repeat(40_000 / piece.length)
        const before = process.cpuUsage()
        const document = readDocument({ path, text })
        const { user, system } = process.cpuUsage(before)
        assert.ok(user + system < 8_000_000, `${JSON.stringify(piece)}: ${user + system} microseconds`)
        for (const { says, at } of document.problems.slice(0, 10)) {
          assert.ok(says !== '' && at.start >= 0 && at.end <= text.length, piece)
        }
      }
    })
  }

  it('nesting is bounded', () => {
    const texts = [
      Array.from({ length: 300 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n'),
      Array.from({ length: 300 }, (_, depth) => `${'>'.repeat(depth + 1)} a`).join('\n'),
      `${'> '.repeat(90)}a\n`.repeat(500),
      `${'- '.repeat(5000)}whofixes`,
    ]
    for (const text of texts) {
      const before = process.cpuUsage()
      const { problems } = readDocument({ path: 'x.md', text })
      const { user, system } = process.cpuUsage(before)
      assert.ok(user + system < 5_000_000, `${text.slice(0, 20)}: ${user + system} microseconds`)
      if (text.startsWith('- - ')) assert.match(problems[0]?.says ?? '', /^more than 100 quotes and lists/)
    }
  })

  it('a long document is read soon', () => {
    const section = `## Head\n\nText with \`roles/a/b.yml\` and [a link](https://a.example/b), *so*.\n\n- item\n- item\n\n<!-- whofixes a -->\nb\n<!-- /whofixes -->\n\n`
    const text = section.repeat(1_000_000 / section.length)
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage()
      assert.ok(readDocument({ path: 'x.md', text }).markers.length > 5000)
      const { user, system } = process.cpuUsage(before)
      return user + system
    })
    // One second on a machine that does nothing else; here others may run beside.
    assert.ok(Math.min(...times) < 4_000_000, `${times}`)
  })

  it('any text is a document, and what is written into it is read again', () => {
    const part = fc.oneof(
      fc.constantFrom(...pieces, '<!-- /whofixes -->', '\n', '\n\n', '| a |\n|---|\n'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    )
    const text = fc.array(part, { maxLength: 25 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(text, fc.constantFrom('x.md', 'x.mdx', 'x.txt'), (whole, path) => {
        const document = readDocument({ path, text: whole })
        const edits = new Map(document.markers.map(marker => [marker, { body: 'new', state: 's' }]))
        const { text: written, refused } = writeBodies(document, edits)
        const after = readDocument({ path, text: written })
        if (document.problems.length > 0) assert.equal(written, whole)
        else
          assert.equal(after.markers.filter(({ body }) => body === 'new').length >= edits.size - refused.length, true)
      }),
      { numRuns: 1500 },
    )
  })
})
