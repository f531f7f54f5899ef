import assert from 'node:assert/strict'
import { randomFrom, readGrammar, textOf, variablesFrom } from './generate.js'
import { answerOf, askAnsible, type Case, differenceOf } from './judge.js'

// More of them, and others: GENERATED=20000 SEED=7 npx mocha --no-config dist/test/jinja/generated.test.js
const count = Number(process.env.GENERATED ?? 600)
const seed = Number(process.env.SEED ?? 3)

/** Cases of our own grammar: values (which convert) and template files (which stay text). */
export function casesFrom(amount: number, from: number): readonly Case[] {
  const grammar = readGrammar('grammar.json')
  const random = randomFrom(from)
  return Array.from({ length: amount }, (_, index): Case => {
    const vars = variablesFrom(random)
    const depth = 2 + Math.floor(random() * 4)
    return index % 3 === 0
      ? { template: textOf(grammar, 'file', depth + 2, random), vars, file: true }
      : { template: textOf(grammar, 'value', depth, random), vars }
  })
}

describe('generated templates as Ansible itself renders them', function () {
  this.timeout(600_000)

  it(`${count} of seed ${seed}`, function () {
    const cases = casesFrom(count, seed)
    const answers = askAnsible(cases)
    if (answers === null) {
      assert.equal(process.env.CI, undefined, 'ansible-core has to be installed in CI')
      console.log('    skipped: ansible-core is not installed')
      this.skip()
    }
    const differences = cases.flatMap((one, index) => {
      const answer = answers[index]
      const difference = answer === undefined ? 'no answer' : differenceOf(answerOf(one), answer, one.template)
      return difference === undefined ? [] : [`${JSON.stringify(one)}: ${difference}`]
    })
    assert.deepEqual(differences, [])
    assert.equal(answers.length, cases.length)
    // Enough of them have to say something: neither fail in Ansible, nor are unknown here.
    const telling = cases.filter((one, index) => 'value' in (answers[index] ?? {}) && answerOf(one).kind === 'known')
    assert.ok(telling.length > count / 4, `${telling.length} of ${count}`)
  })
})
