import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { renderInventoryPatch } from '../../src/audit/patch.js'
import { readInventoryVars } from '../../src/inventory/group-vars.js'
import { readInventory } from '../../src/inventory/read.js'
import type { Change, ChangeKind } from '../../src/reports/audit.js'
import type { Json } from '../../src/reports/value-text.js'
import { openCode } from '../../src/run/code.js'
import { openDirectory } from '../../src/source/directory.js'
import { withTemporary, writeFiles } from '../source/trees.js'

interface Row {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly inventory: readonly string[]
  readonly changes: readonly {
    readonly kind: ChangeKind
    readonly name: string
    readonly to: string
    readonly old?: Json
    readonly new?: Json
    readonly at: readonly string[]
  }[]
  readonly after: Readonly<Record<string, string>>
  readonly notes: readonly string[]
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../../../test/audit/patch.json', import.meta.url), 'utf8'),
)

/** The programs people apply a diff with. */
const tools: Readonly<Record<string, readonly string[]>> = {
  'git apply': ['git', 'apply', '-'],
  'patch -p1': ['patch', '-p1'],
}

function renderRow(root: string, { inventory: paths, changes }: Row): string {
  const inventory = readInventory(
    paths.map(path => join(root, path)),
    () => {},
  )
  return renderInventoryPatch(
    changes.map((change): Change => {
      const place = (value: Json | undefined) =>
        value === undefined ? null : { file: 'roles/x/defaults/main.yml', line: 1, value }
      return {
        kind: change.kind,
        name: change.name,
        to: change.to,
        action: 'required',
        says: '',
        old: place(change.old),
        new: place(change.new),
        inventory: change.at.map(at => {
          const [, file = '', line = ''] = /^(.*):(\d+)$/.exec(at) ?? []
          return { file: join(root, file), line: Number(line) }
        }),
      }
    }),
    {
      inventory,
      variableFiles: readInventoryVars(inventory, () => {}),
      code: openCode(openDirectory(root), () => {}),
    },
  )
}

function filesBelow(root: string, directory = root): Readonly<Record<string, string>> {
  return Object.assign(
    {},
    ...readdirSync(directory, { withFileTypes: true }).map(entry => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? filesBelow(root, path) : { [relative(root, path)]: readFileSync(path, 'utf8') }
    }),
  )
}

describe('the diff of an inventory', () => {
  for (const row of rows) {
    for (const [tool, [program = '', ...args]] of Object.entries(tools)) {
      it(`${row.name}: ${tool}`, function () {
        withTemporary(root => {
          writeFiles(root, row.files)
          const patch = renderRow(root, row)
          assert.deepEqual(filesBelow(root), row.files, 'it writes nothing')
          const seenFrom = /^# paths are seen from (.*)$/m.exec(patch)?.[1]
          const notes = patch
            .split('\n')
            .filter(line => line.startsWith('# ') && !line.startsWith('# paths are seen from'))
            .map(line => line.slice(2).replaceAll(`${root}/`, ''))
          assert.deepEqual(notes, row.notes)
          const hasChanges = JSON.stringify(row.files) !== JSON.stringify(row.after)
          assert.equal(patch.includes('diff --git'), hasChanges)
          if (!hasChanges) return
          const ran = spawnSync(program, args, { cwd: seenFrom ?? root, input: patch, encoding: 'utf8' })
          if (ran.error !== undefined && 'code' in ran.error && ran.error.code === 'ENOENT') this.skip()
          assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}\n${patch}`)
          assert.deepEqual(filesBelow(root), row.after)
        })
      })
    }
  }

  it('is empty where nothing is renamed', () => {
    withTemporary(root => {
      writeFiles(root, { 'hosts.ini': 'n1\n' })
      assert.equal(
        renderRow(root, { name: '', files: {}, inventory: ['hosts.ini'], changes: [], after: {}, notes: [] }),
        '',
      )
    })
  })
})
