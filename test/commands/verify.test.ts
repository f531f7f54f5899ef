import assert from 'node:assert/strict'
import { join } from 'node:path'
import { debian12, enabledService, type HostRecord } from '../host/sample-hosts.js'
import { usedHost } from '../host/used-host.js'
import { writeHost } from '../host/write-host.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { type Ran, runWhofixes } from './run-whofixes.js'
import { smallTree, usualAnswer } from './small-tree.js'

function verify(name: string, text: string, host: HostRecord = usedHost, args = ''): Ran {
  return withTemporary(root => {
    writeFiles(root, {
      [name]: text,
      ...Object.fromEntries(Object.entries(smallTree).map(([path, each]) => [`tree/${path}`, each])),
    })
    writeHost(join(root, 'host'), host)
    const line = `verify ${root}/${name} ${root}/tree --evidence ${root}/host ${args}`
    return runWhofixes(line.trim().split(' '))
  })
}

const answer = JSON.parse(usualAnswer)
const before = { swap_total_kb: 2097148, ip_forward: 0, br_netfilter: false, busy_ports: [10250] }
const port = { port: 10250, unit: 'agent.service', pid: 812 }

/** A file, how marking it ends, and what is said. */
const cases: readonly (readonly [says: string, name: string, content: unknown, status: number, out: RegExp])[] = [
  ['the right answer', 'who-fixes.json', answer, 0, /5 right, 0 wrong, 0 not known/],
  [
    'a wrong verdict, with the tasks that settle it',
    'mine.json',
    { ...answer, swap: 'operator' },
    1,
    /wrong {4}swap.*line 2\n.*given "operator", right is "kubespray"\n.*kubespray: turns all swap off \(roles\/kubernetes\/preinstall\/tasks\/swap.yml:\d+\)/,
  ],
  [
    'a wrong verdict, with what was searched in vain',
    'mine.json',
    { ...answer, port_10250: 'kubespray' },
    1,
    /nothing the run does settles it: \d+ tasks/,
  ],
  ['a missing key', 'mine.json', { ...answer, sysctl_file: undefined }, 1, /the key is missing/],
  ['a key nobody asks for', 'mine.json', { ...answer, ports: [] }, 1, /nobody asks for this key/],
  ['the state before', 'before.json', before, 0, /4 right/],
  [
    'numbers and booleans as text',
    'before.json',
    { ...before, ip_forward: '0', br_netfilter: 'false', swap_total_kb: '2097148' },
    0,
    /4 right/,
  ],
  ['booleans as numbers', 'before.json', { ...before, br_netfilter: 0 }, 0, /4 right/],
  ['a boolean that is the other one', 'before.json', { ...before, br_netfilter: 1 }, 1, /3 right, 1 wrong/],
  ['another amount of swap', 'before.json', { ...before, swap_total_kb: 0 }, 1, /it is 2097148 on the host/],
  ['a port too many', 'before.json', { ...before, busy_ports: [6443, 10250] }, 1, /it is \[10250\] on the host/],
  ['who holds the ports', 'ports.json', [port], 0, /1 right/],
  ['a unit without its ending', 'ports.json', [{ ...port, unit: 'agent', pid: '812' }], 0, /1 right/],
  ['another process', 'ports.json', [{ ...port, pid: 1 }], 1, /agent.service holds it as process 812/],
  ['another unit', 'ports.json', [{ ...port, unit: 'kubelet.service' }], 1, /agent.service holds it/],
  ['a port that is missing', 'ports.json', [], 1, /the port is missing/],
  [
    'a port nobody holds',
    'ports.json',
    [port, { port: 6443, unit: 'x.service', pid: 3 }],
    1,
    /port 6443.*\n.*\n.*nothing listens there/,
  ],
  ['ports under their numbers', 'ports.json', { 10250: { unit: 'agent.service', pid: 812 } }, 0, /1 right/],
  ['facts', 'facts.json', { memtotal_mb: 4096 }, 1, /it is 3936 on the host/],
]

describe('whofixes verify', () => {
  for (const [says, name, content, status, out] of cases) {
    it(`marks ${says}`, () => {
      const ran = verify(name, JSON.stringify(content, null, 2))
      assert.match(ran.out, out, ran.err.join('\n'))
      assert.equal(ran.status, status, ran.out)
    })
  }

  for (const [says, text, expected] of [
    ['a file that is no JSON', '{\n  "swap": \n}', /mine\.json:\d: expected JSON/],
    ['a file of nothing that is asked for', '{"a": 1}', /none of its keys is one of who-fixes.json/],
    ['a number', '7', /expected an object/],
  ] as const) {
    it(`refuses ${says}`, () => {
      const ran = verify('mine.json', text)
      assert.equal(ran.status, 2)
      assert.match(ran.err.join('\n'), expected)
    })
  }

  const ready: HostRecord = {
    ...debian12,
    '/etc/sysctl.d/50-k8s.conf':
      'net.ipv4.ip_forward = 1\nnet.bridge.bridge-nf-call-iptables = 1\nnet.bridge.bridge-nf-call-ip6tables = 1\n',
    '/etc/modules-load.d/k8s.conf': 'br_netfilter\noverlay\n',
    '/proc/modules': 'overlay 1 0 - Live 0x0\nbr_netfilter 1 0 - Live 0x0\nbridge 1 1 br_netfilter, Live 0x0\n',
    '/proc/sys/net/ipv4/ip_forward': '1\n',
    '/proc/sys/net/ipv4/conf/all/forwarding': '1\n',
    '/proc/sys/net/bridge/bridge-nf-call-iptables': '1\n',
    '/proc/sys/net/bridge/bridge-nf-call-ip6tables': '1\n',
  }
  for (const [says, host, status, wrong] of [
    ['a host that is ready', ready, 0, []],
    [
      'swap that comes back',
      { ...ready, '/etc/fstab': '/swapfile none swap sw 0 0\n' },
      1,
      ['swap off after a reboot'],
    ],
    [
      'a module that nothing loads at boot',
      { ...ready, '/etc/modules-load.d/k8s.conf': 'br_netfilter\n' },
      1,
      ['overlay at boot'],
    ],
    [
      'a setting that is lost',
      { ...ready, '/etc/sysctl.d/zz.conf': 'net.ipv4.ip_forward = 0\n' },
      1,
      ['net.ipv4.ip_forward after a reboot'],
    ],
    [
      'a unit that is still enabled',
      { ...ready, ...enabledService('agent.service', '/usr/local/bin/agent') },
      1,
      ['agent.service disabled'],
    ],
  ] as const) {
    it(`--after: ${says}`, () => {
      const ran = verify('ports.json', JSON.stringify([port]), host, '--after --format json')
      const { keys } = JSON.parse(ran.out) as { keys: readonly { key: string; mark: string }[] }
      assert.deepEqual(
        keys.filter(({ mark }) => mark !== 'right').map(({ key }) => key),
        wrong,
      )
      assert.equal(ran.status, status)
    })
  }
})
