import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostsFileOfAll, writeFleet } from '../host/sample-fleet.js'
import { writeFiles } from '../source/trees.js'
import { type Host, withoutTables } from './fleet-answers.js'
import { runWhofixes } from './run-whofixes.js'
import { smallTree } from './small-tree.js'

describe('preflight over many hosts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-'))
  const tree = join(directory, 'tree')
  const fleet = writeFleet(directory, 60)
  const run = (host: string, ...more: readonly string[]) =>
    runWhofixes(['preflight', tree, '--host', host, '-i', fleet.inventory, '--evidence', fleet.evidence, '-q', ...more])
  const hostsOf = (out: string): readonly Host[] => (JSON.parse(out) as { readonly hosts: readonly Host[] }).hosts

  before(() => writeFiles(tree, smallTree))
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('says of each host what preflight says of it alone', () => {
    const all = new Map(hostsOf(run('all', '--format', 'json').out).map(each => [each.host, each]))
    assert.equal(all.size, 60)
    for (const host of [
      'node1',
      'node3',
      'node7',
      'node11',
      'node13',
      'node17',
      'node19',
      'node23',
      'node34',
      'node57',
    ]) {
      const [alone] = hostsOf(run(host, '--format', 'json').out)
      const among = all.get(host)
      assert.ok(alone !== undefined && among !== undefined)
      assert.deepEqual(withoutTables(among), withoutTables(alone), host)
    }
  })

  it('puts hosts with the same answers together', () => {
    const groups = new Map<string, string[]>()
    for (const { host, sameAs } of hostsOf(run('all', '--format', 'json').out))
      groups.set(sameAs ?? host, [...(groups.get(sameAs ?? host) ?? []), host])
    assert.ok(groups.size >= 5 && groups.size <= 16, `${groups.size} groups`)
    assert.ok([...groups.values()].some(hosts => hosts.includes('node14') && hosts.includes('node7')))
    assert.ok([...groups.values()].every(hosts => !(hosts.includes('node8') && hosts.includes('node11'))))
  })

  it('puts hosts of groups that nothing names together, and keeps those apart that a variable tells apart', () => {
    const racks = join(directory, 'racks')
    const { hosts } = writeFleet(racks, 40)
    const plain = readFileSync(join(racks, 'inventory.ini'), 'utf8')
    const of = (rack: number): string => hosts.filter((_, index) => index % 10 === rack).join('\n')
    const groups = Array.from({ length: 10 }, (_, rack) => `[rack${rack}]\n${of(rack)}\n`).join('\n')
    const kinds = (more: string): number => {
      writeFileSync(join(racks, 'inventory.ini'), `${plain}\n${more}`)
      const words = ['preflight', tree, '--host', 'all', '-i', join(racks, 'inventory.ini'), '-q', '--format', 'json']
      const found = hostsOf(runWhofixes([...words, '--evidence', join(racks, 'evidence')]).out)
      assert.equal(found.length, 40)
      return found.filter(({ sameAs }) => sameAs === null).length
    }
    const without = kinds('')
    assert.equal(kinds(groups), without)
    assert.equal(kinds(`${groups}\n[rack3:vars]\nnobody_reads_this=3\n`), without)
    // The role code asks for this one.
    assert.ok(kinds(`${groups}\n[rack3:vars]\nkubelet_fail_swap_on=false\n`) > without)
  })

  it('puts hosts together that know each other by name, and tells which of them its own name leads astray', () => {
    const known = join(directory, 'known')
    const everyone = hostsFileOfAll(30)
    const { inventory, evidence } = writeFleet(known, 30, 0, { '/etc/hosts': everyone })
    const astray = everyone.replace(/^.* node9$/m, '127.0.1.1 node9')
    writeFleet(join(known, 'other'), 9, 0, { '/etc/hosts': astray })
    renameSync(join(known, 'other', 'evidence', 'node9.tar'), join(evidence, 'node9.tar'))
    const ask = (host: string): readonly Host[] =>
      hostsOf(
        runWhofixes([
          ...['preflight', tree, '--host', host, '-i', inventory, '--evidence', evidence],
          ...['-q', '--format', 'json'],
        ]).out,
      )
    const all = ask('all')
    const groupOf = (name: string): string | null | undefined => {
      const found = all.find(({ host }) => host === name)
      return found?.sameAs ?? found?.host
    }
    assert.equal(groupOf('node10'), groupOf('node6'))
    assert.equal(groupOf('node28'), groupOf('node14'))
    assert.equal(groupOf('node9'), 'node9')
    for (const host of ['node6', 'node7', 'node9', 'node14']) {
      const [alone] = ask(host)
      const among = all.find(each => each.host === host)
      assert.ok(alone !== undefined && among !== undefined)
      assert.deepEqual(withoutTables(among), withoutTables(alone), host)
    }
  })

  const named = `[${Array.from({ length: 15 }, (_, index) => `node${index + 8}`).join(', ')}]`
  const singled: readonly string[] = [
    'inventory_hostname in many',
    "inventory_hostname in groups['kube_node'] and groups['kube_node'].index(inventory_hostname) < 6",
    "inventory_hostname in groups['kube_node'][:6]",
    "who[inventory_hostname] | default('no') == 'yes'",
    "who.get(inventory_hostname, 'no') == 'yes'",
    'inventory_hostname in who',
  ]
  for (const condition of singled) {
    it(`takes no host for another where a task asks: ${condition}`, () => {
      const asks = join(directory, `asks-${singled.indexOf(condition)}`)
      const { inventory, evidence } = writeFleet(asks, 25)
      writeFiles(join(asks, 'tree'), {
        'site.yml': `- hosts: k8s_cluster\n  vars:\n    many: ${named}\n    who: {node9: 'yes', node12: 'yes'}\n  tasks:\n    - name: Forward\n      ansible.posix.sysctl: {name: net.ipv4.ip_forward, value: '1'}\n      when: ${JSON.stringify(condition)}\n`,
      })
      const words = ['--playbook', 'site.yml', '-i', inventory, '--evidence', evidence, '-q', '--format', 'json']
      const ask = (host: string): readonly Host[] =>
        hostsOf(runWhofixes(['preflight', join(asks, 'tree'), '--host', host, ...words]).out)
      const all = ask('all')
      for (const host of ['node5', 'node6', 'node8', 'node9', 'node10', 'node24']) {
        const [alone] = ask(host)
        const among = all.find(each => each.host === host)
        assert.ok(alone !== undefined && among !== undefined)
        assert.deepEqual(withoutTables(among), withoutTables(alone), host)
      }
    })
  }

  it('takes patterns as Ansible does', () => {
    const names = hostsOf(run('kube_node:!node1*', '--format', 'json').out).map(({ host }) => host)
    assert.equal(names.includes('node12'), false)
    assert.equal(names.includes('node4'), true)
    assert.equal(run('nosuch*').status, 2)
  })

  it('tells one process of a host from that of another', () => {
    const { out } = run('node17,node34')
    assert.match(out, /kill <PID of port 10250>/)
    const kills = [...run('node17,node34', '--format', 'json').out.matchAll(/"kill ([0-9]+)"/g)].map(([, pid]) => pid)
    assert.deepEqual([...new Set(kills)].sort(), ['1203', '1832'])
  })

  it('goes on without the evidence of a host, and says so', () => {
    const broken = join(directory, 'broken')
    writeFleet(broken, 5)
    writeFileSync(join(broken, 'evidence', 'node4.tar'), 'no tar')
    rmSync(join(broken, 'evidence', 'node5.tar'))
    writeFileSync(
      join(broken, 'inventory.ini'),
      'node2\nnode3\nnode4\nnode5\n[kube_control_plane]\nnode2\n[kube_node]\nnode3\nnode4\nnode5\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n',
    )
    const { status, err, out } = runWhofixes([
      ...[
        'preflight',
        tree,
        '--host',
        'all',
        '-i',
        join(broken, 'inventory.ini'),
        '--evidence',
        join(broken, 'evidence'),
      ],
      ...['--format', 'json'],
    ])
    assert.equal(status, 3)
    assert.equal(hostsOf(out).length, 4)
    assert.ok(
      err.some(line => /node4\.tar: .*no tar archive|node4\.tar: the archive breaks off/.test(line)),
      err.join('\n'),
    )
    assert.ok(err.some(line => line.includes('no evidence of node5')))
    assert.ok(err.some(line => /not in the inventory.*node1/.test(line)))
  })
})
