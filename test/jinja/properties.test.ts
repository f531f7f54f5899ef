import assert from 'node:assert/strict'
import fc from 'fast-check'
import { same } from '../../src/jinja/apply.js'
import { evaluateCondition } from '../../src/jinja/condition.js'
import { evaluate } from '../../src/jinja/evaluate.js'
import { parseExpression } from '../../src/jinja/parser.js'
import { printExpression } from '../../src/jinja/print.js'
import { type BinaryOperator, type Comparator, childrenOf, type Expression } from '../../src/jinja/syntax.js'
import { evaluateTemplate } from '../../src/jinja/template.js'
import type { Option, Value } from '../../src/jinja/value.js'
import { known, unknown } from '../../src/jinja/value.js'
import { environmentOf, here } from './environment-of.js'
import { randomFrom, readGrammar, textOf } from './generate.js'

const place = { start: 0, end: 0, depth: 0 }
const names = ['a', 'b', 'c', 'd']

/** Trees of every kind of node, as the parser could make them. */
const trees = fc.letrec<{ tree: Expression }>(tie => {
  const tree = tie('tree')
  const args = fc.record({
    positional: fc.array(tree, { maxLength: 2 }),
    named: fc.array(fc.record({ name: fc.constantFrom(...names), value: tree }), { maxLength: 1 }),
    spread: fc.option(tree, { freq: 8 }),
    spreadNamed: fc.option(tree, { freq: 8 }),
  })
  const pathName = fc.constantFrom('stdout', 'rc', 'items', 'x')
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc
      .oneof(
        fc.constantFrom(null, true, false),
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(value => (Object.is(value, -0) ? 0 : value)),
        fc.string({ unit: 'grapheme' }),
      )
      .map(data => ({ ...place, kind: 'constant', data }) as Expression),
    fc.constantFrom(...names).map(name => ({ ...place, kind: 'name', name }) as Expression),
  )
  const operators: BinaryOperator[] = ['+', '-', '~', '*', '/', '//', '%', '**']
  const comparators: Comparator[] = ['==', '!=', '<', '<=', '>', '>=', 'in', 'not in']
  return {
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.record({ kind: fc.constantFrom('list' as const, 'tuple' as const), items: fc.array(tree, { maxLength: 3 }) }),
      fc.record({
        kind: fc.constant('dict' as const),
        entries: fc.array(fc.record({ key: tree, value: tree }), { maxLength: 2 }),
      }),
      fc.record({ kind: fc.constant('attribute' as const), of: tree, name: pathName }),
      fc.record({ kind: fc.constant('item' as const), of: tree, index: tree }),
      fc.record({
        kind: fc.constant('slice' as const),
        of: tree,
        from: fc.option(tree),
        to: fc.option(tree),
        step: fc.option(tree),
      }),
      fc.record({ kind: fc.constant('call' as const), of: tree, args }),
      fc.record({
        kind: fc.constant('filter' as const),
        of: tree,
        name: fc.constantFrom('int', 'ansible.utils.ipaddr'),
        args,
      }),
      fc.record({ kind: fc.constant('test' as const), of: tree, name: fc.constantFrom('defined', 'version'), args }),
      fc.record({ kind: fc.constant('not' as const), of: tree }),
      fc.record({
        kind: fc.constant('sign' as const),
        operator: fc.constantFrom('-' as const, '+' as const),
        of: tree,
      }),
      fc.record({
        kind: fc.constant('binary' as const),
        operator: fc.constantFrom(...operators),
        left: tree,
        right: tree,
      }),
      fc.record({
        kind: fc.constant('comparison' as const),
        first: tree,
        links: fc.array(fc.record({ comparator: fc.constantFrom(...comparators), right: tree }), {
          minLength: 1,
          maxLength: 2,
        }),
      }),
      fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), left: tree, right: tree }),
      fc.record({ kind: fc.constant('conditional' as const), test: tree, chosen: tree, otherwise: fc.option(tree) }),
    ) as fc.Arbitrary<Expression>,
  }
}).tree

function bare(tree: unknown): unknown {
  return JSON.parse(
    JSON.stringify(tree, (key, value) => {
      if (key === 'start' || key === 'end' || key === 'depth') return undefined
      return typeof value === 'bigint' ? `${value}n` : value
    }),
  )
}

describe('jinja spans', () => {
  const grammar = readGrammar('grammar.json')

  it('cut out of the text, every node reads as itself', () => {
    const random = randomFrom(5)
    let nodes = 0
    for (let round = 0; round < 1500; round++) {
      const text = textOf(grammar, 'expression', 4, random)
      const tree = parseExpression(text, here)
      // Not every text of the grammar is one: `a | sort.0` is refused by Jinja2 too.
      if (tree.kind === 'syntax-problem') continue
      const check = (node: Expression): void => {
        nodes++
        const slice = text.slice(node.start, node.end)
        const again = parseExpression(slice, here)
        if (again.kind === 'syntax-problem') assert.fail(`${again.says}: ${slice} out of ${text}`)
        assert.deepEqual(bare(again), bare(node), `${slice} out of ${text}`)
        // `x is not y` is a `not` around a test that stands in the very same words.
        const inner = node.kind === 'not' && node.of.kind === 'test' && node.of.start === node.start ? node.of : node
        childrenOf(inner).forEach(check)
      }
      check(tree)
    }
    assert.ok(nodes > 8000, `${nodes}`)
  })
})

describe('jinja printing', () => {
  it('is undone by parsing', () => {
    fc.assert(
      fc.property(trees, tree => {
        const text = printExpression(tree)
        const again = parseExpression(text, here)
        if (again.kind === 'syntax-problem') assert.fail(`${again.says} in ${text}`)
        assert.deepEqual(bare(again), bare(tree), text)
      }),
      { numRuns: 1500 },
    )
  })
})

/** Data a variable may have in the run. */
const data: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, 7, '', 'a', 'ab', '1.2', 'yes', 'True', '[1]', [], [1], ['a', 'b']),
  fc.constantFrom<unknown>({}, { x: 1 }, { rc: 0, stdout: 'a' }, { rc: 1, x: ['a'] }),
)

const sources = [
  'a',
  'a.rc',
  'a.x',
  'b.stdout',
  "a['x']",
  'a | default(b)',
  'a | default(1, true)',
  'a | bool',
  'a | int',
  'a | length',
  'a | string',
  'a | ternary(b, c)',
  'a == b',
  'a != 1',
  'a in [b, 1]',
  "'a' in a",
  'a is defined',
  'a.x is defined',
  'a is none',
  'a is string',
  'a is mapping',
  'not a',
  'not (a and b)',
  'a and b',
  'a or b',
  'a and false',
  'a == 1 or true',
  'a == 1 and false',
  '(a == 1 or b == 1) and c',
  'a if b else c',
  "'x' if a else 'x'",
  'a if b',
  '[a, b]',
  '[a, 1] | length',
  '[a, b] | first',
  "{'k': a}.k",
  "{'k': a, 'l': 1}.l",
  '[a, b, 1] | select | list',
  "[a, b] | map('string') | join('-')",
  "a ~ '-' ~ b",
  "'p' + a",
  'a + b',
  'a | list',
  'a < b',
  'a.rc == 0 and b.rc == 0',
  'a.rc | default(1) == 0',
  "a | default({}) | combine({'z': 1})",
  '(a | default([])) + [1]',
  '[a] == [b]',
  '[1, a] == [2, b]',
  "a is version('1.0', '>')",
  "a | regex_replace('a', 'b')",
  'a | upper',
  '(a, b) | join',
  '[a, b] | unique',
  '[[a], b] | flatten',
  "a.x | default('n') ~ c",
  "[a, b] | selectattr('x', 'defined') | list",
  '[a, b] | sort',
  '[a, b] | max',
  'a[0]',
  'a[b]',
  'a.split(b)',
  "a.get('x', b)",
  '[a, b, c] is any',
  '1 in [a, 1]',
  'a is in [1, b]',
  "['a'] | intersect([a, 'a'])",
  'a | to_json',
  'a | type_debug',
]

/** What an abstract value allows a concrete one to be. */
function covers(abstract: Value, concrete: Value): boolean {
  // A concrete failure stops the run; nothing was claimed about what comes after it.
  if (concrete.kind === 'failure') return true
  switch (abstract.kind) {
    case 'unknown':
      // Text that begins with an unknown piece may turn out to read as a list.
      if (abstract.text?.[0] === null && concrete.kind === 'known' && typeof concrete.data !== 'string') return true
      return abstract.text === undefined || textCovers(abstract.text, concrete)
    case 'one-of':
      return abstract.options.some((option: Option) => covers(option.value, concrete))
    case 'known':
      return concrete.kind === 'known' && coversData(abstract, concrete)
    case 'undefined':
      return concrete.kind === 'undefined'
    case 'failure':
      return false
  }
}

function textCovers(text: readonly (string | null)[], concrete: Value): boolean {
  if (concrete.kind !== 'known' || typeof concrete.data !== 'string') return false
  let at = 0
  for (const [index, piece] of text.entries()) {
    if (piece === null) continue
    const found =
      text[index - 1] === null ? concrete.data.indexOf(piece, at) : concrete.data.startsWith(piece, at) ? at : -1
    if (found === -1) return false
    at = found + piece.length
  }
  return true
}

function coversData(abstract: Value & { kind: 'known' }, concrete: Value & { kind: 'known' }): boolean {
  const [left, right] = [abstract.data, concrete.data]
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => covers(item, right[index] as Value))
  }
  if (left instanceof Map && right instanceof Map) {
    return (
      left.size === right.size &&
      [...left].every(([key, item]) => right.has(key) && covers(item, right.get(key) as Value))
    )
  }
  if (
    typeof left === 'object' &&
    left !== null &&
    'items' in left &&
    typeof right === 'object' &&
    right !== null &&
    'items' in right
  ) {
    return coversData(known(left.items as readonly Value[]), known(right.items as readonly Value[]))
  }
  return same(known(left), known(right))
}

type Setting = {
  readonly kind: 'exact' | 'unknown' | 'one-of' | 'inside'
  readonly value: unknown
  readonly other: unknown
}
const setting: fc.Arbitrary<Setting> = fc.record({
  kind: fc.constantFrom('exact' as const, 'unknown' as const, 'one-of' as const, 'inside' as const),
  value: data,
  other: data,
})

function abstractOf(name: string, { kind, value, other }: Setting): Value {
  const exact = environmentOf({ v: value }).variable('v')
  const cause = { says: `${name} is open`, at: here, name }
  switch (kind) {
    case 'exact':
      return exact
    case 'unknown':
      return unknown([cause])
    case 'one-of': {
      const second = environmentOf({ v: other }).variable('v')
      if (same(exact, second) || exact.kind === 'one-of' || second.kind === 'one-of') return exact
      return {
        kind: 'one-of',
        options: [
          { value: exact, because: [cause] },
          { value: second, because: [cause] },
        ],
      }
    }
    case 'inside':
      if (exact.kind !== 'known') return exact
      if (Array.isArray(exact.data)) return known(exact.data.map(() => unknown([cause])))
      return exact.data instanceof Map ? known(new Map([...exact.data].map(([key]) => [key, unknown([cause])]))) : exact
  }
}

/** `~` and printing of an unknown member may see an undefined one, which fails in the run: covered by the failure rule. */
describe('jinja soundness', () => {
  const settings = fc.record({ a: setting, b: setting, c: setting })
  const worlds = (
    chosen: Record<string, Setting>,
  ): { abstract: Record<string, Value>; concrete: Record<string, Value> } => ({
    abstract: Object.fromEntries(Object.entries(chosen).map(([name, one]) => [name, abstractOf(name, one)])),
    concrete: Object.fromEntries(
      Object.entries(chosen).map(([name, one]) => [name, abstractOf(name, { ...one, kind: 'exact' })]),
    ),
  })

  it('of expressions: every concrete choice is covered', () => {
    fc.assert(
      fc.property(fc.constantFrom(...sources), settings, (source, chosen) => {
        const { abstract, concrete } = worlds(chosen)
        const expression = parseExpression(source, here)
        assert.notEqual(expression.kind, 'syntax-problem', source)
        if (expression.kind === 'syntax-problem') return
        const open = evaluate(expression, environmentOf({}, abstract), here)
        const exact = evaluate(expression, environmentOf({}, concrete), here)
        assert.ok(
          covers(open, exact),
          `${source}: ${JSON.stringify(open, shown)} does not cover ${JSON.stringify(exact, shown)}`,
        )
      }),
      { numRuns: 20_000 },
    )
  })

  it('of templates: every concrete choice is covered', () => {
    const shapes = [
      '{{ # }}',
      'x{{ # }}y',
      '{% if # %}yes{% else %}no{% endif %}',
      '{% set q = # %}{{ q }}',
      '{% for i in [#, 1] %}{{ i }},{% endfor %}',
      '{% for i in # %}{{ loop.index }}{{ i }}{% else %}none{% endfor %}',
      '{% set q = [1] %}{% if # %}{% set _ = q.append(2) %}{% endif %}{{ q }}',
      '{% set q = [] %}{% for i in # %}{% set _ = q.append(i) %}{% endfor %}{{ q }}',
      '{% set q = {} %}{% set _ = q.update({"k": #}) %}{{ q }}',
      '{% set ns = namespace(n=0) %}{% for i in [1, 2] if # %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}',
      '{% macro m(x, y=1) %}{{ x }}-{{ y }}{% endmacro %}{{ m(#) }}',
      '{% set q %}a{{ # }}{% endset %}{{ q }}',
      '{% filter upper %}a{{ # }}{% endfilter %}',
      '{% with x = # %}{% if x %}{{ x }}{% elif b %}e{% endif %}{% endwith %}',
      '{% for i in [[1], 2] recursive %}{{ loop(i) if i is not number else # }}{% endfor %}',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...sources), fc.constantFrom(...shapes), settings, (source, shape, chosen) => {
        const { abstract, concrete } = worlds(chosen)
        const text = shape.replace('#', source)
        const open = evaluateTemplate(text, here, environmentOf({}, abstract))
        const exact = evaluateTemplate(text, here, environmentOf({}, concrete))
        assert.ok(
          covers(open, exact),
          `${text}: ${JSON.stringify(open, shown)} does not cover ${JSON.stringify(exact, shown)}`,
        )
      }),
      { numRuns: 20_000 },
    )
  })

  it('of conditions: more knowledge never flips a definite answer', () => {
    fc.assert(
      fc.property(fc.constantFrom(...sources), settings, (source, chosen) => {
        const { abstract, concrete } = worlds(chosen)
        const open = evaluateCondition(source, here, environmentOf({}, abstract))
        const exact = evaluateCondition(source, here, environmentOf({}, concrete))
        if (open.failure !== undefined) assert.notEqual(exact.failure, undefined, source)
        else if (open.truth.kind !== 'unknown' && exact.failure === undefined)
          assert.equal(exact.truth.kind, open.truth.kind, source)
        assert.equal(open.remains === null, open.truth.kind !== 'unknown')
      }),
      { numRuns: 20_000 },
    )
  })

  it('of what remains: with the rest decided it decides the whole', () => {
    fc.assert(
      fc.property(fc.constantFrom(...sources), settings, (source, chosen) => {
        const { abstract, concrete } = worlds(chosen)
        const open = evaluateCondition(source, here, environmentOf({}, abstract))
        const exact = evaluateCondition(source, here, environmentOf({}, concrete))
        if (open.remains === null || open.failure !== undefined || exact.failure !== undefined) return
        const rest = evaluateCondition(open.remains, here, environmentOf({}, concrete))
        assert.equal(rest.truth.kind, exact.truth.kind, `${source} leaves ${open.remains}`)
      }),
      { numRuns: 20_000 },
    )
  })
})

function shown(_key: string, value: unknown): unknown {
  if (value instanceof Map) return { map: [...value] }
  return typeof value === 'bigint' ? `${value}n` : value === here ? undefined : value
}
