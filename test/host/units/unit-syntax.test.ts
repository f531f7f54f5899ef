import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  isUnitName,
  last,
  listed,
  parseUnitText,
  templateOf,
  unescapeUnit,
  withSpecifiers,
} from '../../../src/host/units/unit-syntax.js'

const parse = (text: string) => parseUnitText({ path: '/etc/systemd/system/x.service', text })

describe('the syntax of unit files', () => {
  const rows: readonly (readonly [string, string, readonly (readonly [string, string, string, number])[]])[] = [
    [
      'sections',
      '[Unit]\nA=1\n[Service]\nA=2\n',
      [
        ['Unit', 'A', '1', 2],
        ['Service', 'A', '2', 4],
      ],
    ],
    ['comments and blanks', '[Unit]\n# A=1\n  ; A=2\n\n A = 3 # no comment\n', [['Unit', 'A', '3 # no comment', 5]]],
    [
      'lines that go on, also over comments',
      '[Unit]\nA=1 \\\n# not this\n  2 \\\n3\nB=4\n',
      [
        ['Unit', 'A', '1    2  3', 2],
        ['Unit', 'B', '4', 6],
      ],
    ],
    [
      'a backslash that is one',
      '[Unit]\nA=1\\\\\nB=2\n',
      [
        ['Unit', 'A', '1\\\\', 2],
        ['Unit', 'B', '2', 3],
      ],
    ],
    ['the last line without an end', '[Unit]\nA=1\\', [['Unit', 'A', '1', 2]]],
    ['what is before a section, and what is no assignment', 'A=1\n[Unit]\nnothing\n=2\nB=\n', [['Unit', 'B', '', 5]]],
    ['ends of lines of DOS', '[Unit]\r\nA=1\r\n', [['Unit', 'A', '1', 2]]],
    ['more than one =', '[Service]\nEnvironment=A=b=c\n', [['Service', 'Environment', 'A=b=c', 2]]],
  ]
  for (const [name, text, expected] of rows) {
    it(name, () => {
      const found = parse(text).map(({ section, name: each, value, place }) => [section, each, value, place.line])
      assert.deepEqual(found, expected)
    })
  }

  it('takes a list back by an empty assignment, and of others the last', () => {
    const settings = parse(
      '[Socket]\nListenStream=1\nListenStream=\nListenStream=2\nListenStream=3\nService=a\nService=\n',
    )
    assert.deepEqual(
      listed(settings, 'Socket', 'ListenStream').map(({ value }) => value),
      ['2', '3'],
    )
    assert.equal(last(settings, 'Socket', 'Service'), undefined)
  })

  it('knows names, templates and specifiers', () => {
    for (const name of ['a.service', 'a@b.service', 'a@.timer', 'dev-sda\\x2d1.swap', '-.mount'])
      assert.ok(isUnitName(name), name)
    for (const name of ['a', 'a.conf', 'a b.service', '', '../a.service', `${'a'.repeat(300)}.service`])
      assert.ok(!isUnitName(name), name)
    assert.equal(templateOf('a@b.service'), 'a@.service')
    assert.equal(templateOf('a@.service'), undefined)
    assert.equal(withSpecifiers('%p-%i-%I-%%', 'foo@a-b.socket'), 'foo-a-b-a/b-%')
    assert.equal(withSpecifiers('%n %N %j', 'foo-bar.service'), 'foo-bar.service foo-bar bar')
    assert.equal(withSpecifiers('%H', 'a.service'), undefined)
    assert.equal(unescapeUnit('a\\x2db\\xc3\\xa9'), 'a-b\u00e9')
  })

  it('never throws, and every setting stands on a line of the text', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.constantFrom('[A]', 'x=1', '\\', '#', '\n', '=', '[', ' ')),
        (noise, parts) => {
          const text = `[S]\n${parts.join('')}${noise}`
          const lines = text.split('\n').length
          return parse(text).every(({ place }) => (place.line ?? 0) >= 1 && (place.line ?? 0) <= lines)
        },
      ),
    )
  })
})
