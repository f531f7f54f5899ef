import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { evaluateTemplate } from '../../src/jinja/template.js'
import { type Plain, valueFrom } from '../effects/build.js'
import { environmentOf, here } from './environment-of.js'

interface Row {
  readonly says: string
  readonly text: string
  readonly values: Readonly<Record<string, Plain>>
  /** The known pieces of what becomes one open value, null where an open piece stands; null where nothing is known. */
  readonly pieces: readonly (string | null)[] | null
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../../../test/jinja/open-texts.json', import.meta.url), 'utf8'),
)

describe('jinja texts with several alternatives', () => {
  for (const { says, text, values, pieces } of rows) {
    it(says, () => {
      const known = Object.fromEntries(Object.entries(values).map(([name, plain]) => [name, valueFrom(plain)]))
      const value = evaluateTemplate(text, here, environmentOf({}, known))
      assert.equal(value.kind, 'unknown')
      assert.deepEqual(value.kind === 'unknown' ? (value.text ?? null) : value, pieces)
    })
  }
})
