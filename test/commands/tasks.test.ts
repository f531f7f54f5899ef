import assert from 'node:assert/strict'
import { withTemporary, writeFiles } from '../source/trees.js'
import { runWhofixes } from './run-whofixes.js'

/** Playbooks that Ansible refuses, and what is said instead of a list. */
const refused: readonly (readonly [name: string, text: string, says: RegExp])[] = [
  ['an empty file', '', /^whofixes: play\.yml:1: it is empty; expected a playbook/],
  ['a text', 'hello\n', /^whofixes: play\.yml:1: .*a list of plays/],
  ['broken syntax', '- hosts: [a\n', /^whofixes: play\.yml:\d+: .*expected a playbook/],
]

describe('tasks of what is no playbook', () => {
  for (const [name, text, says] of refused) {
    for (const format of ['list', 'text', 'json']) {
      it(`${name}, as ${format}`, () => {
        withTemporary(path => {
          writeFiles(path, { 'play.yml': text })
          const { status, out, err } = runWhofixes(['tasks', path, '--playbook', 'play.yml', '--format', format])
          assert.equal(status, 2)
          assert.equal(out, '')
          assert.equal(err.length, 1)
          assert.match(err[0] ?? '', says)
        })
      })
    }
  }
})
