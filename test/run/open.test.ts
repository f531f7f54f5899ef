import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { openDirectory } from '../../src/source/directory.js'
import { placeOf } from '../../src/source/text.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** A small tree in which something is left open, and what must not be taken for certain. */
interface Row {
  readonly name: string
  /** Text by path; a `hosts.ini` with host h in group g stands there unless it is given. */
  readonly files: Readonly<Record<string, string>>
  readonly host?: string
  /** A file of the tree. */
  readonly facts?: string
  /** Whether tasks run, by name; `unknown because of FILE:LINE` names the condition that leaves it open. */
  readonly runs?: Readonly<Record<string, string>>
  /** A part of what a task's `excluded` says, or null where nothing excludes it. */
  readonly excluded?: Readonly<Record<string, string | null>>
  /** What the first invocation's `msg` is: a known text, or `?`. */
  readonly says?: Readonly<Record<string, string>>
  readonly inPlay?: readonly string[]
  /** A part of each gap, in order. */
  readonly gaps?: readonly string[]
  readonly verdicts?: Readonly<Record<string, string>>
  /** A place that the verdict on swap leaves unresolved. */
  readonly unresolved?: string
}

const rows = parse(readFileSync(new URL('../../../test/run/open.yml', import.meta.url), 'utf8')) as readonly Row[]

describe('what a run leaves open', () => {
  for (const row of rows) {
    it(row.name, () => withTemporary(directory => check(row, directory)))
  }
})

function check(row: Row, directory: string): void {
  writeFiles(directory, { 'hosts.ini': '[g]\nh\n', ...row.files })
  const { run, verdicts } = analyze(openDirectory(directory), {
    ...defaultRequest,
    playbook: 'site.yml',
    inventory: [join(directory, 'hosts.ini')],
    host: row.host ?? 'h',
    ...(row.facts === undefined ? {} : { facts: join(directory, row.facts) }),
  })
  const taskNamed = (name: string) => {
    const task = run.tasks.find(each => each.name === name)
    assert.ok(task, `no task ${name}`)
    return task
  }
  for (const [name, expected] of Object.entries(row.runs ?? {})) {
    const { runs, conditions } = taskNamed(name)
    const [kind, place] = expected.split(' because of ')
    assert.equal(runs.kind, kind, name)
    if (place === undefined) continue
    const places = conditions.filter(({ truth }) => truth.kind === 'unknown').map(({ at }) => placeOf(at))
    assert.ok(places.includes(place), `${name}: ${places.join(', ')}`)
  }
  for (const [name, expected] of Object.entries(row.excluded ?? {})) {
    const { excluded } = taskNamed(name)
    if (expected === null) assert.equal(excluded, undefined, name)
    else assert.ok(excluded?.includes(expected), `${name}: ${excluded}`)
  }
  for (const [name, expected] of Object.entries(row.says ?? {})) {
    const msg = taskNamed(name).invocations[0]?.arguments.get('msg')
    assert.equal(msg?.kind === 'known' ? msg.data : '?', expected, name)
  }
  if (row.inPlay)
    assert.deepEqual(
      run.plays.map(({ inPlay }) => inPlay.kind),
      row.inPlay,
    )
  if (row.gaps) {
    const says = run.gaps.map(gap => gap.says)
    assert.equal(says.length, row.gaps.length, says.join('\n'))
    for (const [index, part] of row.gaps.entries()) assert.ok(says[index]?.includes(part), says[index])
  }
  for (const [id, fixedBy] of Object.entries(row.verdicts ?? {})) {
    assert.equal(verdicts.find(({ problem }) => problem.id === id)?.fixedBy, fixedBy, id)
  }
  if (row.unresolved) {
    const unresolved = verdicts.find(({ problem }) => problem.id === 'swap')?.searched.unresolved ?? []
    const places = unresolved.map(({ at }) => placeOf(at))
    assert.ok(places.includes(row.unresolved), places.join(', '))
  }
}
