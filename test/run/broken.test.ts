import assert from 'node:assert/strict'
import { join } from 'node:path'
import fc from 'fast-check'
import { openDirectory } from '../../src/source/directory.js'
import type { SourceTree } from '../../src/source/tree.js'
import { type Tree, themes } from '../conformance/trees.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'
import { type Measured, measure } from '../stress/measure.js'

const inventory = 'localhost\n[g]\nlocalhost\n'

function measureTree(files: Files, playbook = 'site.yml'): Measured {
  return withTemporary(root => {
    writeFiles(root, { 'hosts.ini': inventory, ...files })
    return measure(openDirectory(root), playbook, join(root, 'hosts.ini'))
  })
}

describe('variables that hold all variables hold themselves', () => {
  const everything = [
    'vars',
    'hostvars',
    'hostvars[inventory_hostname]',
    'ansible_facts',
    '[vars, hostvars]',
    '{"a": vars}',
  ]
  const uses = [
    'debug: {msg: "{{ x | to_json }}"}',
    'debug: {msg: "{{ x }} and {{ y | string }}"}',
    'debug: {msg: a}\n  when: x == y',
    'debug: {msg: a}\n  loop: "{{ x | dict2items }}"',
    'set_fact: {z: "{{ x | combine(y) }}"}',
    'copy: {dest: /a, content: "{{ x }}"}',
    'debug: {msg: "{{ x | unique | sort }} {{ x in y }}"}',
  ]
  for (const x of everything) {
    for (const [number, use] of uses.entries()) {
      it(`${x}, use ${number}`, () => {
        const { thrown, milliseconds } = measureTree({
          'site.yml': '- hosts: all\n  roles: [r]\n',
          'host_vars/localhost.yml': 'h: "{{ hostvars }}"\ni: "{{ vars }}"\n',
          'roles/r/defaults/main.yml': `x: "{{ ${x} }}"\ny: "{{ x }}"\n`,
          'roles/r/tasks/main.yml': `- ${use}\n`,
        })
        assert.equal(thrown, undefined)
        assert.ok(milliseconds < 8000)
      })
    }
  }
})

describe('a damaged file', () => {
  const trees: readonly Tree[] = themes.flatMap(theme => theme.trees)
  const pieces = [
    '{{',
    '}}',
    ': ',
    '- ',
    '{',
    '[',
    '"',
    "'",
    '\t',
    '&a ',
    '*a ',
    '|\n',
    '\0',
    'loop: "{{ q }}"\n',
    '<<: ',
    '{% if x %}',
  ]
  /** Where, of the text's length; and what happens there. */
  const damage = fc.record({
    tree: fc.nat(trees.length - 1),
    file: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    how: fc.constantFrom('cut', 'end', 'repeat', 'insert'),
    piece: fc.constantFrom(...pieces),
  })

  it('costs what rests on it, never the answer', () => {
    withTemporary(root => {
      writeFiles(root, { 'hosts.ini': inventory })
      const base = openDirectory(root)
      fc.assert(
        fc.property(damage, ({ tree: number, file, at, length, how, piece }) => {
          const tree = trees[number]
          if (tree === undefined) return
          const paths = Object.keys(tree.files)
          const damaged = paths[Math.floor(file * paths.length)] ?? ''
          const text = tree.files[damaged] ?? ''
          const start = Math.floor(at * text.length)
          const texts = {
            cut: text.slice(0, start) + text.slice(start + length),
            end: text.slice(0, start),
            repeat: text.slice(0, start + length) + text.slice(start),
            insert: text.slice(0, start) + piece + text.slice(start),
          }
          const files = new Map([...Object.entries(tree.files), [damaged, texts[how]] as const])
          const { thrown, unread } = measure(treeOf(base, files), tree.playbook ?? 'site.yml', join(root, 'hosts.ini'))
          assert.equal(thrown, undefined)
          for (const each of unread) assert.notEqual(each.place, '', each.says)
        }),
        { numRuns: 100 },
      )
    })
  })
})

/** Files in memory, as a tree. */
function treeOf({ origin }: SourceTree, files: ReadonlyMap<string, string>): SourceTree {
  const read = new Map([...files].map(([path, text]) => [path, { path, text }]))
  const below = (directory: string): readonly string[] =>
    [...files.keys()].flatMap(path => {
      if (directory === '') return path.split('/')[0] ?? []
      return path.startsWith(`${directory}/`) ? (path.slice(directory.length + 1).split('/')[0] ?? []) : []
    })
  return {
    origin,
    read: path => read.get(path),
    list: directory => [...new Set(below(directory))].sort(),
    entryKind: path => (read.has(path) ? 'file' : path === '' || below(path).length > 0 ? 'directory' : undefined),
    diagnostics: () => [],
  }
}
