import assert from 'node:assert/strict'
import { join } from 'node:path'
import { readAssumptions, readExtraVars } from '../../src/inventory/extra-vars.js'
import { UsageError } from '../../src/source/diagnostic.js'
import { placeOf } from '../../src/source/text.js'
import { inDirectory, plain } from './places.js'

const fail = (): void => assert.fail()

function read(...texts: string[]): readonly (readonly [string, unknown])[] {
  return readExtraVars(texts, fail).map(({ name, node }) => [name, plain(node)])
}

describe('extra variables', () => {
  it('of assignments are texts', () => {
    assert.deepEqual(read('a=1 b="x y" c=true d={{ a b }} e=\'q\' f='), [
      ['a', '1'],
      ['b', 'x y'],
      ['c', 'true'],
      ['d', '{{ a b }}'],
      ['e', 'q'],
      ['f', ''],
    ])
  })

  it('of JSON and YAML are typed, in the order they are given', () => {
    assert.deepEqual(read('{"a": 1, "b": [true]}', '{a: yes, c: 0644}', ''), [
      ['a', 1],
      ['b', [true]],
      ['a', true],
      ['c', 420],
    ])
  })

  it('of files have their place there, of the command line in it', () => {
    inDirectory({ 'v.yml': '---\na: 1\nb: x\n' }, directory => {
      const definitions = readExtraVars([`@${join(directory, 'v.yml')}`, 'z=0 c=2'], fail)
      assert.deepEqual(
        definitions.map(({ name, at }) => [name, placeOf(at), at.file.text.slice(at.start, at.end)]),
        [
          ['a', `${directory}/v.yml:2`, 'a: 1'],
          ['b', `${directory}/v.yml:3`, 'b: x'],
          ['z', '-e:1', 'z=0'],
          ['c', '-e:1', 'c=2'],
        ],
      )
    })
  })

  const bad: readonly (readonly [text: string, says: RegExp])[] = [
    ['flag', /^-e flag: expected NAME=VALUE, got 'flag'$/],
    ['=x', /^-e =x: expected NAME=VALUE, got '=x'$/],
    ["a='x", /^-e a='x: expected a closing '$/],
    ['a={{ b', /^-e a=\{\{ b: expected a closing \}\}$/],
    ['./v.yml', /^-e \.\/v\.yml: expected NAME=VALUE; a file is named with @ before it: -e @\.\/v\.yml$/],
    ['@/no/such.yml', /^-e @\/no\/such\.yml: no such file$/],
    ['@/', /^-e @\/: expected a file, got a directory$/],
    ['{a: [1}', /^-e:1: /],
    ['[1, 2]', /^-e:1: expected a mapping of variables, got a list$/],
  ]
  for (const [text, says] of bad) {
    it(`refuses ${text}`, () => {
      assert.throws(
        () => readExtraVars([text], () => {}),
        (error: unknown) => error instanceof UsageError && says.test(error.message) && !error.message.includes('\n'),
      )
    })
  }
})

describe('assumptions', () => {
  it('are read as YAML', () => {
    assert.deepEqual(
      readAssumptions([
        'ansible_facts.memtotal_mb=1500',
        'swapon.stdout=',
        'a.results.0.rc=0',
        'on=no',
        'f=1.5',
        'v="1=2"',
      ]),
      [
        { name: 'ansible_facts.memtotal_mb', value: 1500n },
        { name: 'swapon.stdout', value: null },
        { name: 'a.results.0.rc', value: 0n },
        { name: 'on', value: false },
        { name: 'f', value: 1.5 },
        { name: 'v', value: '1=2' },
      ],
    )
    const [list] = readAssumptions(['l=[a, 2]'])
    assert.deepEqual(list?.value, [
      { kind: 'known', data: 'a' },
      { kind: 'known', data: 2n },
    ])
  })
  for (const text of ['', 'x', '=1', 'a b=1', 'a..b=1', 'a.=1', '1a=1', 'a=[1', 'a=!vault x']) {
    it(`refuse '${text}'`, () =>
      assert.throws(
        () => readAssumptions([text]),
        (error: unknown) => error instanceof UsageError && /^--assume /.test(error.message),
      ))
  }
})
