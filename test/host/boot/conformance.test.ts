import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { fstabSwaps } from '../../../src/host/boot/fstab.js'
import { applyProcps, systemFiles } from '../../../src/host/boot/procps.js'
import { sysctlAtBoot } from '../../../src/host/boot/sysctl.js'
import { sysctlKeyOf } from '../../../src/host/boot/sysctl-d.js'
import { buildPrison, type Prison, whyNoPrison } from './chroot.js'
import { hostMoment, hostTree } from './host-tree.js'
import { KEYS, layout } from './layouts.js'

const SEED = 7

/** Says why a comparison with a program of the machine is left out; where CI is set it may not be. */
function skip(test: Mocha.Context, why: string): void {
  assert.equal(process.env.CI, undefined, `${why}, and CI is where it has to be`)
  console.warn(`    skipped: ${why}`)
  test.skip()
}

const SYSTEMD = '/usr/lib/systemd/systemd-sysctl'
const PROCPS = '/usr/sbin/sysctl'

const kernel = Object.fromEntries(KEYS.map(path => [`/proc/sys/${path}`, '0\n']))

describe('sysctl.d against the programs of this machine', function () {
  this.timeout(120_000)
  let prison: Prison
  before(function () {
    const why = whyNoPrison([SYSTEMD, PROCPS])
    if (why !== undefined) return skip(this, why)
    prison = buildPrison([SYSTEMD, PROCPS])
  })
  after(() => prison?.remove())

  const written = (path: string): string => readFileSync(join(prison.root, 'proc/sys', path), 'utf8').trim()

  it('systemd-sysctl leaves the values that are foretold for the boot', () => {
    let compared = 0
    for (const record of fc.sample(layout, { numRuns: 60, seed: SEED })) {
      prison.lay({ ...kernel, ...record })
      prison.run([SYSTEMD])
      const files = hostTree(record)
      const now = hostMoment(files, { sysctl: Object.fromEntries(KEYS.map(path => [sysctlKeyOf(path), '0'])) })
      for (const path of KEYS) {
        const { value: foretold, decidedBy } = sysctlAtBoot(files, now, sysctlKeyOf(path))
        // An interface may be there later than the service; that it was not here.
        if (foretold.kind === 'unknown' && /\/eth/.test(path)) continue
        // The kernel's default is not the 0 of the prison where nothing decides.
        const expected = decidedBy === undefined ? '0' : foretold.kind === 'known' ? foretold.value : foretold.kind
        assert.equal(expected, written(path), `${path}\n${JSON.stringify(record, undefined, 2)}`)
        compared += 1
      }
    }
    assert.ok(compared > 350, `only ${compared} values compared`)
  })

  it('sysctl --system leaves the values that are foretold for it', () => {
    for (const record of fc.sample(layout, { numRuns: 60, seed: SEED + 1 })) {
      prison.lay({ ...kernel, ...record })
      prison.run([PROCPS, '--system'])
      const last = new Map<string, string>()
      for (const each of applyProcps(systemFiles(hostTree(record)).read, KEYS)) last.set(each.path, each.value)
      for (const path of KEYS) {
        assert.equal(last.get(path) ?? '0', written(path), `${path}\n${JSON.stringify(record, undefined, 2)}`)
      }
    }
  })
})

const GENERATOR = '/usr/lib/systemd/system-generators/systemd-fstab-generator'

const field = fc.constantFrom(
  '/swapfile',
  '/dev/sda2',
  'UUID=0a-1',
  'LABEL=my\\040swap',
  'LABEL="q"',
  'PARTUUID=ab',
  '/my\\040swap',
  '/x\\134y',
  '/a//b/',
  '/x#y',
  '/dev/ü',
  'swapfile',
  '#',
  'none',
  'swap',
)
const options = fc
  .array(fc.constantFrom('sw', 'defaults', 'noauto', 'auto', 'nofail', 'fail', 'pri=5', 'x-systemd.device-timeout=5'), {
    minLength: 1,
    maxLength: 3,
  })
  .map(each => each.join(','))
const fstabLine = fc
  .tuple(
    fc.constantFrom('', ' ', '\t', '# '),
    fc.array(fc.constantFrom(' ', '\t', '  \t'), { minLength: 7, maxLength: 7 }),
    field,
    fc.constantFrom('none', 'swap', 'sw', '/mnt'),
    fc.constantFrom('swap', 'swap', 'swap', 'SWAP', 'ext4', 'ignore'),
    options,
    fc.integer({ min: 2, max: 7 }),
    fc.constantFrom('\n', '\n', '\r\n', ' \n'),
  )
  .map(([start, gaps, what, where, type, option, count, end]) => {
    const fields = [what, where, type, option, '0', '0', '#x'].slice(0, count)
    return `${start}${fields.map((each, index) => `${each}${index === count - 1 ? '' : gaps[index]}`).join('')}${end}`
  })
const fstab = fc.array(fstabLine, { maxLength: 6 }).map(lines => lines.join(''))

describe('fstab against the generator of this machine', function () {
  this.timeout(120_000)
  let prison: Prison
  before(function () {
    const why = whyNoPrison([GENERATOR])
    if (why !== undefined) return skip(this, why)
    prison = buildPrison([GENERATOR])
  })
  after(() => prison?.remove())

  it('makes the swap units that are foretold', () => {
    let made = 0
    for (const table of fc.sample(fstab, { numRuns: 60, seed: SEED })) {
      prison.lay({ '/etc/fstab': table, '/proc/swaps': 'Filename\n', '/proc/cmdline': '\n', '/out/1': null })
      prison.run([GENERATOR, '/out/1', '/out/1', '/out/1'])
      const found = readdirSync(join(prison.root, 'out/1'), { recursive: true, encoding: 'utf8' })
        .filter(each => each.endsWith('.swap'))
        .sort()
      made += found.length
      const foretold = new Set<string>()
      for (const { unit, noauto, nofail } of fstabSwaps(table, '/etc/fstab')) {
        // Of two lines for one unit the first makes it.
        if (unit === undefined || foretold.has(unit)) continue
        foretold.add(unit)
        if (!noauto) foretold.add(`swap.target.${nofail ? 'wants' : 'requires'}/${unit}`)
      }
      assert.deepEqual([...foretold].sort(), found, JSON.stringify(table))
    }
    assert.ok(made > 70, `only ${made} units made`)
  })
})
