import assert from 'node:assert/strict'
import { bootOf } from '../../../src/host/boot/boot.js'
import { loadByProcps } from '../../../src/host/boot/procps.js'
import { swapAtBoot } from '../../../src/host/boot/swap.js'
import { sysctlAtBoot } from '../../../src/host/boot/sysctl.js'
import { writtenTo } from '../../../src/host/boot/sysctl-keys.js'
import { hostMoment, hostTree, type Node } from './host-tree.js'

type Record_ = Readonly<Record<string, Node>>

const RUNNING = {
  'net.ipv4.ip_forward': '0',
  'net.ipv4.conf.all.forwarding': '0',
  'net.ipv4.conf.all.rp_filter': '0',
  'net.ipv4.conf.default.rp_filter': '0',
  'net.ipv4.conf.eth0.rp_filter': '0',
  'net.ipv4.conf.eth0.forwarding': '0',
  'vm.overcommit_memory': '0',
  'kernel.panic': '0',
  'kernel.panic_on_oops': '1',
  'kernel.osrelease': '6.1.0',
}

const RELEASE_FILES = {
  '/lib/modules/6.1.0/modules.dep':
    'kernel/net/bridge/br_netfilter.ko.xz: kernel/net/bridge/bridge.ko.xz kernel/net/802/stp.ko.xz\nkernel/net/bridge/bridge.ko.xz: kernel/net/802/stp.ko.xz\nkernel/net/802/stp.ko.xz:\nkernel/fs/overlayfs/overlay.ko.xz:\n',
  '/lib/modules/6.1.0/modules.builtin': 'kernel/drivers/block/loop.ko\n',
  '/lib/modules/6.1.0/modules.alias': 'alias fs-overlay overlay\n',
}

interface SysctlCase {
  readonly name: string
  readonly files: Record_
  readonly key?: string
  /** The value; `absent`, or `unknown` with a piece of why. */
  readonly value: string | { readonly unknown: RegExp } | 'absent'
  /** `file:line`. */
  readonly by?: string
  readonly overridden?: readonly string[]
  readonly note?: RegExp
  readonly captured?: readonly string[]
  readonly modules?: Readonly<Record<string, 'loaded' | 'built-in'>>
}

const unit = (command: string): string => `[Service]\nExecStart=${command}\n[Install]\nWantedBy=multi-user.target\n`
const enabled = (name: string, text: string): Record_ => ({
  [`/usr/lib/systemd/system/${name}`]: text,
  [`/etc/systemd/system/multi-user.target.wants/${name}`]: { link: `/usr/lib/systemd/system/${name}` },
})

const sysctlCases: readonly SysctlCase[] = [
  { name: 'nobody sets it', files: {}, value: '0' },
  {
    name: 'hardening of a name that sorts last',
    files: {
      '/etc/sysctl.d/99-sysctl.conf': { link: '../sysctl.conf' },
      '/etc/sysctl.conf': '# main\nnet.ipv4.ip_forward=1\n',
      '/etc/sysctl.d/zz-hardening.conf': 'net.ipv4.ip_forward = 0\n',
    },
    value: '0',
    by: '/etc/sysctl.d/zz-hardening.conf:1',
    overridden: ['/etc/sysctl.d/99-sysctl.conf:2'],
  },
  {
    name: 'hardening of a name that sorts first',
    files: {
      '/etc/sysctl.d/90-dev-sec.conf': 'net.ipv4.ip_forward=0\n',
      '/etc/sysctl.d/99-sysctl.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '1',
    by: '/etc/sysctl.d/99-sysctl.conf:1',
    overridden: ['/etc/sysctl.d/90-dev-sec.conf:1'],
  },
  {
    name: 'the main file without a link to it is not read',
    files: { '/etc/sysctl.conf': 'net.ipv4.ip_forward=1\n' },
    value: '0',
  },
  {
    name: 'the other name of the variable',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\nnet.ipv4.conf.all.forwarding=0\n' },
    value: '0',
    by: '/etc/sysctl.d/a.conf:2',
    overridden: ['/etc/sysctl.d/a.conf:1'],
  },
  {
    name: 'the same value again keeps its place before the other name',
    files: {
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n',
      '/etc/sysctl.d/b.conf': 'net.ipv4.conf.all.forwarding=0\n',
      '/etc/sysctl.d/c.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '0',
    by: '/etc/sysctl.d/b.conf:1',
  },
  {
    name: 'a value the kernel refuses leaves the one before',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=true\n' },
    value: '0',
  },
  {
    name: 'a comment behind the number',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward = 1 # routing\n' },
    value: '1',
    by: '/etc/sysctl.d/a.conf:1',
  },
  {
    name: 'a pattern yields to a key that is named before',
    files: {
      '/etc/sysctl.d/10-a.conf': 'net.ipv4.conf.all.rp_filter = 0\n',
      '/etc/sysctl.d/99-z.conf': 'net.ipv4.conf.*.rp_filter = 1\n',
    },
    key: 'net.ipv4.conf.all.rp_filter',
    value: '0',
    by: '/etc/sysctl.d/10-a.conf:1',
  },
  {
    name: 'the pattern sets the interfaces',
    files: {
      '/etc/sysctl.d/10-a.conf': 'net.ipv4.conf.all.rp_filter = 0\n',
      '/etc/sysctl.d/99-z.conf': 'net.ipv4.conf.*.rp_filter = 1\n',
    },
    key: 'net.ipv4.conf.eth0.rp_filter',
    value: '1',
    by: '/etc/sysctl.d/99-z.conf:1',
  },
  {
    name: 'an interface follows the forwarding of all',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n' },
    key: 'net.ipv4.conf.eth0.forwarding',
    value: '1',
  },
  {
    name: 'a default that only an early interface misses',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.conf.default.rp_filter=2\n' },
    key: 'net.ipv4.conf.eth0.rp_filter',
    value: { unknown: /before or after/ },
  },
  {
    name: 'a directory that was not captured',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n' },
    captured: ['/etc', '/usr', '/proc'],
    value: { unknown: /\/run\/sysctl\.d was not captured/ },
  },
  {
    name: 'the vendor directory was not captured',
    files: { '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n' },
    captured: ['/etc', '/run', '/proc'],
    value: { unknown: /\/usr\/lib\/sysctl\.d was not captured/ },
  },
  {
    name: 'junk that comes before the line',
    files: {
      '/etc/sysctl.d/10-junk.conf': Uint8Array.of(0, 1, 255, 10),
      '/etc/sysctl.d/99-a.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '1',
    by: '/etc/sysctl.d/99-a.conf:1',
  },
  {
    name: 'junk that comes after the line',
    files: {
      '/etc/sysctl.d/10-a.conf': 'net.ipv4.ip_forward=1\n',
      '/etc/sysctl.d/99-junk.conf': Uint8Array.of(0, 1, 255, 10),
    },
    value: { unknown: /99-junk\.conf is no text/ },
  },
  {
    name: 'a comment in Latin-1 is no junk',
    files: { '/etc/sysctl.d/10-a.conf': Uint8Array.from(Buffer.from('# f\xfcr\nnet.ipv4.ip_forward=1\n', 'latin1')) },
    value: '1',
    by: '/etc/sysctl.d/10-a.conf:2',
  },
  {
    name: 'what stands in /run is not there after a boot, or is again',
    files: { '/run/sysctl.d/99-a.conf': 'net.ipv4.ip_forward=1\n' },
    value: { unknown: /\/run\/sysctl\.d/ },
  },
  {
    name: 'the service is masked',
    files: {
      '/etc/systemd/system/systemd-sysctl.service': { link: '/dev/null' },
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '0',
    note: /masked/,
  },
  {
    name: 'the kernel command line is weaker than the files',
    files: {
      '/proc/cmdline': 'ro sysctl.net.ipv4.ip_forward=1 panic=10\n',
      '/etc/sysctl.d/a.conf': 'net/ipv4/ip_forward=0\n',
    },
    value: '0',
    by: '/etc/sysctl.d/a.conf:1',
  },
  {
    name: 'the kernel command line alone',
    files: { '/proc/cmdline': 'ro sysctl.net.ipv4.ip_forward=1\n' },
    value: '1',
    by: '/proc/cmdline:',
  },
  { name: 'panic= of the kernel', files: { '/proc/cmdline': 'panic=10' }, key: 'kernel.panic', value: '10' },
  {
    name: 'a default that depends on how the kernel was built',
    files: {},
    key: 'kernel.panic_on_oops',
    value: { unknown: /depends on the kernel/ },
  },
  {
    name: 'docker turns it on again',
    files: {
      ...enabled('docker.service', unit('/usr/bin/dockerd')),
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=0\n',
    },
    value: '1',
    note: /docker\.service/,
  },
  {
    name: 'docker that is told not to',
    files: {
      ...enabled('docker.service', unit('/usr/bin/dockerd')),
      '/etc/docker/daemon.json': '{"ip-forward": false}',
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=0\n',
    },
    value: '0',
  },
  {
    name: 'docker that is installed and not enabled',
    files: { '/usr/lib/systemd/system/docker.service': unit('/usr/bin/dockerd') },
    value: '0',
  },
  {
    name: 'a unit that writes it',
    files: {
      ...enabled('harden.service', unit('/sbin/sysctl -w net.ipv4.ip_forward=0')),
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '0',
    by: '/usr/lib/systemd/system/harden.service:2',
  },
  {
    name: 'a unit whose script writes it',
    files: {
      ...enabled('harden.service', unit('/opt/harden.sh')),
      '/opt/harden.sh': '#!/bin/sh\necho 0 > /proc/sys/net/ipv4/ip_forward\n',
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '0',
  },
  {
    name: 'a unit that writes it sometimes',
    files: {
      ...enabled('harden.service', unit("/bin/sh -c 'test -e /etc/harden && sysctl -w net.ipv4.ip_forward=0'")),
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: { unknown: /harden\.service/ },
  },
  {
    name: 'rc.local that cannot be executed',
    files: { '/etc/rc.local': { text: '#!/bin/sh\nsysctl -w net.ipv4.ip_forward=1\n', mode: 0o644 } },
    value: '0',
  },
  {
    name: 'rc.local',
    files: { '/etc/rc.local': { text: '#!/bin/sh\nsysctl -w net.ipv4.ip_forward=1\n', mode: 0o755 } },
    value: '1',
  },
  {
    name: 'a job at boot that reads the main file',
    files: {
      '/etc/crontab': '@reboot root /sbin/sysctl -p\n',
      '/etc/sysctl.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '1',
    by: '/etc/sysctl.conf:1',
  },
  {
    name: 'ufw applies its own file',
    files: {
      ...enabled('ufw.service', unit('/lib/ufw/ufw-init start')),
      '/etc/ufw/ufw.conf': 'ENABLED=yes\n',
      '/etc/default/ufw': 'IPT_SYSCTL=/etc/ufw/sysctl.conf\n',
      '/etc/ufw/sysctl.conf': '#x\nnet/ipv4/ip_forward=0\n',
      '/etc/sysctl.d/a.conf': 'net.ipv4.ip_forward=1\n',
    },
    value: '0',
    by: '/etc/ufw/sysctl.conf:2',
  },
  {
    name: 'a network of systemd that forwards',
    files: {
      ...enabled('systemd-networkd.service', unit('/usr/lib/systemd/systemd-networkd')),
      '/etc/systemd/network/10.network': '[Network]\nIPForward=yes\n',
    },
    value: { unknown: /256/ },
  },
  {
    name: 'a bridge key without its module',
    files: { ...RELEASE_FILES, '/etc/sysctl.d/a.conf': 'net.bridge.bridge-nf-call-iptables=1\n' },
    key: 'net.bridge.bridge-nf-call-iptables',
    value: 'absent',
    note: /br_netfilter/,
  },
  {
    name: 'a bridge key with its module',
    files: {
      ...RELEASE_FILES,
      '/etc/modules-load.d/k8s.conf': 'br_netfilter',
      '/etc/sysctl.d/a.conf': 'net.bridge.bridge-nf-call-iptables=0\n',
    },
    key: 'net.bridge.bridge-nf-call-iptables',
    value: '0',
    by: '/etc/sysctl.d/a.conf:1',
  },
  {
    name: 'a bridge key whose module comes too late',
    files: {
      ...RELEASE_FILES,
      ...enabled('late.service', unit('/sbin/modprobe br_netfilter')),
      '/etc/sysctl.d/a.conf': 'net.bridge.bridge-nf-call-iptables=0\n',
    },
    key: 'net.bridge.bridge-nf-call-iptables',
    value: '1',
    note: /is loaded after/,
  },
  {
    name: 'a module nobody knows of the kernel',
    files: { '/etc/modules-load.d/k8s.conf': 'br_netfilter' },
    key: 'net.bridge.bridge-nf-call-iptables',
    value: { unknown: /there is no .*modules\.dep/ },
  },
  {
    name: 'a module that is loaded now and asked for at boot',
    files: { '/etc/modules-load.d/k8s.conf': 'br_netfilter' },
    modules: { br_netfilter: 'loaded' },
    key: 'net.bridge.bridge-nf-call-iptables',
    value: '1',
  },
  {
    name: 'a key the kernel does not have',
    files: { '/etc/sysctl.d/a.conf': 'fs.nothing=1\n' },
    key: 'fs.nothing',
    value: 'absent',
  },
]

describe('a setting after the next boot', () => {
  for (const each of sysctlCases) {
    it(each.name, () => {
      const files = hostTree(each.files, each.captured)
      const before = hostMoment(files, { sysctl: RUNNING, modules: each.modules ?? {} })
      const decision = sysctlAtBoot(files, before, each.key ?? 'net.ipv4.ip_forward')
      const { value } = decision
      if (typeof each.value === 'object') {
        assert.equal(value.kind, 'unknown')
        if (value.kind === 'unknown') assert.match(value.because, each.value.unknown)
      } else assert.equal(value.kind === 'known' ? value.value : value.kind, each.value)
      const shown = (place: { file: string; line?: number } | undefined) => `${place?.file}:${place?.line ?? ''}`
      if (each.by !== undefined) assert.equal(shown(decision.decidedBy), each.by)
      if (each.overridden !== undefined) assert.deepEqual(decision.overridden.map(shown), each.overridden)
      if (each.note !== undefined) assert.match(decision.notes.join('\n'), each.note)
    })
  }

  it('reads a file of a megabyte at once', () => {
    const files = hostTree({
      '/etc/sysctl.d/a.conf': 'net.ipv4.conf.*.rp_filter=1\nvm.x=1 # aaaaaaaaaaaaaaaaaaaaa\n'.repeat(16_000),
    })
    const start = performance.now()
    const { value } = sysctlAtBoot(files, hostMoment(files, { sysctl: RUNNING }), 'net.ipv4.conf.all.rp_filter')
    assert.deepEqual(value.kind === 'known' && value.value, '1')
    assert.ok(performance.now() - start < 3000)
  })
})

describe('sysctl -p', () => {
  const files = hostTree({
    '/etc/sysctl.conf': 'net.ipv6.conf.all.disable_ipv6=1\nnet.ipv4.ip_forward=1\nvm.overcommit_memory=9\n',
  })
  const kernel = {
    exists: (path: string) =>
      path.startsWith('net/ipv6') ? ({ kind: 'absent' } as const) : ({ kind: 'known', value: true } as const),
    takes: (path: string, value: string) => writtenTo(path, value).kind === 'takes',
    keys: [],
  }
  for (const [ignoreUnknown, failing] of [
    [false, [1, 3]],
    [true, [3]],
  ] as const) {
    it(ignoreUnknown ? 'passes over unknown keys with -e' : 'fails at a key the kernel does not have', () => {
      const run = loadByProcps(files, '/etc/sysctl.conf', kernel, { ignoreUnknown })
      assert.deepEqual(
        run.failures.map(({ place }) => place.line),
        failing,
      )
      assert.deepEqual(
        run.writes.map(({ path }) => path),
        ['net/ipv4/ip_forward'],
      )
    })
  }
})

describe('a kernel module after the next boot', () => {
  const cases: readonly {
    readonly name: string
    readonly files: Record_
    readonly module?: string
    readonly expected: 'loaded' | 'built-in' | 'absent' | 'unknown'
    readonly captured?: readonly string[]
  }[] = [
    {
      name: 'a file that one of another directory may hide',
      files: { '/usr/lib/modules-load.d/a.conf': 'br_netfilter' },
      captured: ['/usr', '/lib', '/proc', '/run', '/etc/systemd'],
      expected: 'unknown',
    },
    {
      name: 'units were not captured',
      files: {},
      captured: ['/usr', '/lib', '/proc', '/run', '/etc/modules-load.d', '/etc/modprobe.d'],
      expected: 'unknown',
    },
    { name: 'nobody loads it', files: {}, expected: 'absent' },
    { name: 'modules-load.d', files: { '/etc/modules-load.d/a.conf': 'br-netfilter' }, expected: 'loaded' },
    {
      name: 'what it needs comes with it',
      files: { '/etc/modules-load.d/a.conf': 'br_netfilter' },
      module: 'bridge',
      expected: 'loaded',
    },
    {
      name: 'an empty file of the same name',
      files: { '/usr/lib/modules-load.d/a.conf': 'br_netfilter', '/etc/modules-load.d/a.conf': '' },
      expected: 'absent',
    },
    {
      name: 'a name that does not end in .conf',
      files: { '/etc/modules-load.d/a': 'br_netfilter' },
      expected: 'absent',
    },
    {
      name: 'a blacklist',
      files: { '/etc/modules-load.d/a.conf': 'br_netfilter', '/etc/modprobe.d/b.conf': 'blacklist br_netfilter' },
      expected: 'absent',
    },
    {
      name: 'an install line that runs true',
      files: {
        '/etc/modules-load.d/a.conf': 'br_netfilter',
        '/etc/modprobe.d/b.conf': 'install br_netfilter /bin/true',
      },
      expected: 'absent',
    },
    {
      name: 'an install line of what it needs',
      files: { '/etc/modules-load.d/a.conf': 'br_netfilter', '/etc/modprobe.d/b.conf': 'install stp /bin/false' },
      expected: 'absent',
    },
    {
      name: 'an install line that loads it',
      files: {
        '/etc/modules-load.d/a.conf': 'br_netfilter',
        '/etc/modprobe.d/b.conf': 'install br_netfilter /sbin/modprobe --ignore-install br_netfilter',
      },
      expected: 'loaded',
    },
    {
      name: 'an install line nobody knows',
      files: { '/etc/modules-load.d/a.conf': 'br_netfilter', '/etc/modprobe.d/b.conf': 'install br_netfilter /opt/x' },
      expected: 'unknown',
    },
    {
      name: 'module_blacklist=',
      files: { '/etc/modules-load.d/a.conf': 'br_netfilter', '/proc/cmdline': 'module_blacklist=foo,br-netfilter' },
      expected: 'absent',
    },
    { name: 'modules_load=', files: { '/proc/cmdline': 'modules_load=overlay,br_netfilter' }, expected: 'loaded' },
    {
      name: 'the service is masked',
      files: {
        '/etc/modules-load.d/a.conf': 'br_netfilter',
        '/etc/systemd/system/systemd-modules-load.service': { link: '/dev/null' },
      },
      expected: 'absent',
    },
    {
      name: 'a file in /run, which is empty after a boot',
      files: { '/run/modules-load.d/a.conf': 'br_netfilter' },
      expected: 'unknown',
    },
    { name: 'built in', files: {}, module: 'loop', expected: 'built-in' },
    {
      name: 'a unit that loads it',
      files: enabled('a.service', unit('/usr/sbin/modprobe -a overlay br_netfilter')),
      expected: 'loaded',
    },
    { name: 'docker may need it', files: enabled('docker.service', unit('/usr/bin/dockerd')), expected: 'unknown' },
    {
      name: 'the kernel has none of the name',
      files: { '/etc/modules-load.d/a.conf': 'ip_vs' },
      module: 'ip_vs',
      expected: 'absent',
    },
    {
      name: 'junk in modules-load.d',
      files: { '/etc/modules-load.d/a.conf': Uint8Array.of(0, 255) },
      expected: 'unknown',
    },
  ]
  for (const { name, files: record, module = 'br_netfilter', expected, captured } of cases) {
    it(name, () => {
      const files = hostTree({ ...RELEASE_FILES, ...record }, captured)
      const found = bootOf(files, hostMoment(files, { sysctl: RUNNING })).module(module)
      assert.equal(found.kind === 'known' ? found.value : found.kind, expected)
    })
  }
})

describe('swap after the next boot', () => {
  const MASKED: Record_ = { '/etc/systemd/system/swap.target': { link: '/dev/null' } }
  const zram: Record_ = {
    '/usr/lib/systemd/system-generators/zram-generator': 'ELF',
    '/usr/lib/systemd/zram-generator.conf': '# distribution\n[zram0]\nzram-size = min(ram, 8192)\n',
  }
  const line = '/swapfile none swap sw 0 0 # kept\n'
  const zramswap = enabled('zramswap.service', unit('/usr/sbin/zramswap start'))
  const cases: readonly {
    readonly name: string
    readonly files: Record_
    readonly captured?: readonly string[]
    readonly comes?: readonly string[]
    readonly may?: readonly string[]
    readonly cut?: readonly string[]
    readonly why?: RegExp
    readonly unknown?: true
  }[] = [
    { name: 'nothing', files: {} },
    { name: 'a line of fstab', files: { '/etc/fstab': line }, comes: ['fstab /swapfile /etc/fstab:1'] },
    {
      name: 'a masked target',
      files: { '/etc/fstab': line, ...MASKED },
      cut: ['fstab /swapfile /etc/fstab:1'],
      why: /masked/,
    },
    {
      name: 'an empty file masks too',
      files: { '/etc/fstab': line, '/etc/systemd/system/swap.target': '' },
      cut: ['fstab /swapfile /etc/fstab:1'],
    },
    {
      name: 'a mask in /run does not outlive the boot',
      files: { '/etc/fstab': line, '/run/systemd/system/swap.target': { link: '/dev/null' } },
      comes: ['fstab /swapfile /etc/fstab:1'],
    },
    {
      name: 'noauto',
      files: { '/etc/fstab': '/s none swap noauto 0 0\n' },
      cut: ['fstab /s /etc/fstab:1'],
      why: /noauto/,
    },
    {
      name: 'noauto of a DOS file is another word',
      files: { '/etc/fstab': '/s none swap noauto\r\n' },
      comes: ['fstab /s /etc/fstab:1'],
    },
    {
      name: 'the unit of the line is masked',
      files: { '/etc/fstab': line, '/etc/systemd/system/swapfile.swap': { link: '/dev/null' } },
      cut: ['fstab /swapfile /etc/fstab:1'],
      why: /swapfile\.swap is masked/,
    },
    {
      name: 'systemd.swap=0',
      files: { '/etc/fstab': line, '/proc/cmdline': 'quiet systemd.swap=0' },
      cut: ['fstab /swapfile /etc/fstab:1'],
    },
    { name: 'noswap', files: { '/etc/fstab': line, '/proc/cmdline': 'noswap' }, may: ['fstab /swapfile /etc/fstab:1'] },
    { name: 'a container', files: { '/etc/fstab': line, '/.dockerenv': '' }, cut: ['fstab /swapfile /etc/fstab:1'] },
    {
      name: 'fstab was not captured',
      files: {},
      captured: ['/etc/sysctl.d', '/etc/rc.local', '/etc/rc.d', '/usr', '/proc'],
      unknown: true,
    },
    {
      name: 'a swap unit wanted by another target is not cut',
      files: {
        ...MASKED,
        '/etc/systemd/system/data.swap': '[Swap]\nWhat=/data/swap\n',
        '/etc/systemd/system/multi-user.target.wants/data.swap': { link: '../data.swap' },
      },
      comes: ['swap unit /data/swap /etc/systemd/system/multi-user.target.wants/data.swap:'],
    },
    {
      name: 'a swap unit of the target',
      files: {
        ...MASKED,
        '/etc/systemd/system/data.swap': '[Swap]\nWhat=/data/swap\n',
        '/etc/systemd/system/swap.target.wants/data.swap': { link: '../data.swap' },
      },
      cut: ['swap unit /data/swap /etc/systemd/system/swap.target.wants/data.swap:'],
    },
    { name: 'a swap unit nothing links', files: { '/etc/systemd/system/data.swap': '[Swap]\nWhat=/data/swap\n' } },
    {
      name: 'a partition of swap once fstab has no line',
      files: { '/etc/fstab': '', '/proc/swaps': 'Filename Type Size Used Priority\n/dev/sda3 partition 1 0 -2\n' },
      may: ['gpt-auto /dev/sda3 /proc/swaps:'],
    },
    {
      name: 'the same behind a masked target',
      files: { ...MASKED, '/proc/swaps': 'Filename\n/dev/sda3 partition 1 0 -2\n' },
      cut: ['gpt-auto /dev/sda3 /proc/swaps:'],
    },
    {
      name: 'zram-generator',
      files: zram,
      comes: ['zram-generator /dev/zram0 /usr/lib/systemd/zram-generator.conf:2'],
    },
    { name: 'zram-generator, emptied', files: { ...zram, '/etc/systemd/zram-generator.conf': '' } },
    {
      name: 'zram-generator behind a masked target',
      files: { ...zram, ...MASKED },
      cut: ['zram-generator /dev/zram0 /usr/lib/systemd/zram-generator.conf:2'],
    },
    {
      name: 'a file of zram-generator that is not installed',
      files: { '/etc/systemd/zram-generator.conf': '[zram0]\n' },
    },
    {
      name: 'zram as a file system',
      files: { ...zram, '/etc/systemd/zram-generator.conf': '[zram0]\nmount-point = /run/z\n' },
    },
    {
      name: 'a service that turns it on itself, behind a masked target',
      files: { ...zramswap, ...MASKED },
      comes: ['service /dev/zram0 /etc/systemd/system/multi-user.target.wants/zramswap.service:'],
    },
    {
      name: 'the service is masked',
      files: { ...zramswap, '/etc/systemd/system/zramswap.service': { link: '/dev/null' } },
    },
    {
      name: 'the service is not enabled',
      files: { '/usr/lib/systemd/system/zramswap.service': unit('/usr/sbin/zramswap start') },
    },
    {
      name: 'a unit that runs swapon',
      files: enabled('temp-disk.service', unit('/sbin/swapon /mnt/resource/swapfile')),
      comes: ['service /mnt/resource/swapfile /usr/lib/systemd/system/temp-disk.service:2'],
    },
    {
      name: 'a unit whose script runs swapon',
      files: {
        ...enabled('temp-disk.service', unit('/opt/disk.sh')),
        '/opt/disk.sh': '#!/bin/bash\nmkswap /mnt/s\nswapon /mnt/s\n',
      },
      comes: ['service /mnt/s /usr/lib/systemd/system/temp-disk.service:2'],
    },
    {
      name: 'a unit called after swap whose script was not captured',
      files: enabled('my-swap.service', unit('/opt/x')),
      may: ['service an area of swap /etc/systemd/system/multi-user.target.wants/my-swap.service:'],
    },
    {
      name: 'the agent of Azure',
      files: { '/etc/waagent.conf': 'ResourceDisk.Format=y\nResourceDisk.EnableSwap=y\n', ...MASKED },
      comes: ['agent /mnt/resource/swapfile /etc/waagent.conf:2'],
    },
    {
      name: 'the agent of Azure, not started',
      files: {
        '/etc/waagent.conf': 'ResourceDisk.EnableSwap=y\n',
        '/usr/lib/systemd/system/walinuxagent.service': unit('/usr/sbin/waagent -daemon'),
      },
      cut: ['agent /mnt/resource/swapfile /etc/waagent.conf:1'],
    },
    { name: 'the agent of Azure without swap', files: { '/etc/waagent.conf': 'ResourceDisk.EnableSwap=n\n' } },
    {
      name: 'rc.local',
      files: { '/etc/rc.local': { text: '#!/bin/sh\nswapon /extra\n', mode: 0o755 }, ...MASKED },
      comes: ['script /extra /etc/rc.local:2'],
    },
  ]
  for (const { name, files: record, captured, comes = [], may = [], cut = [], why, unknown } of cases) {
    it(name, () => {
      const files = hostTree({ '/proc/swaps': 'Filename\n', ...record }, captured)
      const found = swapAtBoot(files)
      const shown = ({ by, device, place }: (typeof found.comesBack)[number]) =>
        `${by} ${device} ${place.file}:${place.line ?? ''}`
      assert.deepEqual(found.comesBack.map(shown), comes)
      assert.deepEqual(found.mayCome.map(shown), may)
      assert.deepEqual(found.cut.map(shown), cut)
      if (why !== undefined) assert.match(found.cut.map(({ because }) => because).join(), why)
      const { swap } = bootOf(files, hostMoment(files))
      if (unknown === true || (comes.length === 0 && may.length > 0)) assert.equal(swap.kind, 'unknown')
      else
        assert.deepEqual(
          swap.kind === 'known' && swap.value.map(({ device }) => device),
          comes.map(each => each.split(' ').at(-2)),
        )
    })
  }

  it('reads ten thousand lines at once', () => {
    const table = '/dev/sdb none swap sw 0 0\n# a\n/dev/sda1 / ext4 defaults 0 1\n'.repeat(3334)
    const files = hostTree({ '/etc/fstab': table })
    const start = performance.now()
    assert.equal(swapAtBoot(files).comesBack.length, 3334)
    assert.ok(performance.now() - start < 3000)
  })
})

describe('a host after its next boot', () => {
  it('is one moment', () => {
    const files = hostTree({ ...RELEASE_FILES, ...enabled('a.service', unit('/bin/x')), '/etc/fstab': '' })
    const after = bootOf(files, hostMoment(files, { sysctl: RUNNING }))
    const state = after.unit('a.service')
    assert.deepEqual(state.kind === 'known' && state.value.atBoot, { kind: 'known', value: true })
    assert.equal(after.listeners.kind, 'unknown')
    assert.equal(after.sysctl('net.ipv4.ip_forward').kind, 'known')
    const listeners = { kind: 'known', value: [], places: [] } as const
    assert.equal(bootOf(files, after, { listeners }).listeners, listeners)
  })

  it('says which directories of units it did not see', () => {
    const files = hostTree({ '/etc/fstab': '' }, ['/etc/fstab'])
    const { swap, unit: unitAfter } = bootOf(files, hostMoment(files, { elsewhere: 'unknown' }))
    for (const seen of [swap, unitAfter('a.service')])
      assert.match(seen.kind === 'unknown' ? seen.because : seen.kind, /\/etc\/systemd\/system was not captured/)
  })
})
