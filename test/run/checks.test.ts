import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { analyzeRun, defaultRequest } from '../../src/analyze.js'
import { lookingTasks } from '../../src/effects/looking.js'
import { roleTexts } from '../../src/effects/role-text.js'
import { effectsOfRun } from '../../src/effects/run-effects.js'
import { type ChecksReport, reportedChecks } from '../../src/reports/checks.js'
import { questionText } from '../../src/reports/checks-text.js'
import { reportedSource } from '../../src/reports/report.js'
import { openDirectory } from '../../src/source/directory.js'
import { findAnsible } from '../conformance/ansible.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** See checks.yml. */
interface Case {
  readonly name: string
  readonly facts?: Readonly<Record<string, unknown>>
  /** The facts are Ansible's alone. */
  readonly noFacts?: true
  readonly extraVars?: readonly string[]
  readonly assume?: readonly string[]
  readonly tasks: string
  readonly checks: readonly string[]
  readonly messages?: readonly string[]
  readonly items?: Readonly<Record<string, readonly string[]>>
  /** What would decide a check, the first that is told. */
  readonly decidedBy?: Readonly<Record<string, string>>
  readonly ignorable?: readonly string[]
  readonly stops?: string
  /** Ansible is not asked: what is given is not so on this machine. */
  readonly unlike?: true
}

const cases: readonly Case[] = parse(readFileSync(new URL('../../../test/run/checks.yml', import.meta.url), 'utf8'))

/** The tree of a case, with its facts as a fact cache beside it. */
function withCase<T>({ tasks, facts }: Case, use: (root: string) => T): T {
  return withTemporary(root => {
    const named = Object.entries(facts ?? {}).map(([name, value]) => [`ansible_${name}`, value])
    const indented = tasks.replaceAll(/^/gm, '    ')
    writeFiles(root, {
      'tree/site.yml': `- hosts: h\n  gather_facts: false\n  tasks:\n${indented}`,
      'tree/inventory': 'h ansible_connection=local\n',
      'cache/h': JSON.stringify(Object.fromEntries(named)),
    })
    return use(root)
  })
}

function ownChecks({ facts, noFacts, extraVars = [], assume = [] }: Case, root: string): ChecksReport {
  const tree = openDirectory(join(root, 'tree'))
  const { run, addresses, origin, diagnostics } = analyzeRun(tree, {
    ...defaultRequest,
    playbook: 'site.yml',
    inventory: [join(root, 'tree/inventory')],
    host: 'h',
    extraVars,
    assume,
    ...(facts === undefined || noFacts ? {} : { facts: join(root, 'cache') }),
  })
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  )
  const onlyLooks = lookingTasks(effectsOfRun(run, roleTexts(tree)))
  return reportedChecks({ run, source: reportedSource(origin, () => null), addressOf: addresses.of, onlyLooks })
}

/** The task at which Ansible ends the run; undefined where it gets through. */
function stopOfAnsible({ extraVars = [] }: Case, root: string): string | undefined {
  const words = ['-i', 'inventory', ...extraVars.flatMap(text => ['-e', text]), 'site.yml']
  const { status, stdout, stderr } = spawnSync('ansible-playbook', words, {
    cwd: join(root, 'tree'),
    encoding: 'utf8',
    env: {
      ...process.env,
      ANSIBLE_LOAD_CALLBACK_PLUGINS: '1',
      ANSIBLE_STDOUT_CALLBACK: 'json',
      ANSIBLE_CACHE_PLUGIN: 'jsonfile',
      ANSIBLE_CACHE_PLUGIN_CONNECTION: join(root, 'cache'),
    },
  })
  if (status === 0) return undefined
  const start = stdout.indexOf('{')
  assert.ok(start >= 0, stderr)
  const { plays } = JSON.parse(stdout.slice(start))
  return plays.at(-1)?.tasks.at(-1)?.task.name ?? ''
}

describe('checks of a playbook', () => {
  for (const each of cases) {
    it(each.name, () =>
      withCase(each, root => {
        const { checks, totals } = ownChecks(each, root)
        assert.deepEqual(
          checks.map(({ outcome, task, because }) => `${outcome} ${task}: ${because}`),
          each.checks,
        )
        assert.equal(totals.stops, each.checks.filter(line => line.startsWith('stops ')).length)
        if (each.messages)
          assert.deepEqual(
            each.messages,
            checks.flatMap(({ message }) => message ?? []),
          )
        if (each.ignorable)
          assert.deepEqual(
            each.ignorable,
            checks.flatMap(({ ignorable, task }) => (ignorable ? task : [])),
          )
        const named = (name: string) => checks.find(({ task }) => task === name) ?? assert.fail(`${name} is no check`)
        for (const [name, outcomes] of Object.entries(each.items ?? {})) {
          assert.deepEqual(
            named(name).items.map(({ outcome }) => outcome),
            outcomes,
          )
        }
        for (const [name, text] of Object.entries(each.decidedBy ?? {})) {
          assert.equal(named(name).decidedBy.map(questionText)[0], text)
        }
        for (const { outcome, decidedBy } of checks) assert.equal(decidedBy.length > 0, outcome === 'unknown')
      }),
    )
  }

  it('that stop the run say where each value comes from', () => {
    const [each] = cases
    assert.ok(each)
    withCase(each, root => {
      const stop = ownChecks(each, root).checks.find(({ outcome }) => outcome === 'stops')
      assert.ok(stop)
      assert.deepEqual(
        stop.values.map(({ name, value }) => [name, value]),
        [
          ['ansible_facts.memtotal_mb', 1400],
          ['wanted_mb', 1500],
        ],
      )
      assert.deepEqual(
        stop.values.at(-1)?.from.map(({ origin, file, line }) => [origin, file, line]),
        [['task vars', 'site.yml', 5]],
      )
      assert.equal(stop.condition, "ansible_facts['memtotal_mb'] >= wanted_mb")
    })
  })

  describe('ansible-core ends the run where the checks say', () => {
    before(function () {
      if (findAnsible() !== undefined) return
      assert.ok(!process.env.CI, 'ansible-core is not installed, and CI is where it has to be')
      console.log('    skipped: ansible-core is not installed')
      this.skip()
    })
    for (const each of cases.filter(({ unlike }) => !unlike)) {
      it(each.name, function () {
        this.timeout('3m')
        withCase(each, root => {
          const stop = stopOfAnsible(each, root)
          assert.equal(stop, each.stops)
          const { checks } = ownChecks(each, root)
          const first = checks.findIndex(({ outcome }) => outcome === 'stops')
          const reached = first < 0 ? checks : checks.slice(0, first + 1)
          const mayStop = reached.filter(({ outcome }) => outcome === 'unknown' || outcome === 'stops')
          // It ends at a stop, or before it at a check that was not known; without either it gets through.
          assert.ok(stop === undefined ? first < 0 : mayStop.some(({ task }) => task === stop))
        })
      })
    }
  })
})
