import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { evaluateCondition } from '../../src/jinja/condition.js'
import { isFullyKnown, toJson, typeName } from '../../src/jinja/python.js'
import { evaluateTemplate } from '../../src/jinja/template.js'
import type { Value } from '../../src/jinja/value.js'
import { environmentOf, here } from './environment-of.js'

interface Row {
  readonly n: number
  readonly expr?: string
  readonly template?: string
  readonly when?: unknown
  readonly vars?: Record<string, unknown>
  readonly expected?: unknown
  readonly type?: string
  readonly error?: 'error' | 'undefined'
  readonly compareAs?: string
  /** What we answer instead, and why; `expected` is what Ansible answers. */
  readonly ours?: unknown
  readonly why?: string
  /** What we answer instead because the real answer depends on more than the expression: a word of the cause. */
  readonly unknown?: string
}

function rowsOf(name: string): readonly Row[] {
  return JSON.parse(readFileSync(new URL(`../../../test/jinja/${name}.json`, import.meta.url), 'utf8'))
}

function sortedJson(value: unknown): unknown {
  return Array.isArray(value) ? value.map(item => JSON.stringify(item)).sort() : value
}

function check(value: Value, row: Row): void {
  if (row.unknown !== undefined) {
    assert.equal(value.kind, 'unknown')
    assert.match(value.kind === 'unknown' ? value.causes.map(cause => cause.says).join() : '', new RegExp(row.unknown))
  } else if (row.error !== undefined) {
    assert.equal(value.kind, 'failure', `got ${JSON.stringify(toJson(value))}`)
    if (value.kind === 'failure') assert.equal(value.undefined, row.error === 'undefined', value.says)
  } else {
    assert.equal(
      value.kind,
      'known',
      JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? String(part) : part)),
    )
    if (value.kind !== 'known') return
    assert.ok(isFullyKnown(value))
    const found = toJson(value)
    if (row.ours !== undefined) {
      assert.deepEqual(found, row.ours)
      return
    }
    if (row.compareAs === 'set') assert.deepEqual(sortedJson(found), sortedJson(row.expected))
    else assert.deepEqual(found, row.expected)
    if (row.type !== undefined) assert.equal(typeName(value.data), row.type)
  }
}

describe('jinja rows: expressions', () => {
  for (const row of rowsOf('expressions')) {
    it(`${row.n} ${row.expr}`, () => {
      check(evaluateTemplate(`{{ ${row.expr} }}`, here, environmentOf(row.vars ?? {})), row)
    })
  }
})

describe('jinja rows: strings', () => {
  for (const row of rowsOf('strings')) {
    it(`${row.n} ${row.template}`, () => {
      check(evaluateTemplate(row.template ?? '', here, environmentOf(row.vars ?? {})), row)
    })
  }
})

describe('jinja rows: conditions', () => {
  for (const row of rowsOf('conditions')) {
    if (typeof row.when !== 'string') continue
    it(`${row.n} ${row.when}`, () => {
      const condition = evaluateCondition(row.when as string, here, environmentOf(row.vars ?? {}))
      if (row.error !== undefined) assert.equal(condition.failure?.undefined, row.error === 'undefined')
      else assert.equal(condition.truth.kind, String(row.expected))
    })
  }
})
