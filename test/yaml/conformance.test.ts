import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { readYamlFile } from '../../src/yaml/read.js'
import { isLossy, plainOf } from './plain.js'

const script = fileURLToPath(new URL('../../../test/yaml/pyyaml.py', import.meta.url))
const rows = JSON.parse(readFileSync(new URL('../../../test/yaml/yaml11.json', import.meta.url), 'utf8')) as {
  text: string
}[]

/** A Python that has ansible-core; the system's own goes first, since a virtual environment may shadow it. */
const python = ['/usr/bin/python3', 'python3'].find(
  name => spawnSync(name, ['-c', 'from ansible.parsing.utils import yaml']).status === 0,
)

type Answer = { readonly value: unknown } | { readonly error: string }

function askAnsible(texts: readonly string[]): readonly Answer[] {
  const ran = spawnSync(python ?? '', [script], { input: JSON.stringify(texts), maxBuffer: 1 << 28 })
  assert.equal(ran.status, 0, String(ran.stderr))
  return JSON.parse(String(ran.stdout)) as Answer[]
}

/** Floats are compared as numbers and dates as the text they are kept as. */
function same(ours: unknown, theirs: unknown): boolean {
  if (Array.isArray(ours)) {
    return Array.isArray(theirs) && ours.length === theirs.length && ours.every((item, at) => same(item, theirs[at]))
  }
  if (typeof theirs !== 'object' || theirs === null) return ours === theirs
  if ('date' in theirs) return typeof ours === 'string'
  if (typeof ours !== 'object' || ours === null) return false
  if ('float' in theirs && 'float' in ours) {
    return Object.is(Number(ours.float), Number(String(theirs.float).replace('inf', 'Infinity')))
  }
  const [[kind, inner] = []] = Object.entries(ours)
  const [[theirKind, theirInner] = []] = Object.entries(theirs)
  return kind === theirKind && same(inner, theirInner)
}

function compare(texts: readonly string[]): void {
  askAnsible(texts).forEach((answer, at) => {
    const text = texts[at] ?? ''
    const node = readYamlFile({ path: 'f.yml', text }, () => {})
    if ('error' in answer) assert.ok(isLossy(node), `Ansible refuses ${JSON.stringify(text)} (${answer.error})`)
    else {
      const ours = plainOf(node)
      assert.ok(
        same(ours, answer.value),
        `${JSON.stringify(text)}: ${JSON.stringify(ours)} is not ${JSON.stringify(answer.value)}`,
      )
    }
  })
}

const scalars = fc.constantFrom(
  ...['a', '1', '0644', 'yes', '~', '', "'x'", '"y z"', '"{{ v }}"', '{{ v }}', 'x y', '2001-01-01', '1:30', '!!str 1'],
  ...[
    '- z',
    'a: b',
    '|\n    t\n    u',
    '>-\n    t\n\n    w',
    '# c',
    '@x',
    '[1, 2]',
    '{k: v}',
    '{k: v',
    '[a, b',
    '"q"#c',
  ],
  ...['"multi\nline"', 'plain\n    more', '[\n1,\n2\n]', 'x#c', '::', '!vault |\n    abc', '!unsafe "{{ x }}"', '1e3'],
  ...[
    '"\\n\\x41"',
    "'it''s'",
    '`x`',
    'a\tb',
    '|+\n    k\n\n',
    '|2\n      k',
    '...',
    '! 5',
    '[a: b]',
    '{a:1}',
    '{"a":1}',
  ],
)
const keys = fc.constantFrom('a', 'b', '"d"', '1', 'yes', 'null', '? a', 'k k', '[x]', '!!str f', 'a:b', ':x', '', '=')
const lines = fc.array(
  fc.record({ indent: fc.constantFrom(0, 0, 0, 2, 2, 4), dash: fc.boolean(), key: keys, scalar: scalars }),
  { minLength: 1, maxLength: 5 },
)

describe('YAML as Ansible itself reads it', () => {
  before(function () {
    if (python !== undefined) return
    assert.equal(process.env.CI, undefined, 'ansible-core has to be installed where CI is set')
    console.log('    skipped: no python3 with ansible-core')
    this.skip()
  })

  it('the table of scalars and syntax', () => {
    compare(rows.map(({ text }) => text).filter(text => !text.includes('!!')))
  })

  it('generated texts', () => {
    const texts = fc
      .sample(lines, { numRuns: 1500, seed: 20 })
      .map(list =>
        list
          .map(({ indent, dash, key, scalar }) => `${' '.repeat(indent)}${dash ? '- ' : `${key}: `}${scalar}`)
          .join('\n'),
      )
    compare(texts)
  })
})
