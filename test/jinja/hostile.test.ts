import assert from 'node:assert/strict'
import { evaluate } from '../../src/jinja/evaluate.js'
import { namesIn } from '../../src/jinja/names.js'
import { parseExpression, parseTemplate } from '../../src/jinja/parser.js'
import { evaluateTemplate, renderTemplateFile } from '../../src/jinja/template.js'
import { environmentOf, here } from './environment-of.js'

const world = environmentOf({ s: `${'a'.repeat(40)}!`, d: { a: 1 } })

function quickly(work: () => void): void {
  const start = performance.now()
  work()
  assert.ok(performance.now() - start < 3000, 'took too long')
}

describe('jinja with hostile input', () => {
  const deep: readonly (readonly [string, string])[] = [
    ['brackets', `${'('.repeat(5000)}1${')'.repeat(5000)}`],
    ['lists', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ['not', `${'not '.repeat(5000)}true`],
    ['signs', `${'- '.repeat(5000)}1`],
    ['a long sum', Array.from({ length: 20_000 }, () => '1').join(' + ')],
    ['a long path', `d${'.a'.repeat(20_000)}`],
    ['many filters', `s${' | upper'.repeat(20_000)}`],
    ['nested conditions', `${'1 if true else '.repeat(5000)}2`],
  ]
  for (const [what, text] of deep) {
    it(`refuses ${what} that nest too deeply`, () =>
      quickly(() => assert.equal(parseExpression(text, here).kind, 'syntax-problem')))
  }
  it('refuses blocks that nest too deeply', () =>
    quickly(() => assert.equal(parseTemplate('{% if true %}'.repeat(5000), here).kind, 'syntax-problem')))
  it('evaluates what it parses at the limit', () =>
    quickly(() => {
      const text = `${'('.repeat(200)}${Array.from({ length: 300 }, () => '1').join(' + ')}${')'.repeat(200)}`
      const expression = parseExpression(text, here)
      if (expression.kind === 'syntax-problem') return
      assert.equal(evaluate(expression, world, here).kind, 'known')
      assert.deepEqual(namesIn(expression), [])
    }))

  const costly: readonly (readonly [string, string])[] = [
    ['a huge power', '{{ 9 ** (9 ** 9) }}'],
    ['a huge text', "{{ 'a' * 10 ** 12 }}"],
    ['a huge list', '{{ [1] * 10 ** 9 }}'],
    ['a huge range', '{{ range(10 ** 12) | list }}'],
    ['a huge product', '{{ range(5000) | product(range(5000)) | list }}'],
    ['a catastrophic pattern', "{{ s is match('(a+)+$') }}"],
    ['another one', "{{ s is match('(a|aa)+$') }}"],
    [
      'loops in loops',
      '{% for a in range(5000) %}{% for b in range(5000) %}{% set x = a * b %}{% endfor %}{% endfor %}',
    ],
    ['a macro that calls itself', '{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}'],
    ['a wide format', "{{ '%999999999999d' | format(1) }}"],
    ['doubling', `{% set x = 'ab' %}${'{% set x = x + x %}'.repeat(60)}{{ x | length }}`],
  ]
  for (const [what, text] of costly) {
    it(`gives up on ${what}`, () => quickly(() => assert.equal(evaluateTemplate(text, here, world).kind, 'unknown')))
  }
  it('reads a large template quickly', () =>
    quickly(() => {
      const value = renderTemplateFile('line {{ d.a }}\n'.repeat(50_000), here, world)
      assert.equal(value.kind, 'known')
    }))
  it('reads a large literal quickly', () =>
    quickly(() => {
      const value = evaluateTemplate(`[${'1, '.repeat(100_000)}{{ 1 }}]`, here, world)
      assert.equal(value.kind, 'known')
    }))
  it('never throws on broken text', () => {
    const pieces = [
      '{{',
      '}}',
      '{%',
      '%}',
      '{#',
      '#}',
      "'",
      '"',
      '\\',
      'if',
      'for',
      'x',
      'in',
      '|',
      '.',
      '(',
      ')',
      '[',
      ']',
      '-',
      ' ',
    ]
    let seed = 7
    for (let round = 0; round < 20_000; round++) {
      let text = ''
      for (let part = 0; part < 12; part++) {
        seed = (seed * 1103515245 + 12345) % 2147483648
        text += pieces[(seed >> 8) % pieces.length]
      }
      evaluateTemplate(text, here, world)
      parseExpression(text, here)
    }
  })
})
