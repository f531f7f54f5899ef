import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { whyNoPort } from '../../rules/any_port.js'
import { problemById, problems } from '../../rules/index.js'
import { portProblem } from '../../rules/port.js'
import { MODULES } from '../../src/effects/modules/table.js'
import { effectsOfRun, NO_ROLE_TEXT } from '../../src/effects/run-effects.js'
import { judge } from '../../src/verdicts/judge.js'
import { runOf } from '../effects/build.js'

const root = new URL('../../../', import.meta.url)
const page = (id: string): string => readFileSync(new URL(`rules/${id}.md`, root), 'utf8')

describe('problems', () => {
  it('have ids of their own', () => {
    const ids = problems.map(problem => problem.id)
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) assert.equal(problemById(id)?.id, id)
    assert.equal(problemById('nothing'), undefined)
  })

  for (const problem of problems) {
    it(`${problem.id} has its page under the same title`, () => {
      assert.ok(page(problem.id).startsWith(`# ${problem.id}: ${problem.title}\n`))
      assert.ok(page(problem.id).includes(problem.requirement.source))
      for (const heading of ['The requirement', 'What counts', 'What kubespray does', 'Check and clear by hand']) {
        assert.ok(page(problem.id).includes(`## ${heading}\n`), heading)
      }
    })

    it(`${problem.id} is the operator's where nothing is done`, () => {
      const verdict = judge(problem, effectsOfRun(runOf([{ module: 'ansible.builtin.debug' }]), NO_ROLE_TEXT))
      assert.equal(verdict.fixedBy, 'operator')
      assert.deepEqual(verdict.nearMisses, [])
    })

    it(`${problem.id} is unknown where anything could be done`, () => {
      const verdict = judge(problem, effectsOfRun(runOf([{ module: 'acme.tools.magic' }]), NO_ROLE_TEXT))
      assert.equal(verdict.fixedBy, 'unknown')
    })
  }

  it('are there for any port a name gives, and for no other', () => {
    for (const id of ['port_1', 'port_8081', 'port_65535']) assert.equal(problemById(id)?.id, id)
    assert.equal(
      problemById('port_10250'),
      problems.find(({ id }) => id === 'port_10250'),
    )
    for (const id of ['port_0', 'port_65536', 'port_99999', 'port_x', 'port_', 'port_080', 'port_80x', 'port_8.1']) {
      assert.equal(problemById(id), undefined, id)
      assert.match(whyNoPort(id) ?? '', /port_N with N from 1 to 65535/, id)
    }
    assert.equal(whyNoPort('swap'), undefined)
    assert.equal(whyNoPort('port_80'), undefined)
  })

  it('can be made for any port', () => {
    const problem = portProblem({
      port: 2399,
      owner: 'etcd',
      ownerUnit: 'etcd.service',
      says: 'etcd listens there',
      source: 'https://etcd.io',
    })
    const run = runOf([
      { module: 'ansible.builtin.service', args: { name: 'etcd', state: 'stopped' } },
      { module: 'ansible.builtin.shell', raw: 'fuser -k 2399/tcp' },
    ])
    const verdict = judge(problem, effectsOfRun(run, NO_ROLE_TEXT))
    assert.equal(verdict.now.fixedBy, 'kubespray')
    assert.match(verdict.nearMisses[0]?.why ?? '', /that very unit \(etcd\)/)
  })
})

describe('the effects reference', () => {
  const reference = readFileSync(new URL('docs/effects.md', root), 'utf8')
  const source = readFileSync(new URL('src/effects/effect.ts', root), 'utf8')

  it('has every kind of the union and no other', () => {
    const kinds = [...source.matchAll(/readonly kind: '([^']+)'/g)].map(match => match[1])
    const documented = [...reference.matchAll(/^\| `([^`]+)` \|/gm)].map(match => match[1])
    assert.deepEqual(documented.toSorted(), kinds.toSorted())
  })

  it('points at the tables that are there', () => {
    for (const path of reference.matchAll(/`(src\/[^`]+)`/g))
      assert.ok(existsSync(new URL(path[1] ?? '', root)), path[1])
    assert.ok(MODULES.size > 100)
  })
})
