import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { groupChanges } from '../../src/audit/groups.js'
import { matchSides } from '../../src/audit/matching/matching.js'
import { indexRoles } from '../../src/audit/role-index.js'
import type { Side } from '../../src/audit/side.js'
import type { Change } from '../../src/reports/audit.js'
import { placeText } from '../../src/reports/place.js'
import { openDirectory } from '../../src/source/directory.js'
import { withTemporary, writeFiles } from '../source/trees.js'

type Files = Readonly<Record<string, string>>

/** What is told of a change; what a row leaves out is not looked at. */
interface Told {
  readonly kind: string
  readonly name: string
  readonly to?: string
  readonly action: string
  readonly says?: string
  readonly inventory?: readonly string[]
  readonly evidence?: readonly (readonly string[])[]
  /** The old and the new place. */
  readonly places?: readonly string[]
}

const rows: readonly {
  readonly name: string
  readonly old: Files
  readonly new: Files
  readonly inventory: Files
  readonly changes: readonly Told[]
}[] = JSON.parse(readFileSync(new URL('../../../test/audit/groups.json', import.meta.url), 'utf8'))

function sideOf(directory: string, files: Files, inventory: readonly string[]): Side {
  writeFiles(directory, files)
  const analysis = analyze(openDirectory(directory), { ...defaultRequest, inventory })
  return { analysis, index: indexRoles(analysis.code) }
}

function toldOf(change: Change, root: string, asked: Told | undefined): Told {
  const { kind, name, to, action } = change
  const told = {
    says: change.says,
    inventory: change.inventory.map(place => placeText(place).replace(`${root}/`, '')),
    evidence: change.evidence?.map(each => [placeText(each.old), placeText(each.new)]),
    places: [change.old, change.new].flatMap(place => (place === null ? [] : [placeText(place)])),
  }
  const wanted = Object.entries(told).filter(([key]) => asked === undefined || key in asked)
  return { kind, name, ...(to === undefined ? {} : { to }), action, ...Object.fromEntries(wanted) }
}

describe('groups of an inventory between two versions', () => {
  for (const row of rows) {
    it(row.name, () => {
      withTemporary(root => {
        const own = join(root, 'own')
        writeFiles(own, row.inventory)
        const [file] = Object.keys(row.inventory)
        const inventory = file === undefined ? [] : [join(own, file)]
        const old = sideOf(join(root, 'old'), row.old, inventory)
        const now = sideOf(join(root, 'new'), row.new, inventory)
        const changes = groupChanges(old, now, matchSides(old.index, now.index))
        assert.deepEqual(
          changes.map((change, number) => toldOf(change, own, row.changes[number])),
          row.changes,
        )
      })
    })
  }
})
