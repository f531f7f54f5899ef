import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { readYamlFile } from '../../src/yaml/read.js'
import { randomFrom } from '../jinja/generate.js'
import { documentFrom } from './generate.js'
import { isLossy, plainOf } from './plain.js'

const script = fileURLToPath(new URL('../../../test/yaml/pyyaml.py', import.meta.url))
const rows = JSON.parse(readFileSync(new URL('../../../test/yaml/yaml11.json', import.meta.url), 'utf8')) as {
  text: string
}[]

/** A Python that has ansible-core; the system's own goes first, since a virtual environment may shadow it. */
const python = ['/usr/bin/python3', 'python3'].find(
  name => spawnSync(name, ['-c', 'from ansible.parsing.utils import yaml']).status === 0,
)

// More of them, and others: GENERATED=20000 SEED=7 npx mocha --no-config dist/test/yaml/conformance.test.js
const count = Number(process.env.GENERATED ?? 1500)
const seed = Number(process.env.SEED ?? 1)

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

/** A text the program and Ansible do not agree about: both read it, or only one of them does. */
export interface Difference {
  readonly kind: 'other value' | 'only Ansible reads' | 'only we read'
  readonly says: string
}

export function differences(texts: readonly string[]): readonly Difference[] {
  return askAnsible(texts).flatMap((answer, at): readonly Difference[] => {
    const text = JSON.stringify(texts[at])
    const node = readYamlFile({ path: 'f.yml', text: texts[at] ?? '' }, () => {})
    if ('error' in answer) return isLossy(node) ? [] : [{ kind: 'only we read', says: `${text} (${answer.error})` }]
    const ours = plainOf(node)
    if (same(ours, answer.value)) return []
    const kind = isLossy(node) ? 'only Ansible reads' : 'other value'
    return [{ kind, says: `${text}: ${JSON.stringify(ours)} is not ${JSON.stringify(answer.value)}` }]
  })
}

function compare(texts: readonly string[]): void {
  assert.deepEqual(differences(texts), [])
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

  it(`${count} generated documents of seed ${seed}`, function () {
    this.timeout(600_000)
    const random = randomFrom(seed)
    const found = differences(Array.from({ length: count }, () => documentFrom(random)))
    assert.deepEqual(
      found.filter(({ kind }) => kind === 'other value'),
      [],
    )
    // Corners where one of the two parsers refuses (a lone `-` in `[-]`, a tag on the line after its key) are told as
    // unreadable, or read where Ansible would stop.
    assert.ok(found.length < count / 100, found.map(({ kind, says }) => `${kind}: ${says}`).join('\n'))
  })
})
