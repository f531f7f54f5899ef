import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../docs/examples.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'
import { runWhofixes } from './run-whofixes.js'

const page = readFileSync(new URL('../../../docs/own-problems.md', import.meta.url), 'utf8')
const example = blocksOf(page).find(({ language }) => language === 'ts')?.text ?? ''
const whole = `{
  id: 'own', title: 'Something', asks: 'Who?', requirement: { says: 'We want it.', source: 'https://example.org' },
  now: [], afterReboot: [], powers: [], byHand: [],
}`

function ask(files: Files, ...words: readonly string[]): { status: number; out: string; err: string } {
  return withTemporary(path => {
    writeFiles(path, files)
    const { status, out, err } = runWhofixes(words.map(word => word.replace('ROOT', path)))
    return { status, out, err: err.join('\n').replaceAll(path, 'ROOT') }
  })
}

const withRule = (rule: string): string => `export default { ...${whole}, now: [${rule}] }`

const play = (task: string): Files => ({ 'tree/cluster.yml': `- hosts: all\n  tasks:\n    - ${task}\n` })

/** Swap off, and on again by another device: something to match, and something after it. */
const OFF: Files = play('command: swapoff -a\n    - command: swapon /dev/sdb')

describe('problems of your own', () => {
  it('are judged like those of the catalogue: the example of the documentation', () => {
    const files = { ...play('systemd: {name: auditd, state: started, enabled: true}'), 'problems/auditd.ts': example }
    const asked = ['explain', 'auditd', join('ROOT', 'tree'), '--rules', join('ROOT', 'problems')]
    const { status, out, err } = ask(files, ...asked)
    assert.equal(err, '')
    assert.equal(status, 0)
    assert.match(out, /auditd: The audit daemon does not run/)
    assert.match(out, /unit auditd\.service: started, enabled/)
  })

  for (const [name, text] of [
    ['own.mjs', `export default ${whole}`],
    ['own.cjs', `module.exports = ${whole}`],
    ['own.ts', `const all: readonly unknown[] = [${whole}]\nexport default all`],
  ] as const) {
    it(`are read from ${name}`, () => {
      const { status, out, err } = ask(
        { ...play('debug:'), [`own/${name}`]: text, 'own/notes.md': 'x', 'own/own.test.ts': '!' },
        ...['report', 'ROOT/tree', '--rules', 'ROOT/own', '--format', 'json'],
      )
      assert.equal(err, '')
      assert.equal(status, 0)
      assert.ok(JSON.parse(out).problems.some(({ id }: { readonly id: string }) => id === 'own'))
    })
  }

  const wrong: readonly (readonly [name: string, files: Files, says: RegExp])[] = [
    ['no directory', {}, /^whofixes: --rules ROOT\/own: not a directory; expected one of problem files/],
    ['nothing in it', { 'own/notes.md': 'x' }, /--rules ROOT\/own: no problem file/],
    ['broken syntax', { 'own/a.ts': 'export default {' }, /ROOT\/own\/a\.ts: cannot be loaded: /],
    ['no problem', { 'own/a.js': 'export default 7' }, /a\.js: default export: expected a problem, .* got 7$/],
    [
      'a field missing',
      { 'own/a.js': `export default { ...${whole}, title: undefined }` },
      /a\.js: title: expected a text, got nothing$/,
    ],
    [
      'a bad id',
      { 'own/a.js': `export default { ...${whole}, id: 'Not So' }` },
      /a\.js: id: expected lower-case letters/,
    ],
    [
      'a bad power',
      { 'own/a.js': `export default { ...${whole}, powers: ['magic'] }` },
      /powers: expected a list of stops-units.*got \["magic"\]$/,
    ],
    [
      'a bad source',
      { 'own/a.js': `export default { ...${whole}, requirement: { says: 'x' } }` },
      /requirement\.source: expected a text/,
    ],
    [
      'a bad rule',
      { 'own/a.js': `export default { ...${whole}, now: [{ says: 'x' }] }` },
      /now\[0\]\.matches: expected a function, got nothing/,
    ],
    [
      'a rule that answers yes',
      { ...OFF, 'own/a.js': withRule("{ says: 'x', matches: effect => effect.kind === 'swap' }") },
      /a\.js: own: now\[0\]\.matches: expected a match: settles, .* got false$/,
    ],
    [
      'a rule that throws',
      { ...OFF, 'own/a.js': withRule("{ says: 'x', matches: effect => effect.nothing.here }") },
      /a\.js: own: now\[0\]\.matches fails: Cannot read properties of undefined/,
    ],
    [
      'a match that is near for no reason',
      { ...OFF, 'own/a.js': withRule("{ says: 'x', matches: () => ({ kind: 'near' }) }") },
      /now\[0\]\.matches: expected a match: .* got \{"kind":"near"\}$/,
    ],
    [
      'what is taken back by no truth',
      { ...OFF, 'own/a.js': withRule("{ says: 'x', matches: () => ({ kind: 'settles' }), undoneBy: () => true }") },
      /now\[0\]\.undoneBy: expected TRUE, FALSE or unknown with causes, got true$/,
    ],
    [
      'notes that are no list',
      { ...OFF, 'own/a.js': `export default { ...${whole}, notes: () => 'so' }` },
      /a\.js: own: notes: expected a list of notes with says and about, got "so"$/,
    ],
    [
      'a claim without words',
      {
        'own/a.js': `export default { ...${whole}, claims: [{ says: 'x', claims: { kind: 'fixed-by', who: 'operator' } }] }`,
      },
      /claims\[0\]\.words: expected a list of texts, or of lists of texts, got nothing$/,
    ],
    [
      'a claim of nobody',
      {
        'own/a.js': `export default { ...${whole}, claims: [{ says: 'x', words: ['y'], claims: { kind: 'fixed-by' } }] }`,
      },
      /claims\[0\]\.claims: expected fixed-by with who, .* got \{"kind":"fixed-by"\}$/,
    ],
    [
      'an id of the catalogue',
      { 'own/a.js': `export default { ...${whole}, id: 'swap' }` },
      /a\.js: id: 'swap' is taken by the catalogue/,
    ],
    [
      'an id twice',
      { 'own/a.js': `export default [${whole}, ${whole}]` },
      /a\.js: id: 'own' is taken by ROOT\/own\/a\.js/,
    ],
  ]
  for (const [name, files, says] of wrong) {
    it(`refuses ${name} in one line with file and field`, () => {
      const { status, err } = ask({ ...play('debug:'), ...files }, 'report', 'ROOT/tree', '--rules', 'ROOT/own')
      assert.equal(status, 2)
      assert.match(err, says)
      assert.equal(err.split('\n').length, 1)
    })
  }
})
