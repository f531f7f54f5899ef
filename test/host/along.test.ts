import assert from 'node:assert/strict'
import { join } from 'node:path'
import { defaultRequest } from '../../src/analyze.js'
import { analyzeHost, reportedHost } from '../../src/commands/hosts.js'
import { textAt } from '../../src/evidence/host-files.js'
import { openDirectory } from '../../src/source/directory.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { evidenceOf } from './evidence-of.js'
import { filesOf } from './files.js'
import { debian12, enabledService, type HostRecord, listening } from './sample-hosts.js'

const agent: HostRecord = {
  ...enabledService('agent.service', '/usr/local/bin/agent'),
  ...listening([{ port: 10250, inode: 4711, pid: 812, program: 'agent', cgroup: '/system.slice/agent.service' }]),
}
const socket: HostRecord = {
  '/etc/systemd/system/agent.socket': '[Socket]\nListenStream=10250\n[Install]\nWantedBy=sockets.target\n',
  '/etc/systemd/system/agent.service': '[Service]\nExecStart=/usr/local/bin/agent\n',
  '/etc/systemd/system/sockets.target.wants/agent.socket': { link: '/etc/systemd/system/agent.socket' },
}
const look = { command: 'ask-somebody', register: 'r' }

/** What a task does to a host: tasks, what the host has beside the sample, and what becomes of it. */
const rows: readonly {
  readonly says: string
  readonly tasks: readonly object[]
  readonly host?: HostRecord
  readonly problems?: Readonly<Record<string, readonly [now: string, afterRun: string, afterReboot: string]>>
  readonly stops?: readonly RegExp[]
  readonly open?: readonly RegExp[]
  readonly files?: Readonly<Record<string, string | null>>
  /** Only these files are there, not those of the sample. */
  readonly alone?: true
  /** The operator's commands, by problem. */
  readonly commands?: Readonly<Record<string, readonly string[]>>
}[] = [
  {
    says: 'a unit that is stopped and disabled',
    tasks: [{ systemd: { name: 'agent', state: 'stopped', enabled: false } }],
    host: agent,
    problems: { port_10250: ['problem', 'ok', 'ok'] },
  },
  {
    says: 'a unit that is only stopped',
    tasks: [{ service: { name: 'agent', state: 'stopped' } }],
    host: agent,
    problems: { port_10250: ['problem', 'ok', 'problem'] },
  },
  {
    says: 'a unit that is masked',
    tasks: [{ systemd: { name: 'agent.service', state: 'stopped', masked: true } }],
    host: {
      ...agent,
      '/etc/systemd/system/agent.service': '',
      '/usr/lib/systemd/system/agent.service': '[Service]\nExecStart=/x\n',
    },
    problems: { port_10250: ['problem', 'ok', 'ok'] },
  },
  {
    says: 'a process that is killed and started again at boot',
    tasks: [{ command: 'pkill agent' }],
    host: agent,
    problems: { port_10250: ['problem', 'ok', 'problem'] },
  },
  {
    says: 'a unit whose name only the host knows',
    tasks: [look, { systemd: { name: '{{ r.stdout }}', state: 'stopped' } }],
    host: agent,
    problems: { port_10250: ['problem', 'unknown', 'unknown'] },
  },
  {
    says: 'tasks of a file whose name only the host knows',
    tasks: [look, { include_tasks: '{{ r.stdout }}' }],
    host: agent,
    problems: { port_10250: ['problem', 'unknown', 'unknown'] },
  },
  {
    says: 'a task that only may run',
    tasks: [look, { systemd: { name: 'agent', state: 'stopped', enabled: false }, when: 'r.rc == 0' }],
    host: agent,
    problems: { port_10250: ['problem', 'unknown', 'unknown'] },
  },
  {
    says: 'a socket unit that is started at boot and not before',
    tasks: [],
    host: socket,
    problems: { port_10250: ['ok', 'ok', 'problem'] },
  },
  {
    says: 'a setting of which only the host knows the name, after one that is needed',
    tasks: [
      { sysctl: { name: 'net.ipv4.ip_forward', value: '1', sysctl_file: '/etc/sysctl.d/50-a.conf' } },
      look,
      { sysctl: { name: '{{ r.stdout }}', value: '0', sysctl_file: '/etc/sysctl.d/60-b.conf' } },
    ],
    problems: { ip_forward: ['problem', 'unknown', 'unknown'] },
  },
  {
    says: 'a file that is applied as a whole',
    tasks: [{ sysctl: { name: 'vm.swappiness', value: '1', sysctl_file: '/etc/sysctl.conf' } }],
    host: { '/etc/sysctl.conf': 'net.ipv4.ip_forward = 1\n', '/proc/sys/vm/swappiness': '60\n' },
    problems: { ip_forward: ['problem', 'ok', 'ok'] },
    files: { '/etc/sysctl.conf': 'net.ipv4.ip_forward=1\nvm.swappiness=1\n' },
  },
  {
    says: 'a line put into a file',
    tasks: [{ lineinfile: { path: '/etc/sysctl.d/9.conf', line: 'net.ipv4.ip_forward = 1', create: true } }],
    problems: { ip_forward: ['problem', 'problem', 'ok'] },
    files: { '/etc/sysctl.d/9.conf': 'net.ipv4.ip_forward = 1\n' },
  },
  {
    says: 'lines taken out by a pattern',
    tasks: [{ lineinfile: { path: '/etc/fstab', regexp: '\\sswap\\s', state: 'absent' } }],
    host: { '/etc/fstab': '/dev/sda1 / ext4 defaults 0 1\n/swap none swap sw 0 0\n' },
    problems: { swap: ['ok', 'ok', 'ok'] },
    files: { '/etc/fstab': '/dev/sda1 / ext4 defaults 0 1\n' },
  },
  {
    says: 'a file system that is mounted, now and at each boot',
    tasks: [{ mount: { path: '/sys/fs/bpf', src: 'bpffs', fstype: 'bpf', state: 'mounted' } }],
    host: { '/etc/fstab': '/dev/sda1 / ext4 defaults 0 1\n/swap none swap sw 0 0' },
    problems: { swap: ['ok', 'ok', 'problem'] },
    files: {
      '/etc/fstab': '/dev/sda1 / ext4 defaults 0 1\n/swap none swap sw 0 0\nbpffs /sys/fs/bpf bpf defaults 0 0\n',
    },
  },
  {
    says: 'a mount that has its line already',
    tasks: [{ mount: { path: '/srv', src: '/dev/b', fstype: 'xfs', opts: 'ro', passno: 2, state: 'present' } }],
    host: { '/etc/fstab': '/dev/a /srv ext4 defaults 0 0\n' },
    problems: { swap: ['ok', 'ok', 'ok'] },
    files: { '/etc/fstab': '/dev/b /srv xfs ro 0 2\n' },
  },
  ...(
    [
      ['swap', { path: 'none', src: '/swap', fstype: 'swap', state: 'present' }],
      ['a mount that is not for boots', { path: '/srv', src: '/dev/b', fstype: 'xfs', boot: false, state: 'present' }],
      ['a mount of something the host says', { path: '/srv', src: '{{ r.stdout }}', fstype: 'xfs', state: 'present' }],
    ] as const
  ).map(([what, mount]) => ({
    says: `an entry of fstab that is not worked out: ${what}`,
    tasks: [look, { mount }],
    problems: { swap: ['ok', 'ok', 'unknown'] as const },
  })),
  {
    says: 'a line of fstab with too few fields is not taken to become another',
    tasks: [{ mount: { path: '/srv', src: '/dev/b', fstype: 'xfs', state: 'present' } }],
    host: { '/etc/fstab': '/dev/a /srv ext4 defaults\n' },
    problems: { swap: ['ok', 'ok', 'unknown'] },
  },
  {
    says: 'a file that goes',
    tasks: [{ file: { path: '/etc/sysctl.d/zz.conf', state: 'absent' } }],
    host: { '/etc/sysctl.d/50.conf': 'net.ipv4.ip_forward=1\n', '/etc/sysctl.d/zz.conf': 'net.ipv4.ip_forward=0\n' },
    problems: { ip_forward: ['problem', 'problem', 'ok'] },
    files: { '/etc/sysctl.d/zz.conf': null },
  },
  {
    says: 'a package that comes to a host of a few files, of which one says otherwise',
    tasks: [
      { package: { name: 'curl' } },
      { sysctl: { name: 'net.ipv4.ip_forward', value: '1', sysctl_file: '/etc/sysctl.d/50-a.conf' } },
    ],
    host: { '/proc/sys/net/ipv4/ip_forward': '0\n', '/etc/sysctl.d/zz.conf': 'net.ipv4.ip_forward = 0\n' },
    alone: true,
    problems: { ip_forward: ['problem', 'ok', 'problem'] },
    commands: { ip_forward: ["sed -i '1s/^/# /' /etc/sysctl.d/zz.conf"] },
  },
  {
    says: 'SELinux made permissive for good',
    tasks: [{ selinux: { policy: 'targeted', state: 'permissive' } }],
    host: {
      '/sys/fs/selinux/enforce': '1',
      '/etc/selinux/config': '# SELINUX= says\nSELINUX=enforcing\nSELINUXTYPE=targeted\n',
    },
    problems: { selinux: ['problem', 'ok', 'ok'] },
    files: { '/etc/selinux/config': '# SELINUX= says\nSELINUX=permissive\nSELINUXTYPE=targeted\n' },
  },
  {
    says: 'SELinux made permissive now',
    tasks: [{ command: 'setenforce 0' }],
    host: { '/sys/fs/selinux/enforce': '1', '/etc/selinux/config': 'SELINUX=enforcing\n' },
    problems: { selinux: ['problem', 'ok', 'problem'] },
  },
  {
    says: 'a kernel module that is not there',
    tasks: [{ name: 'load it', 'community.general.modprobe': { name: 'nosuch' } }],
    stops: [/^load it: modprobe nosuch fails/],
  },
  {
    says: 'a kernel module that is not there, which does not matter',
    tasks: [{ name: 'load it', 'community.general.modprobe': { name: 'nosuch' }, ignore_errors: true }],
    stops: [],
  },
  {
    says: 'a failure in a block',
    tasks: [{ block: [{ name: 'load it', 'community.general.modprobe': { name: 'nosuch' } }] }],
    stops: [/^load it/],
  },
  {
    says: 'a failure in a block with a rescue',
    tasks: [
      {
        block: [{ name: 'load it', 'community.general.modprobe': { name: 'nosuch' } }],
        rescue: [{ debug: { msg: 'so what' } }],
      },
    ],
    stops: [],
    open: [/^load it/],
  },
]

describe('a run followed on a host', () => {
  for (const { says, tasks, host, problems = {}, stops = [], open = [], files = {}, alone, commands = {} } of rows) {
    it(says, () => {
      const analysis = withTemporary(directory => {
        const play = [{ hosts: 'all', gather_facts: false, tasks }]
        writeFiles(directory, { 'site.yml': JSON.stringify(play), inventory: 'node1\n' })
        return analyzeHost(openDirectory(directory), {
          ...defaultRequest,
          playbook: 'site.yml',
          inventory: [join(directory, 'inventory')],
          hostEvidence: evidenceOf(filesOf(alone ? (host ?? {}) : { ...debian12, ...host })),
        })
      })
      const report = reportedHost(analysis, undefined)
      const found = Object.fromEntries(
        report.problems
          .filter(({ id }) => id in problems)
          .map(({ id, now, afterRun, afterReboot }) => [id, [now.state, afterRun.state, afterReboot.state]]),
      )
      assert.deepEqual(
        found,
        problems,
        JSON.stringify(
          report.problems.filter(({ id }) => id in problems),
          null,
          1,
        ),
      )
      for (const [id, expected] of Object.entries(commands)) {
        const steps = report.problems.find(each => each.id === id)?.steps ?? []
        assert.deepEqual(
          steps.map(({ command }) => command),
          expected,
        )
      }
      for (const [list, expected] of [
        [report.stops, stops],
        [report.open, open],
      ] as const) {
        const texts = list.map(({ task, because }) => `${task}: ${because}`)
        assert.equal(texts.length, expected.length, texts.join('\n'))
        for (const [index, text] of texts.entries()) assert.match(text, expected[index] ?? /^$/)
      }
      for (const [path, text] of Object.entries(files)) {
        const after = textAt(analysis.onHost.moments.afterRun.files, path)
        assert.equal(after.kind === 'known' ? after.value.text : null, text)
      }
    })
  }
})
