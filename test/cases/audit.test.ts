import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnalysisRequest, defaultRequest } from '../../src/analyze.js'
import { auditVersions, openVersion } from '../../src/commands/audit.js'
import type { Change } from '../../src/reports/audit.js'
import { placesText } from '../../src/reports/audit-text.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { describeWithClone } from '../releases/clone.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** What an upgrade did to people; the numbers are those of the project's list of cases. */
interface Case {
  readonly id: string
  readonly says: string
  readonly old: string
  readonly new: string
  /** Variables of all hosts in the inventory. */
  readonly variables?: string
  readonly facts?: object
  readonly request?: Partial<AnalysisRequest>
  /** Kind, name, action, and a piece of the sentence or of its places. */
  readonly changes: readonly (readonly [string, string, string, string])[]
  /** How many are required, where that is what matters. */
  readonly required?: number
  /** Names of which nothing is told. */
  readonly not?: readonly string[]
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/cases/audit.json', import.meta.url), 'utf8'),
)

function changesOf({ old, new: fresh, variables, facts, request }: Case): readonly Change[] {
  return withTemporary(root => {
    writeFiles(root, {
      'facts.json': JSON.stringify(facts ?? {}),
      'hosts.yml': `all:
  hosts: {node1: {}}
  vars: {${variables ?? ''}}
  children:
    kube_control_plane: {hosts: {node1: {}}}
    kube_node: {hosts: {node1: {}}}
    etcd: {hosts: {node1: {}}}
    k8s_cluster: {children: {kube_control_plane: {}, kube_node: {}}}
`,
    })
    const asked: AnalysisRequest = {
      ...defaultRequest,
      ...(facts === undefined ? {} : { facts: join(root, 'facts.json') }),
      ...(variables === undefined ? {} : { inventory: [join(root, 'hosts.yml')] }),
      ...request,
    }
    const [before, now] = [old, fresh].map(revision => openVersion(openRevision(clonePath(), revision), asked))
    assert.ok(before && now)
    return auditVersions(before, now, asked).changes
  })
}

describeWithClone('what an upgrade did to people', () => {
  for (const each of cases) {
    it(`${each.id}: ${each.says}`, () => {
      const changes = changesOf(each)
      for (const [kind, name, action, piece] of each.changes) {
        const found = changes.find(change => change.kind === kind && change.name === name)
        assert.ok(found, `no ${kind} of ${name}`)
        assert.equal(found.action, action)
        assert.ok(`${found.says} ${placesText(found)}`.includes(piece), found.says)
        const isSet = new RegExp(`(?:^|, )${name}:`).test(each.variables ?? '')
        if (isSet && kind !== 'variable-added') assert.equal(found.inventory.length, 1)
      }
      if (each.required !== undefined) {
        assert.equal(changes.filter(({ action }) => action === 'required').length, each.required)
      }
      for (const name of each.not ?? []) assert.ok(!changes.some(change => change.name === name), name)
    })
  }
})
