import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type Answer, answerOf, askAnsible, type Case, differenceOf, fileOf } from './judge.js'

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(fileOf(name), 'utf8')) as T
}

function casesToAsk(): readonly Case[] {
  const own = readJson<{ vars: Record<string, unknown>; templates: readonly string[] }>('conformance.json')
  // What we answer otherwise, a row says with its reason.
  const expressions = readJson<readonly { expr: string; vars?: Record<string, unknown>; ours?: unknown }[]>(
    'expressions.json',
  ).filter(({ ours }) => ours === undefined)
  const strings = readJson<readonly { template: string; vars?: Record<string, unknown> }[]>('strings.json')
  return [
    ...own.templates.map(template => ({ template, vars: own.vars })),
    ...expressions.map(row => ({ template: `{{ ${row.expr} }}`, vars: row.vars ?? {} })),
    ...strings.map(row => ({ template: row.template, vars: row.vars ?? {} })),
  ]
}

describe('jinja conformance with ansible-core', () => {
  const cases = casesToAsk()
  const answers = askAnsible(cases)
  if (answers === null) {
    it('ansible-core is installed', function () {
      assert.equal(process.env.CI, undefined, 'ansible-core has to be installed in CI')
      console.log('skipped: ansible-core is not installed')
      this.skip()
    })
    return
  }
  it('asks for every case', () => assert.equal(answers.length, cases.length))
  cases.forEach(({ template, vars }, index) => {
    it(template, () => {
      assert.equal(differenceOf(answerOf({ template, vars }), answers[index] as Answer, template), undefined)
    })
  })
  it('answers nearly all of them', () => {
    const open = cases.filter(one => answerOf(one).kind === 'unknown')
    assert.ok(open.length < cases.length / 25, open.map(one => one.template).join('\n'))
  })
})
