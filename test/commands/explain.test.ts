import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTemporary, writeFiles } from '../source/trees.js'
import { runWhofixes } from './run-whofixes.js'
import { smallTree } from './small-tree.js'

function run(args: readonly string[]): { status: number; out: string; err: string } {
  const { status, out, err } = runWhofixes(args)
  return { status, out, err: err.join('\n') }
}

describe('explain', () => {
  it('answers for every key of the answer, in every format', () =>
    withTemporary(tree => {
      writeFiles(tree, smallTree)
      const keys = Object.keys(JSON.parse(run(['answer', tree]).out))
      for (const key of [...keys, 'sysctl_file_path']) {
        for (const format of ['text', 'json', 'markdown']) {
          const { status, out, err } = run(['explain', key, tree, '--format', format])
          assert.equal(status, 0, `${key} ${format}: ${err}`)
          assert.ok(out.length > 40, `${key} ${format}`)
          if (format === 'json') JSON.parse(out)
        }
      }
    }))

  it('shows the lines that decide, and where each name gets its value', () =>
    withTemporary(tree => {
      writeFiles(tree, smallTree)
      const { out } = run(['explain', 'br_netfilter', tree, '--format', 'json'])
      const { problem } = JSON.parse(out)
      const [evidence] = problem.now.evidence
      assert.equal(evidence.excerpt.lines[0], '- name: Load the module for bridges')
      assert.equal(evidence.excerpt.lines.at(-1), '  when: bridge_module.rc == 0')
      assert.equal(evidence.excerpt.more, 0)
      const file = readFileSync(join(tree, evidence.file), 'utf8').split('\n')
      for (const [index, line] of evidence.excerpt.lines.entries())
        assert.equal(file[evidence.excerpt.first - 1 + index], line)
      const [{ names }] = evidence.conditions
      const from = [{ origin: 'registered vars', file: 'roles/kubernetes/node/tasks/main.yml', line: 2 }]
      assert.deepEqual(names[0].from, from)

      const swap = run(['explain', 'swap', tree, '-e', 'kubelet_fail_swap_on=yes']).out
      assert.match(swap, / dns_late = false {2}role defaults, roles\/kubernetes\/preinstall\/defaults\/main\.yml:2\n/)
      assert.match(swap, / kubelet_fail_swap_on = "yes" {2}extra vars, /)
      assert.match(swap, /\n +\d+ \| - name: Turn swap off\n/)
    }))

  it('says which definitions an extra variable overrides', () =>
    withTemporary(tree => {
      writeFiles(tree, smallTree)
      const { out } = run([
        'explain',
        'sysctl_file',
        tree,
        '-e',
        'sysctl_file_path=/etc/sysctl.d/90-k8s.conf',
        '--format',
        'json',
      ])
      const { variable } = JSON.parse(out)
      assert.equal(variable.value, '/etc/sysctl.d/90-k8s.conf')
      assert.equal(variable.origin, 'extra vars')
      assert.ok(variable.overridden.length > 0)
      for (const { origin, value } of variable.overridden) {
        assert.equal(origin, 'role defaults')
        assert.equal(value, '/etc/sysctl.d/99-sysctl.conf')
      }
    }))

  it('ends with 3 where the value is not known', () =>
    withTemporary(tree => {
      writeFiles(tree, smallTree)
      const { status, out } = run([
        'explain',
        'sysctl_file',
        tree,
        '-e',
        '{"sysctl_file_path": "{{ ansible_facts.x }}"}',
      ])
      assert.equal(status, 3)
      assert.match(out, /not known/)
    }))
})

describe('--output', () => {
  it('follows a link, and keeps the mode of what was there', () =>
    withTemporary(directory => {
      const file = join(directory, 'file')
      const link = join(directory, 'link')
      writeFileSync(file, 'before\n', { mode: 0o600 })
      symlinkSync('file', link)
      assert.equal(run(['rules', '-o', link]).status, 0)
      assert.ok(lstatSync(link).isSymbolicLink())
      assert.match(readFileSync(file, 'utf8'), /^swap/)
      assert.equal(statSync(file).mode & 0o777, 0o600)
    }))

  it('writes into a pipe instead of replacing it', () =>
    withTemporary(directory => {
      const pipe = join(directory, 'pipe')
      execFileSync('mkfifo', [pipe])
      const read = execFileSync('sh', ['-c', `cat '${pipe}' & node dist/src/cli.js rules -o '${pipe}'; wait`], {
        encoding: 'utf8',
      })
      assert.match(read, /^swap/)
      assert.ok(lstatSync(pipe).isFIFO())
    }))
})
