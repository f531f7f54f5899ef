import assert from 'node:assert/strict'
import fc from 'fast-check'
import { swapAreasOf, swapAtBoot } from '../../../src/host/boot/swap.js'
import { sysctlAtBoot } from '../../../src/host/boot/sysctl.js'
import { sysctlKeyOf } from '../../../src/host/boot/sysctl-d.js'
import { hostMoment, hostTree, type Node } from './host-tree.js'
import { KEYS, layout } from './layouts.js'

const sysctl = Object.fromEntries(KEYS.map(path => [sysctlKeyOf(path), '0']))

/** Directories one of which may not have been captured. */
const parts = [
  '/etc/sysctl.d',
  '/etc/sysctl.conf',
  '/etc/fstab',
  '/etc/systemd',
  '/run',
  '/usr/local/lib/sysctl.d',
  '/usr/local/lib/systemd',
  '/usr/lib/sysctl.d',
  '/usr/lib/systemd',
  '/etc/rc2.d',
  '/etc/rc.local',
  '/etc/rc.d',
  '/etc/crontab',
  '/etc/cron.d',
  '/var/spool/cron',
  '/etc/tuned',
  '/usr/lib/tuned',
  '/etc/ufw',
  '/etc/default',
  '/opt',
  '/proc',
]
const captured = fc.subarray(parts)

const swapFiles: fc.Arbitrary<Readonly<Record<string, Node>>> = fc
  .subarray([
    ['/etc/fstab', '/swapfile none swap sw 0 0\n'],
    ['/etc/systemd/system/swap.target', { link: '/dev/null' }],
    ['/usr/lib/systemd/system/zramswap.service', '[Service]\nExecStart=/usr/sbin/zramswap start\n'],
    [
      '/etc/systemd/system/multi-user.target.wants/zramswap.service',
      { link: '/usr/lib/systemd/system/zramswap.service' },
    ],
    ['/usr/lib/systemd/system-generators/zram-generator', 'ELF'],
    ['/usr/lib/systemd/zram-generator.conf', '[zram0]\n'],
    ['/proc/swaps', 'Filename\n'],
    ['/etc/rc.local', { text: '#!/bin/sh\nswapon /s\n', mode: 0o755 }],
    ['/etc/crontab', '@reboot root swapon /c\n'],
    ['/etc/systemd/system/cron.service', '[Service]\nExecStart=/usr/sbin/cron -f\n'],
    ['/etc/systemd/system/multi-user.target.wants/cron.service', { link: '../cron.service' }],
    ['/etc/systemd/system/site.service', '[Service]\nExecStart=/opt/site.sh\n'],
    ['/etc/systemd/system/multi-user.target.wants/site.service', { link: '../site.service' }],
    ['/opt/site.sh', '#!/bin/sh\nswapon /o\n'],
  ] as const)
  .map(pairs => Object.fromEntries(pairs))

const service = (name: string, command: string): readonly (readonly [string, Node])[] => [
  [`/etc/systemd/system/${name}`, `[Service]\nExecStart=${command}\n`],
  [`/etc/systemd/system/multi-user.target.wants/${name}`, { link: `../${name}` }],
]

/** Programs that write a setting after the files were applied. */
const laterFiles: fc.Arbitrary<Readonly<Record<string, Node>>> = fc
  .subarray<readonly (readonly [string, Node])[]>([
    [['/etc/sysctl.d/a.conf', 'net.ipv4.ip_forward=1\n']],
    [['/etc/rc.local', { text: '#!/bin/sh\nsysctl -w net.ipv4.ip_forward=0\n', mode: 0o755 }]],
    [
      ...service('cron.service', '/usr/sbin/cron -f'),
      ['/etc/cron.d/x', '@reboot root sysctl -w net.ipv4.ip_forward=0\n'],
    ],
    [...service('ufw.service', '/usr/lib/ufw/ufw-init start'), ['/etc/ufw/ufw.conf', 'ENABLED=yes\n']],
    [['/etc/ufw/sysctl.conf', 'net/ipv4/ip_forward=0\n']],
    [...service('tuned.service', '/usr/sbin/tuned -l'), ['/etc/tuned/active_profile', 'own\n']],
    [['/etc/tuned/own/tuned.conf', '[sysctl]\nnet.ipv4.ip_forward=0\n']],
    [...service('site.service', '/opt/site.sh'), ['/opt/site.sh', '#!/bin/sh\nsysctl -w net.ipv4.ip_forward=0\n']],
  ])
  .map(each => Object.fromEntries(each.flat()))

describe('less that was captured', () => {
  it('never gives another value of a setting, only unknown', () => {
    fc.assert(
      fc.property(layout, captured, fc.constantFrom(...KEYS), (record, seen, path) => {
        const of = (files: ReturnType<typeof hostTree>) =>
          sysctlAtBoot(files, hostMoment(files, { sysctl }), sysctlKeyOf(path)).value
        const whole = of(hostTree(record))
        const part = of(hostTree(record, seen))
        if (part.kind === 'unknown') return
        assert.deepEqual({ ...part, places: [] }, { ...whole, places: [] })
      }),
      { numRuns: 500 },
    )
  })

  it('never gives another value where programs write it later', () => {
    fc.assert(
      fc.property(laterFiles, captured, (record, seen) => {
        const of = (files: ReturnType<typeof hostTree>) =>
          sysctlAtBoot(files, hostMoment(files, { sysctl }), 'net.ipv4.ip_forward').value
        const whole = of(hostTree(record))
        // Which units are started has to be seen: without that a setting is what the files say, with a note.
        const part = of(
          hostTree(record, ['/lib', '/etc/systemd', '/usr/lib/systemd', '/usr/local/lib/systemd', ...seen]),
        )
        if (part.kind !== 'known') return
        assert.equal(whole.kind === 'known' ? whole.value : whole.kind, part.value)
      }),
      { numRuns: 500 },
    )
  })

  it('never takes swap for gone that comes back, nor the other way round', () => {
    fc.assert(
      fc.property(swapFiles, captured, (record, seen) => {
        const of = (files: ReturnType<typeof hostTree>) => swapAreasOf(swapAtBoot(files), files)
        const whole = of(hostTree(record))
        const part = of(hostTree(record, seen))
        if (part.kind !== 'known') return
        assert.equal(whole.kind, 'known')
        if (whole.kind === 'known') assert.equal(part.value.length > 0, whole.value.length > 0)
      }),
      { numRuns: 500 },
    )
  })
})
