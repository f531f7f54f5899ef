import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type PartialAddress, parseAddress } from '../../src/addresses/address.js'
import type { AddressedTask } from '../../src/addresses/addressed.js'
import { type Found, findTask } from '../../src/citations/follow/find-task.js'
import { findTaskAcross } from '../../src/citations/follow/task-across.js'
import type { Version } from '../../src/citations/follow/version.js'
import { placeOf } from '../../src/source/text.js'
import { writtenTree } from '../audit/written.js'
import type { Files } from '../source/trees.js'
import { withVersions } from './versions.js'

interface Row {
  readonly it: string
  readonly old: Files
  readonly new: Files
  /** As a person writes it; the content is taken from the task of OLD, but for `bare`. */
  readonly address: string
  readonly bare?: true
  /** OLD itself is at hand. */
  readonly across?: true
  readonly is: unknown
}

const rows = JSON.parse(
  readFileSync(new URL('../../../test/citations/follow-tasks.json', import.meta.url), 'utf8'),
) as Row[]

function addressIn(old: Version, text: string, isBare: boolean): PartialAddress {
  const asked = parseAddress(text)
  assert.ok(asked)
  if (isBare) return asked
  const found = findTask(old.addresses, asked)
  assert.equal(found.state, 'same', `${text} of OLD`)
  return found.state === 'same' ? found.task.address : asked
}

const place = ({ task }: AddressedTask): string => placeOf(task.at)

function shown(found: Found): unknown {
  if (found.state === 'ambiguous') return { state: found.state, among: found.among.map(place) }
  if (found.state !== 'gone') return { state: found.state, at: place(found.task), how: found.how }
  if (found.nearest === undefined) return { state: found.state }
  return { state: found.state, nearest: place(found.nearest.task), why: found.nearest.why }
}

describe('finding tasks', () => {
  for (const row of rows) {
    it(row.it, () => {
      withVersions({ 'roles/.keep': '', ...row.old }, row.new, (old, now) => {
        const address = addressIn(old, row.address, row.bare === true)
        const found = row.across ? findTaskAcross(old, now, address) : findTask(now.addresses, address)
        assert.deepEqual(shown(found), row.is)
      })
    })
  }

  it('finds every task of a version in the version itself, with and without the content', () => {
    fc.assert(
      fc.property(writtenTree, files => {
        withVersions(files, files, (old, now) => {
          for (const { task, address } of old.addresses.all()) {
            const { content, ...withoutContent } = address
            assert.match(content, /^[0-9a-f]{7}$/)
            for (const found of [
              findTask(now.addresses, address),
              findTask(now.addresses, withoutContent),
              findTaskAcross(old, now, address),
            ]) {
              assert.equal(found.state, 'same')
              assert.equal(found.state === 'same' && placeOf(found.task.task.at), placeOf(task.at))
              assert.equal(found.state === 'same' && found.task.task.at.start, task.at.start)
            }
          }
        })
      }),
      { numRuns: 15 },
    )
  })

  it('calls the same only what has the same content', () => {
    fc.assert(
      fc.property(writtenTree, writtenTree, (files, others) => {
        withVersions(files, others, (old, now) => {
          for (const { address } of old.addresses.all()) {
            for (const found of [findTask(now.addresses, address), findTaskAcross(old, now, address)]) {
              assert.notEqual(found.state, 'ambiguous')
              if (found.state === 'same') assert.equal(found.task.address.content, address.content)
              if (found.state === 'changed') assert.notEqual(found.task.address.content, address.content)
            }
          }
        })
      }),
      { numRuns: 25 },
    )
  })
})
