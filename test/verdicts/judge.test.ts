import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { problemById } from '../../rules/index.js'
import { effectsOfRun, NO_ROLE_TEXT } from '../../src/effects/run-effects.js'
import { judge, type Verdict, whatWouldDecide } from '../../src/verdicts/judge.js'
import { runOf, type TaskData } from '../effects/build.js'

interface Row {
  readonly name: string
  readonly problem: string
  readonly tasks: readonly TaskData[]
  readonly gaps?: readonly string[]
  readonly fixedBy: string
  readonly now: string
  readonly afterReboot: string
  readonly condition?: string | null
  /** The condition of both times together. */
  readonly whole?: string | null
  readonly afterRebootCondition?: string | null
  readonly nowEvidence?: readonly number[]
  readonly afterRebootEvidence?: readonly number[]
  /** Task order and the start of why. */
  readonly near?: readonly (readonly [number, string])[]
  readonly unresolved?: readonly (readonly [string, boolean])[]
  readonly notes?: readonly string[]
  readonly decides?: readonly string[]
}

const rows = JSON.parse(
  readFileSync(new URL('../../../test/verdicts/judge.json', import.meta.url), 'utf8'),
) as readonly Row[]

describe('verdicts', () => {
  for (const row of rows) {
    it(`${row.problem}: ${row.name}`, () => {
      const problem = problemById(row.problem)
      assert.ok(problem)
      const verdict = judge(problem, effectsOfRun(runOf(row.tasks, row.gaps), NO_ROLE_TEXT))
      check(row, verdict)
    })
  }
})

function check(row: Row, verdict: Verdict): void {
  // Both times of every row: one that is wrong must not hide behind the other.
  assert.deepEqual(
    { fixedBy: verdict.fixedBy, now: verdict.now.fixedBy, afterReboot: verdict.afterReboot.fixedBy },
    { fixedBy: row.fixedBy, now: row.now, afterReboot: row.afterReboot },
  )
  if (row.condition !== undefined) assert.equal(verdict.now.condition, row.condition)
  if (row.whole !== undefined) assert.equal(verdict.condition, row.whole)
  if (row.afterRebootCondition !== undefined) assert.equal(verdict.afterReboot.condition, row.afterRebootCondition)
  const orders = (evidence: Verdict['nearMisses']): readonly number[] => evidence.map(each => each.task.order)
  if (row.nowEvidence) assert.deepEqual(orders(verdict.now.evidence), row.nowEvidence)
  if (row.afterRebootEvidence) assert.deepEqual(orders(verdict.afterReboot.evidence), row.afterRebootEvidence)
  if (row.near) {
    assert.deepEqual(
      orders(verdict.nearMisses),
      row.near.map(([order]) => order),
    )
    for (const [index, [, why]] of row.near.entries())
      assert.ok(verdict.nearMisses[index]?.why?.includes(why), verdict.nearMisses[index]?.why)
  }
  if (row.unresolved) {
    assert.deepEqual(
      verdict.searched.unresolved.map(each => [each.says, each.couldChange]),
      row.unresolved,
    )
  }
  if (row.notes) {
    assert.equal(verdict.notes.length, row.notes.length)
    for (const [index, says] of row.notes.entries())
      assert.ok(verdict.notes[index]?.says.includes(says), verdict.notes[index]?.says)
  }
  if (row.decides) {
    const lines = whatWouldDecide(verdict)
    assert.equal(lines.length, row.decides.length)
    for (const [index, says] of row.decides.entries()) assert.ok(lines[index]?.includes(says), lines[index])
  }
}
