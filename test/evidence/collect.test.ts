import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Evidence } from '../../src/evidence/evidence.js'
import { textAt } from '../../src/evidence/host-files.js'
import { openEvidence } from '../../src/evidence/open.js'
import { runWhofixes } from '../commands/run-whofixes.js'

const script = readFileSync(new URL('../../../collect/collect.sh', import.meta.url), 'utf8')

/** The shells and awks that hosts have; each pair that is here is tried. */
const shells = [['dash'], ['bash', '--posix'], ['busybox', 'sh']]
const awks = ['mawk', 'gawk', 'busybox awk']

let directory = ''
let root = ''
let mask = 0o022

/** Runs the collector and opens what it printed; the shell finds the awk given before its own. */
function collect(shell: readonly string[], awk: string, environment: Readonly<Record<string, string>>): Evidence {
  const programs = mkdtempSync(join(directory, 'bin-'))
  if (awk !== 'awk') writeFileSync(join(programs, 'awk'), `#!/bin/sh\nexec ${awk} "$@"\n`, { mode: 0o755 })
  const [program = '', ...args] = shell
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}`, LANG: 'C.UTF-8', ...environment }
  const ran = spawnSync(program, [...args, '-s'], { input: script, env, maxBuffer: 1 << 30, timeout: 50_000 })
  assert.equal(ran.stderr.toString(), '')
  assert.equal(ran.status, 0)
  const path = join(directory, 'host.tar')
  writeFileSync(path, ran.stdout)
  return openEvidence(path, () => {})
}

/** What the archive that was collected last says of itself. */
function manifest(): Readonly<Record<'captured' | 'masked' | 'unreadable', readonly string[]>> {
  const tar = readFileSync(join(directory, 'host.tar'), 'latin1')
  const start = tar.lastIndexOf('{\n  "captured"')
  return JSON.parse(tar.slice(start, tar.indexOf('\n}\n', start) + 2))
}

const isHere = (command: string): boolean => spawnSync(command.split(' ')[0] ?? '', ['--help']).error === undefined

function put(path: string, content: string | Uint8Array, mode = 0o644): void {
  const address = join(root, path)
  mkdirSync(dirname(address), { recursive: true })
  writeFileSync(address, content)
  chmodSync(address, mode)
}

function text(evidence: Evidence, path: string): string {
  const found = textAt(evidence.files, path)
  return found.kind === 'known' ? found.value.text : found.kind === 'unknown' ? `unknown: ${found.because}` : 'absent'
}

const planted = 'hunter2'
const odd = [
  'with blank.conf',
  "quote's.conf",
  'double"quote.conf',
  'back\\slash.conf',
  'näme.conf',
  '-dash.conf',
  '$(id).conf',
  'a%sb.conf',
  `${'long'.repeat(40)}.conf`,
]

/** A host that holds what has to come out as it is, and what must not come out at all. */
function plant(): void {
  for (const name of odd) put(`etc/sysctl.d/${name}`, `# ${name}\n`)
  put('etc/sysctl.d/broken\nline.conf', 'x')
  put('etc/modprobe.d/no-newline.conf', 'blacklist a')
  put('etc/modprobe.d/empty.conf', '')
  put('etc/modprobe.d/junk.conf', Buffer.from('a\0b\x01c\xff', 'latin1'))
  put('etc/modprobe.d/latin.conf', Buffer.from('# \xe9\n', 'latin1'))
  put('etc/modprobe.d/utf.conf', '# größer\r\n\ttab\n\n')
  put('etc/fstab', `/swapfile none swap sw 0 0\n//nas/x /x cifs user=a,password=${planted},noauto 0 0\n`)
  symlinkSync('../sysctl.conf', join(root, 'etc/sysctl.d/99-sysctl.conf'))
  symlinkSync('usr/lib', join(root, 'lib'))
  put('etc/sysctl.conf', 'kernel.keys.maxkeys = 200\n', 0o4751)
  put('usr/lib/sysctl.d/50-default.conf', 'a = 1\n')
  put('etc/shadow', planted)
  put('etc/kubernetes/admin.conf', planted)
  put('etc/kubernetes/pki/ca.key', planted)
  put('etc/NetworkManager/system-connections/wifi', planted)
  put(
    'etc/NetworkManager/conf.d/calico.conf',
    `${planted}\n[keyfile]\nunmanaged-devices+=interface-name:cali*\nproxy=${planted}\n`,
  )
  put('etc/dhcp/dhclient.conf', `key k { ${planted} }\nsupersede domain-search "svc.cluster.local";\n`)
  put('run/systemd/resolve/resolv.conf', 'nameserver 192.0.2.1\n')
  put('etc/systemd/resolved.conf.d/a.conf', '[Resolve]\nDomains=a.example\n')
  put('etc/systemd/network/wg.netdev', `PrivateKey=${planted}\n`)
  put('etc/systemd/system/credstore/x', planted)
  plantForgeries()
  plantSecrets()
  plantBoot()
  put(
    'etc/systemd/system/agent.service',
    [
      '[Service]',
      `Environment=API_KEY=${planted} OTHER=${planted}`,
      `Environment="LEVEL=1" \\`,
      `  "DB_PASSWORD=my ${planted} word"`,
      'Environment=HOME=/root',
      `Environment=HTTPS_PROXY=http://me:${planted}@proxy:3128`,
      `SetCredential=a:${planted} b`,
      `ExecStart=/bin/agent --token ${planted} --api-key='${planted}' --listen 10250 -o password=${planted} && swapon -a`,
      'PassCredentials=yes',
      'LoadCredential=sysctl.extra',
      '',
    ].join('\n'),
  )
  put('proc/cmdline', `quiet token=${planted} swapaccount=1\n`)
  put('proc/meminfo', 'MemTotal: 1 kB\n')
  put('proc/1/environ', planted)
  put('proc/1/cmdline', planted)
  put('proc/1/comm', 'systemd\n')
  put('proc/7/comm', 'other\n')
  put('proc/42/comm', 'kubelet\n')
  put('proc/42/cgroup', '0::/system.slice/kubelet.service\n')
  put('proc/42/environ', planted)
  put('proc/42/cmdline', planted)
  for (const [link, target] of [
    ['42/fd/3', 'socket:[77]'],
    ['42/fd/4', 'socket:[78]'],
    ['42/fd/5', '/var/log/x'],
    ['7/fd/3', 'socket:[79]'],
    ['42/exe', '/usr/bin/kubelet'],
  ] as const) {
    mkdirSync(dirname(join(root, 'proc', link)), { recursive: true })
    symlinkSync(target, join(root, 'proc', link))
  }
  const row = (state: string, inode: number): string =>
    `   0: 00000000:280A 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0 0 10 0\n`
  put(
    'proc/net/tcp',
    `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n${row('0A', 77)}${row('01', 78)}`,
  )
  put('proc/sys/kernel/osrelease', '6.1.0-test\n')
  put('proc/sys/net/ipv4/ip_forward', '0\n')
  put('proc/sys/net/ipv4/conf/eth0/forwarding', '0\n')
  put('proc/sys/net/ipv4/conf/eth0/tag', '7\n')
  put('usr/lib/modules/6.1.0-test/modules.dep', 'kernel/x.ko:\n')
  put('sys/module/bridge/refcnt', '1\n')
  put('sys/devices/pci/net/eth0/mtu', '1500\n')
  mkdirSync(join(root, 'sys/class/net'), { recursive: true })
  symlinkSync('../../devices/pci/net/eth0', join(root, 'sys/class/net/eth0'))
  put('sys/fs/cgroup/cgroup.controllers', 'cpu\n')
  put('sys/fs/cgroup/system.slice/kubelet.service/cgroup.procs', '42\n')
  put('usr/local/bin/kubeadm', planted)
}

/** What a line of ls would say of the file that nobody but root may read. */
const forged = `-rw-r----- 1 0 42 ${planted.length} Jan  1 00:00 etc`

/** Names and targets that look like other lines: each would bring /etc/shadow where it is taken for one. */
function plantForgeries(): void {
  const links: Readonly<Record<string, string>> = {
    'proc/43/fd/3': 'socket:[77]',
    'proc/43/exe': `/home/me/x\n${forged}/shadow`,
    'proc/42/fd/9': `/home/me/x\n${forged}/shadow`,
    'proc/42/fd/10': `x\nlrwxrwxrwx 1 0 0 1 Jan  1 00:00 ../etc/shadow -> socket:[77]`,
    'proc/42/fd/11': `x\nlrwxrwxrwx 1 0 0 1 Jan  1 00:00 proc/1/fd/0 -> socket:[77]`,
    'proc/1/fd/0': '/home/me/private',
    'etc/systemd/system/a.service': `x\n=etc/shadow\n${forged}/shadow`,
    'etc/systemd/system/b.service': 'x\n@captured /home',
    'etc/systemd/system/c.service': 'ends\n',
    'etc/systemd/system/d.service': 'ends\n.',
    'etc/systemd/system/e.service': '/lib/systemd/system/e.service',
    'etc/modules-load.d/link.conf': '../shadow',
    'etc/initramfs-tools': join(directory, 'outside'),
    'opt/away': '/etc',
  }
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, link)), { recursive: true })
    symlinkSync(target, join(root, link))
  }
  put(`etc/modules-load.d/x\n${forged}/shadow`, planted)
  put(`etc/modules-load.d/y\n=etc/shadow\n${forged}/shadow`, planted)
  put(`proc/sys/net/ipv4/conf/x\n${forged}/forwarding`, '0\n')
  mkdirSync(join(directory, 'outside'), { recursive: true })
  writeFileSync(join(directory, 'outside/modules'), planted)
}

/** Files of which something is put out: what they say, and what is to come out. */
const masked: readonly (readonly [path: string, before: string, after: string])[] = [
  [
    'a',
    `ExecStart=/bin/a --token \\\n  ${planted} --listen 1\n`,
    'ExecStart=/bin/a --token \\\n  withheld --listen 1\n',
  ],
  [
    'b',
    `ExecStart=/bin/a --password 'two ${planted} words' -x\nUser=b\n`,
    "ExecStart=/bin/a --password 'withheld' -x\nUser=b\n",
  ],
  [
    'c',
    `ExecStart=/bin/a -H "Authorization: Bearer ${planted}" --password:${planted} --pass ${planted} --key=${planted} -p 1\n`,
    'ExecStart=/bin/a -H "Authorization: withheld" --password:withheld --pass withheld --key=withheld -p 1\n',
  ],
  [
    'd',
    `ExecStart=/bin/a --auth-key ${planted} --credentials "${planted} \\" ${planted}" -token=${planted},${planted} z\n`,
    'ExecStart=/bin/a --auth-key withheld --credentials "withheld" -token=withheld z\n',
  ],
  [
    'e',
    `ExecStart=/bin/sh -c "DB_PASS=${planted} GH_PAT='${planted} ${planted}' run --auth --token ${planted}"\n`,
    'ExecStart=/bin/sh -c "DB_PASS=withheld GH_PAT=\'withheld\' run --auth --token withheld"\n',
  ],
  [
    'f',
    `Environment="A=1" \\\n  "STRIPE_KEY=${planted}\\\n ${planted}" \\\n ${planted}\nKillMode=none\n`,
    'Environment="A=1" \\\n  "STRIPE_KEY=withheld"\\\n\\\n\nKillMode=none\n',
  ],
  ['g', `SetCredential=a: \\\n${planted}\nPassEnvironment=A\n`, 'SetCredential=withheld\\\n\nPassEnvironment=A\n'],
  [
    'h',
    `ExecStart=/bin/a '--token' '${planted}' "--api-key" "${planted}" --password=${planted}";"${planted} && swapon -a\n`,
    'ExecStart=/bin/a \'--token\' \'withheld\' "--api-key" "withheld" --password=withheld && swapon -a\n',
  ],
  ['i', `# curl -H 'X-Token: ${planted}' don't ${planted}\n[Service]\n`, "# curl -H 'X-Token: withheld\n[Service]\n"],
  [
    'same',
    'ExecStart=/bin/a --token $TOKEN --auth --port 1 \\\n  --key "$KEY" ssh-keygen -A\nKeyringMode=private\nPassCredentials=yes\n',
    'ExecStart=/bin/a --token $TOKEN --auth --port 1 \\\n  --key "$KEY" ssh-keygen -A\nKeyringMode=private\nPassCredentials=yes\n',
  ],
]

function plantSecrets(): void {
  for (const [name, before] of masked) put(`etc/systemd/system/mask-${name}.service`, before)
  put('etc/systemd/system/foo.env', `A=${planted}\n`)
  put('etc/systemd/system/foo.conf', `A=${planted}\n`)
  put('etc/systemd/system/foo.service.d/10.conf', '[Service]\nUser=a\n')
  put('etc/systemd/network/10.network', `[Network]\nIPForward=yes\nPSK=${planted}\nPrivateKey = ${planted}\n`)
  put('etc/systemd/networkd.conf', '[Network]\nIPv4Forwarding=yes\n')
  put(
    'etc/default/ufw',
    `IPT_SYSCTL=/etc/ufw/sysctl.conf\nexport STRIPE_KEY="${planted}"\nGH_PAT=${planted}\nPATH=/bin\n`,
  )
  const kernel =
    'kernel/keys/root_maxkeys = 1\n-kernel.keys.maxkeys=2\nkernel.keys.maxbytes = 3\nvm.overcommit_memory=1\n'
  put('etc/sysctl.d/keys.conf', `${kernel}net.ipv4.tcp_fastopen_key = ${planted}\n`)
}

/** What is run at boot by other programs than systemd's own. */
function plantBoot(): void {
  const script = `#!/bin/sh\nTOKEN=${planted}; swapon /swapfile\nsysctl -w vm.swappiness=1\n`
  put(
    'etc/crontab',
    `MAILTO=${planted}\n@reboot root /opt/cron.sh --token ${planted} && swapon -a\n0 1 * * * root x ${planted}\n`,
  )
  put('etc/cron.d/job', '@reboot root modprobe br_netfilter\n')
  put('var/spool/cron/crontabs/root', `0 1 * * * x ${planted}\n@reboot sysctl -p\n`, 0o600)
  put('etc/rc.local', '#!/bin/sh\n/opt/local.sh\nexit 0\n', 0o755)
  put('etc/tuned/active_profile', 'mine\n')
  put('etc/tuned/mine/tuned.conf', '[sysctl]\nnet.ipv4.ip_forward = 0\n')
  put('etc/tuned/mine/script.sh', planted)
  put('usr/lib/tuned/balanced/tuned.conf', '[main]\n')
  put('etc/ufw/ufw.conf', 'ENABLED=yes\n')
  put(
    'etc/systemd/system/boot.service',
    '[Service]\nExecStartPre=-/bin/sh /opt/pre.sh\nExecStart=/opt/main.sh "/opt/big.sh" \\\n /opt/open.sh\nExecStop=/opt/elf /opt/link.sh /opt/away/shadow /opt/open/in.sh\n',
  )
  put('usr/lib/systemd/system/vendor@.service', '[Service]\nExecStart=@/opt/vendor.sh vendor\n')
  put('usr/lib/systemd/system/off.service', '[Service]\nExecStart=/opt/off.sh\n')
  mkdirSync(join(root, 'etc/systemd/system/multi-user.target.wants'), { recursive: true })
  symlinkSync(
    '/lib/systemd/system/vendor@.service',
    join(root, 'etc/systemd/system/multi-user.target.wants/vendor@1.service'),
  )
  for (const name of ['pre', 'main', 'vendor', 'cron', 'local']) put(`opt/${name}.sh`, script, 0o755)
  for (const name of ['off', 'open', 'unnamed', 'open/in']) put(`opt/${name}.sh`, `#!/bin/sh\n${planted}\n`, 0o755)
  put('opt/big.sh', `#!/bin/sh\n# ${planted} ${'x'.repeat(70_000)}\n`)
  put('opt/elf', `\x7fELF${planted}`)
  symlinkSync('/etc/shadow', join(root, 'opt/link.sh'))
  chmodSync(join(root, 'opt/open.sh'), 0o757)
  chmodSync(join(root, 'opt/open'), 0o777)
}

/** Everything that would tell of a change, by path. */
function stateOf(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .sort()
    .map(name => {
      const { mode, size, mtimeMs, ctimeMs, ino, nlink } = lstatSync(join(path, name))
      return `${name} ${[mode, size, mtimeMs, ctimeMs, ino, nlink].join(' ')}`
    })
}

describe('the collector', () => {
  before(function () {
    if (process.platform !== 'linux') return this.skip()
    directory = mkdtempSync(join(tmpdir(), 'whofixes-collect-'))
    root = join(directory, 'a root')
    mask = process.umask(0o022)
    plant()
  })
  after(() => {
    process.umask(mask)
    rmSync(directory, { recursive: true, force: true })
  })

  for (const shell of shells) {
    for (const awk of awks) {
      describe(`with ${shell.join(' ')} and ${awk}`, () => {
        let evidence: Evidence
        before(function () {
          if (!isHere(shell[0] ?? '') || !isHere(awk)) return this.skip()
          const state = stateOf(root)
          evidence = collect(shell, awk, { ROOT: root })
          assert.deepEqual(stateOf(root), state, 'it changes nothing')
        })

        it('brings files as they are', () => {
          for (const name of odd) assert.equal(text(evidence, `/etc/sysctl.d/${name}`), `# ${name}\n`)
          assert.equal(text(evidence, '/etc/modprobe.d/no-newline.conf'), 'blacklist a')
          assert.equal(text(evidence, '/etc/modprobe.d/empty.conf'), '')
          assert.equal(text(evidence, '/etc/modprobe.d/utf.conf'), '# größer\r\n\ttab\n\n')
          assert.equal(text(evidence, '/etc/modprobe.d/latin.conf'), 'unknown: /etc/modprobe.d/latin.conf is no text')
          assert.match(text(evidence, '/etc/modprobe.d/junk.conf'), /^unknown: .*left out of the evidence$/)
          assert.equal(text(evidence, '/proc/meminfo'), 'MemTotal: 1 kB\n')
          assert.equal(
            text(evidence, '/etc/NetworkManager/conf.d/calico.conf'),
            '\n[keyfile]\nunmanaged-devices+=interface-name:cali*\n\n',
          )
          assert.equal(text(evidence, '/etc/dhcp/dhclient.conf'), '\nsupersede domain-search "svc.cluster.local";\n')
          assert.equal(text(evidence, '/run/systemd/resolve/resolv.conf'), 'nameserver 192.0.2.1\n')
          assert.equal(text(evidence, '/etc/systemd/resolved.conf.d/a.conf'), '[Resolve]\nDomains=a.example\n')
          assert.equal(text(evidence, '/lib/sysctl.d/50-default.conf'), 'a = 1\n')
          assert.equal(text(evidence, '/lib/modules/6.1.0-test/modules.dep'), 'kernel/x.ko:\n')
          assert.equal(text(evidence, '/sys/class/net/eth0/mtu'), '1500\n')
          const found = evidence.files.entry('/etc/sysctl.conf')
          assert.ok(found.kind === 'known' && found.value.kind === 'file')
          assert.equal(found.value.mode, 0o4751)
          assert.equal(found.value.uid, lstatSync(root).uid)
          const link = evidence.files.entry('/etc/sysctl.d/99-sysctl.conf')
          assert.ok(link.kind === 'known' && link.value.kind === 'link' && link.value.target === '../sysctl.conf')
        })

        it('tells what is not there from what it did not read', () => {
          const kinds = (paths: readonly string[]): readonly string[] =>
            paths.map(path => evidence.files.entry(path).kind)
          assert.deepEqual(
            kinds([
              '/etc/modules',
              '/run/sysctl.d',
              '/etc/modprobe.d/x',
              '/proc/sys/net/bridge/x',
              '/sys/module/br_netfilter',
            ]),
            Array(5).fill('absent'),
          )
          assert.deepEqual(
            kinds(['/usr/local/bin/kubelet', '/opt/cni', '/sys/fs/cgroup/system.slice/x.service', '/etc/kubernetes/x']),
            Array(4).fill('absent'),
          )
          assert.deepEqual(
            kinds(['/home/x', '/proc/7', '/sys/module/bridge/refcnt', '/proc/sys/net/ipv4/conf/eth0/tag']),
            Array(4).fill('unknown'),
          )
          assert.deepEqual(
            kinds([
              '/usr/local/bin/kubeadm',
              '/sys/fs/cgroup/system.slice/kubelet.service',
              '/etc/kubernetes/pki/ca.key',
            ]),
            Array(3).fill('known'),
          )
          // A name with a newline is not in the archive, so not all names are known.
          assert.equal(evidence.files.list('/etc/sysctl.d').kind, 'unknown')
          assert.deepEqual(evidence.files.list('/sys/class/net'), { kind: 'known', value: ['eth0'] })
        })

        it('says who listens', () => {
          assert.deepEqual(evidence.files.list('/proc/42/fd'), { kind: 'known', value: ['3'] })
          const link = evidence.files.entry('/proc/42/fd/3')
          assert.ok(link.kind === 'known' && link.value.kind === 'link' && link.value.target === 'socket:[77]')
          assert.equal(text(evidence, '/proc/42/cgroup'), '0::/system.slice/kubelet.service\n')
          assert.equal(text(evidence, '/proc/42/comm'), 'kubelet\n')
          assert.equal(text(evidence, '/proc/1/comm'), 'systemd\n')
          assert.equal(evidence.files.list('/proc').kind, 'known')
        })

        it('leaves secrets on the host', () => {
          assert.ok(!readFileSync(join(directory, 'host.tar')).includes(planted))
          const unit = text(evidence, '/etc/systemd/system/agent.service').split('\n')
          assert.deepEqual(unit.slice(1), [
            'Environment=API_KEY=withheld',
            'Environment="LEVEL=1" \\',
            '  "DB_PASSWORD=withheld"',
            'Environment=HOME=/root',
            'Environment=HTTPS_PROXY=http://withheld@proxy:3128',
            'SetCredential=withheld',
            "ExecStart=/bin/agent --token withheld --api-key='withheld' --listen 10250 -o password=withheld && swapon -a",
            'PassCredentials=yes',
            'LoadCredential=sysctl.extra',
            '',
          ])
          assert.equal(
            text(evidence, '/etc/fstab'),
            '/swapfile none swap sw 0 0\n//nas/x /x cifs user=a,password=withheld,noauto 0 0\n',
          )
          assert.equal(text(evidence, '/proc/cmdline'), 'quiet token=withheld swapaccount=1\n')
          assert.equal(text(evidence, '/etc/sysctl.conf'), 'kernel.keys.maxkeys = 200\n')
          assert.match(text(evidence, '/etc/kubernetes/admin.conf'), /left out of the evidence$/)
          for (const [name, before, after] of masked) {
            assert.equal(text(evidence, `/etc/systemd/system/mask-${name}.service`), after)
            assert.equal(after.split('\n').length, before.split('\n').length)
          }
          for (const path of ['/etc/systemd/system/foo.env', '/etc/systemd/system/foo.conf'])
            assert.match(text(evidence, path), /left out of the evidence$/)
          assert.equal(text(evidence, '/etc/systemd/system/foo.service.d/10.conf'), '[Service]\nUser=a\n')
          const network = '[Network]\nIPForward=yes\nPSK=withheld\nPrivateKey = withheld\n'
          assert.equal(text(evidence, '/etc/systemd/network/10.network'), network)
          const ufw = 'IPT_SYSCTL=/etc/ufw/sysctl.conf\nexport STRIPE_KEY="withheld"\nGH_PAT=withheld\nPATH=/bin\n'
          assert.equal(text(evidence, '/etc/default/ufw'), ufw)
          assert.deepEqual(text(evidence, '/etc/sysctl.d/keys.conf').split('\n'), [
            'kernel/keys/root_maxkeys = 1',
            '-kernel.keys.maxkeys=2',
            'kernel.keys.maxbytes = 3',
            'vm.overcommit_memory=1',
            'net.ipv4.tcp_fastopen_key = withheld',
            '',
          ])
        })

        it('says in which lines it put something out', () => {
          const said = manifest()
            .masked.filter(place => /mask-|keys\.conf/.test(place))
            .sort()
          const expected = ['a:2', 'b:1', 'c:1', 'd:1', 'e:1', 'f:2', 'g:1', 'h:1', 'i:1']
          assert.deepEqual(said, [
            '/etc/sysctl.d/keys.conf:5',
            ...expected.map(each => `/etc/systemd/system/mask-${each.replace(':', '.service:')}`),
          ])
        })

        it('reads nothing that a name or the target of a link makes up', () => {
          assert.ok(!readFileSync(join(directory, 'host.tar')).includes(planted))
          assert.match(text(evidence, '/etc/shadow'), /^unknown/)
          assert.ok(!manifest().captured.includes('/home'))
          assert.deepEqual(
            ['proc/43/exe', ...['a', 'b', 'c', 'd'].map(name => `etc/systemd/system/${name}.service`)].filter(
              path => !manifest().unreadable.includes(`/${path}`),
            ),
            [],
          )
          for (const path of ['/etc/modules-load.d', '/proc/sys/net/ipv4/conf'])
            assert.equal(evidence.files.list(path).kind, 'unknown', path)
          const link = evidence.files.entry('/etc/systemd/system/e.service')
          assert.ok(
            link.kind === 'known' &&
              link.value.kind === 'link' &&
              link.value.target === '/lib/systemd/system/e.service',
          )
          assert.equal(evidence.files.entry('/proc/1/fd/0').kind, 'unknown')
          assert.match(text(evidence, '/etc/modules-load.d/link.conf'), /^unknown/)
          // A link that leads out of ROOT: what the host has there is not known.
          assert.match(text(evidence, '/etc/initramfs-tools/modules'), /^unknown/)
        })

        it('brings what other programs run at boot', () => {
          assert.equal(text(evidence, '/etc/crontab'), '\n@reboot root /opt/cron.sh --token withheld && swapon -a\n\n')
          assert.equal(text(evidence, '/etc/cron.d/job'), '@reboot root modprobe br_netfilter\n')
          assert.equal(text(evidence, '/var/spool/cron/crontabs/root'), '\n@reboot sysctl -p\n')
          assert.deepEqual(evidence.files.list('/var/spool/cron/crontabs'), { kind: 'known', value: ['root'] })
          const local = evidence.files.entry('/etc/rc.local')
          assert.ok(local.kind === 'known' && local.value.mode === 0o755)
          assert.equal(text(evidence, '/etc/tuned/active_profile'), 'mine\n')
          assert.equal(text(evidence, '/etc/tuned/mine/tuned.conf'), '[sysctl]\nnet.ipv4.ip_forward = 0\n')
          assert.match(text(evidence, '/etc/tuned/mine/script.sh'), /left out/)
          assert.equal(text(evidence, '/usr/lib/tuned/balanced/tuned.conf'), '[main]\n')
          assert.equal(text(evidence, '/etc/ufw/ufw.conf'), 'ENABLED=yes\n')
          assert.equal(text(evidence, '/etc/systemd/networkd.conf'), '[Network]\nIPv4Forwarding=yes\n')
          for (const name of ['pre', 'main', 'vendor', 'cron', 'local']) {
            const said = '#!/bin/sh\nTOKEN=withheld; swapon /swapfile\nsysctl -w vm.swappiness=1\n'
            assert.equal(text(evidence, `/opt/${name}.sh`), said, name)
          }
          for (const name of ['off.sh', 'open.sh', 'unnamed.sh', 'big.sh', 'elf', 'link.sh', 'open/in.sh'])
            assert.match(text(evidence, `/opt/${name}`), /^unknown/, name)
        })
      })
    }
  }

  it('reads this machine, with a port that is listened on', async () => {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const started = Date.now()
      const evidence = collect(['sh'], 'awk', {})
      assert.ok(Date.now() - started < 30_000, 'and is done soon')
      assert.equal(text(evidence, '/proc/version'), readFileSync('/proc/version', 'utf8'))
      assert.equal(text(evidence, '/proc/meminfo').split('\n')[0], readFileSync('/proc/meminfo', 'utf8').split('\n')[0])
      const pid = `/proc/${process.pid}`
      assert.equal(text(evidence, `${pid}/cgroup`), readFileSync(`${pid}/cgroup`, 'utf8'))
      const names = evidence.files.list(`${pid}/fd`)
      assert.ok(names.kind === 'known' && names.value.length === 1)
      const uname = evidence.command(['uname', '-a'])
      assert.ok(uname.kind === 'known' && uname.value.status === 0)
      assert.equal(uname.value.stdout, spawnSync('uname', ['-a']).stdout.toString())
    } finally {
      server.close()
    }
  })

  it('does nothing where it is cut off on its way', () => {
    for (const part of [0.3, 0.6, 0.9]) {
      const ran = spawnSync('sh', ['-s'], { input: script.slice(0, script.length * part) })
      assert.equal(ran.stdout.length, 0)
    }
  })

  it('is what `whofixes collect` prints, and runs with --local', () => {
    assert.equal(runWhofixes(['collect']).out, script)
    const path = join(directory, 'local.tar')
    assert.deepEqual(runWhofixes(['collect', '--local', '--root', root, '-o', path]), { status: 0, out: '', err: [] })
    assert.equal(
      text(
        openEvidence(path, () => {}),
        '/proc/meminfo',
      ),
      'MemTotal: 1 kB\n',
    )
    const ran = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../../src/cli.js', import.meta.url)), 'collect', '--local', '--root', root],
      { maxBuffer: 1 << 30 },
    )
    assert.equal(ran.status, 0)
    assert.ok(ran.stdout.equals(readFileSync(path)))
    assert.match(
      runWhofixes(['collect', '--local', '--root', join(root, 'nowhere'), '-o', path]).err.join(' '),
      /^whofixes: the collector did not run here: /,
    )
    assert.equal(runWhofixes(['collect', '--root', root]).status, 2)
  })
})
