import assert from 'node:assert/strict'
import { join } from 'node:path'
import { analyzeRun, defaultRequest } from '../../../src/analyze.js'
import { answerOf } from '../../../src/host/answers/answers.js'
import { toJson } from '../../../src/jinja/python.js'
import type { Value } from '../../../src/jinja/value.js'
import type { Run } from '../../../src/run/task-run.js'
import { openDirectory } from '../../../src/source/directory.js'
import { withTemporary, writeFiles } from '../../source/trees.js'
import { evidenceOf, type Host, momentIn } from './memory.js'

const release = '/lib/modules/6.1.0-9'
const kernel = { 'kernel.osrelease': '6.1.0-9' }
const modules = {
  [`${release}/modules.dep`]:
    'kernel/net/bridge/br_netfilter.ko.xz: kernel/net/bridge/bridge.ko\nkernel/net/ip-vs.ko:\n',
  [`${release}/modules.builtin`]: 'kernel/net/ipv6/ipv6.ko\n',
  [`${release}/modules.alias`]: 'alias nf_conntrack-2 nf_conntrack\nalias pci:v*d* x\nalias x-[a-c]-y x\n',
}
const bin = {
  '/sbin': null,
  '/usr/sbin': null,
  '/bin/sh': { text: '', mode: 0o755 },
  '/usr/bin/systemctl': { text: '', mode: 0o755 },
}

/** A host, a task (its result is `r`), an expression, what that is; null where it is not known. */
const rows: readonly (readonly [host: Host, task: object, expression: string, value: unknown])[] = [
  [{ files: modules, sysctl: kernel }, { command: 'modinfo br_netfilter' }, 'r.rc', 0],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo br-netfilter' }, 'r is failed', false],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo ip_vs' }, 'r.rc', 0],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo nf_conntrack_2' }, 'r.rc', 0],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo x-b-y' }, 'r.rc', 0],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo x-d-y' }, 'r.rc', 1],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo nosuch', failed_when: 'r.rc not in [0, 1]' }, 'r.rc', 1],
  [{ files: modules, sysctl: kernel }, { shell: 'modinfo nosuch' }, 'r is failed', true],
  [{ files: modules, sysctl: kernel }, { command: 'modinfo ipv6' }, 'r.rc', 1],
  [
    { files: { ...modules, [`${release}/modules.builtin.modinfo`]: '' }, sysctl: kernel },
    { command: 'modinfo ipv6' },
    'r.rc',
    0,
  ],
  [{ files: {}, sysctl: kernel, notCaptured: [release] }, { command: 'modinfo br_netfilter' }, 'r.rc', null],
  [{ files: {}, sysctl: kernel }, { command: 'modinfo br_netfilter' }, 'r.rc', null],
  [
    { files: modules, sysctl: kernel },
    { command: 'modinfo br_netfilter', environment: { PATH: '{{ ansible_env.PATH }}:/sbin' } },
    'r.rc',
    0,
  ],
  [{ files: modules }, { command: 'modinfo br_netfilter' }, 'r.rc', null],
  [{ files: { ...modules, ...bin }, sysctl: kernel }, { command: 'modinfo br_netfilter' }, 'r.rc', 2],
  [{ sysctl: { 'net.x': '1' } }, { command: 'sysctl net.y' }, 'r.rc == 0', false],
  [{ sysctl: { 'net.x': '1' } }, { command: 'sysctl net.y' }, 'r.rc', null],
  [{}, { command: 'sysctl -n net.x' }, 'r.stdout', null],
  [{ sysctl: { 'net.x': '1' } }, { command: 'sysctl -w net.x=2' }, 'r.rc', null],
  [{ sysctl: { 'fs.x': '1' } }, { stat: { path: '/proc/sys/fs/x' } }, 'r.stat.exists', true],
  [{ sysctl: { 'fs.x': '1' } }, { stat: { path: '/proc/sys/fs/y' } }, 'r.stat.exists', false],
  [{}, { stat: { path: '/proc/sys/fs/y' } }, 'r.stat.exists', null],
  [{ modules: { a: 'loaded' } }, { stat: { path: '/sys/module/a' } }, 'r.stat.isdir', true],
  [{ files: { '/etc/y': '' }, notCaptured: ['/etc/x'] }, { stat: { path: '/etc/x' } }, 'r.stat.exists', null],
  [{ files: { '/etc/y': '' }, notCaptured: ['/etc/x'] }, { slurp: { src: '/etc/x' } }, 'r.content', null],
  [{ notCaptured: ['/etc'] }, { find: { paths: '/etc' } }, 'r.matched', null],
  [{ swap: [] }, { command: '/sbin/swapon -s' }, 'r.stdout', ''],
  [{ swap: [] }, { command: '/sbin/swapon -s' }, 'true if r.stdout else false', false],
  [{ swap: [{ device: '/swapfile' }] }, { command: 'swapon -s' }, 'true if r.stdout else false', true],
  [{}, { command: 'swapon -s' }, 'r.stdout', null],
  [{ units: { 'a.service': { active: true } } }, { command: 'systemctl is-active a' }, 'r.stdout', 'active'],
  [
    { units: { 'a.service': { active: false } } },
    { command: 'systemctl is-active --quiet a.service' },
    'r.rc != 0',
    true,
  ],
  [{ units: {} }, { command: 'systemctl is-active a', failed_when: false }, 'r.rc == 0', false],
  [{}, { command: 'systemctl is-active a' }, 'r.rc', null],
  [{ units: { 'a.service': { active: true, enabled: 'static' } } }, { command: 'systemctl is-enabled a' }, 'r.rc', 0],
  [{ units: { 'a.service': { active: true, enabled: 'masked' } } }, { command: 'systemctl is-enabled a' }, 'r.rc', 1],
  [{ units: { 'a.service': { active: true } } }, { command: 'systemctl stop a' }, 'r.rc', null],
  [
    { files: { ...bin, '/usr/bin/which': { text: '', mode: 0o755 } } },
    { command: 'which resolvconf', failed_when: false },
    'r.rc',
    1,
  ],
  [{ files: { ...bin, '/usr/bin/which': { text: '', mode: 0o755 } } }, { command: 'which systemctl' }, 'r.rc', 0],
  [{ files: {} }, { command: 'which resolvconf' }, 'r.rc', null],
  [
    { files: { '/proc/mounts': 'c /sys/fs/cgroup cgroup2 rw 0 0\n', '/sys/fs/cgroup/x': '' } },
    { command: 'stat -fc %T /sys/fs/cgroup/' },
    'r.stdout',
    'cgroup2fs',
  ],
  [
    { commands: { 'systemctl --version': 'systemd 252 (252.39-1~deb12u2)\n+PAM +AUDIT\n' } },
    {
      shell: 'set -o pipefail && systemctl --version | head -n 1 | cut -d " " -f 2',
      args: { executable: '/bin/bash' },
    },
    'r.stdout',
    '252',
  ],
  [{}, { command: 'systemctl --version' }, 'r.stdout', null],
  [{ commands: { 'systemctl --version': 'systemd 252\n' } }, { command: 'systemctl --version x' }, 'r.stdout', null],
  ...(
    [
      ["ip -4 route list 0/0 | sed 's/.*dev \\([[:alnum:]]*\\).*/\\1/'", 'eth0'],
      ['ip route show default', 'default via 192.0.2.1 dev eth0 proto dhcp '],
      ['ip -4 route list 192.0.2.0/24', null],
      ['ip -6 route list default', null],
      ['ip route add default via 192.0.2.9', null],
    ] as const
  ).map(
    ([raw, value]) =>
      [
        { commands: { 'ip route': 'default via 192.0.2.1 dev eth0 proto dhcp \n192.0.2.0/24 dev eth0 scope link \n' } },
        { raw },
        'r.stdout_lines[0]',
        value,
      ] as const,
  ),
  [
    { commands: { 'ip route': 'default \n\tnexthop via 192.0.2.1 dev a weight 1 \n192.0.2.0/24 dev a \n' } },
    { command: 'ip route list 0/0' },
    'r.stdout',
    'default \n\tnexthop via 192.0.2.1 dev a weight 1 ',
  ],
  [{ commands: { 'ip route': '192.0.2.0/24 dev a \n' } }, { command: 'ip route list 0/0' }, 'r.stdout', ''],
  [{}, { command: 'ip route list 0/0' }, 'r.stdout', null],
  [{ files: { '/x': 'a\n' } }, { command: 'cat /x', become: false }, 'r.rc', null],
  [{ files: { '/x': 'a\n' } }, { command: 'cat /x', delegate_to: 'other' }, 'r.rc', null],
  [{ files: { '/x': 'a\n' } }, { shell: 'cat /x > /y' }, 'r.rc', null],
  [{ files: { '/x': 'a\nb\n' } }, { raw: 'cat /x' }, "'b' in r.stdout", true],
]

const services = {
  units: { 'a.service': { active: true, enabled: 'enabled' }, 'b.service': { active: false, enabled: 'disabled' } },
  commands: {
    'systemctl list-units --all --plain --no-legend':
      'a.service loaded active running A daemon\nb.service loaded active running B\nc.socket loaded active listening C\n',
  },
} satisfies Host

const facts: readonly (readonly [expression: string, value: unknown])[] = [
  ["ansible_facts.services['a.service'].state", 'running'],
  ["ansible_facts.services['a.service'].status", 'enabled'],
  ["ansible_facts.services['b.service'].state", 'stopped'],
  ["'z.service' in ansible_facts.services", false],
  ["ansible_facts.services['z.service'] is defined", false],
  ["services['a.service'].source", 'systemd'],
]

function runOf(host: Host, tasks: readonly object[]): Run {
  return withTemporary(directory => {
    writeFiles(directory, {
      'site.yml': JSON.stringify([{ hosts: 'h', gather_facts: false, tasks }]),
      inventory: 'h\nother\n',
    })
    const moment = momentIn(host)
    const evidence = evidenceOf(host)
    return analyzeRun(openDirectory(directory), {
      ...defaultRequest,
      playbook: 'site.yml',
      inventory: [join(directory, 'inventory')],
      hostView: { answer: (task, invocation) => answerOf(task, invocation, moment, evidence), ran: () => {} },
    }).run
  })
}

function shownBy(run: Run): Value | undefined {
  const [first] = run.tasks.at(-1)?.invocations ?? []
  const given = first?.arguments.get('msg')
  return given?.kind === 'known' && Array.isArray(given.data) ? (given.data as readonly Value[])[0] : given
}

describe('answers of a captured host', () => {
  for (const [host, task, expression, value] of rows) {
    it(`${JSON.stringify(task)}: ${expression} is ${JSON.stringify(value)}`, () => {
      const shown = shownBy(
        runOf(host, [{ ...task, register: 'r', ignore_errors: true }, { debug: { msg: `{{ [${expression}] }}` } }]),
      )
      assert.deepEqual(shown?.kind === 'known' ? toJson(shown) : null, value)
    })
  }

  for (const [expression, value] of facts) {
    it(`service_facts: ${expression} is ${JSON.stringify(value)}`, () => {
      const shown = shownBy(runOf(services, [{ service_facts: {} }, { debug: { msg: `{{ [${expression}] }}` } }]))
      assert.deepEqual(shown?.kind === 'known' ? toJson(shown) : null, value)
    })
  }

  // biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg
  const dpkg = 'dpkg-query -W -f ${Package} ${Version} ${Architecture} ${db:Status-Abbrev}\\n'
  const rpm = 'rpm -qa --qf %{NAME} %{EPOCHNUM} %{VERSION} %{RELEASE} %{ARCH}\\n'
  for (const [command, stdout, expression, value] of [
    [dpkg, 'curl 8.1-2 amd64 ii \nold 1 amd64 rc \n', 'packages.curl[0].version', '8.1-2'],
    [dpkg, 'curl 8.1-2 amd64 ii \nold 1 amd64 rc \n', "'old' in packages", false],
    [dpkg, 'libc6 2 amd64 ii \nlibc6 2 i386 ii \n', "packages.libc6 | map(attribute='arch') | list", ['amd64', 'i386']],
    [dpkg, 'curl 8.1-2 amd64 ii \n', 'packages.curl[0].origin', null],
    [rpm, 'bash 0 5.1 6.el9 x86_64\ngpg-pubkey 0 1 2 (none)\n', 'packages.bash[0].release', '6.el9'],
    [rpm, 'bind 32 9.16 1 x86_64\n', 'packages.bind[0].epoch', 32],
    ['nothing', '', "'x' in packages", null],
  ] as const) {
    it(`package_facts: ${expression} is ${JSON.stringify(value)}`, () => {
      const facts = expression.replaceAll('packages', 'ansible_facts.packages')
      const host: Host = { commands: { [command]: stdout } }
      const shown = shownBy(runOf(host, [{ package_facts: {} }, { debug: { msg: `{{ [${facts}] }}` } }]))
      assert.deepEqual(shown?.kind === 'known' ? toJson(shown) : null, value)
    })
  }

  it('stops at a task that the host says fails, and passes one that succeeds', () => {
    const { checks } = runOf({ files: { '/x': '' } }, [
      { name: 'lone', command: 'cat /nosuch', changed_when: false },
      { name: 'fine', command: 'cat /x', changed_when: false },
      { name: 'registered', slurp: { src: '/nosuch' }, register: 'r' },
      { name: 'ignored', slurp: { src: '/nosuch' }, ignore_errors: true },
      { name: 'judged', command: 'cat /x', register: 'r', failed_when: 'r.rc == 0' },
    ])
    assert.deepEqual(
      checks.map(({ kind, outcome, task }) => `${task.name}: ${kind} ${outcome}`),
      ['lone: command stops', 'fine: command passes', 'registered: command stops', 'judged: failed_when stops'],
    )
  })

  it('is asked at each task, after being told of every task before it', () => {
    withTemporary(directory => {
      const tasks = [
        { name: 'one', command: 'touch /a', notify: 'handler' },
        { name: 'two', stat: { path: '/a' } },
        { meta: 'flush_handlers' },
        { name: 'three', stat: { path: '/a' } },
      ]
      const handlers = [{ name: 'handler', command: 'touch /b' }]
      writeFiles(directory, {
        'site.yml': JSON.stringify([{ hosts: 'h', gather_facts: false, tasks, handlers }]),
        inventory: 'h\n',
      })
      const told: string[] = []
      analyzeRun(openDirectory(directory), {
        ...defaultRequest,
        playbook: 'site.yml',
        inventory: [join(directory, 'inventory')],
        hostView: {
          answer: task => {
            told.push(`? ${task.name ?? task.action}`)
            return undefined
          },
          ran: run => void told.push(run.name),
        },
      })
      assert.deepEqual(
        told.filter(each => !each.endsWith('meta')),
        ['? one', 'one', '? two', 'two', '? handler', 'handler', '? three', 'three'],
      )
    })
  })
})
