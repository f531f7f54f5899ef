import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { fstabWith, fstabWithout } from '../../../src/host/edits/fstab.js'
import { isSameRunningValue, reloadCommand, sysctlFileWith, writtenValue } from '../../../src/host/edits/sysctl-file.js'

function rows<T>(name: string): readonly T[] {
  const path = fileURLToPath(new URL(`../../../../test/host/edits/${name}`, import.meta.url))
  return JSON.parse(readFileSync(path, 'utf8'))
}

interface AbsentRow {
  readonly name: string
  readonly fstab: string
  readonly names: readonly string[]
  readonly expected: string
  readonly changed: number
}

describe('lines of fstab that state=absent takes out', () => {
  for (const { name, fstab, names, expected, changed } of rows<AbsentRow>('fstab-absent.json')) {
    it(name, () => {
      let text = fstab
      let count = 0
      for (const each of names) {
        const edited = fstabWithout(text, { name: each })
        text = edited.text
        if (edited.changed) count += 1
      }
      assert.equal(text, expected)
      assert.equal(count, changed)
    })
  }

  it('is done once: a second time changes nothing', () => {
    const token = fc.constantFrom('none', 'swap', '/a', 'sw', '0', '#', 'x,y')
    const line = fc
      .tuple(fc.array(token, { maxLength: 8 }), fc.constantFrom(' ', '\t', '\r'))
      .map(([each, gap]) => each.join(gap))
    fc.assert(
      fc.property(
        fc.array(line).map(lines => lines.join('\n')),
        text => {
          const once = fstabWithout(text, { name: 'none' })
          assert.deepEqual(fstabWithout(once.text, { name: 'none' }), { text: once.text, changed: false })
        },
      ),
    )
  })

  it('puts an entry in and takes it out again', () => {
    const put = fstabWith('/dev/sda1 / ext4 defaults 0 1', { name: '/srv/my data', src: '/dev/b', fstype: 'xfs' })
    assert.equal(put.text, '/dev/sda1 / ext4 defaults 0 1\n/dev/b /srv/my\\040data xfs defaults 0 0\n')
    const { text } = fstabWithout(put.text, { name: '/srv/my data' })
    assert.equal(text, '/dev/sda1 / ext4 defaults 0 1\n')
  })

  it('reads ten thousand lines at once', () => {
    const text = '/dev/x none swap sw 0 0\n/dev/sda1 / ext4 defaults 0 1\n'.repeat(5000)
    const start = performance.now()
    assert.equal(fstabWithout(text, { name: 'none' }).text.length, text.length - 24 * 5000)
    assert.ok(performance.now() - start < 1000)
  })
})

interface SysctlRow {
  readonly name: string
  readonly collection: string
  readonly before: string
  readonly key: string
  readonly value: string
  readonly state: 'present' | 'absent'
  readonly expected: string
  readonly changed: boolean
}

describe('files of settings that ansible.posix.sysctl writes', () => {
  for (const row of rows<SysctlRow>('sysctl-module.json')) {
    it(`${row.collection}: ${row.name}`, () => {
      const value = row.state === 'absent' ? undefined : row.value
      const edited = sysctlFileWith(row.before, { name: row.key, value })
      assert.deepEqual(edited, { text: row.expected, changed: row.changed })
    })
  }

  it('knows what runs then, and what counts as the same', () => {
    assert.deepEqual(reloadCommand('/a', { ignoreErrors: true }), ['sysctl', '-e', '-p', '/a'])
    assert.deepEqual(reloadCommand('/a', { ignoreErrors: false }), ['sysctl', '-p', '/a'])
    assert.ok(isSameRunningValue('4096\t131072\t6291456\n', '4096 131072 6291456'))
    assert.ok(!isSameRunningValue('1', '1 # on'))
    assert.deepEqual(['Yes', 'off', ' 7 ', '1.0'].map(writtenValue), ['1', '0', '7', '1.0'])
  })
})
