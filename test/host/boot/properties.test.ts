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
  ] as const)
  .map(pairs => Object.fromEntries(pairs))

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
