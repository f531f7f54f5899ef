import assert from 'node:assert/strict'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { openDirectory } from '../../src/source/directory.js'
import { lineOf } from '../../src/source/text.js'
import { smallTree } from '../commands/small-tree.js'
import { describeWithClone, reportOn } from '../releases/clone.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'

const kernel = 'roles/kubernetes/preinstall/tasks/kernel.yml'

const checked: Files = {
  ...smallTree,
  [kernel]: `${smallTree[kernel]}
- name: Is there enough of it
  assert:
    that: ansible_facts.memtotal_mb >= minimal_master_memory_mb
`,
}

/** Place, problem and the end of what is said, for a tree with these pages. */
function found(pages: Files, extraVars: readonly string[] = [], tree: Files = checked): readonly string[] {
  return withTemporary(directory => {
    writeFiles(directory, { ...tree, ...pages })
    const { contradictions } = analyze(openDirectory(directory), { ...defaultRequest, extraVars })
    return contradictions().map(
      ({ problem, says, at }) => `${at.file.path}:${lineOf(at)} ${problem}: ${says.split(', but ')[1]}`,
    )
  })
}

const forwarding = '# Needed\n\nText.\n\n- The target servers have to allow **IPv4 forwarding**, all of them.\n'

describe('contradictions between documentation and role code', () => {
  it('are found where the operator is told to do what role code does', () =>
    assert.deepEqual(found({ 'README.md': forwarding }), ['README.md:5 ip_forward: role code does it']))

  it('are found in pages below docs, and nowhere else', () =>
    assert.deepEqual(found({ 'docs/a/b.md': forwarding, 'other/c.md': forwarding, 'docs/d.txt': forwarding }), [
      'docs/a/b.md:5 ip_forward: role code does it',
    ]))

  it('are none where both leave it to the operator', () => {
    const pages = { 'README.md': 'The target servers have to allow IPv6 forwarding. The firewalls are not managed.\n' }
    assert.deepEqual(found(pages), [])
  })

  it('are none where code does not say it', () => {
    const tree = { ...checked, [kernel]: '- command: /opt/vendor/tune\n' }
    assert.deepEqual(found({ 'README.md': forwarding }, [], tree), [])
  })

  it('are none in code blocks, headings of others, and sentences that say only half', () =>
    assert.deepEqual(
      found({
        'README.md':
          '```\nThe target servers allow IPv4 forwarding\n```\n\nTarget servers may allow it. IPv4 forwarding is a setting.\n',
      }),
      [],
    ))

  it('are found where another minimum is asked', () => {
    const page = (amount: string): Files => ({
      'README.md': `## Requirements\n\nHardware:\n\n- Control Plane\n  - Memory: ${amount}\n`,
    })
    const contradiction = ['README.md:6 memory_minimum: the run asks for 1500 MB (minimal_master_memory_mb)']
    assert.deepEqual(found(page('2 GB')), contradiction)
    assert.deepEqual(found(page('1 GB')), contradiction)
    assert.deepEqual(found(page('1500 MB')), [])
    assert.deepEqual(found(page('2 GB'), ['minimal_master_memory_mb=2000']), [])
    assert.deepEqual(found(page('much')), [])
    assert.deepEqual(found({ 'README.md': '## Other\n\n- Control Plane\n  - Memory: 2 GB\n' }), [])
  })

  it('are found where a port is given to another component', () => {
    const table = (controllers: number, scheduler: number): Files => ({
      'docs/ports.md': `| Protocol | Port | Who |\n|---|---|---|\n| TCP | ${controllers} | kube-controller-manager |\n| TCP | ${scheduler} | kube-scheduler |\n`,
    })
    assert.deepEqual(found(table(10257, 10259)), [])
    assert.deepEqual(found(table(10259, 10257)), [
      'docs/ports.md:4 port_10257: the controller manager listens there',
      'docs/ports.md:3 port_10259: the scheduler listens there',
    ])
  })
})

describeWithClone('contradictions of releases', () => {
  const places = (revision: string, extraVars: readonly string[] = []): readonly string[] =>
    reportOn(revision, { extraVars }).contradictions.map(({ file, line, problem }) => `${problem} ${file}:${line}`)

  it('are the known ones in v2.31.0', function () {
    this.timeout(120_000)
    assert.deepEqual(places('v2.31.0'), [
      'ip_forward README.md:155',
      'port_10257 docs/operations/port-requirements.md:18',
      'port_10259 docs/operations/port-requirements.md:19',
      'memory_minimum README.md:167',
    ])
  })

  it('have IPv6 forwarding among them once there is IPv6', function () {
    this.timeout(120_000)
    assert.ok(places('v2.31.0', ['{"ipv6_stack": true}']).includes('ipv6_forward README.md:156'))
  })

  it('are without the memory where both had the same number, and without the page before there was one', function () {
    this.timeout(120_000)
    assert.deepEqual(places('v2.15.0'), ['ip_forward README.md:150'])
  })
})
