import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { floatText } from '../../src/jinja/python.js'
import { evaluateTemplate } from '../../src/jinja/template.js'
import type { Data, Value } from '../../src/jinja/value.js'
import { environmentOf, here } from './environment-of.js'

interface Case {
  readonly template: string
  readonly vars: Record<string, unknown>
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`../../../test/jinja/${name}`, import.meta.url))
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(fileOf(name), 'utf8')) as T
}

function casesToAsk(): readonly Case[] {
  const own = readJson<{ vars: Record<string, unknown>; templates: readonly string[] }>('conformance.json')
  // What we answer otherwise, a row says with its reason.
  const expressions = readJson<readonly { expr: string; vars?: Record<string, unknown>; ours?: unknown }[]>(
    'expressions.json',
  ).filter(({ ours }) => ours === undefined)
  const strings = readJson<readonly { template: string; vars?: Record<string, unknown> }[]>('strings.json')
  return [
    ...own.templates.map(template => ({ template, vars: own.vars })),
    ...expressions.map(row => ({ template: `{{ ${row.expr} }}`, vars: row.vars ?? {} })),
    ...strings.map(row => ({ template: row.template, vars: row.vars ?? {} })),
  ]
}

type Answer = { readonly value: unknown } | { readonly error: 'error' | 'undefined'; readonly says: string }

/** Ansible's answers, or null where it is not installed. */
function askAnsible(cases: readonly Case[]): readonly Answer[] | null {
  const python = process.env.ANSIBLE_PYTHON ?? '/usr/bin/python3'
  const present = spawnSync(python, ['-c', 'import ansible'])
  if (present.status !== 0) return null
  const run = spawnSync(python, [fileOf('templar.py')], {
    input: cases.map(one => JSON.stringify(one)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 64_000_000,
    env: { ...process.env, ANSIBLE_LOCALHOST_WARNING: '0', PYTHONHASHSEED: '0' },
  })
  assert.equal(run.status, 0, run.stderr)
  return run.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Answer)
}

function tagged(data: Data): unknown {
  if (typeof data === 'bigint') return { int: String(data) }
  if (typeof data === 'number') return { float: floatText(data) }
  if (typeof data !== 'object' || data === null) return data
  const inner = (value: Value): unknown => (value.kind === 'known' ? tagged(value.data) : { open: value.kind })
  if (Array.isArray(data)) return data.map(inner)
  if (data instanceof Map) return { dict: [...data].map(([key, value]) => [tagged(key), inner(value)]) }
  return 'items' in data ? { tuple: (data.items as readonly Value[]).map(inner) } : { other: 'function' }
}

/** Filters whose order is left open by Ansible, compared without it. */
const withoutOrder = /\b(?:intersect|difference|symmetric_difference|union)\b/

function comparable(value: unknown, template: string): unknown {
  return withoutOrder.test(template) && Array.isArray(value) ? value.map(item => JSON.stringify(item)).sort() : value
}

describe('jinja conformance with ansible-core', () => {
  const cases = casesToAsk()
  const answers = askAnsible(cases)
  if (answers === null) {
    it('ansible-core is installed', function () {
      assert.equal(process.env.CI, undefined, 'ansible-core has to be installed in CI')
      console.log('skipped: ansible-core is not installed')
      this.skip()
    })
    return
  }
  it('asks for every case', () => assert.equal(answers.length, cases.length))
  cases.forEach(({ template, vars }, index) => {
    it(template, () => {
      const answer = answers[index] as Answer
      const value = evaluateTemplate(template, here, environmentOf(vars))
      // Not modelled is allowed to be unknown, never to be wrong; how often is counted below.
      if (value.kind === 'unknown') return
      if ('error' in answer) {
        assert.equal(value.kind, 'failure', `Ansible fails: ${answer.says}`)
        if (value.kind === 'failure') assert.equal(value.undefined, answer.error === 'undefined', answer.says)
        return
      }
      if (value.kind !== 'known') assert.fail(value.kind === 'failure' ? value.says : value.kind)
      assert.deepEqual(comparable(tagged(value.data), template), comparable(answer.value, template))
    })
  })
  it('answers nearly all of them', () => {
    const open = cases.filter(one => evaluateTemplate(one.template, here, environmentOf(one.vars)).kind === 'unknown')
    assert.ok(open.length < cases.length / 25, open.map(one => one.template).join('\n'))
  })
})
