import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type CitedDocument, readDocument } from '../../../src/citations/document/document.js'
import type { Marker } from '../../../src/citations/document/markers.js'
import { type Edit, fitBody, writeBodies } from '../../../src/citations/document/write.js'

function edited(document: CitedDocument, edit: Edit | ((marker: Marker) => Edit)) {
  const edits = new Map(document.markers.map(marker => [marker, typeof edit === 'function' ? edit(marker) : edit]))
  return writeBodies(document, edits)
}

interface Row {
  readonly name: string
  readonly path?: string
  readonly text: string
  readonly edit: Edit
  readonly written: string
}

const rows: readonly Row[] = [
  {
    name: 'a block gets blank lines',
    text: 'a\n<!-- whofixes x -->\nold\n<!-- /whofixes -->\nb',
    edit: { body: '- new', state: 'true' },
    written: 'a\n<!-- whofixes x -->\n\n- new\n\n<!-- /whofixes true -->\nb',
  },
  {
    name: 'a quote in a list, CRLF',
    text: '1. a\r\n   > <!-- whofixes x -->\r\n   > old\r\n   > <!-- /whofixes s -->\r\n',
    edit: { body: 'one\n\ntwo', state: '' },
    written:
      '1. a\r\n   > <!-- whofixes x -->\r\n   >\r\n   > one\r\n   >\r\n   > two\r\n   >\r\n   > <!-- /whofixes -->\r\n',
  },
  {
    name: 'a fence in an item that begins with its marker',
    text: '10. <!-- whofixes x -->\n    <!-- /whofixes -->\n11. b\n',
    edit: { body: '```yaml\na:\n  - b\n```', state: 'v1' },
    written: '10. <!-- whofixes x -->\n\n    ```yaml\n    a:\n      - b\n    ```\n\n    <!-- /whofixes v1 -->\n11. b\n',
  },
  {
    name: 'what an opening says, and a body that is there already',
    text: '<!--whofixes x-->\nsame\n<!--/whofixes-->',
    edit: { body: 'same', state: 'ok', says: 'y\n z' },
    written: '<!--whofixes y z-->\nsame\n<!--/whofixes ok-->',
  },
  {
    name: 'a cell',
    text: '| a |\n|---|\n| b <!-- whofixes x -->c<!-- /whofixes --> |\n',
    edit: { body: 'd | `e|f`', state: 'g|h', says: 'i|j' },
    written: '| a |\n|---|\n| b <!-- whofixes i\\|j -->d \\| `e\\|f`<!-- /whofixes g\\|h --> |\n',
  },
  {
    name: 'a paragraph of two lines in a line, whose blanks stay',
    text: 'a <!-- whofixes x --> b <!-- /whofixes --> c',
    edit: { body: 'one\ntwo\n', state: '' },
    written: 'a <!-- whofixes x --> one two <!-- /whofixes --> c',
  },
  {
    name: 'a body that is wrapped is unwrapped',
    text: '> a <!-- whofixes x -->\n> b\n> c<!-- /whofixes --> d',
    edit: { body: '# e', state: '' },
    written: '> a <!-- whofixes x --> # e<!-- /whofixes --> d',
  },
  {
    name: 'in a block of HTML without blank lines',
    text: '<div>\n  <!-- whofixes x -->\n  a\n  <!-- /whofixes -->\n</div>\n',
    edit: { body: '<b>c</b>\nd', state: '' },
    written: '<div>\n  <!-- whofixes x -->\n  <b>c</b>\n  d\n  <!-- /whofixes -->\n</div>\n',
  },
  {
    name: 'a body that goes away',
    text: '- <!-- whofixes x -->\n  a\n  <!-- /whofixes b -->\n',
    edit: { body: '', state: '' },
    written: '- <!-- whofixes x -->\n\n  <!-- /whofixes -->\n',
  },
  {
    name: 'MDX',
    path: 'x.mdx',
    text: '<A>\n  {/* whofixes x */}\n  a\n  {/* /whofixes */}\n</A>\n\nb {/* whofixes y */}c{/* /whofixes */}\n',
    edit: { body: 'd', state: 'ok' },
    written:
      '<A>\n  {/* whofixes x */}\n\n  d\n\n  {/* /whofixes ok */}\n</A>\n\nb {/* whofixes y */}d{/* /whofixes ok */}\n',
  },
]

const block = '<!-- whofixes x -->\n\nold\n\n<!-- /whofixes -->\nafter [r] *e*\n\n```\nf\n```\n'
const refusals: readonly (readonly [name: string, path: string, text: string, edit: Edit, says: RegExp])[] = [
  ['an open fence', 'x.md', block, { body: '```\na', state: '' }, /read otherwise/],
  ['an open block of HTML', 'x.md', block, { body: '<pre>\na', state: '' }, /read otherwise/],
  ['an open comment', 'x.md', block, { body: 'a\n\n<!-- b', state: '' }, /read otherwise/],
  ['a marker', 'x.md', block, { body: 'a\n<!-- /whofixes -->', state: '' }, /holds a marker/],
  ['a marker in a fence', 'x.md', block, { body: '```\n<!-- /whofixes x -->\n```', state: '' }, /holds a marker/],
  ['a state that ends its comment', 'x.md', block, { body: 'a', state: 'b --> c' }, /would end it/],
  ['an opening that says nothing', 'x.md', block, { body: 'a', state: '', says: ' ' }, /say nothing/],
  ['a setting', 'x.md', block, { body: 'a', state: '', says: 'source x' }, /./],
  [
    'a list in a line',
    'x.md',
    'a <!-- whofixes x -->b<!-- /whofixes -->',
    { body: '- a\n- b', state: '' },
    /paragraph/,
  ],
  ['an escape', 'x.md', 'a <!-- whofixes x -->b<!-- /whofixes -->', { body: 'a\\', state: '' }, /read otherwise/],
  ['a backtick', 'x.md', 'a <!-- whofixes x -->b<!-- /whofixes --> `c`', { body: '`d', state: '' }, /read otherwise/],
  ['an emphasis', 'x.md', 'a <!-- whofixes x -->b<!-- /whofixes --> c*', { body: '*d', state: '' }, /read otherwise/],
  [
    'an escaped pipe in a cell',
    'x.md',
    '|a|\n|-|\n|<!-- whofixes x --><!-- /whofixes -->|',
    { body: 'a\\|b', state: '' },
    /backslash/,
  ],
  [
    'a blank line in HTML',
    'x.md',
    '<p>\n<!-- whofixes x -->\na\n<!-- /whofixes -->\n</p>',
    { body: 'a\n\nb', state: '' },
    /blank line/,
  ],
  ['no MDX', 'x.mdx', '{/* whofixes x */}\n\na\n\n{/* /whofixes */}', { body: 'a {', state: '' }, /read otherwise/],
]

describe('bodies written into a document', () => {
  for (const { name, path = 'x.md', text, edit, written } of rows) {
    it(name, () => {
      const result = edited(readDocument({ path, text }), edit)
      assert.deepEqual(result, { text: written, refused: [] })
      const again = readDocument({ path, text: written })
      assert.deepEqual(edited(again, edit), { text: written, refused: [] })
    })
  }

  for (const [name, path, text, edit, says] of refusals) {
    it(`refused: ${name}`, () => {
      const document = readDocument({ path, text })
      assert.equal(document.markers.length, 1)
      const result = edited(document, edit)
      assert.equal(result.text, text)
      assert.equal(result.refused.length, 1)
      assert.match(result.refused[0]?.says ?? '', says)
    })
  }

  it('refuses only what cannot be written', () => {
    const document = readDocument({ path: 'x.md', text: block.repeat(9) })
    const bad = document.markers[4]
    const result = edited(document, marker => ({ body: marker === bad ? '~~~' : 'new', state: 's' }))
    assert.deepEqual(
      result.refused.map(({ marker }) => marker),
      [bad],
    )
    assert.equal(
      readDocument({ path: 'x.md', text: result.text }).markers.filter(({ body }) => body === 'new').length,
      8,
    )
  })

  it('writes nothing into a document with a problem', () => {
    const text = `${block}\n<!-- /whofixes -->\n`
    const document = readDocument({ path: 'x.md', text })
    const result = edited(document, { body: 'new', state: '' })
    assert.equal(result.text, text)
    assert.match(result.refused[0]?.says ?? '', /problems/)
  })

  /** Bodies of lines that mean something at their beginning. */
  const line = fc.constantFrom(
    ...['', 'word', '- item', '  - deeper', '1. one', '> quote', '```', '~~~yaml', '# head', '| a | b |', '|---|---|'],
    ...[
      '    code',
      '<details>',
      '</details>',
      '<pre>',
      '</pre>',
      '[a]: b',
      '[^1]: note',
      '---',
      '===',
      '*',
      '`code`',
      'a|b',
    ],
    ...[
      'trailing  ',
      'back\\',
      '\ttab',
      '<!-- c -->',
      '<b>',
      '**bold**',
      '{/* c */}',
      '{',
      '<A/>',
      '한국어 문장',
      'roles/a/b.yml',
    ],
  )
  const bodies = fc.array(line, { maxLength: 6 }).map(lines => lines.join('\n'))
  const surroundings = fc.constantFrom(
    '@',
    'before\n\n@\n\nafter *x* [a][b]',
    '- item\n\n  @\n\n  more\n- next',
    '1. @\n2. next',
    '> quote\n> @\n> more',
    '> - x\n>   > @\n\nlazy',
    '[^1]: @\n\nnote[^1]',
    '<details>\n<summary>s</summary>\n\n@\n\n</details>\n',
    '<details>\n@\n</details>\n\ntext',
    '---\na: b\n---\n@\n```\ncode\n```',
    '\tcode\n\n-\titem\n\n\t@',
    '   @\n- list',
    'text\n@\n\n| a |\n|---|\n| b |',
  )
  const places = fc.constantFrom(
    'In <!-- whofixes x -->o<!-- /whofixes --> line `c` *e*',
    '| a | b |\n|---|---|\n| <!-- whofixes x -->o<!-- /whofixes --> | `c` |\n| d | e |',
    '# H <!-- whofixes x --><!-- /whofixes s -->\n\ntext',
    '<!-- whofixes x -->o<!-- /whofixes --> begins\nnext',
    '- [x] **<!-- whofixes x -->o<!-- /whofixes -->** a',
    'a [l <!-- whofixes x -->o<!-- /whofixes -->](u "t") b',
  )
  const ends = fc.constantFrom('\n', '\r\n', '\r')
  const state = fc.constantFrom('', 'true', 'true v2.31.0 0123abc', 'a|b')

  /** The lines of a marker put where `@` stands, with the container's prefix. */
  function placed(around: string, old: string): string {
    return around
      .split('\n')
      .map(text => {
        const at = text.indexOf('@')
        if (at === -1) return text
        const prefix = text
          .slice(0, at)
          .replace(/^\[\^1\]: /, '    ')
          .replace(/[-\d.]/g, ' ')
        return ['<!-- whofixes x -->', ...old.split('\n'), '<!-- /whofixes s -->']
          .map((each, index) => (index === 0 ? text.slice(0, at) : prefix) + each)
          .join('\n')
      })
      .join('\n')
  }
  const documents = fc
    .tuple(
      fc.oneof(
        fc
          .tuple(surroundings, fc.constantFrom('old', '', '- old\n- list', '\nold\n'))
          .map(([around, old]) => placed(around, old)),
        places,
      ),
      ends,
      fc.boolean(),
      fc.boolean(),
    )
    .map(
      ([text, lineEnd, bom, final]) => (bom ? '\ufeff' : '') + (text + (final ? '\n' : '')).replaceAll('\n', lineEnd),
    )

  it('every document of the properties below has its marker', () => {
    fc.assert(
      fc.property(documents, text => {
        const document = readDocument({ path: 'x.md', text })
        assert.deepEqual([document.problems, document.markers.length], [[], 1])
      }),
      { numRuns: 300 },
    )
  })

  it('what was written is read again, writing it again changes nothing, and all else stays', () => {
    let written = 0
    fc.assert(
      fc.property(documents, bodies, state, (text, body, says) => {
        const document = readDocument({ path: 'x.md', text })
        const [marker] = document.markers
        if (marker === undefined) return
        const edit = { body, state: says }
        const result = edited(document, edit)
        if (result.refused.length > 0) {
          assert.equal(result.text, text)
          return
        }
        written++
        const after = readDocument({ path: 'x.md', text: result.text })
        const fitted = fitBody(marker, body)
        assert.ok('body' in fitted)
        const [again] = after.markers
        assert.ok(again !== undefined)
        assert.deepEqual(
          [after.problems, after.markers.length, again.body, again.state, again.says, again.context],
          [[], 1, fitted.body, says, marker.says, marker.context],
        )
        assert.equal(edited(after, edit).text, result.text)
        assert.equal(result.text.slice(0, again.open.end), text.slice(0, marker.open.end))
        assert.equal(result.text.slice(again.close.end), text.slice(marker.close.end))
        const kinds = (from: CitedDocument, start: number, end: number): readonly string[] =>
          from.shape.filter(node => node.start < start || node.start >= end).map(({ type }) => type)
        assert.deepEqual(
          kinds(after, again.open.end, again.close.start),
          kinds(document, marker.open.end, marker.close.start),
        )
        if (marker.context !== 'html') {
          // Putting the old text back gives the old meaning.
          const back = edited(after, { body: marker.body, state: marker.state })
          assert.equal(readDocument({ path: 'x.md', text: back.text }).markers[0]?.body, marker.body)
        }
      }),
      { numRuns: 1500 },
    )
    assert.ok(written > 500, `${written} written`)
  })
})
