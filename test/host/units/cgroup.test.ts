import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Owner, ownerOf } from '../../../src/host/units/cgroup.js'

const ID = `${'0123456789ab'.repeat(5)}0123`
const container = (runtime: string, pod: boolean, id: string | undefined = ID): Owner =>
  id === undefined ? { kind: 'container', runtime, pod } : { kind: 'container', runtime, pod, id }
const unit = (name: string): Owner => ({ kind: 'unit', unit: name })

const rows: readonly (readonly [string, string, Owner])[] = [
  ['cgroup v2', '0::/system.slice/nginx.service\n', unit('nginx.service')],
  ['v1', '12:pids:/system.slice/nginx.service\n1:name=systemd:/system.slice/nginx.service\n', unit('nginx.service')],
  ['hybrid', '1:name=systemd:/system.slice/ssh.service\n0::/system.slice/ssh.service\n', unit('ssh.service')],
  ['an instance', '0::/system.slice/system-foo.slice/foo@bar.service\n', unit('foo@bar.service')],
  ['a name with escapes, as systemctl takes it', '0::/system.slice/a\\x2db.service\n', unit('a\\x2db.service')],
  ['a slice of its own', '0::/web.slice/web-front.slice/front.service\n', unit('front.service')],
  ['what a service makes beneath it', '0::/system.slice/ci.service/jobs/inner.service\n', unit('ci.service')],
  ['docker in a service that has cgroups of its own', `0::/system.slice/ci.service/docker/${ID}\n`, unit('ci.service')],
  ['systemd itself', '0::/init.scope\n', { kind: 'manager' }],
  [
    'a login',
    '0::/user.slice/user-1000.slice/session-3.scope\n',
    { kind: 'session', unit: 'session-3.scope', uid: 1000 },
  ],
  [
    'a unit of a user',
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/dev.service\n',
    { kind: 'user-unit', unit: 'dev.service', uid: 1000 },
  ],
  ["a user's manager", '0::/user.slice/user-0.slice/user@0.service/init.scope\n', unit('user@0.service')],
  ['a scope', '0::/system.slice/run-r1.scope\n', unit('run-r1.scope')],
  [
    'containerd under kubelet',
    `0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/cri-containerd-${ID}.scope\n`,
    container('containerd', true),
  ],
  ['cri-o under kubelet', `0::/kubepods.slice/kubepods-pod1.slice/crio-${ID}.scope\n`, container('cri-o', true)],
  ['docker under kubelet', `0::/kubepods.slice/kubepods-pod1.slice/docker-${ID}.scope\n`, container('docker', true)],
  [
    'the driver cgroupfs',
    `11:memory:/kubepods/burstable/pod1f/${ID}\n1:name=systemd:/kubepods/burstable/pod1f/${ID}\n`,
    container('cri', true),
  ],
  [
    'containerd without a driver that fits',
    `0::/system.slice/containerd.service/kubepods-besteffort-pod1.slice:cri-containerd:${ID}\n`,
    container('containerd', true),
  ],
  ['docker', `0::/system.slice/docker-${ID}.scope\n`, container('docker', false)],
  ['docker with cgroupfs', `1:name=systemd:/docker/${ID}\n`, container('docker', false)],
  ['podman', `0::/machine.slice/libpod-${ID}.scope/container\n`, container('podman', false)],
  [
    'what watches over a container of podman',
    `0::/machine.slice/libpod-conmon-${ID}.scope\n`,
    container('podman', false),
  ],
  ['podman of a unit', `0::/system.slice/web.service/libpod-payload-${ID}\n`, unit('web.service')],
  [
    "a user's podman",
    `0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${ID}.scope/container\n`,
    { kind: 'container', runtime: 'podman', pod: false, id: ID, uid: 1000 },
  ],
  ['nerdctl', `0::/system.slice/nerdctl-${ID}.scope\n`, container('nerdctl', false)],
  ['lxc', '0::/lxc.payload.box/system.slice/nginx.service\n', container('lxc', false, 'box')],
  ['lxc with cgroup v1', '1:name=systemd:/lxc/box/system.slice/nginx.service\n', container('lxc', false, 'box')],
  [
    'a machine of libvirt',
    '0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator\n',
    container('machine', false, 'qemu-1-web'),
  ],
  [
    'a container as a service',
    '0::/machine.slice/systemd-nspawn@box.service/payload\n',
    unit('systemd-nspawn@box.service'),
  ],
  ['outside of what this namespace sees', '0::/../../system.slice/nginx.service\n', unit('nginx.service')],
  ['no unit', '0::/\n', { kind: 'none', path: '/' }],
  ['a cgroup somebody made', '0::/mine/yours\n', { kind: 'none', path: '/mine/yours' }],
  [
    'v1 where only a controller says something',
    `5:memory:/docker/${ID}\n1:name=systemd:/\n0::/\n`,
    container('docker', false),
  ],
  ['nothing', '', { kind: 'none', path: '' }],
]

describe('what a process belongs to', () => {
  for (const [name, text, owner] of rows) it(name, () => assert.deepEqual(ownerOf(text), owner))

  it('gives an owner for any text', () => {
    fc.assert(fc.property(fc.string(), text => ownerOf(text).kind.length > 0))
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a.slice', 'b.service', 'kubepods', ID, 'docker', '..', 'c.scope', 'x')),
        parts => {
          const owner = ownerOf(`0::/${parts.join('/')}\n`)
          // A unit is only ever one that stands in the path.
          return owner.kind !== 'unit' || parts.includes(owner.unit)
        },
      ),
    )
  })
})
