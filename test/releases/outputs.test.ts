import assert from 'node:assert/strict'
import { clonePath } from '../../src/source/clone.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { parseOutput } from '../schemas/valid.js'
import { describeWithClone } from './clone.js'

/** One of the first releases, one between, the newest and the branch: each has other shapes of role code. */
const revisions = ['v2.10.0', 'v2.22.0', 'v2.31.0', 'master']

/** What is asked of each, and the member that must not be empty. */
const asked: readonly (readonly [words: string, member: string])[] = [
  ['report SOURCE --format json', 'problems'],
  ['explain swap SOURCE --format json', 'problem'],
  ['explain port_10250 SOURCE --format json', 'problem'],
  ['explain sysctl_file SOURCE --format json', 'variable'],
  ['vars SOURCE --format json', 'roles'],
  ['vars SOURCE sysctl_file_path kube_version --format json', 'definitions'],
  ['tasks SOURCE --format json', 'tasks'],
  ['effects SOURCE --format json', 'effects'],
]

/** And once, since they read several releases or run one several times. */
const askedOnce: readonly (readonly [words: string, member: string])[] = [
  ['effects CLONE@v2.31.0 --residue --format json', 'left'],
  ['report CLONE@v2.31.0 --matrix playbook --format json', 'problems'],
  ['audit CLONE@v2.22.0 CLONE@v2.23.0 --all --format json', 'changes'],
  ['audit CLONE@v2.30.0 CLONE@master --all --format json', 'changes'],
  ['history br_netfilter CLONE --format json', 'changes'],
  ['history swap CLONE --since v2.31.0 --fresh --format json', 'changes'],
]

describeWithClone('JSON outputs of real releases follow their schemas', () => {
  const ask = (words: string, member: string): void => {
    const { out, err } = runWhofixes(words.split(' ').map(word => word.replace('CLONE', clonePath())))
    assert.notEqual(out, '', err.join('\n'))
    assert.ok(Object.keys(parseOutput(out)[member]).length > 0, member)
  }
  for (const revision of revisions) {
    for (const [words, member] of asked) {
      it(words.replace('SOURCE', revision), () => ask(words.replace('SOURCE', `CLONE@${revision}`), member))
    }
  }
  for (const [words, member] of askedOnce) it(words, () => ask(words, member))
})
