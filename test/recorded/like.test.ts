import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type RecordedRelease, SNAPSHOT_SCHEMA, tables } from '../../src/recorded/format.js'
import { differenceFrom, hashOf, putTogether } from '../../src/recorded/like.js'
import { parseRecorded } from '../../src/recorded/snapshot.js'
import { UsageError } from '../../src/source/diagnostic.js'

const names = fc.constantFrom('a', 'b', 'roles/x/defaults/main.yml', 'toString')
const mapOf = <T>(value: fc.Arbitrary<T>) => fc.dictionary(names, value, { maxKeys: 4 })
const lists = fc.array(fc.nat(3), { maxLength: 3 })
const text = fc.string({ maxLength: 3 })
const role = fc.record({ view: fc.nat(2), defaults: lists, vars: lists, differs: mapOf(fc.nat(2)) })

/** Of every kind of member something; what stands in them does not matter here. */
const releases: fc.Arbitrary<RecordedRelease> = fc.record({
  schema: fc.constant(SNAPSHOT_SCHEMA),
  release: fc.constantFrom('v9.1.0', 'v9.1.1'),
  commit: text,
  playbook: fc.constant('cluster.yml'),
  host: fc.constant('node1'),
  ansible: fc.constant([null, null, null, null, true] as const),
  files: fc.array(text),
  texts: fc.array(text),
  steps: fc.constant([]),
  searched: fc.tuple(fc.nat(3), fc.nat(3)),
  problems: fc.constant({}),
  variables: fc.constant({}),
  definitions: mapOf(mapOf(fc.oneof(fc.nat(2), text, fc.constant(null)))),
  withoutValue: mapOf(fc.array(text)),
  common: fc.record({ defaults: lists, vars: lists }),
  views: fc.array(fc.record({ defaults: lists, vars: lists })),
  values: fc.array(fc.jsonValue({ maxDepth: 1 })) as fc.Arbitrary<RecordedRelease['values']>,
  roles: mapOf(role),
  inOrder: fc.array(names),
  tasks: mapOf(text),
  reads: mapOf(text),
  considered: fc.constant([]),
  unknowns: fc.constant([]),
})

/** As a file holds it. */
const written = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** The release with tables that begin with those of the base, as recording makes them. */
function after(base: RecordedRelease, release: RecordedRelease): RecordedRelease {
  const longer = tables.map(table => [table, [...base[table], ...release[table]]] as const)
  return { ...release, ...Object.fromEntries(longer) }
}

describe('a snapshot that says what differs', () => {
  it('put together with the release it is like is the whole', () => {
    fc.assert(
      fc.property(releases, releases, (first, second) => {
        const base = written(first)
        const whole = written(after(base, second))
        const file = JSON.stringify(differenceFrom(base, whole))
        assert.deepEqual(
          parseRecorded(file, 'v9.1.1', () => base),
          whole,
        )
      }),
    )
  })

  it('says nothing but its name of a release that is the same', () => {
    fc.assert(
      fc.property(releases, first => {
        const base = written(first)
        const difference = differenceFrom(base, base)
        assert.deepEqual(Object.keys(difference), ['schema', 'release', 'like'])
        assert.deepEqual(putTogether(base, difference), base)
      }),
    )
  })

  it('is refused where the other release is missing, or was recorded anew', () => {
    const [base] = fc.sample(releases, { numRuns: 1, seed: 1 })
    assert.ok(base)
    const file = JSON.stringify(differenceFrom(base, { ...base, release: 'v9.1.1' }))
    const other = { ...base, commit: `${base.commit}0` }
    assert.notEqual(hashOf(base), hashOf(other))
    const refusal = (says: RegExp) => (error: unknown) => error instanceof UsageError && says.test(error.message)
    assert.throws(() => parseRecorded(file, 'v9.1.1', () => undefined), refusal(/not recorded/))
    assert.throws(
      () => parseRecorded(file, 'v9.1.1', () => other),
      refusal(/recorded anew since; record v9\.1\.1 again/),
    )
  })
})
