import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { analyzeRun, defaultRequest } from '../../src/analyze.js'
import { coreOfPackage, knownCores, knownPackages } from '../../src/ansible/packages.js'
import { compareVersions } from '../../src/ansible/versions.js'
import { openDirectory } from '../../src/source/directory.js'
import { placeOf } from '../../src/source/text.js'
import { withTemporary, writeFiles } from '../source/trees.js'

interface Case {
  readonly says: string
  readonly asserts?: readonly string[]
  readonly vars?: object
  readonly ansible?: string
  readonly version?: string
  readonly rules: string
  readonly from?: string
  readonly accepted?: boolean
  readonly [file: `requirements${string}.txt`]: string
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/run/ansible-version.json', import.meta.url), 'utf8'),
)

describe('the Ansible a tree is for', () => {
  for (const each of cases) {
    it(each.says, () => {
      const { asserts = [], vars = {}, ansible, version, rules, from, accepted = true } = each
      const tasks = asserts.map(that => ({ block: [{ assert: { that: [that] } }] }))
      const files = Object.entries(each).filter(([name]) => name.startsWith('requirements'))
      withTemporary(root => {
        writeFiles(root, {
          ...Object.fromEntries(files),
          'cluster.yml': JSON.stringify([{ import_playbook: 'checks.yml' }, { hosts: 'all', tasks: [] }]),
          'checks.yml': JSON.stringify([{ hosts: 'localhost', vars, tasks }]),
        })
        const { run } = analyzeRun(openDirectory(root), { ...defaultRequest, ...(ansible && { ansible }) })
        const found = run.ansible
        assert.deepEqual(
          [found.version, found.rules.name, found.requirement && placeOf(found.requirement.at), found.accepted],
          [version, rules, from, accepted],
        )
        assert.equal(found.window === undefined, asserts.length === 0)
      })
    })
  }

  it('has its releases in order, each with a core', () => {
    for (const list of [knownPackages, knownCores]) assert.deepEqual([...list].sort(compareVersions), list)
    for (const version of knownPackages) assert.match(coreOfPackage(version) ?? '', /^2\.\d+\.\d+$/)
    assert.equal(coreOfPackage('2.9.27'), '2.9.27')
    assert.equal(coreOfPackage('99.1.0'), undefined)
  })

  it('orders versions as people do', () => {
    const inOrder = ['2.9', '2.10.0', '2.18.0b1', '2.18.0rc1', '2.18.0', '2.18.0.post1', '2.18.1', '2.18.10']
    assert.deepEqual(inOrder.toReversed().sort(compareVersions), inOrder)
    assert.equal(compareVersions('2.18', '2.18.0'), 0)
  })
})
