import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clonePath } from '../../src/source/clone.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { describeWithClone } from '../releases/clone.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** What checks of real releases come to; the numbers are those of the project's list of cases. */
interface Case {
  readonly id: string
  readonly says: string
  readonly revision: string
  readonly facts?: Readonly<Record<string, unknown>>
  readonly extraVars?: readonly string[]
  /** The host's name in an inventory of its own. */
  readonly host?: string
  /** By the name of the task, where it first stands: its outcome, and `because …` where that is told exactly. */
  readonly checks: Readonly<Record<string, string>>
  /** Files in which some check stops the run. */
  readonly stopsIn?: readonly string[]
}

interface Check {
  readonly task: string
  readonly file: string
  readonly outcome: string
  readonly because: string
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/cases/checks.json', import.meta.url), 'utf8'),
)

function inventoryOf(host: string): string {
  return `[kube_control_plane]\n${host}\n[etcd]\n${host}\n[kube_node]\n${host}\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n`
}

describeWithClone('checks of real releases', () => {
  for (const { id, says, revision, facts, extraVars = [], host, checks, stopsIn = [] } of cases) {
    it(`${id} ${says} (${revision})`, () =>
      withTemporary(root => {
        const named = Object.entries(facts ?? {}).map(([name, value]) => [`ansible_${name}`, value])
        writeFiles(root, {
          facts: JSON.stringify({ ansible_facts: Object.fromEntries(named), changed: false }),
          hosts: inventoryOf(host ?? 'node1'),
        })
        const { status, out, err } = runWhofixes([
          'checks',
          `${clonePath()}@${revision}`,
          ...['--format', 'json', '--quiet'],
          ...(facts === undefined ? [] : ['--facts', join(root, 'facts')]),
          ...(host === undefined ? [] : ['-i', join(root, 'hosts')]),
          ...extraVars.flatMap(text => ['-e', text]),
        ])
        // What only commands on the host tell is always open.
        assert.equal(status, 3, err.join('\n'))
        const found: readonly Check[] = JSON.parse(out).checks
        const told = Object.entries(checks).map(([name, expected]) => {
          const check = found.find(({ task }) => task === name)
          const said = `${check?.outcome ?? 'not there'} because ${check?.because ?? ''}`
          return [name, expected.includes(' because ') ? said : said.split(' because ')[0]]
        })
        assert.deepEqual(Object.fromEntries(told), checks)
        for (const file of stopsIn) assert.ok(found.some(each => each.outcome === 'stops' && each.file === file))
      }))
  }
})
