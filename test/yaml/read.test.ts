import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { Diagnostic } from '../../src/source/diagnostic.js'
import { lineOf, positionOf, type SourceFile, type Span } from '../../src/source/text.js'
import { entryOf, type MapNode, type Node } from '../../src/yaml/node.js'
import { readYaml, readYamlFile, readYamlText } from '../../src/yaml/read.js'
import { plainTagOf } from '../../src/yaml/scalar.js'
import { isLossy, plainOf } from './plain.js'

const rows = JSON.parse(readFileSync(new URL('../../../test/yaml/yaml11.json', import.meta.url), 'utf8')) as {
  text: string
  expected: unknown
}[]

function read(text: string): { node: Node; found: Diagnostic[] } {
  const found: Diagnostic[] = []
  return { node: readYamlText(text, diagnostic => found.push(diagnostic)), found }
}

function cut({ file, start, end }: Span): string {
  return file.text.slice(start, end)
}

function mapOf(node: Node | undefined): MapNode {
  assert.equal(node?.kind, 'map')
  return node as MapNode
}

/** Whether a node is what a row of the table expects; ints and floats are told apart only where JSON can. */
function agrees(node: Node, expected: unknown): boolean {
  if (node.kind === 'scalar') {
    if (node.tag === 'vault') return isTagged(expected, '$vault')
    if (node.tag === 'unsafe') return isTagged(expected, '$unsafe') && expected.$unsafe === node.data
    if (isTagged(expected, '$float'))
      return (
        typeof node.data === 'number' &&
        Object.is(node.data, Number(String(expected.$float).replace('inf', 'Infinity')))
      )
    if (isTagged(expected, '$date') || isTagged(expected, '$datetime')) return typeof node.data === 'string'
    if (typeof node.data === 'bigint') return Number(node.data) === expected
    return Object.is(node.data, expected)
  }
  if (node.kind === 'list') {
    return (
      Array.isArray(expected) &&
      expected.length === node.items.length &&
      node.items.every((item, at) => agrees(item, expected[at]))
    )
  }
  if (node.kind === 'unreadable' || typeof expected !== 'object' || expected === null) return false
  const pairs = (isTagged(expected, '$pairs') ? expected.$pairs : Object.entries(expected)) as [unknown, unknown][]
  return (
    pairs.length === node.entries.length &&
    node.entries.every(({ key, value }, at) => agrees(key, pairs[at]?.[0]) && agrees(value, pairs[at]?.[1]))
  )
}

function isTagged(value: unknown, tag: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && tag in value
}

describe('readYaml', () => {
  describe('reads what Ansible reads (YAML 1.1)', () => {
    for (const { text, expected } of rows) {
      it(JSON.stringify(text), () => {
        const { node, found } = read(text)
        if (isTagged(expected, '$error')) {
          assert.ok(isLossy(node), 'should be refused')
          assert.ok(found.some(({ severity }) => severity === 'error'))
        } else {
          assert.ok(agrees(node, expected), `${JSON.stringify(plainOf(node))} is not ${JSON.stringify(expected)}`)
          assert.ok(found.every(({ severity }) => severity === 'warning'))
        }
      })
    }
  })

  it('keeps int and float apart, and ints exact', () => {
    const { node } = read('[9223372036854775808, 1, 1.0, 0x10, 1:30, 1:30.5, 1e3]')
    assert.deepEqual(plainOf(node), [
      { int: '9223372036854775808' },
      { int: '1' },
      { float: 1 },
      { int: '16' },
      { int: '90' },
      { float: 90.5 },
      '1e3',
    ])
  })

  it('names both lines of a repeated key, and the last one counts', () => {
    const { node, found } = read('a: 1\nb: 2\n\na: 3\n')
    assert.deepEqual(
      found.map(({ code, severity, message, at }) => [code, severity, message, lineOf(at)]),
      [['yaml-duplicate-key', 'warning', 'the key "a" on line 1 stands again on line 4; the last one counts', 4]],
    )
    const entry = entryOf(mapOf(node), 'a')
    assert.ok(entry)
    assert.equal(lineOf(entry.key.span), 4)
    assert.deepEqual(plainOf(entry.value), { int: '3' })
  })

  it('does not take an entry that overrides a merged one for a repeated key', () => {
    const { node, found } = read('- &base {p: 1, q: 1}\n- <<: *base\n  p: 2\n')
    assert.deepEqual(found, [])
    assert.deepEqual(plainOf(node), [
      {
        map: [
          ['p', { int: '1' }],
          ['q', { int: '1' }],
        ],
      },
      {
        map: [
          ['p', { int: '2' }],
          ['q', { int: '1' }],
        ],
      },
    ])
  })

  it('makes an alias the very node it names', () => {
    const { node } = read('a: &x {k: v}\nb: *x\n')
    const map = mapOf(node)
    assert.equal(entryOf(map, 'a')?.value, entryOf(map, 'b')?.value)
  })

  it('loses only the node with a tag nobody knows', () => {
    const { node, found } = read('a: !reference [x, &y 1]\nb: *y\n')
    assert.deepEqual(
      found.map(({ code, at }) => [code, cut(at)]),
      [['yaml-tag', '[x, &y 1]']],
    )
    assert.deepEqual(plainOf(entryOf(mapOf(node), 'b')?.value as Node), { int: '1' })
    assert.equal(entryOf(mapOf(node), 'a')?.value.kind, 'unreadable')
  })

  it('refuses an unquoted template and points at it', () => {
    const { node, found } = read('a: 1\nb: {{ x }}\n')
    assert.equal(node.kind, 'unreadable')
    assert.deepEqual(
      found.map(({ code, at }) => [code, positionOf(at.file, at.start)]),
      [['yaml-syntax', { line: 2, column: 5 }]],
    )
  })

  it('reports one fault for a file, at its place, and reads nothing of it', () => {
    const { node, found } = read('a: &k 1\na: 2\nb: "x\nc: 1\n')
    assert.equal(node.kind, 'unreadable')
    assert.deepEqual(node.span, found[0]?.at)
    assert.deepEqual(
      found.map(({ code }) => code),
      ['yaml-syntax'],
    )
  })

  it('gives the documents of a stream, none for an empty one', () => {
    const stream = (text: string): unknown[] => readYaml({ path: 's.yml', text }, () => {}).map(plainOf)
    assert.deepEqual(stream('a\n---\nb\n---\n'), ['a', 'b', null])
    assert.deepEqual(stream(''), [])
    assert.deepEqual(stream('# nothing\n'), [])
  })

  it('marks every text below !unsafe', () => {
    assert.deepEqual(plainOf(read('!unsafe [a, {b: c}, 1]').node), [
      { unsafe: 'a' },
      { map: [['b', { unsafe: 'c' }]] },
      { int: '1' },
    ])
  })

  it('keeps offsets right behind a byte order mark, CRLF and padded lines', () => {
    const text = '\ufeffa: "x\ny"\r\nb: [1,\n2]\nc:\n- word\n'
    const { node } = read(text)
    const spans = mapOf(node).entries.map(({ key, value }) => [cut(key.span), cut(value.span)])
    assert.deepEqual(spans, [
      ['a', '"x\ny"'],
      ['b', '[1,\n2]'],
      ['c', '- word'],
    ])
  })

  it('ends a block at its last text, not at the comments that follow', () => {
    const { node } = read('a:\n  b: 1\n  # about nothing\n\nc: 2\n')
    assert.equal(cut(mapOf(node).entries[0]?.value.span as Span), 'b: 1')
  })
})

describe('readYamlFile', () => {
  const readFile = (text: string): unknown => plainOf(readYamlFile({ path: 'f.yml', text }, () => {}))

  it('reads JSON as JSON where the whole text is', () => {
    assert.deepEqual(readFile('{"a": 1e3, "b": "\\ud83d\\ude00", "c": 1.0}'), {
      map: [
        ['a', { float: 1000 }],
        ['b', '😀'],
        ['c', { float: 1 }],
      ],
    })
    assert.deepEqual(readFile('{"a": 1e3, b: 1}'), {
      map: [
        ['a', '1e3'],
        ['b', { int: '1' }],
      ],
    })
    assert.deepEqual(readFile('{\n\t"a": [NaN, -Infinity, -0, "\\u000a"]\n}'), {
      map: [['a', [{ float: Number.NaN }, { float: Number.NEGATIVE_INFINITY }, { int: '0' }, '\n']]],
    })
  })

  it('agrees with JSON.parse and knows where each value stands', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.nat(3), (json, indent) => {
        const value: unknown = JSON.parse(json)
        const text = JSON.stringify(value, null, indent)
        const node = readYamlFile({ path: 'f.json', text }, () => assert.fail('nothing to report'))
        assert.deepEqual(JSON.parse(cut(node.span)), value)
        const check = (inner: Node, expected: unknown): void => {
          assert.deepEqual(JSON.parse(cut(inner.span)), expected)
          if (inner.kind === 'list')
            for (const [at, item] of inner.items.entries()) check(item, (expected as unknown[])[at])
          if (inner.kind === 'map') {
            for (const { key, value: entry } of inner.entries) {
              check(entry, Object.getOwnPropertyDescriptor(expected, String(key.data))?.value)
            }
          }
        }
        check(node, value)
      }),
    )
  })

  it('takes an empty file for null and refuses a second document', () => {
    assert.equal(readFile(''), null)
    const found: Diagnostic[] = []
    readYamlFile({ path: 'f.yml', text: 'a\n---\nb\n' }, diagnostic => found.push(diagnostic))
    assert.deepEqual(
      found.map(({ code, at }) => [code, lineOf(at)]),
      [['yaml-syntax', 3]],
    )
  })
})

describe('hostile YAML', () => {
  const repeatedLists = (width: number, levels: number): string => {
    let text = `l0: &l0 [${Array(width).fill('x').join(', ')}]\n`
    for (let level = 1; level < levels; level++) {
      text += `l${level}: &l${level} [${Array(width)
        .fill(`*l${level - 1}`)
        .join(', ')}]\n`
    }
    return text
  }
  const cases: readonly (readonly [string, string, string])[] = [
    ['deep lists', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'yaml-syntax'],
    ['deep maps', `${'{a: '.repeat(10_000)}1${'}'.repeat(10_000)}`, 'yaml-syntax'],
    ['deep blocks', '- '.repeat(10_000), 'yaml-syntax'],
    ['brackets without end', '['.repeat(100_000), 'yaml-syntax'],
    ['closing brackets only', ']'.repeat(100_000), 'yaml-syntax'],
    ['many anchors on one node', '&a '.repeat(50_000), 'yaml-syntax'],
    ['many lines to pad', 'k: "a\nb"\n'.repeat(2000), 'yaml-syntax'],
    ['an alias bomb', repeatedLists(10, 30), 'yaml-alias'],
    ['aliases nesting deeper and deeper', repeatedLists(1, 5000), 'yaml-alias'],
    ['a node inside itself', '&a [*a]', 'yaml-alias'],
    ['a long number', `a: ${'9'.repeat(1_000_000)}`, 'yaml-syntax'],
    ['fifty megabytes', 'a: b\n'.repeat(10_000_000), 'file-too-large'],
  ]
  for (const [name, text, code] of cases) {
    it(`${name} cost one report and little time`, () => {
      const started = performance.now()
      const { node, found } = read(text)
      assert.ok(isLossy(node))
      assert.equal(found.find(({ severity }) => severity === 'error')?.code, code)
      assert.ok(performance.now() - started < 20_000)
    })
  }

  it('merge keys that repeat each other are bounded', () => {
    let text = '- &m0 {k0: v}\n'
    for (let at = 1; at < 5000; at++) text += `- &m${at} {<<: *m${at - 1}, k${at}: v}\n`
    assert.deepEqual(
      read(text).found.map(({ code }) => code),
      ['yaml-alias'],
    )
  })

  it('never throws, whatever the text', () => {
    const pieces = fc.constantFrom(
      'a',
      ':',
      ' ',
      '\n',
      '- ',
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      ',',
      '&x ',
      '*x',
      '!',
      '|',
      '>',
      '#',
      '?',
      '%',
      '\t',
      '<<',
      '---',
      '\r',
      '\u0000',
      '\u2028',
      '\ud800',
      '1',
      '0x',
      '.',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), parts => {
        const { node, found } = read(parts.join(''))
        for (const { at } of found) assert.ok(at.start >= 0 && at.start <= at.end && at.end <= at.file.text.length)
        if (isLossy(node)) assert.ok(found.some(({ severity }) => severity === 'error'))
      }),
      { numRuns: 3000 },
    )
  })
})

/** A value and how it is to be written; rendering decides nothing else. */
type Written =
  | { readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded'; readonly text: string }
  | { readonly style: 'flow-list' | 'block-list'; readonly items: readonly Written[] }
  | { readonly style: 'flow-map' | 'block-map'; readonly entries: readonly (readonly [string, Written])[] }

const word = fc.constantFrom(
  'a',
  'word',
  '0644',
  'yes',
  '1.5',
  '~',
  'x y',
  'v1.2',
  '{{ v }}',
  "it's",
  'é😀',
  '2001-01-01',
  '',
)
const flat: fc.Arbitrary<Written> = fc.record({ style: fc.constantFrom('plain', 'single', 'double'), text: word })
const folded: fc.Arbitrary<Written> = fc.record({ style: fc.constantFrom('literal', 'folded'), text: word })
const keys = fc.constantFrom('a', 'b', 'key', 'yes', '7', '"q q"', "'s'")
const written = fc.letrec<{ flow: Written; block: Written }>(tie => ({
  flow: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    flat,
    fc.record({ style: fc.constant('flow-list'), items: fc.array(tie('flow'), { maxLength: 3 }) }),
    fc.record({ style: fc.constant('flow-map'), entries: fc.array(fc.tuple(keys, tie('flow')), { maxLength: 3 }) }),
  ),
  block: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    flat,
    folded,
    tie('flow'),
    fc.record({ style: fc.constant('block-list'), items: fc.array(tie('block'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      style: fc.constant('block-map'),
      entries: fc.array(fc.tuple(keys, tie('block')), { minLength: 1, maxLength: 3 }),
    }),
  ),
}))

function render(value: Written, indent: number): string {
  const pad = ' '.repeat(indent)
  switch (value.style) {
    case 'plain':
      return /[{}[\],'" ]/.test(value.text) ? `'${value.text.replaceAll("'", "''")}'` : value.text
    case 'single':
      return `'${value.text.replaceAll("'", "''")}'`
    case 'double':
      return JSON.stringify(value.text)
    case 'literal':
    case 'folded':
      return `${value.style === 'literal' ? '|' : '>-'}\n${pad}  ${value.text || 'x'}\n${pad}  more`
    case 'flow-list':
      return `[${value.items.map(item => render(item, 0) || "''").join(', ')}]`
    case 'flow-map':
      return `{${value.entries.map(([key, entry]) => `${key}: ${render(entry, 0)}`).join(', ')}}`
    case 'block-list':
      return value.items.map(item => `${pad}-${renderBelow(item, indent)}`).join('\n')
    case 'block-map':
      return value.entries.map(([key, entry]) => `${pad}${key}:${renderBelow(entry, indent)}`).join('\n# between\n')
  }
}

function renderBelow(value: Written, indent: number): string {
  const isBlock = value.style === 'block-list' || value.style === 'block-map'
  return isBlock ? `\n${render(value, indent + 2)}` : ` ${render(value, indent)}`
}

function allNodes(node: Node): Node[] {
  if (node.kind === 'list') return [node, ...node.items.flatMap(allNodes)]
  if (node.kind === 'map') return [node, ...node.entries.flatMap(({ key, value }) => [key, ...allNodes(value)])]
  return [node]
}

describe('spans', () => {
  it('cut out of the file, a node reads as itself', () => {
    let compared = 0
    fc.assert(
      fc.property(written.block, value => {
        const file: SourceFile = { path: 'f.yml', text: `${render(value, 0)}\n` }
        const [root] = readYaml(file, ({ severity, message }) => assert.equal(severity, 'warning', message))
        if (!root) return
        for (const node of allNodes(root)) {
          const { column } = positionOf(file, node.span.start)
          const alone = readYamlText(`${' '.repeat(column - 1)}${cut(node.span)}\n`, () => {})
          assert.deepEqual(plainOf(alone), plainOf(node))
          compared++
        }
      }),
      { numRuns: 500 },
    )
    assert.ok(compared > 1000)
  })
})

describe('plainTagOf', () => {
  it('is `str` exactly for what reads as its own text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[-+.:_0-9a-fxeEyYnNoOTt~=<]{0,12}$/), text => {
        const { node } = read(`- "k"\n- ${text}\n`)
        const item = node.kind === 'list' && node.items.length === 2 ? node.items[1] : undefined
        if (item?.kind !== 'scalar' || cut(item.span) !== text) return
        const tag = plainTagOf(text)
        if (tag === 'str' || tag === 'timestamp') assert.equal(item.data, text)
        else assert.notEqual(item.data, text)
      }),
      { numRuns: 2000 },
    )
  })
})
