import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runWhofixes } from '../commands/run-whofixes.js'
import { smallTree } from '../commands/small-tree.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { blocksOf } from './examples.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe('docs/json.md', () => {
  const page = readFileSync(join(root, 'docs/json.md'), 'utf8')
  const script = blocksOf(page).find(({ language }) => language === 'js')?.text ?? ''

  /** Runs the page's script inside the package, where its own name leads to it, on a report that `change` may damage. */
  const run = (change: (report: string) => string) =>
    withTemporary(directory => {
      const file = join(directory, 'report.json')
      writeFiles(join(directory, 'tree'), smallTree)
      const { out } = runWhofixes(['report', join(directory, 'tree'), '--format', 'json'])
      writeFileSync(file, change(out))
      return spawnSync(process.execPath, ['--input-type=module'], {
        cwd: root,
        encoding: 'utf8',
        input: script.replace("'report.json'", () => JSON.stringify(file)),
      })
    })

  it('has a script that checks a report', () => {
    assert.ok(script.includes("'report.json'"))
    const { status, stdout, stderr } = run(report => report)
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^swap kubespray\nbr_netfilter kubespray\n/)
  })

  it('has one that finds a fault', () => {
    const { status, stderr } = run(report => report.replace('"fixedBy": "kubespray"', '"fixedBy": "somebody"'))
    assert.equal(status, 1)
    assert.match(stderr, /"instancePath": "\/problems\/0\/fixedBy"/)
  })
})
