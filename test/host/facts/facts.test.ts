import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openEvidence } from '../../../src/evidence/open.js'
import { factsOf } from '../../../src/host/facts/facts.js'
import type { Data, Dict, Value } from '../../../src/jinja/value.js'
import { findAnsible } from '../../conformance/ansible.js'
import { evidenceOf } from '../evidence-of.js'
import { filesOf, type Written } from '../files.js'

interface Host {
  readonly host: string
  readonly files: Readonly<Record<string, Written>>
  /** null: left out. */
  readonly expected: Readonly<Record<string, unknown>>
}

const directory = new URL('../../../../test/host/facts/', import.meta.url)
const hosts: readonly Host[] = JSON.parse(readFileSync(new URL('hosts.json', directory), 'utf8'))

/** What Ansible puts in lists and mappings; undefined where it is not known. */
function plain(value: Value): unknown {
  if (value.kind === 'known') return plainData(value.data)
  return value.kind === 'unknown' && value.fields !== undefined ? plainMap(value.fields) : undefined
}

function plainData(data: Data): unknown {
  if (typeof data === 'bigint') return Number(data)
  if (Array.isArray(data)) return data.map(plain)
  return data instanceof Map ? plainMap(data) : data
}

function plainMap(map: ReadonlyMap<unknown, Value>): Record<string, unknown> {
  return Object.fromEntries([...map].map(([key, value]) => [String(key), plain(value)]))
}

/** Lists Ansible has in the order of the kernel. */
const UNORDERED = new Set(['all_ipv4_addresses', 'all_ipv6_addresses', 'interfaces', 'ipv6'])

/** Where what we say is not what Ansible has; what we leave open is not looked at. */
function differences(ours: unknown, theirs: unknown, path: string): readonly string[] {
  if (ours === undefined) return []
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    const sorted = (list: readonly unknown[]): readonly string[] => {
      const texts = list.map(each => JSON.stringify(each))
      return UNORDERED.has(path.split('.').at(-1) ?? '') ? texts.toSorted() : texts
    }
    const [left, right] = [sorted(ours), sorted(theirs)]
    return left.join() === right.join() ? [] : [`${path}: ${left} is not ${right}`]
  }
  if (ours !== null && typeof ours === 'object' && theirs !== null && typeof theirs === 'object') {
    const have = theirs as Record<string, unknown>
    return Object.entries(ours).flatMap(([key, value]) => differences(value, have[key], `${path}.${key}`))
  }
  return ours === theirs ? [] : [`${path}: ${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}`]
}

/** Mappings that we say are whole have to have all members. */
function missing(ours: Dict, theirs: Readonly<Record<string, unknown>>, path: string): readonly string[] {
  return [...ours].flatMap(([key, value]) => {
    const their = theirs[String(key)]
    if (value.kind !== 'known' || !(value.data instanceof Map) || their === null || typeof their !== 'object') return []
    const names = Object.keys(their).filter(name => !(value.data as Dict).has(name))
    return [
      ...names.map(name => `${path}${key}.${name} is missing`),
      ...missing(value.data as Dict, their as Record<string, unknown>, `${path}${key}.`),
    ]
  })
}

describe('facts of a host', () => {
  for (const { host, files, expected } of hosts) {
    it(host, () => {
      const facts = factsOf(evidenceOf(filesOf(files)))
      for (const [name, value] of Object.entries(expected)) {
        const found = facts.get(name)
        assert.deepEqual(found === undefined ? null : plain(found), value, name)
      }
    })
  }

  it('leaves out what was not captured, and never takes it for absent', () => {
    assert.deepEqual([...factsOf(evidenceOf(filesOf({}, ['/etc/fstab']))).keys()], ['system'])
    for (const { host, files } of hosts) {
      const whole = factsOf(evidenceOf(filesOf(files)))
      for (const path of Object.keys(files)) {
        const others = Object.keys(files).filter(each => each !== path)
        const part = factsOf(evidenceOf(filesOf(files, others)))
        for (const [name, value] of part) {
          const full = whole.get(name)
          assert.deepEqual(differences(plain(value), full && plain(full), `${host}: ${name}`), [], `without ${path}`)
        }
      }
    }
  })
})

describe('facts of a host, beside the readers of Ansible', () => {
  let python: string
  let root: string
  before(function () {
    const ansible = findAnsible()
    if (ansible === undefined || process.getuid?.() !== 0) {
      assert.ok(!process.env.CI, 'ansible-core and root (for chroot) are needed, and CI is where they have to be')
      console.log('    skipped: ansible-core is not installed, or this is not root (for chroot)')
      return this.skip()
    }
    python = ansible.python
    root = mkdtempSync(join(tmpdir(), 'whofixes-facts-'))
  })
  after(() => {
    if (root !== undefined) rmSync(root, { recursive: true })
  })

  it('all hosts', () => {
    const roots = hosts.map(({ files, host }, index) => {
      const path = join(root, String(index))
      place(path, files)
      return { path, architecture: host === 'ARM' ? 'aarch64' : 'x86_64' }
    })
    const script = new URL('ask.py', directory).pathname
    const answers: readonly Record<string, unknown>[] = JSON.parse(
      execFileSync(python, [script], { input: JSON.stringify(roots), encoding: 'utf8', maxBuffer: 2 ** 26 }),
    )
    const wrong: string[] = []
    for (const [index, { host, files }] of hosts.entries()) {
      const answer = answers[index]
      assert.ok(answer, `${host}: Ansible failed`)
      const facts = factsOf(evidenceOf(filesOf(files)))
      // These it gathers elsewhere.
      for (const name of ['system', 'selinux', 'machine', 'architecture']) (facts as Map<unknown, Value>).delete(name)
      assert.ok(facts.size >= 5, host)
      wrong.push(...differences(plainMap(facts), answer, host), ...missing(facts, answer, `${host}: `))
    }
    assert.deepEqual(wrong, [])
  })
})

describe('facts of this machine, beside `ansible -m setup`', () => {
  let theirs: Record<string, unknown>
  before(function () {
    this.timeout('3m')
    if (findAnsible() === undefined) {
      assert.ok(!process.env.CI, 'ansible-core is not installed, and CI is where it has to be')
      console.log('    skipped: ansible-core is not installed')
      return this.skip()
    }
    const { stdout } = spawnSync('ansible', ['localhost', '-m', 'setup'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    const all: Record<string, unknown> = JSON.parse(stdout.slice(stdout.indexOf('{'))).ansible_facts
    theirs = Object.fromEntries(Object.entries(all).map(([name, value]) => [name.replace(/^ansible_/, ''), value]))
  })

  const captured: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    ['by its files', []],
    [
      'and by what ip prints',
      [
        ['ip', '-o', 'addr'],
        ['ip', 'route'],
      ],
    ],
    [
      'and by the ways out',
      [
        ['ip', 'addr'],
        ['ip', '-4', 'route', 'get', '8.8.8.8'],
        ['ip', '-6', 'route', 'get', '2404:6800:400a:800::1012'],
      ],
    ],
  ]
  for (const [name, commands] of captured) {
    it(name, () => {
      const { files } = openEvidence('/', () => {})
      const printed = commands.flatMap(words => {
        const [program = '', ...rest] = words
        const { stdout, status } = spawnSync(program, rest, { encoding: 'utf8' })
        return status === null ? [] : [{ words, stdout, status }]
      })
      const facts = factsOf(evidenceOf(files, printed))
      assert.ok(facts.size > 15)
      assert.deepEqual([...differences(plainMap(facts), theirs, 'facts'), ...missing(facts, theirs, '')], [])
    })
  }

  it('by what the collector takes along', () => {
    const taken = mkdtempSync(join(tmpdir(), 'whofixes-collected-'))
    try {
      const script = new URL('../../../../collect/collect.sh', import.meta.url).pathname
      const tar = join(taken, 'here.tar')
      const { stdout } = spawnSync('sh', [script], { maxBuffer: 2 ** 28 })
      writeFileSync(tar, stdout)
      const facts = factsOf(openEvidence(tar, () => {}))
      for (const name of [
        'distribution',
        'distribution_version',
        'os_family',
        'memtotal_mb',
        'all_ipv4_addresses',
        'default_ipv4',
      ])
        assert.ok(facts.has(name), `${name} is left out`)
      assert.deepEqual([...differences(plainMap(facts), theirs, 'facts'), ...missing(facts, theirs, '')], [])
    } finally {
      rmSync(taken, { recursive: true })
    }
  })
})

function place(root: string, files: Readonly<Record<string, Written>>): void {
  for (const [path, written] of Object.entries(files)) {
    const at = join(root, path)
    mkdirSync(dirname(at), { recursive: true })
    if (written === null) mkdirSync(at, { recursive: true })
    else if (typeof written === 'string' || written instanceof Uint8Array) writeFileSync(at, written)
    else if ('link' in written) symlinkSync(written.link, at)
    else writeFileSync(at, written.text)
  }
}
