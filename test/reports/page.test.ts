import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TableCell } from 'mdast'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { addressLink, type Block, code, linked, paragraph, sentence, strong } from '../../src/reports/page.js'
import { renderHtmlPage } from '../../src/reports/page-html.js'
import { renderFitting, renderMarkdown } from '../../src/reports/page-markdown.js'
import { visibleText } from '../../src/source/visible.js'
import { foldsOf, htmlOf, linksOf, markdownTree, nodesOf, referencesIn, shownBy, tablesOf } from './markdown-tree.js'

/** Words that Markdown, HTML, GitHub or GitLab would make something of. */
const hostile = [
  '| a | b |',
  'a\\|b',
  '`',
  '``` yaml',
  '</details>',
  '<script>alert(1)</script>',
  '<!-- x',
  '-->',
  '@kubernetes/maintainers',
  '#123',
  'owner/repo#7',
  'GH-12',
  '!45',
  '~bug',
  '%"1.0"',
  '$x$',
  '&copy;',
  '&#64;',
  '[x](javascript:alert(1))',
  '![x](http://x/y.png)',
  '[^1]',
  '[x]: http://x',
  'http://example.com/a_b_c',
  'www.example.com',
  'someone@example.com',
  '# heading',
  '- item',
  '1. item',
  '> quote',
  '===',
  '---',
  '***bold***',
  '~~gone~~',
  '    indented',
  'two\nlines',
  '\r\n\r\n| x |',
  '\u0000\u0007\u001B[31m',
  '\u202Ereversed',
  '\uD800',
  'é 한국어 日本',
  '\\',
  ':smile:',
]

const words = fc
  .array(
    fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 8 }), fc.string({ maxLength: 8 })),
    {
      maxLength: 6,
    },
  )
  .map(pieces => pieces.join(' '))

/** What stays of a text: as a renderer for people shows it. */
const shown = (text: string): string => visibleText(text).replaceAll('\u200B', '')

describe('a page as Markdown', () => {
  for (const text of hostile) {
    it(`leaves ${JSON.stringify(text)} as it is: text`, () => {
      const tree = markdownTree(renderMarkdown([paragraph(text)]))
      assert.deepEqual(
        tree.children.map(({ type }) => type),
        ['paragraph'],
      )
      assert.equal(shownBy(tree).trim(), shown(text))
      assert.deepEqual(referencesIn(tree), [])
      assert.deepEqual(htmlOf(tree), [])
    })
  }

  it('keeps any text as text, in a paragraph, a list, a quote', () => {
    fc.assert(
      fc.property(words, text => {
        fc.pre(shown(text) !== '')
        for (const block of [
          paragraph(text),
          { kind: 'quote', line: [text] },
          { kind: 'list', items: [{ line: [text] }] },
        ] as const) {
          const tree = markdownTree(renderMarkdown([block]))
          assert.equal(tree.children.length, 1)
          assert.equal(nodesOf(tree, 'paragraph').length, 1)
          assert.equal(shownBy(tree).trim(), shown(text))
          assert.deepEqual(referencesIn(tree), [])
          assert.deepEqual(htmlOf(tree), [])
          assert.deepEqual([...nodesOf(tree, 'image'), ...nodesOf(tree, 'footnoteReference')], [])
        }
      }),
    )
  })

  it('keeps tables whole, whatever stands in their cells', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(words, words), { minLength: 1, maxLength: 4 }), rows => {
        const block: Block = {
          kind: 'table',
          head: ['text', 'code'],
          rows: rows.map(([text, other]) => [[text], [code(other)]]),
        }
        const tree = markdownTree(renderMarkdown([block]))
        const [table] = tablesOf(tree)
        assert.equal(tree.children.length, 1)
        assert.deepEqual(
          table?.children.map(row => row.children.length),
          [2, ...rows.map(() => 2)],
        )
        for (const [at, texts] of rows.entries()) {
          for (const [column, text] of texts.entries()) {
            const cell: TableCell | undefined = table?.children[at + 1]?.children[column]
            assert.ok(cell !== undefined)
            assert.equal(shownBy(cell).trim(), shown(text))
            // In code a forge looks for nothing.
            if (column === 0) assert.deepEqual(referencesIn(cell), [])
          }
        }
        assert.ok(htmlOf(tree).every(({ value }) => value === '<code>' || value === '</code>'))
      }),
    )
  })

  it('ends no listing and no fold early', () => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), words, (lines, summary) => {
        const listing: Block = {
          kind: 'listing',
          language: 'yaml',
          lines: lines.map(line => line.replaceAll(/[\r\n]/g, ' ')),
        }
        const fold: Block = {
          kind: 'details',
          summary: [summary, code(summary)],
          inside: [paragraph('before'), listing, paragraph('after')],
        }
        const tree = markdownTree(renderMarkdown([fold, paragraph('end')]))
        assert.equal(foldsOf(tree), 1)
        assert.equal(nodesOf(tree, 'code').length, 1)
        assert.deepEqual(
          tree.children.map(({ type }) => type),
          ['html', 'paragraph', 'code', 'paragraph', 'html', 'paragraph'],
        )
      }),
    )
  })

  it('keeps code as code, with backticks of its own', () => {
    for (const text of ['a', '`', '``a`', 'a `b` c', ' x ', '`x`']) {
      const tree = markdownTree(renderMarkdown([paragraph('x ', code(text), ' y')]))
      assert.deepEqual(
        nodesOf(tree, 'inlineCode').map(({ value }) => value),
        [text.trim()],
      )
    }
  })

  it('has lists within lists, and listings in them', () => {
    const block: Block = {
      kind: 'list',
      items: [
        {
          line: ['outer'],
          below: [
            {
              kind: 'list',
              items: [{ line: ['inner'], below: [{ kind: 'listing', language: 'sh', lines: ['- a', ''] }] }],
            },
          ],
        },
        { line: ['next'] },
      ],
    }
    const tree = markdownTree(renderMarkdown([block]))
    assert.equal(nodesOf(tree, 'listItem').length, 3)
    assert.deepEqual(
      nodesOf(tree, 'code').map(({ value }) => value),
      ['- a\n'],
    )
  })

  it('leads to web addresses only', () => {
    const tree = markdownTree(
      renderMarkdown([
        paragraph(
          linked(code('a'), 'https://x.org/a(b)c#L1'),
          linked('b', 'javascript:alert(1)'),
          addressLink('no address'),
        ),
        paragraph(addressLink('https://kubernetes.io/docs/'), strong('bold')),
      ]),
    )
    assert.deepEqual(
      linksOf(tree).map(({ url }) => url),
      ['https://x.org/a%28b%29c#L1', 'https://kubernetes.io/docs/'],
    )
  })

  it('takes what stands between backticks for code', () => {
    assert.deepEqual(sentence('`a` is `b c`, no `'), [code('a'), ' is ', code('b c'), ', no `'])
    assert.deepEqual(sentence(''), [])
  })
})

describe('a page that is too long', () => {
  const rows = (count: number): Block => ({
    kind: 'table',
    head: ['x'],
    rows: Array.from({ length: count }, (_, at) => [[`row ${at}`]]),
  })

  it('is the first draft that fits', () => {
    const text = renderFitting([() => [rows(1000)], () => [rows(10)], () => [rows(1)]], 500)
    assert.equal(tablesOf(markdownTree(text))[0]?.children.length, 11)
  })

  it('is cut between rows where none does, and says so', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 3000 }),
        fc.integer({ min: 1, max: 400 }),
        words,
        (longest, count, text) => {
          const blocks = [paragraph(text.slice(0, 20)), rows(count), paragraph(text.repeat(200))]
          const page = renderFitting([() => blocks], longest)
          assert.ok(page.length <= longest, `${page.length} of ${longest}`)
          if (renderMarkdown(blocks).length > longest) assert.match(page, /the rest is left out/)
          for (const table of tablesOf(markdownTree(page))) {
            assert.ok(table.children.every(row => row.children.length === 1))
          }
        },
      ),
    )
  })
})

type HtmlNode = DefaultTreeAdapterTypes.Node

/** The names of all elements, in order. */
function elementsOf(node: HtmlNode): readonly string[] {
  const inside = 'childNodes' in node ? node.childNodes.flatMap(elementsOf) : []
  return 'tagName' in node ? [node.tagName, ...inside] : inside
}

function htmlText(node: HtmlNode): string {
  if ('value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(htmlText).join('') : ''
}

describe('a page as HTML', () => {
  it('has the elements it should have, whatever its texts say', () => {
    fc.assert(
      fc.property(words, text => {
        const blocks: readonly Block[] = [
          paragraph(text),
          { kind: 'table', head: ['x'], rows: [[[code(text)]]] },
          { kind: 'details', summary: [text], inside: [{ kind: 'listing', language: 'sh', lines: [text] }] },
        ]
        const errors: string[] = []
        const page = parse(renderHtmlPage(text, blocks), { onParseError: ({ code: found }) => void errors.push(found) })
        assert.deepEqual(errors, [])
        const body = elementsOf(page).slice(elementsOf(page).indexOf('body'))
        const table = ['table', 'thead', 'tr', 'th', 'tbody', 'tr', 'td', 'code']
        assert.deepEqual(body, ['body', 'p', ...table, 'details', 'summary', 'pre', 'code'])
      }),
    )
  })

  it('loads nothing', () => {
    const page = renderHtmlPage('a <b>', [paragraph('x', linked('y', 'https://example.org/?a=1&b=2'))])
    assert.ok(!elementsOf(parse(page)).some(name => ['script', 'link', 'img', 'iframe'].includes(name)))
    assert.match(page, /default-src 'none'/)
    assert.match(page, /color-scheme: light dark/)
    assert.ok(htmlText(parse(page)).includes('a <b>'))
  })
})
