import assert from 'node:assert/strict'
import type { Holder, Listener } from '../../../src/host/moment.js'
import { listensAfterBoot } from '../../../src/host/ports/after-boot.js'
import { commandsToFree } from '../../../src/host/ports/free-port.js'
import { isKubernetesOwn } from '../../../src/host/ports/kubernetes-own.js'
import { listenersOf } from '../../../src/host/ports/listeners.js'
import { evidenceOf, type Printed } from '../evidence-of.js'
import { filesOf, type Written } from '../files.js'

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
const tcp = (sockets: readonly (readonly [address: string, port: number, inode: number])[]): string =>
  HEAD +
  sockets
    .map(
      ([address, port, inode], at) =>
        `   ${at}: ${address}:${hex(port)} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 ${inode} 1 0 100 0\n`,
    )
    .join('')
const ANY4 = '00000000'
const LOCAL4 = '0100007F'
const ANY6 = '0'.repeat(32)

interface Process {
  readonly pid: number
  readonly comm?: string
  readonly exe?: string
  readonly cgroup?: string
  readonly inodes: readonly number[]
}

function host(
  sockets: { readonly tcp?: string; readonly tcp6?: string },
  processes: readonly Process[],
  more: Record<string, Written> = {},
): Record<string, Written> {
  const record: Record<string, Written> = { '/proc/net/tcp': sockets.tcp ?? HEAD, ...more }
  if (sockets.tcp6 !== undefined) record['/proc/net/tcp6'] = sockets.tcp6
  for (const { pid, comm, exe, cgroup, inodes } of processes) {
    if (comm !== undefined) record[`/proc/${pid}/comm`] = `${comm}\n`
    if (exe !== undefined) record[`/proc/${pid}/exe`] = { link: exe }
    if (cgroup !== undefined) record[`/proc/${pid}/cgroup`] = `0::${cgroup}\n`
    for (const [at, inode] of inodes.entries()) record[`/proc/${pid}/fd/${at + 3}`] = { link: `socket:[${inode}]` }
  }
  return record
}

function listeners(record: Record<string, Written>, commands: readonly Printed[] = []): readonly Listener[] {
  const found = listenersOf(evidenceOf(filesOf(record), commands))
  assert.ok(found.kind === 'known', JSON.stringify(found))
  return found.value
}

function only(record: Record<string, Written>, commands: readonly Printed[] = []): Holder {
  const [one, ...others] = listeners(record, commands)
  assert.ok(one !== undefined && others.length === 0, JSON.stringify([one, ...others]))
  return one.holder
}

const ID = 'ab'.repeat(32)
const SOCKET_UNIT = {
  '/usr/lib/systemd/system/sshd.socket': '[Socket]\nListenStream=10250\n[Install]\nWantedBy=sockets.target\n',
}

describe('who listens', () => {
  it('knows a service with several processes', () => {
    const cgroup = '/system.slice/web.service'
    const record = host({ tcp: tcp([[ANY4, 10250, 5]]) }, [
      { pid: 30, comm: 'web', cgroup, inodes: [5] },
      { pid: 31, comm: 'web', cgroup, inodes: [5] },
      { pid: 32, comm: 'other', cgroup: '/system.slice/other.service', inodes: [6] },
    ])
    assert.deepEqual(only(record), { kind: 'unit', unit: 'web.service', pids: [30, 31], program: 'web' })
  })

  it('prefers the namespace of PID 1', () => {
    const record = { ...host({ tcp: tcp([[ANY4, 1, 5]]) }, []), '/proc/1/net/tcp': tcp([[LOCAL4, 2, 5]]) }
    assert.deepEqual(
      listeners(record).map(({ address, port }) => [address, port]),
      [['127.0.0.1', 2]],
    )
  })

  it('counts a dual-stack socket once, and each address of a port', () => {
    const record = host({ tcp: tcp([[LOCAL4, 53, 5]]), tcp6: tcp([[ANY6, 53, 6]]) }, [])
    assert.deepEqual(
      listeners(record).map(({ address }) => address),
      ['127.0.0.1', '::'],
    )
  })

  it('takes sockets that share a port for one listener', () => {
    const cgroup = '/system.slice/web.service'
    const record = host(
      {
        tcp: tcp([
          [ANY4, 80, 5],
          [ANY4, 80, 6],
        ]),
      },
      [
        { pid: 30, comm: 'web', cgroup, inodes: [5] },
        { pid: 31, comm: 'web', cgroup, inodes: [6] },
      ],
    )
    assert.deepEqual(only(record).pids, [30, 31])
  })

  it('knows the socket unit for which systemd listens', () => {
    const record = host(
      { tcp6: tcp([[ANY6, 10250, 5]]) },
      [{ pid: 1, comm: 'systemd', cgroup: '/init.scope', inodes: [5] }],
      SOCKET_UNIT,
    )
    assert.deepEqual(only(record), {
      kind: 'unit',
      unit: 'sshd.socket',
      starts: 'sshd.service',
      pids: [1],
      program: 'systemd',
    })
  })

  it('knows it also once the service runs', () => {
    const record = host(
      { tcp6: tcp([[ANY6, 10250, 5]]) },
      [
        { pid: 1, comm: 'systemd', inodes: [5] },
        { pid: 9, comm: 'sshd', cgroup: '/system.slice/sshd.service', inodes: [5] },
      ],
      SOCKET_UNIT,
    )
    assert.deepEqual(only(record), {
      kind: 'unit',
      unit: 'sshd.socket',
      starts: 'sshd.service',
      pids: [1, 9],
      program: 'sshd',
    })
  })

  const byListenStream: readonly (readonly [string, string, string, string | undefined])[] = [
    ['a port', 'ListenStream=10250', ANY6, 's.socket'],
    ['a port where there is no IPv6', 'ListenStream=10250', ANY4, 's.socket'],
    ['an address', 'ListenStream=127.0.0.1:10250', LOCAL4, 's.socket'],
    ['another address', 'ListenStream=127.0.0.2:10250', LOCAL4, undefined],
    ['every IPv4 address', 'ListenStream=0.0.0.0:10250', ANY4, 's.socket'],
    ['every IPv6 address', 'ListenStream=[::]:10250', ANY6, 's.socket'],
    ['one written long', 'ListenStream=[0:0:0:0:0:0:0:0]:10250', ANY6, 's.socket'],
    ['another port', 'ListenStream=10251', ANY6, undefined],
    ['a path', 'ListenStream=/run/10250', ANY6, undefined],
    ['one of several', 'ListenStream=/run/x\nListenStream=10250', ANY6, 's.socket'],
    ['what is taken back', 'ListenStream=10250\nListenStream=\nListenStream=10251', ANY6, undefined],
    ['a datagram', 'ListenDatagram=10250', ANY6, undefined],
  ]
  for (const [name, setting, address, unit] of byListenStream) {
    it(`compares ListenStream= with ${name}`, () => {
      const text = `[Socket]\n${setting}\n`
      const table = tcp([[address, 10250, 5]])
      const sockets = address.length === 32 ? { tcp6: table } : { tcp: table }
      const record = host(sockets, [{ pid: 1, comm: 'systemd', inodes: [5] }], { '/etc/systemd/system/s.socket': text })
      const holder = only(record)
      assert.equal(holder.unit, unit)
      assert.equal(holder.kind, unit === undefined ? 'unknown' : 'unit')
      if (unit === undefined) assert.match(holder.because ?? '', /systemd holds it for a socket unit, and none/)
    })
  }

  it('counts drop-ins of socket units, and templates with their instances', () => {
    const record = host({ tcp6: tcp([[ANY6, 10250, 5]]) }, [{ pid: 1, comm: 'systemd', inodes: [5] }], {
      '/usr/lib/systemd/system/s.socket': '[Socket]\nListenStream=22\n',
      '/etc/systemd/system/s.socket.d/port.conf': '[Socket]\nListenStream=\nListenStream=10250\nAccept=yes\n',
    })
    assert.deepEqual([only(record).unit, only(record).starts], ['s.socket', 's@.service'])
    const template = host({ tcp6: tcp([[ANY6, 10250, 5]]) }, [{ pid: 1, comm: 'systemd', inodes: [5] }], {
      '/usr/lib/systemd/system/t@.socket': '[Socket]\nListenStream=%i\nService=t-main.service\n',
      '/etc/systemd/system/sockets.target.wants/t@10250.socket': { link: '/usr/lib/systemd/system/t@.socket' },
    })
    assert.deepEqual([only(template).unit, only(template).starts], ['t@10250.socket', 't-main.service'])
  })

  it('tells two socket units of one port apart by which is active, else not at all', () => {
    const record = host({ tcp6: tcp([[ANY6, 10250, 5]]) }, [{ pid: 1, comm: 'systemd', inodes: [5] }], {
      '/etc/systemd/system/a.socket': '[Socket]\nListenStream=10250\n',
      '/etc/systemd/system/b.socket': '[Socket]\nListenStream=10250\n',
    })
    assert.match(only(record).because ?? '', /one of a\.socket, b\.socket/)
    const words = ['systemctl', 'list-units', '--all', '--plain', '--no-legend']
    const stdout = 'a.socket loaded inactive dead A\nb.socket loaded active listening B\n'
    assert.equal(only(record, [{ words, stdout }]).unit, 'b.socket')
  })

  it('takes PID 1 for a process like any where it is not systemd', () => {
    const record = host(
      { tcp: tcp([[ANY4, 80, 5]]) },
      [{ pid: 1, comm: 'tini', cgroup: '/', inodes: [5] }],
      SOCKET_UNIT,
    )
    assert.deepEqual(only(record), { kind: 'process', pids: [1], program: 'tini' })
  })

  it('knows containers, logins, units of users, and what docker publishes', () => {
    const record = host(
      {
        tcp: tcp([
          [ANY4, 1, 1],
          [ANY4, 2, 2],
          [ANY4, 3, 3],
          [ANY4, 4, 4],
          [ANY4, 5, 5],
        ]),
      },
      [
        {
          pid: 11,
          comm: 'kube-apiserver',
          cgroup: `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${ID}.scope`,
          inodes: [1],
        },
        { pid: 12, comm: 'python3', cgroup: '/user.slice/user-1000.slice/session-3.scope', inodes: [2] },
        {
          pid: 13,
          comm: 'node',
          cgroup: '/user.slice/user-1000.slice/user@1000.service/app.slice/dev.service',
          inodes: [3],
        },
        { pid: 14, comm: 'docker-proxy', cgroup: '/system.slice/docker.service', inodes: [4] },
        { pid: 15, comm: 'redis-server', cgroup: `/system.slice/docker-${ID}.scope`, inodes: [5] },
      ],
    )
    assert.deepEqual(
      listeners(record).map(({ holder }) => holder),
      [
        {
          kind: 'container',
          container: { runtime: 'containerd', pod: true, id: ID },
          pids: [11],
          program: 'kube-apiserver',
        },
        { kind: 'process', unit: 'session-3.scope', pids: [12], program: 'python3', uid: 1000 },
        { kind: 'unit', unit: 'dev.service', uid: 1000, pids: [13], program: 'node' },
        {
          kind: 'container',
          pids: [14],
          program: 'docker-proxy',
          unit: 'docker.service',
          container: { runtime: 'docker', pod: false },
        },
        {
          kind: 'container',
          container: { runtime: 'docker', pod: false, id: ID },
          pids: [15],
          program: 'redis-server',
        },
      ],
    )
  })

  it('takes the whole name of a program where comm is cut', () => {
    const record = host({ tcp: tcp([[ANY4, 1, 1]]) }, [
      {
        pid: 11,
        comm: 'kube-controller',
        exe: '/usr/local/bin/kube-controller-manager (deleted)',
        cgroup: '/',
        inodes: [1],
      },
    ])
    assert.equal(only(record).program, 'kube-controller-manager')
  })

  it('says why a holder is not known', () => {
    const gone = host({ tcp: tcp([[ANY4, 1, 1]]) }, [{ pid: 11, comm: 'x', inodes: [2] }])
    assert.match(only(gone).because ?? '', /no process has it open/)
    assert.match(only(host({ tcp: tcp([[ANY4, 1, 0]]) }, [])).because ?? '', /socket of the kernel/)
    const unreadable = listenersOf(
      evidenceOf(
        filesOf(
          { '/proc/net/tcp': tcp([[ANY4, 1, 1]]), '/proc/9/comm': 'x\n' },
          { captured: ['/proc/net/tcp', '/proc/net/tcp6'], listed: ['/proc'], unreadable: ['/proc/9/fd'] },
        ),
      ),
    )
    assert.match(
      unreadable.kind === 'known' ? (unreadable.value[0]?.holder.because ?? '') : '',
      /\/proc\/9\/fd could not be read/,
    )
    const shared = host({ tcp: tcp([[ANY4, 1, 1]]) }, [
      { pid: 11, comm: 'a', cgroup: '/system.slice/a.service', inodes: [1] },
      { pid: 12, comm: 'b', cgroup: '/system.slice/b.service', inodes: [1] },
    ])
    assert.match(only(shared).because ?? '', /a\.service and b\.service hold it together/)
  })

  it('is unknown as a whole where a table is missing, not captured, of another namespace or not readable', () => {
    const why = (record: Record<string, Written>, captured?: readonly string[]): string => {
      const found = listenersOf(evidenceOf(filesOf(record, captured)))
      return found.kind === 'unknown' ? found.because : found.kind
    }
    assert.match(why({ '/etc/fstab': '' }), /no \/proc\/net\/tcp/)
    assert.match(why({ '/proc/net/tcp': HEAD }, ['/proc/net/tcp']), /\/proc\/net\/tcp6 was not captured/)
    assert.match(why({ '/proc/net/tcp': `${HEAD}junk\n` }), /\/proc\/net\/tcp:2 is no line/)
    const other = {
      '/proc/net/tcp': HEAD,
      '/proc/self/ns/net': { link: 'net:[2]' },
      '/proc/1/ns/net': { link: 'net:[1]' },
    }
    assert.match(why(other), /another network namespace/)
    assert.equal(why({ '/proc/net/tcp': HEAD }), 'known')
  })

  it('does so fast with many sockets and processes', () => {
    const sockets = Array.from({ length: 3000 }, (_each, at) => [ANY4, at + 1, at + 1] as const)
    const processes = sockets.map(
      ([, , inode]): Process => ({ pid: inode + 1, comm: 'x', cgroup: '/system.slice/x.service', inodes: [inode] }),
    )
    const started = Date.now()
    assert.equal(listeners(host({ tcp: tcp(sockets) }, processes)).length, 3000)
    assert.ok(Date.now() - started < 5000)
  })
})

describe('what is left of a cluster of before', () => {
  const pod = { runtime: 'containerd', pod: true, id: ID }
  const rows: readonly (readonly [string, Holder, number, boolean])[] = [
    ['kubelet', { kind: 'unit', unit: 'kubelet.service', pids: [1], program: 'kubelet' }, 10250, true],
    [
      'kubelet on a port of others',
      { kind: 'unit', unit: 'kubelet.service', pids: [1], program: 'kubelet' },
      6443,
      false,
    ],
    ['another unit', { kind: 'unit', unit: 'web.service', pids: [1], program: 'web' }, 10250, false],
    ['the API server', { kind: 'container', container: pod, pids: [1], program: 'kube-apiserver' }, 6443, true],
    [
      'a program whose name is cut',
      { kind: 'container', container: pod, pids: [1], program: 'kube-controller' },
      10257,
      true,
    ],
    [
      'any pod on the network of the host',
      { kind: 'container', container: pod, pids: [1], program: 'envoy' },
      10250,
      false,
    ],
    [
      'a container that is no pod',
      { kind: 'container', container: { runtime: 'docker', pod: false }, pids: [1], program: 'etcd' },
      2379,
      false,
    ],
    ['etcd as a unit', { kind: 'unit', unit: 'etcd.service', pids: [1], program: 'etcd' }, 2379, true],
    ['etcd by hand', { kind: 'process', pids: [1], program: 'etcd' }, 2380, true],
    ['a port Kubernetes has nothing to do with', { kind: 'process', pids: [1], program: 'etcd' }, 80, false],
    ['nobody known', { kind: 'unknown', pids: [] }, 10250, false],
  ]
  for (const [name, holder, port, own] of rows)
    it(`${name}: ${own}`, () => assert.equal(isKubernetesOwn(holder, port), own))
})

describe('what frees a port', () => {
  const steps = (holder: Holder, record: Record<string, Written> = {}, port = 10250): readonly string[] =>
    commandsToFree(holder, port, filesOf(record)).map(({ command }) => command)
  const service = (unit: string): Holder => ({ kind: 'unit', unit, pids: [7], program: 'x' })
  const installed = '[Service]\nExecStart=/bin/x\nRestart=always\n[Install]\nWantedBy=multi-user.target\n'

  it('disables a service that is enabled', () => {
    const record = {
      '/usr/lib/systemd/system/x.service': installed,
      '/etc/systemd/system/multi-user.target.wants/x.service': { link: '/usr/lib/systemd/system/x.service' },
    }
    assert.deepEqual(steps(service('x.service'), record), ['systemctl disable --now x.service'])
    assert.match(commandsToFree(service('x.service'), 1, filesOf(record))[0]?.says ?? '', /Restart=always/)
  })

  it('stops the socket and what it starts', () => {
    const holder: Holder = { kind: 'unit', unit: 'x.socket', starts: 'x.service', pids: [1] }
    const record = {
      '/usr/lib/systemd/system/x.socket': '[Socket]\nListenStream=10250\n[Install]\nWantedBy=sockets.target\n',
      '/usr/lib/systemd/system/x.service': installed,
    }
    assert.deepEqual(steps(holder, record), ['systemctl disable --now x.socket x.service'])
    const each: Holder = { kind: 'unit', unit: 'x.socket', starts: 'x@.service', pids: [1] }
    assert.deepEqual(steps(each, record), ['systemctl disable --now x.socket', "systemctl stop 'x@*.service'"])
  })

  it('stops the socket of a service that listens by itself, and a timer', () => {
    const record = {
      '/usr/lib/systemd/system/x.service': installed,
      '/usr/lib/systemd/system/x.socket': '[Socket]\nListenStream=/run/x.sock\n[Install]\nWantedBy=sockets.target\n',
      '/usr/lib/systemd/system/weekly.timer':
        '[Timer]\nUnit=x.service\nOnCalendar=weekly\n[Install]\nWantedBy=timers.target\n',
    }
    assert.deepEqual(steps(service('x.service'), record), ['systemctl disable --now x.service x.socket weekly.timer'])
  })

  it('masks what disable leaves', () => {
    const basic = { '/usr/lib/systemd/system/x.service': '[Service]\nExecStart=/bin/x\n' }
    assert.deepEqual(steps(service('x.service'), basic), [
      'systemctl disable --now x.service',
      'systemctl mask --now x.service',
    ])
    const pulled = {
      '/usr/lib/systemd/system/x.service': installed,
      '/usr/lib/systemd/system/y.service': '[Unit]\nWants=x.service\n[Service]\nExecStart=/bin/y\n',
      '/etc/systemd/system/multi-user.target.wants/y.service': { link: '/usr/lib/systemd/system/y.service' },
    }
    assert.deepEqual(steps(service('x.service'), pulled).at(-1), 'systemctl mask --now x.service')
    const own = { '/etc/systemd/system/x.service': '[Service]\nExecStart=/bin/x\n' }
    assert.deepEqual(
      steps(service('x.service'), own).at(-1),
      'mv /etc/systemd/system/x.service /etc/systemd/system/x.service.off && systemctl mask --now x.service',
    )
  })

  it('has the command of each runtime', () => {
    const held = (runtime: string, pod = false): Holder => ({
      kind: 'container',
      pids: [7],
      container: { runtime, pod, id: 'abc123' },
    })
    assert.deepEqual(steps(held('docker')), ['docker update --restart=no abc123 && docker stop abc123'])
    assert.deepEqual(steps(held('containerd', true)), ['systemctl disable --now kubelet.service', 'crictl stop abc123'])
    assert.deepEqual(steps(held('machine')), ['machinectl terminate abc123; machinectl disable abc123'])
    const published: Holder = { kind: 'container', pids: [7], container: { runtime: 'docker', pod: false } }
    assert.match(steps(published)[0] ?? '', /publish=10250/)
  })

  it('kills only what no unit runs', () => {
    assert.deepEqual(steps({ kind: 'process', pids: [7, 8], program: 'nc' }), ['kill 7 8'])
    assert.deepEqual(steps({ kind: 'process', unit: 'session-3.scope', uid: 1000, pids: [7] }), ['kill 7'])
    assert.deepEqual(
      steps(
        { kind: 'unit', unit: 'dev.service', uid: 1000, pids: [7] },
        { '/etc/passwd': 'ann:x:1000:1000::/home/ann:/bin/sh\n' },
      ),
      ['systemctl --user --machine=ann@ disable --now dev.service'],
    )
    assert.deepEqual(steps({ kind: 'unit', unit: 'dev.service', uid: 1000, pids: [7] }), [
      'systemctl --user --machine=1000@ disable --now dev.service',
    ])
  })

  it('tells to look where nobody knows, and quotes names', () => {
    assert.deepEqual(steps({ kind: 'unknown', pids: [] }), ["ss -Hltnp 'sport = :10250'"])
    assert.equal(steps(service('a\\x2db.service'))[0], "systemctl disable --now 'a\\x2db.service'")
  })

  it('says what is left of a cluster of before', () => {
    const holder: Holder = { kind: 'unit', unit: 'kubelet.service', pids: [7], program: 'kubelet' }
    assert.match(commandsToFree(holder, 10250, filesOf({}))[0]?.says ?? '', /^left by a cluster of before/)
  })
})

describe('what listens after the next boot', () => {
  const files = filesOf({
    '/usr/lib/systemd/system/on.service': '[Service]\nExecStart=/bin/on\n[Install]\nWantedBy=multi-user.target\n',
    '/etc/systemd/system/multi-user.target.wants/on.service': { link: '/usr/lib/systemd/system/on.service' },
    '/usr/lib/systemd/system/off.service': '[Service]\nExecStart=/bin/off\n',
  })
  const rows: readonly (readonly [string, Holder, boolean | 'unknown'])[] = [
    ['a service that is enabled', { kind: 'unit', unit: 'on.service', pids: [1] }, true],
    ['one that is not', { kind: 'unit', unit: 'off.service', pids: [1] }, false],
    ['a scope', { kind: 'unit', unit: 'run-1.scope', pids: [1] }, 'unknown'],
    ['a login', { kind: 'process', unit: 'session-1.scope', uid: 0, pids: [1] }, false],
    ['a process', { kind: 'process', pids: [1] }, 'unknown'],
    ['a unit of a user', { kind: 'unit', unit: 'on.service', uid: 1000, pids: [1] }, 'unknown'],
    ['a container', { kind: 'container', container: { runtime: 'docker', pod: false }, pids: [1] }, 'unknown'],
    [
      'a pod where kubelet is off',
      { kind: 'container', container: { runtime: 'containerd', pod: true }, pids: [1] },
      false,
    ],
    ['nobody known', { kind: 'unknown', pids: [] }, 'unknown'],
  ]
  for (const [name, holder, expected] of rows) {
    it(`${name}: ${expected}`, () => {
      const found = listensAfterBoot(files, { port: 10250, address: '::', holder })
      assert.equal(found.kind === 'known' ? found.value : found.kind, expected)
    })
  }
})
