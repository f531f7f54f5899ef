import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { analyzeRun, defaultRequest } from '../../../src/analyze.js'
import { answerOf } from '../../../src/host/answers/answers.js'
import type { Moment } from '../../../src/host/moment.js'
import { isFullyKnown, toJson } from '../../../src/jinja/python.js'
import type { Value } from '../../../src/jinja/value.js'
import { openDirectory } from '../../../src/source/directory.js'
import { findAnsible } from '../../conformance/ansible.js'
import { withTemporary, writeFiles } from '../../source/trees.js'
import { evidenceOf, liveFiles, momentIn } from './memory.js'

/** See asked.yml. */
interface Row {
  readonly task: Readonly<Record<string, unknown>>
  readonly gives: readonly string[]
}

const rows: readonly Row[] = parse(
  readFileSync(new URL('../../../../test/host/answers/asked.yml', import.meta.url), 'utf8'),
)

/** The files the rows look at. */
function makeRoot(root: string): void {
  writeFiles(root, {
    file: 'first\n',
    'with blank': 'blank\n\n',
    odd: 'ä\r\n\tß no end',
    empty: '',
    script: '#!/bin/sh\n',
    lines: 'one 1\nsecond=2\nname=  value\na.b\naxb\nthird 3*\n',
    'directory/a.conf': 'a=1\n',
    'directory/.hidden.conf': '',
    'directory/inside/b.conf': 'b\n',
    'directory/inside/c.txt': '',
    'other/a.txt': '',
    'one/alone': '',
    'real/inner': 'inner\n',
    link: { to: 'file' },
    dangling: { to: '/nowhere/at/all' },
    linked: { to: 'real' },
  })
  mkdirSync(join(root, 'directory/empty'))
  chmodSync(join(root, 'script'), 0o755)
}

/** This machine as it is. */
function liveMoment(): Moment {
  const places: readonly never[] = []
  return {
    ...momentIn({ modules: {} }),
    files: liveFiles,
    swap: swapOfMachine(),
    sysctl: key => {
      const path = `/proc/sys/${key.replaceAll('.', '/')}`
      try {
        return { kind: 'known', value: readFileSync(path, 'utf8').replace(/\n$/, ''), places }
      } catch {
        return { kind: 'absent', places }
      }
    },
  }
}

/** What commands print on this machine, as a collector would have it. */
function printedHere(commands: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    commands.flatMap(line => {
      const [program = '', ...words] = line.split(' ')
      const { status, stdout } = spawnSync(program, words, { encoding: 'utf8' })
      return status === 0 ? [[line, stdout] as const] : []
    }),
  )
}

function swapOfMachine(): Moment['swap'] {
  const [, ...lines] = readFileSync('/proc/swaps', 'utf8').trim().split('\n')
  return { kind: 'known', value: lines.map(line => ({ device: line.split(/\s/)[0] ?? '' })), places: [] }
}

/** One play: each task registers `r`, then `show` is done; `last` is done at the end. */
function playbook(root: string, show: object, last: readonly object[]): string {
  const tasks = rows.flatMap(({ task }) => [{ ...task, register: 'r', ignore_errors: true }, show])
  return JSON.stringify([{ hosts: 'h', gather_facts: false, tasks: [...tasks, ...last] }]).replaceAll('ROOT', root)
}

/** What whofixes knows each result to be. */
function ownResults(root: string, tree: string): readonly Value[] {
  const moment = liveMoment()
  const evidence = evidenceOf({ commands: printedHere(['ip route', 'systemctl --version']) })
  writeFiles(tree, { 'own.yml': playbook(root, { debug: { msg: '{{ r }}' } }, []), inventory: 'h\n' })
  const { run } = analyzeRun(openDirectory(tree), {
    ...defaultRequest,
    playbook: 'own.yml',
    inventory: [join(tree, 'inventory')],
    hostView: { answer: (task, invocation) => answerOf(task, invocation, moment, evidence), ran: () => {} },
  })
  const shown = run.tasks.filter(({ task }) => task.module === 'ansible.builtin.debug')
  return shown.map(({ invocations }) => invocations[0]?.arguments.get('msg') ?? assert.fail('a result is shown'))
}

/** What Ansible registers. */
function ansibleResults(root: string, tree: string): readonly unknown[] {
  const show = { set_fact: { shown: '{{ (shown | default([])) + [r] }}' } }
  const last = { copy: { content: '{{ shown | to_json }}', dest: join(tree, 'shown.json') } }
  writeFiles(tree, { 'site.yml': playbook(root, show, [last]), hosts: 'h ansible_connection=local\n' })
  const { status, stdout, stderr } = spawnSync(
    'ansible-playbook',
    ['-i', join(tree, 'hosts'), join(tree, 'site.yml')],
    {
      encoding: 'utf8',
      env: { ...process.env, ANSIBLE_PYTHON_INTERPRETER: 'auto_silent', ANSIBLE_PIPELINING: '1', ANSIBLE_NOCOWS: '1' },
    },
  )
  assert.equal(status, 0, stdout + stderr)
  const shown: unknown = JSON.parse(readFileSync(join(tree, 'shown.json'), 'utf8'))
  assert.ok(Array.isArray(shown) && shown.length === rows.length, 'every result is shown')
  return shown
}

/** What differs between what is known of a value and what it is. */
function differences(own: Value, actual: unknown, path: string): readonly string[] {
  switch (own.kind) {
    case 'unknown':
      return [...(own.fields ?? [])].flatMap(([name, member]) =>
        differences(member, memberOf(actual, name), `${path}.${name}`),
      )
    case 'undefined':
      return actual === undefined ? [] : [`${path} is not there, Ansible has ${JSON.stringify(actual)}`]
    case 'failure':
      return [`${path} fails: ${own.says}`]
    case 'one-of':
      return own.options.some(({ value }) => differences(value, actual, path).length === 0)
        ? []
        : [`${path} is none of what it can be, Ansible has ${JSON.stringify(actual)}`]
    case 'known': {
      const { data } = own
      if (data instanceof Map) {
        if (typeof actual !== 'object' || actual === null)
          return [`${path} is a dict, Ansible has ${JSON.stringify(actual)}`]
        const unlisted = Object.keys(actual).filter(name => !data.has(name))
        return [
          ...unlisted.map(name => `${path}.${name} is not there, Ansible has it`),
          ...[...data].flatMap(([name, member]) =>
            differences(member, memberOf(actual, String(name)), `${path}.${name}`),
          ),
        ]
      }
      if (Array.isArray(data)) {
        const items: readonly Value[] = data
        if (!Array.isArray(actual) || actual.length !== items.length)
          return [`${path} has ${items.length} items, Ansible has ${JSON.stringify(actual)}`]
        return items.flatMap((item, index) => differences(item, actual[index], `${path}.${index}`))
      }
      return isEqual(toJson(own), actual)
        ? []
        : [`${path} is ${JSON.stringify(toJson(own))}, Ansible has ${JSON.stringify(actual)}`]
    }
  }
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** The member at a path like `results.0.stat.exists`. */
function at(value: Value | undefined, path: string): Value | undefined {
  let found = value
  for (const name of path.split('.')) {
    if (found?.kind === 'unknown') found = found.fields?.get(name)
    else if (found?.kind !== 'known') return undefined
    else if (found.data instanceof Map) found = found.data.get(name)
    else found = Array.isArray(found.data) ? (found.data as readonly Value[])[Number(name)] : undefined
  }
  return found
}

describe('answers of a host', () => {
  let own: readonly Value[]
  let actual: readonly unknown[] | undefined

  before(function () {
    this.timeout('10m')
    withTemporary(directory => {
      const root = join(directory, 'root')
      makeRoot(root)
      own = ownResults(root, join(directory, 'tree'))
      if (findAnsible() !== undefined) actual = ansibleResults(root, join(directory, 'tree'))
    })
  })

  for (const [index, { task, gives }] of rows.entries()) {
    const name = stringify(task, { collectionStyle: 'flow', lineWidth: 0 }).trim()
    it(`${name}: knows what it has to`, () => {
      const missing = gives.filter(path => {
        const value = at(own[index], path)
        return value === undefined || !isFullyKnown(value)
      })
      assert.deepEqual(missing, [])
    })
    it(`${name}: as Ansible registers it`, function () {
      if (actual === undefined) {
        assert.ok(!process.env.CI, 'ansible-core is not installed, and CI is where it has to be')
        this.skip()
      }
      assert.deepEqual(differences(own[index] ?? assert.fail('it is answered'), actual[index], 'r'), [])
    })
  }
})
