import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { auditCode, type Reports } from '../../src/audit/audit.js'
import { indexRoles } from '../../src/audit/role-index.js'
import type { Side } from '../../src/audit/side.js'
import { eachVariableOnce } from '../../src/audit/values.js'
import { reportOfAnalysis } from '../../src/commands/subject.js'
import type { Change } from '../../src/reports/audit.js'
import { openDirectory } from '../../src/source/directory.js'
import { withTemporary, writeFiles } from '../source/trees.js'

interface Row {
  readonly it: string
  /** Files of either version beside the playbook. */
  readonly old: Readonly<Record<string, string>>
  readonly new: Readonly<Record<string, string>>
  /** Variables of all hosts. */
  readonly inventory?: string
  /** Of the command line. */
  readonly extraVars?: readonly string[]
  /** The kinds that are looked at; all of them where absent. */
  readonly kinds?: readonly string[]
  /** Kind, name, action, and the sentence where it is looked at; as ranked. */
  readonly changes: readonly (readonly [string, string, string, string | null])[]
  readonly to?: string
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../../../test/audit/audit.json', import.meta.url), 'utf8'),
)

const playbook = '- hosts: all\n  gather_facts: false\n  roles: [a]\n'

/** Kinds of the effects of tasks: they have tests of their own, and tasks differ wherever a name does. */
const ofTasks = ['effect-added', 'effect-removed', 'condition-changed', 'unit-changed', 'task-moved']

function audited(row: Row): readonly Change[] {
  return withTemporary(root => {
    writeFiles(root, {
      ...Object.fromEntries(
        (['old', 'new'] as const).flatMap(side => [
          [`${side}/cluster.yml`, playbook],
          ...Object.entries(row[side]).map(([path, text]) => [`${side}/${path}`, text] as const),
        ]),
      ),
      'inventory/hosts': '[kube_control_plane]\nnode1\n',
      'inventory/group_vars/all.yml': row.inventory ?? '',
    })
    const extraVars = row.extraVars ?? []
    const inventory = row.inventory === undefined ? [] : [`${root}/inventory/hosts`]
    const read = (side: 'old' | 'new'): readonly [Side, Reports['old']] => {
      const request = { ...defaultRequest, inventory, extraVars, variables: eachVariableOnce() }
      const analysis = analyze(openDirectory(`${root}/${side}`), request)
      return [{ analysis, index: indexRoles(analysis.code) }, reportOfAnalysis(analysis)]
    }
    const [[old, before], [fresh, now]] = [read('old'), read('new')]
    const request = { extraVars, usedTags: [], acceptsAnsible: undefined, wrapper: undefined }
    return auditCode(old, fresh, { old: before, new: now }, request)
  })
}

describe('audit of two versions', () => {
  for (const row of rows) {
    it(row.it, () => {
      const changes = audited(row).filter(({ kind }) =>
        row.kinds === undefined ? !ofTasks.includes(kind) : row.kinds.includes(kind),
      )
      assert.deepEqual(
        changes.map(({ kind, name, action, says }, at) => [
          kind,
          name,
          action,
          row.changes[at]?.[3] === null ? null : says,
        ]),
        row.changes,
      )
      if (row.to !== undefined)
        assert.deepEqual(
          changes.map(({ to }) => to),
          [row.to],
        )
    })
  }

  it('looks at every kind it can tell of names and checks', () => {
    const told = new Set(rows.flatMap(({ changes }) => changes.map(([kind]) => kind)))
    for (const kind of ['check-added', 'variable-renamed', 'variable-unused', 'type-changed', 'version-unavailable'])
      assert.ok(told.has(kind), kind)
  })
})
