import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { evaluateCondition } from '../../src/jinja/condition.js'
import { toJson } from '../../src/jinja/python.js'
import type { Value } from '../../src/jinja/value.js'
import { known, unknown } from '../../src/jinja/value.js'
import { environmentOf, here } from './environment-of.js'

interface Case {
  readonly says: string
  readonly when: string
  readonly vars?: Record<string, unknown>
  /** Names that are not known before the run. */
  readonly open?: readonly string[]
  readonly truth: 'true' | 'false' | 'unknown'
  readonly remains?: string
  readonly names?: readonly string[]
  readonly causes?: readonly string[]
  readonly fails?: 'error' | 'undefined'
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/jinja/open-conditions.json', import.meta.url), 'utf8'),
)

describe('jinja conditions with unknowns', () => {
  for (const one of cases) {
    it(`${one.says}: ${one.when}`, () => {
      const open = Object.fromEntries(
        (one.open ?? []).map(name => [name, unknown([{ says: `${name} comes from the host`, at: here, name }])]),
      )
      const condition = evaluateCondition(one.when, here, environmentOf(one.vars ?? {}, open))
      assert.equal(condition.truth.kind, one.truth)
      assert.equal(condition.remains, one.remains ?? null)
      if (one.names !== undefined)
        assert.deepEqual(
          condition.names.map(look => look.name),
          one.names,
        )
      if (one.causes !== undefined) {
        const causes = condition.truth.kind === 'unknown' ? condition.truth.causes : []
        assert.deepEqual(
          causes.map(cause => cause.name ?? cause.says),
          one.causes,
        )
      }
      const failed = condition.failure === undefined ? undefined : condition.failure.undefined ? 'undefined' : 'error'
      assert.equal(failed, one.fails)
    })
  }

  it('tells the value of each name', () => {
    const { names } = evaluateCondition(
      "mode == 'ipvs' and facts['os'] | lower == 'x'",
      here,
      environmentOf({ mode: 'ipvs', facts: { os: 'X' } }),
    )
    assert.deepEqual(
      names.map(({ name, value }) => [name, toJson(value)]),
      [
        ['mode', 'ipvs'],
        ["facts['os']", 'X'],
      ],
    )
  })

  it('keeps alternatives of one variable together', () => {
    const cause = { says: 'set by a task that may run', at: here }
    const choice: Value = {
      kind: 'one-of',
      options: [
        { value: known('/a'), because: [cause] },
        { value: known('/b'), because: [cause] },
      ],
    }
    const world = environmentOf({}, { path: choice })
    assert.equal(evaluateCondition('path == path', here, world).truth.kind, 'true')
    assert.equal(evaluateCondition("path in ['/a', '/b']", here, world).truth.kind, 'true')
    assert.equal(evaluateCondition("path == '/a' and path == '/b'", here, world).truth.kind, 'false')
    assert.equal(evaluateCondition("path == '/a'", here, world).truth.kind, 'unknown')
  })
})
