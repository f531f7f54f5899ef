import assert from 'node:assert/strict'
import { defaultRequest } from '../../src/analyze.js'
import { analyzeHost, reportedHost } from '../../src/commands/hosts.js'
import { openDirectory } from '../../src/source/directory.js'
import { evidenceOf } from '../host/evidence-of.js'
import { filesOf, type Written } from '../host/files.js'
import { debian12, enabledService } from '../host/sample-hosts.js'
import { withTemporary, writeFiles } from '../source/trees.js'

interface Row {
  readonly says: string
  readonly problem: string
  /** What is otherwise than on the sample host; false for what is not there, with everything below it. */
  readonly host?: Readonly<Record<string, Written | false>>
  /** Paths that were captured, and nothing else; absent: all. */
  readonly captured?: readonly string[]
  /** The tasks of the run, and its handlers. */
  readonly tasks?: string
  readonly handlers?: string
  /** Now, after the run, after the next boot, and who acts. */
  readonly expect: string
  readonly commands?: readonly string[]
  /** `FILE:LINE` of the first place after the next boot. */
  readonly place?: string
  readonly told?: RegExp
}

const START_CONTAINERD = '- service: {name: containerd, state: started, enabled: true}'
const CALICO = '- file: {path: /var/lib/calico, state: directory}'
const KUBELET = (text: string): string =>
  `- copy: {dest: /etc/kubernetes/kubelet-config.yaml, content: "failCgroupV1: ${text}\\n"}`
const KUBEADM = (version: string): string =>
  `- copy: {dest: /etc/kubernetes/kubeadm-config.yaml, content: "kubernetesVersion: v${version}\\n"}\n- command: kubeadm init --config=/etc/kubernetes/kubeadm-config.yaml`
const SEARCH = '- lineinfile: {path: /etc/resolv.conf, line: search default.svc.cluster.local svc.cluster.local}'
const TELL_RESOLVED =
  '- copy: {dest: /etc/systemd/resolved.conf.d/k.conf, content: "[Resolve]\\nDomains=svc.cluster.local\\n"}'
const V1 = { '/sys/fs/cgroup/cgroup.controllers': false } as const
const service = (name: string): Readonly<Record<string, Written>> => ({
  ...enabledService(name, `/usr/sbin/${name}`),
  [`/sys/fs/cgroup/system.slice/${name}/cgroup.procs`]: '900\n',
})
const NM = service('NetworkManager.service')
const RESOLVED = {
  ...service('systemd-resolved.service'),
  '/etc/resolv.conf': { link: '../run/systemd/resolve/stub-resolv.conf' },
  '/run/systemd/resolve/stub-resolv.conf': 'nameserver 127.0.0.53\nsearch example\n',
} as const
const OLD_NAME = { '/etc/hostname': 'localhost.localdomain\n', '/proc/sys/kernel/hostname': 'localhost.localdomain\n' }

const rows: readonly Row[] = [
  { says: 'v2', problem: 'cgroup_v2', expect: 'ok ok ok -' },
  {
    says: 'v1, which the kubelet refuses',
    problem: 'cgroup_v2',
    host: { ...V1, '/etc/default/grub': 'A=1\nGRUB_CMDLINE_LINUX="quiet systemd.unified_cgroup_hierarchy=0"\n' },
    tasks: KUBELET('true'),
    expect: 'problem problem problem operator',
    commands: [
      `sed -i '2s/.*/GRUB_CMDLINE_LINUX="quiet systemd.unified_cgroup_hierarchy=1"/' /etc/default/grub`,
      'update-grub',
      'reboot',
    ],
  },
  {
    says: 'v1, where there is no file of GRUB',
    problem: 'cgroup_v2',
    host: { ...V1, '/etc/os-release': 'ID=rocky\nID_LIKE="rhel fedora"\n' },
    tasks: KUBELET('True'),
    expect: 'problem problem problem operator',
    commands: [
      'grubby --update-kernel=ALL --remove-args=systemd.unified_cgroup_hierarchy --args=systemd.unified_cgroup_hierarchy=1',
      'reboot',
    ],
  },
  {
    says: 'v1, which the kubelet takes',
    problem: 'cgroup_v2',
    host: V1,
    tasks: KUBELET('false'),
    expect: 'ok ok ok -',
  },
  { says: 'v1, before 1.35', problem: 'cgroup_v2', host: V1, tasks: KUBEADM('1.33.1'), expect: 'ok ok ok -' },
  {
    says: 'v1, and no word of the kubelet',
    problem: 'cgroup_v2',
    host: V1,
    expect: 'unknown unknown unknown -',
    told: /whether the kubelet starts on it is not known/,
  },
  {
    says: 'not captured',
    problem: 'cgroup_v2',
    captured: ['/etc'],
    tasks: KUBELET('true'),
    expect: 'unknown unknown unknown -',
  },
  {
    says: 'the run asks for v2, which the next boot has',
    problem: 'cgroup_v2',
    host: V1,
    tasks: `${KUBELET('true')}\n- command: grubby --update-kernel=ALL --args=systemd.unified_cgroup_hierarchy=1`,
    expect: 'problem problem ok kubespray+operator',
    place: '/proc/cmdline:1',
  },
  {
    says: 'the run asks for v1 and boots',
    problem: 'cgroup_v2',
    tasks: `${KUBELET('true')}\n- command: grubby --update-kernel=ALL --args=systemd.unified_cgroup_hierarchy=0\n- reboot:`,
    expect: 'ok problem problem operator',
  },

  { says: 'new enough', problem: 'kernel_version', tasks: KUBEADM('1.35.0'), expect: 'ok ok ok -' },
  {
    says: 'older than kubeadm takes',
    problem: 'kernel_version',
    host: { '/proc/sys/kernel/osrelease': '4.18.0-553.el8.x86_64\n', '/etc/os-release': 'ID=rocky\n' },
    tasks: KUBEADM('1.33.1'),
    expect: 'problem problem problem operator',
    commands: ['dnf upgrade kernel && reboot'],
    told: /kubeadm stops at one before 4\.19/,
  },
  {
    says: 'old, and new enough for an old release',
    problem: 'kernel_version',
    host: { '/proc/sys/kernel/osrelease': '4.18.0-553.el8.x86_64\n' },
    tasks: KUBEADM('1.31.4'),
    expect: 'ok ok ok -',
  },
  {
    says: 'old, which kubeadm is to pass over',
    problem: 'kernel_version',
    host: { '/proc/sys/kernel/osrelease': '4.18.0-553.el8.x86_64\n' },
    tasks: '- command: kubeadm init --ignore-preflight-errors=Port-10250,SystemVerification',
    expect: 'ok ok ok -',
  },
  {
    says: 'old, for a release that is not known',
    problem: 'kernel_version',
    host: { '/proc/sys/kernel/osrelease': '4.18.0-553.el8.x86_64\n' },
    expect: 'unknown unknown unknown -',
  },
  {
    says: 'old, with a kernel that comes',
    problem: 'kernel_version',
    host: { '/proc/sys/kernel/osrelease': '3.9.1\n' },
    tasks: '- dnf: {name: kernel, state: latest}',
    expect: 'problem problem unknown operator',
  },
  {
    says: 'old, by a check of the run',
    problem: 'kernel_version',
    tasks: "- assert:\n    that: ansible_facts.kernel is version('6.6', '>=')",
    expect: 'problem problem problem operator',
  },
  { says: 'not captured', problem: 'kernel_version', captured: ['/etc'], expect: 'unknown unknown unknown -' },

  { says: 'a good name', problem: 'hostname', expect: 'ok ok ok -', place: '/etc/hostname:1' },
  {
    says: 'no name of its own',
    problem: 'hostname',
    host: OLD_NAME,
    expect: 'problem problem problem operator',
    commands: ['hostnamectl set-hostname node1'],
    place: '/etc/hostname:1',
  },
  {
    says: 'a name with what no node can have, behind a comment',
    problem: 'hostname',
    host: { '/etc/hostname': '# ours\nweb_1\n', '/proc/sys/kernel/hostname': 'web_1\n' },
    expect: 'problem problem problem operator',
    place: '/etc/hostname:2',
  },
  {
    says: 'the run gives it one',
    problem: 'hostname',
    host: OLD_NAME,
    tasks: '- hostname: {name: "{{ inventory_hostname }}"}',
    expect: 'problem ok ok kubespray',
  },
  {
    says: 'the run gives it one until the next boot',
    problem: 'hostname',
    host: OLD_NAME,
    tasks: '- command: hostname node1',
    expect: 'problem ok problem kubespray+operator',
  },
  {
    says: 'cloud-init may take it back',
    problem: 'hostname',
    host: { ...OLD_NAME, ...enabledService('cloud-init.service', '/usr/bin/cloud-init init') },
    tasks: '- hostname: {name: node1}',
    expect: 'problem ok unknown kubespray',
    commands: ["echo 'preserve_hostname: true' > /etc/cloud/cloud.cfg.d/99-hostname.cfg"],
  },
  {
    says: 'none at boot',
    problem: 'hostname',
    host: { '/etc/hostname': false },
    expect: 'ok ok unknown -',
    told: /DHCP/,
  },
  {
    says: 'the kernel is told one',
    problem: 'hostname',
    host: { '/etc/hostname': false, '/proc/cmdline': 'ro systemd.hostname=node7\n' },
    expect: 'ok ok ok -',
    place: '/proc/cmdline:1',
  },

  {
    says: 'no line',
    problem: 'etc_hosts',
    expect: 'ok ok ok -',
    told: /no line of \/etc\/hosts names node1; whether DNS/,
  },
  {
    says: 'a loopback address',
    problem: 'etc_hosts',
    host: { '/etc/hosts': '127.0.0.1 localhost\n127.0.1.1 node1\n' },
    expect: 'ok ok ok -',
    place: '/etc/hosts:2',
    told: /\/etc\/hosts:2 names node1 by a loopback address \(127\.0\.1\.1\)/,
  },
  {
    says: 'an address of the host',
    problem: 'etc_hosts',
    host: { '/etc/hosts': '192.0.2.11 node1.example node1 # here\n' },
    expect: 'ok ok ok -',
    told: /\/etc\/hosts names node1: 192\.0\.2\.11/,
  },
  {
    says: 'an address of another',
    problem: 'etc_hosts',
    host: {
      '/etc/hosts': '# 192.0.2.11 node1\n192.0.2.99 NODE1\n',
      '/proc/net/fib_trie': 'Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.11\n        /32 host LOCAL\n',
    },
    expect: 'unknown unknown unknown -',
    place: '/etc/hosts:undefined',
    commands: ['getent ahosts node1'],
  },
  {
    says: 'the run names it',
    problem: 'etc_hosts',
    tasks: '- lineinfile: {path: /etc/hosts, line: 192.0.2.11 node1}',
    expect: 'ok ok ok -',
    told: /\/etc\/hosts names node1: 192\.0\.2\.11/,
  },
  { says: 'not captured', problem: 'etc_hosts', captured: ['/proc'], expect: 'unknown unknown unknown -' },

  { says: 'none', problem: 'network_manager', tasks: CALICO, expect: 'ok ok ok -' },
  { says: 'another network', problem: 'network_manager', host: NM, expect: 'ok ok ok -', told: /no Calico/ },
  {
    says: 'it manages them',
    problem: 'network_manager',
    host: NM,
    tasks: CALICO,
    expect: 'problem problem problem operator',
    commands: [
      "printf '[keyfile]\\nunmanaged-devices+=interface-name:cali*;interface-name:tunl*;interface-name:vxlan.calico\\n' > /etc/NetworkManager/conf.d/calico.conf",
      'systemctl reload NetworkManager',
    ],
  },
  {
    says: 'told in a file of its own',
    problem: 'network_manager',
    host: { ...NM, '/etc/NetworkManager/conf.d/a.conf': '[keyfile]\nunmanaged-devices=*,except:interface-name:eth0\n' },
    tasks: CALICO,
    expect: 'ok ok ok -',
    place: '/etc/NetworkManager/conf.d/a.conf:2',
  },
  {
    says: 'a section that may not fit the devices of pods',
    problem: 'network_manager',
    host: { ...NM, '/etc/NetworkManager/conf.d/a.conf': '[device]\nmatch-device=type:ethernet\nmanaged=0\n' },
    tasks: CALICO,
    expect: 'unknown unknown unknown -',
  },
  {
    says: 'the first section that fits manages them',
    problem: 'network_manager',
    host: {
      ...NM,
      '/etc/NetworkManager/conf.d/a.conf':
        '[device-a]\nmatch-device=interface-name:cali*\nmanaged=1\n[device]\nmanaged=0\n',
    },
    tasks: CALICO,
    expect: 'problem problem problem operator',
  },
  {
    says: 'stars without end',
    problem: 'network_manager',
    host: {
      ...NM,
      '/etc/NetworkManager/conf.d/a.conf': `[keyfile]\nunmanaged-devices=interface-name:${'*'.repeat(500)}x\n`,
    },
    tasks: CALICO,
    expect: 'problem problem problem operator',
  },
  {
    says: 'a later file begins the list anew',
    problem: 'network_manager',
    host: { ...NM, '/etc/NetworkManager/conf.d/zz.conf': '[keyfile]\nunmanaged-devices=interface-name:docker0\n' },
    tasks: `${CALICO}\n- copy: {dest: /etc/NetworkManager/conf.d/calico.conf, content: "[keyfile]\\nunmanaged-devices+=interface-name:cali*\\n"}\n- service: {name: NetworkManager, state: restarted}`,
    expect: 'problem problem problem operator',
    place: '/etc/NetworkManager/conf.d/zz.conf:2',
    commands: [
      "sed -i '2s/.*/unmanaged-devices+=interface-name:docker0/' /etc/NetworkManager/conf.d/zz.conf",
      'systemctl reload NetworkManager',
    ],
  },
  {
    says: 'the run tells it by a handler',
    problem: 'network_manager',
    host: NM,
    tasks: `${CALICO}\n- copy: {dest: /etc/NetworkManager/conf.d/calico.conf, content: "[keyfile]\\nunmanaged-devices+=interface-name:cali*\\n"}\n  notify: Read`,
    handlers: '- name: Read\n  service: {name: NetworkManager.service, state: restarted}',
    expect: 'problem ok ok kubespray',
  },
  {
    says: 'the run tells it, and nothing has it read that',
    problem: 'network_manager',
    host: NM,
    tasks: `${CALICO}\n- copy: {dest: /etc/NetworkManager/conf.d/calico.conf, content: "[keyfile]\\nunmanaged-devices+=interface-name:cali*\\n"}`,
    expect: 'problem problem ok kubespray+operator',
    commands: ['systemctl reload NetworkManager'],
  },
  {
    says: 'its settings were not captured',
    problem: 'network_manager',
    host: NM,
    captured: ['/etc/systemd', '/usr/lib/systemd', '/sys', '/proc'],
    tasks: CALICO,
    expect: 'unknown unknown unknown -',
  },

  { says: 'nobody asks for it', problem: 'resolv_conf', expect: 'ok ok ok -', told: /Kubernetes does without/ },
  { says: 'a plain file', problem: 'resolv_conf', tasks: SEARCH, expect: 'problem ok ok kubespray' },
  {
    says: 'a plain file that dhclient may write anew',
    problem: 'resolv_conf',
    host: { '/etc/dhcp/dhclient.conf': '# nothing\n' },
    tasks: SEARCH,
    expect: 'problem ok unknown kubespray',
    told: /dhclient writes/,
  },
  {
    says: 'a plain file that dhclient is told to keep',
    problem: 'resolv_conf',
    host: { '/etc/dhcp/dhclient.conf': 'supersede domain-search "svc.cluster.local";\n' },
    tasks: SEARCH,
    expect: 'problem ok ok kubespray',
  },
  {
    says: 'a plain file that NetworkManager writes anew',
    problem: 'resolv_conf',
    host: NM,
    tasks: SEARCH,
    expect: 'problem ok unknown kubespray',
  },
  {
    says: 'the same, and NetworkManager leaves it',
    problem: 'resolv_conf',
    host: { ...NM, '/etc/NetworkManager/NetworkManager.conf': '[main]\ndns=none\n' },
    tasks: SEARCH,
    expect: 'problem ok ok kubespray',
  },
  {
    says: 'no name server',
    problem: 'resolv_conf',
    host: { '/etc/resolv.conf': '# none\n' },
    tasks: SEARCH,
    expect: 'problem problem ok kubespray+operator',
  },
  {
    says: 'systemd-resolved, read',
    problem: 'resolv_conf',
    host: RESOLVED,
    tasks: `${TELL_RESOLVED}\n- service: {name: systemd-resolved, state: restarted}`,
    expect: 'problem ok ok kubespray',
    place: '/etc/systemd/resolved.conf.d/k.conf:2',
  },
  {
    says: 'systemd-resolved, not read',
    problem: 'resolv_conf',
    host: RESOLVED,
    tasks: TELL_RESOLVED,
    expect: 'problem problem ok kubespray+operator',
    commands: ['systemctl restart systemd-resolved.service'],
  },
  {
    says: 'systemd-resolved is told, and the file does not lead there',
    problem: 'resolv_conf',
    host: { ...RESOLVED, '/etc/resolv.conf': 'nameserver 192.0.2.1\n' },
    tasks: `${TELL_RESOLVED}\n- service: {name: systemd-resolved, state: restarted}`,
    expect: 'problem problem problem operator',
    commands: ['ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf'],
  },
  {
    says: 'the file leads to systemd-resolved, which nothing starts',
    problem: 'resolv_conf',
    host: { ...RESOLVED, '/etc/systemd/system/multi-user.target.wants/systemd-resolved.service': false },
    tasks: `${TELL_RESOLVED}\n- service: {name: systemd-resolved, state: restarted}`,
    expect: 'problem ok problem kubespray+operator',
    commands: ['systemctl enable --now systemd-resolved.service'],
  },
  {
    says: 'not captured',
    problem: 'resolv_conf',
    captured: ['/proc'],
    tasks: SEARCH,
    expect: 'unknown unknown unknown -',
  },

  { says: 'none', problem: 'other_container_runtime', tasks: START_CONTAINERD, expect: 'ok ok ok -' },
  {
    says: 'its own',
    problem: 'other_container_runtime',
    host: service('containerd.service'),
    tasks: START_CONTAINERD,
    expect: 'ok ok ok -',
  },
  {
    says: 'Docker with its socket',
    problem: 'other_container_runtime',
    host: {
      ...service('docker.service'),
      '/etc/systemd/system/docker.socket':
        '[Socket]\nListenStream=/run/docker.sock\n[Install]\nWantedBy=sockets.target\n',
      '/etc/systemd/system/sockets.target.wants/docker.socket': { link: '../docker.socket' },
    },
    tasks: START_CONTAINERD,
    expect: 'problem problem problem operator',
    commands: ['systemctl disable --now docker.service docker.socket', 'systemctl disable --now docker.socket'],
  },
  {
    says: 'CRI-O, which the run takes off',
    problem: 'other_container_runtime',
    host: service('crio.service'),
    tasks: `- service: {name: crio, state: stopped, enabled: false}\n${START_CONTAINERD}`,
    expect: 'problem ok ok kubespray',
  },
  {
    says: 'CRI-O, which the run stops only',
    problem: 'other_container_runtime',
    host: service('crio.service'),
    tasks: `- service: {name: crio, state: stopped}\n${START_CONTAINERD}`,
    expect: 'problem ok problem kubespray+operator',
    commands: ['systemctl disable --now crio.service'],
    place: '/etc/systemd/system/multi-user.target.wants/crio.service:undefined',
  },
  {
    says: 'containerd beside Docker, which runs by it',
    problem: 'other_container_runtime',
    host: service('containerd.service'),
    tasks: '- service: {name: docker, state: started}',
    expect: 'ok ok ok -',
  },
  { says: 'the run uses none', problem: 'other_container_runtime', expect: 'unknown unknown unknown -' },
  {
    says: 'units were not captured',
    problem: 'other_container_runtime',
    captured: ['/proc'],
    tasks: START_CONTAINERD,
    expect: 'unknown unknown unknown -',
  },
]

function hostOf({ host = {}, captured }: Row): Readonly<Record<string, Written>> {
  const files = new Map<string, Written>(Object.entries(debian12))
  for (const [path, change] of Object.entries(host)) {
    if (change === false) files.delete(path)
    else files.set(path, change)
  }
  const isCaptured = ([path]: readonly [string, Written]): boolean =>
    captured === undefined || captured.some(each => path.startsWith(`${each}/`))
  return Object.fromEntries([...files].filter(isCaptured))
}

/** Each line of a list of YAML further in. */
const indented = (text: string): string => text.replaceAll(/^/gm, '    ')

describe('looks at a host', () => {
  for (const row of rows) {
    it(`${row.problem}: ${row.says}`, () => {
      const { tasks = '- debug: {msg: nothing}', handlers = '- name: None\n  debug: {msg: nothing}' } = row
      const playbook = `- hosts: all\n  gather_facts: false\n  tasks:\n${indented(tasks)}\n  handlers:\n${indented(handlers)}\n`
      const [found] = withTemporary(root => {
        writeFiles(root, { 'cluster.yml': playbook })
        const hostEvidence = evidenceOf(filesOf(hostOf(row), row.captured))
        return reportedHost(analyzeHost(openDirectory(root), { ...defaultRequest, hostEvidence }), [row.problem])
          .problems
      })
      assert.ok(found !== undefined)
      const { now, afterRun, afterReboot, acts, steps } = found
      const says = [now, afterRun, afterReboot].map(each => each.says)
      assert.equal(
        [now.state, afterRun.state, afterReboot.state, acts.join('+') || '-'].join(' '),
        row.expect,
        says.join('\n'),
      )
      if (row.commands !== undefined)
        assert.deepEqual(
          steps.map(({ command }) => command),
          row.commands,
        )
      const [place] = afterReboot.places
      if (row.place !== undefined) assert.equal(`${place?.file}:${place?.line}`, row.place, says.join('\n'))
      if (row.told !== undefined) assert.match(says.join('\n'), row.told)
    })
  }
})
