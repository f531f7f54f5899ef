import assert from 'node:assert/strict'
import { readDocument } from '../../../src/citations/document/document.js'

const links: readonly (readonly [
  path: string,
  text: string,
  expected: readonly (readonly [string, string, string?])[],
])[] = [
  [
    'x.md',
    '[a](b/c.yml#L3 "t") ![i](d.png)',
    [
      ['link', 'b/c.yml#L3'],
      ['image', 'd.png'],
    ],
  ],
  [
    'x.md',
    '[a](<b c.yml>) [b](c&amp;d) [e](f\\_g%20h)',
    [
      ['link', 'b c.yml'],
      ['link', 'c&d'],
      ['link', 'f_g%20h'],
    ],
  ],
  ['x.md', '[a]\n\n[a]: https://a.example/b\n', [['definition', 'https://a.example/b']]],
  [
    'x.md',
    '<https://a.example/b> https://c.example/d. (www.e.example/f)',
    [
      ['autolink', 'https://a.example/b'],
      ['literal', 'https://c.example/d'],
      ['literal', 'http://www.e.example/f'],
    ],
  ],
  ['x.md', '<me@a.example> me@a.example', []],
  [
    'x.md',
    '[https://a.example](b) [![x](y)](z)',
    [
      ['literal', 'https://a.example'],
      ['link', 'b'],
      ['image', 'y'],
      ['link', 'z'],
    ],
  ],
  [
    'x.md',
    '> - <a\n>   href="b?c&amp;d">\n>   x</a> <img src=e.png>',
    [
      ['html', 'b?c&d'],
      ['html', 'e.png'],
    ],
  ],
  ['x.md', '<p>\n<a href = \'b\'>c</a>\n<!-- <a href="no"> --></p>', [['html', 'b']]],
  [
    'x.md',
    '`curl https://a.example/b` c\n\n```\nget https://d.example/e\n```\n',
    [
      ['text', 'https://a.example/b', 'code'],
      ['text', 'https://d.example/e', 'code'],
    ],
  ],
  ['x.md', '---\nsource: https://a.example/b\n---\n', [['text', 'https://a.example/b']]],
  ['x.md', '<!-- whofixes a -->\n[b](c)\n<!-- /whofixes -->\n[d](e)', [['link', 'e']]],
  ['x.md', '|a|\n|-|\n|[b](c/d.yml)|', [['link', 'c/d.yml']]],
  [
    'x.mdx',
    '<A href="b" to="c" src={d}>\n  <img src="e" />\n</A>\n\n[f](g) ![h](i) https://j.example\n',
    [
      ['jsx', 'b'],
      ['jsx', 'e'],
      ['link', 'g'],
      ['image', 'i'],
      ['literal', 'https://j.example'],
    ],
  ],
  [
    'x.adoc',
    'See https://a.example/b[c], (https://d.example/e).',
    [
      ['text', 'https://a.example/b'],
      ['text', 'https://d.example/e'],
    ],
  ],
]

const paths: readonly (readonly [
  path: string,
  text: string,
  expected: readonly (readonly (string | number | boolean | undefined)[])[],
])[] = [
  ['x.md', 'See `roles/a/tasks/main.yml`, `roles/a/` and roles/b/c.yml', [['roles/a/tasks/main.yml'], ['roles/a/']]],
  [
    'x.md',
    '`a/b.yml:12` `a/b.yml:12-20` `a/b.yml#L3` `a/b.yml#L3-L5` `a/b.yml#L3C1-L5C9`',
    [
      ['a/b.yml', 12],
      ['a/b.yml', 12, 20],
      ['a/b.yml', 3],
      ['a/b.yml', 3, 5],
      ['a/b.yml', 3, 5],
    ],
  ],
  [
    'x.md',
    '`roles/<name>/tasks` `{{ a }}/b` `{{a}}/b.yml` `roles/*/c` `$HOME/d`',
    [
      ['roles/<name>/tasks', undefined, undefined, true],
      ['{{a}}/b.yml', undefined, undefined, true],
      ['roles/*/c', undefined, undefined, true],
      ['$HOME/d', undefined, undefined, true],
    ],
  ],
  [
    'x.md',
    '`/etc/fstab` `~/x/y` `a b/c` `https://a/b` `quay.io/a/b` `10.0.0.0/8` `--a/b` `a//b` `main.yml` `a/b:v1` `a=b/c`',
    [],
  ],
  ['x.md', '`` ro`es/a `` ` ../a/b.yml ` `.github/c.yml` `./d/e`', [['../a/b.yml'], ['.github/c.yml'], ['d/e']]],
  [
    'x.md',
    '`~/kubespray/roles/a/b.yml:3` `lib/kubespray/scale.yml` `kubespray-2.28.0/contrib/c` `roles/kubespray/d.yml` `./run.sh` `quay.io/kubespray/e`',
    [['roles/a/b.yml', 3], ['scale.yml'], ['contrib/c'], ['roles/kubespray/d.yml'], ['e']],
  ],
  ['x.txt', '먼저 roles/a/main.yml을 보고,在roles/b/main.yml中。', [['roles/a/main.yml'], ['roles/b/main.yml']]],
  ['x.md', '```\nroles/a/b.yml\n```\n<!-- whofixes a -->\n`c/d.yml`\n<!-- /whofixes -->', []],
  ['x.mdx', 'A `roles/a/b.yml:3` {/* c */}\n', [['roles/a/b.yml', 3]]],
  [
    'x.yml',
    '# see roles/a/b.yml:3, "c/d.yml" (e/f.yml). https://g/h/i <j/k.yml>.\nm: `n/o`',
    [['roles/a/b.yml', 3], ['c/d.yml'], ['e/f.yml'], ['j/k.yml'], ['n/o']],
  ],
]

describe('links of a document', () => {
  for (const [path, text, expected] of links) {
    it(`${path}: ${JSON.stringify(text)}`, () => {
      const found = readDocument({ path, text }).links
      assert.deepEqual(
        found.map(({ context, url, inCode }) => [context, url, ...(inCode ? ['code'] : [])]),
        expected,
      )
      for (const { at, written } of found) assert.equal(text.slice(at.start, at.end), written)
    })
  }
})

describe('paths of a document', () => {
  for (const [path, text, expected] of paths) {
    it(`${path}: ${JSON.stringify(text)}`, () => {
      const found = readDocument({ path, text }).paths
      assert.deepEqual(
        found.map(({ path: named, first, last, placeholder }) => [named, first, last, placeholder]),
        expected.map(([named, first, last, placeholder = false]) => [named, first, last, placeholder]),
      )
      for (const { at, path: named } of found) assert.ok(text.slice(at.start, at.end).startsWith(named))
    })
  }
})
