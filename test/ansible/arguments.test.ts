import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFreeForm } from '../../src/ansible/arguments.js'
import { fullModuleName } from '../../src/ansible/modules.js'
import { readStatements } from '../../src/ansible/read-tasks.js'
import type { Diagnostic } from '../../src/source/diagnostic.js'
import type { Node } from '../../src/yaml/node.js'
import { readYaml } from '../../src/yaml/read.js'

function cases<T>(name: string): readonly T[] {
  return JSON.parse(readFileSync(new URL(`../../../test/ansible/${name}.json`, import.meta.url), 'utf8'))
}

type Expected = Readonly<Record<string, string>> | { readonly $error: string }

describe('free-form arguments', () => {
  for (const { text, checkRaw, expected } of cases<{ text: string; checkRaw: boolean; expected: Expected }>(
    'freeform-args',
  )) {
    it(`${checkRaw ? 'command' : 'module'}: ${JSON.stringify(text)}`, () => {
      const read = readFreeForm(text, checkRaw)
      if ('$error' in expected) assert.ok('problem' in read)
      else {
        assert.ok(!('problem' in read))
        const found = {
          ...Object.fromEntries(read.options),
          ...(read.raw === undefined ? {} : { _raw_params: read.raw }),
        }
        assert.deepEqual(found, expected)
      }
    })
  }
})

describe('module names', () => {
  for (const { name, expected } of cases<{ name: string; expected: string }>('module-names')) {
    it(`${name} is ${expected}`, () => assert.equal(fullModuleName(name), expected))
  }
})

interface ParsedTask {
  readonly task: Readonly<Record<string, unknown>>
  readonly expected: {
    readonly action: string
    readonly args: Readonly<Record<string, unknown>>
    delegate_to?: string
  } & Expected
}

describe('tasks', () => {
  for (const { task, expected } of cases<ParsedTask>('task-parse')) {
    it(JSON.stringify(task), () => {
      const found: Diagnostic[] = []
      // JSON is YAML: the same reader as for role code.
      const [node] = readYaml({ path: 'tasks.yml', text: JSON.stringify([task]) }, () => {})
      const [statement] = readStatements(node, diagnostic => found.push(diagnostic))
      if ('$error' in expected) {
        assert.equal(statement?.kind, 'unreadable')
        assert.equal(found.length, 1)
        return
      }
      assert.ok(statement?.kind === 'task', JSON.stringify(found.map(({ message }) => message)))
      assert.equal(statement.action, expected.action)
      const args = new Map<string, unknown>()
      for (const [name, value] of statement.arguments.named) args.set(name, plain(value))
      const raw = statement.arguments.raw
      if (raw !== undefined && !args.has('cmd')) args.set('_raw_params', plain(raw))
      assert.deepEqual(Object.fromEntries(args), expected.args)
      const delegated = statement.keywords.get('delegate_to')?.value
      assert.equal(delegated && plain(delegated), expected.delegate_to)
    })
  }
})

function plain(node: Node): unknown {
  if (node.kind !== 'scalar') return node.kind
  return typeof node.data === 'bigint' ? Number(node.data) : node.data
}
