import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTemporary, writeFiles } from '../source/trees.js'
import { type Ran, runWhofixes } from './run-whofixes.js'
import { smallTree } from './small-tree.js'

function run(path: string, args: readonly string[]): Ran {
  return runWhofixes(['report', path, ...args])
}

/** What a report of the small tree ends with; its firewall is the operator's, its swap kubespray's. */
const cases: readonly { readonly args: readonly string[]; readonly status: number; readonly says?: RegExp }[] = [
  { args: [], status: 0 },
  { args: ['--fail-on', 'operator'], status: 1 },
  { args: ['--fail-on', 'swap,ip_forward'], status: 0 },
  { args: ['--fail-on', 'swap, firewall'], status: 1 },
  { args: ['--fail-on', 'port_8081'], status: 1 },
  { args: ['--fail-on', 'swop'], status: 2, says: /^whofixes: --fail-on: no problem 'swop'; there are swap, / },
  { args: ['--only', 'swop'], status: 2, says: /^whofixes: --only: no problem 'swop'/ },
  { args: ['--only', 'kubespray', '--fail-on', 'operator'], status: 1 },
  { args: ['--only', 'swap', '--fail-on', 'swap'], status: 0 },
  {
    args: ['--matrix', 'playbook', '--format', 'sarif'],
    status: 2,
    says: /^whofixes: --matrix has the formats text and json/,
  },
]

const unknownCases: typeof cases = [
  { args: [], status: 3 },
  { args: ['--fail-on', 'operator'], status: 3 },
  { args: ['--only', 'operator'], status: 3 },
  { args: ['--only', 'hostname'], status: 3 },
]

describe('report, for a pipeline', () => {
  for (const { args, status, says } of cases) {
    it(`ends with ${status}: report ${args.join(' ')}`, () => {
      withTemporary(path => {
        writeFiles(path, smallTree)
        const ended = run(path, args)
        assert.equal(ended.status, status, ended.err.join('\n'))
        if (says !== undefined) assert.match(ended.err[0] ?? '', says)
      })
    })
  }

  it('ends with 3 where an answer that is asked for is unknown, whatever else is asked', () => {
    withTemporary(path => {
      writeFiles(path, {
        ...smallTree,
        'roles/kubernetes/node/tasks/main.yml': '---\n- name: The vendor’s\n  command: /opt/vendor/setup\n',
      })
      for (const { args, status } of unknownCases) assert.equal(run(path, args).status, status, args.join(' '))
    })
  })

  it('shows only what is asked for, in each format', () => {
    withTemporary(path => {
      writeFiles(path, smallTree)
      const only = (what: string, format: string): string => run(path, ['--only', what, '--format', format]).out
      assert.deepEqual(
        JSON.parse(only('swap,port_8081', 'json')).problems.map(({ id }: { id: string }) => id),
        ['swap', 'port_8081'],
      )
      assert.equal(
        JSON.parse(only('operator', 'json')).problems.every((each: { fixedBy: string }) => each.fixedBy === 'operator'),
        true,
      )
      assert.equal(JSON.parse(only('swap', 'sarif')).runs[0].results.length, 1)
      assert.equal(JSON.parse(only('firewall', 'gitlab')).length, 1)
      assert.equal(only('swap', 'junit').split('<testcase ').length - 1, 1)
      assert.equal(only('swap', 'markdown').split('<details>').length - 1 > 0, true)
      assert.match(only('swap', 'html'), /^<!doctype html>/)
    })
  })

  it('writes the same in several formats from one run', () => {
    withTemporary(path => {
      writeFiles(path, smallTree)
      const formats = ['text', 'json', 'markdown', 'html', 'sarif', 'gitlab', 'junit']
      const file = (format: string): string => join(path, `${format}.out`)
      const reports = formats.flatMap(format => ['--report', `${format}=${file(format)}`])
      const { status, out } = run(path, [...reports, '--format', 'gitlab', '--fail-on', 'operator'])
      assert.equal(status, 1)
      assert.equal(out, readFileSync(file('gitlab'), 'utf8'))
      const written = formats.map(format => readFileSync(file(format), 'utf8'))
      assert.deepEqual(
        written,
        formats.map(format => run(path, ['--format', format, '--fail-on', 'operator']).out),
      )
    })
  })

  const wrongReports: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['--report', 'pdf=a'], /^whofixes: --report pdf=a: expected FORMAT=FILE with one of the formats text, json, /],
    [['--report', 'json'], /^whofixes: --report json: expected FORMAT=FILE/],
    [['--report', 'json='], /^whofixes: --report json=: expected FORMAT=FILE/],
    [['--report', 'json=a', '--report', 'text=./a'], /a: two reports would go to this file/],
    [['--report', 'json=a', '-o', 'a'], /a: two reports would go to this file/],
    [['--report', 'json=nowhere/a'], /^whofixes: nowhere\/a: cannot be written \(no such directory\)/],
    [['--matrix', 'os', '--report', 'json=a'], /^whofixes: --matrix and --report exclude each other/],
  ]
  for (const [args, says] of wrongReports) {
    it(`refuses: report ${args.join(' ')}`, () => {
      withTemporary(path => {
        writeFiles(path, smallTree)
        const { status, out, err } = run(path, args)
        assert.deepEqual([status, out], [2, ''])
        assert.match(err[0] ?? '', says)
      })
    })
  }

  it('tells SARIF how it ended', () => {
    withTemporary(path => {
      writeFiles(path, smallTree)
      const { out, status } = run(path, ['--format', 'sarif', '--fail-on', 'operator'])
      assert.equal(status, 1)
      assert.equal(JSON.parse(out).runs[0].invocations[0].exitCode, 1)
    })
  })
})
