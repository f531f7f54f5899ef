import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { confFiles } from '../../../src/host/boot/conf-files.js'
import { fstabSwaps } from '../../../src/host/boot/fstab.js'
import { kernelModules } from '../../../src/host/boot/kernel-modules.js'
import { modprobeConf } from '../../../src/host/boot/modprobe-d.js'
import { lookUp, modulesLoad } from '../../../src/host/boot/modules.js'
import { applyProcps, systemFiles } from '../../../src/host/boot/procps.js'
import { sysctlAtBoot } from '../../../src/host/boot/sysctl.js'
import { sysctlKeyOf } from '../../../src/host/boot/sysctl-d.js'
import { writtenTo } from '../../../src/host/boot/sysctl-keys.js'
import { hostMoment, hostTree, type Node } from './host-tree.js'

function rows<T>(name: string): readonly T[] {
  const path = fileURLToPath(new URL(`../../../../test/host/boot/${name}`, import.meta.url))
  return JSON.parse(readFileSync(path, 'utf8'))
}

interface OrderRow {
  readonly name: string
  readonly files: Readonly<Record<string, Node>>
  readonly order: readonly string[]
  readonly values: Readonly<Record<string, string>>
  readonly procps: { readonly order: readonly string[]; readonly values: Readonly<Record<string, string>> }
}

/** The keys of the kernel the rows were found with; its files took any text, as those of a real one do not. */
const KERNEL: Readonly<Record<string, string>> = {
  'net/ipv4/ip_forward': '0',
  'kernel/panic': '0',
  'vm/swappiness': '60',
  'net/ipv4/conf/all/rp_filter': '0',
  'net/ipv4/conf/default/rp_filter': '0',
  'net/ipv4/conf/eth0/rp_filter': '0',
  'net/ipv4/conf/eth0.100/rp_filter': '0',
  'vm/overcommit_memory': '0',
}

const sysctl = Object.fromEntries(Object.entries(KERNEL).map(([path, value]) => [sysctlKeyOf(path), value]))

/** What a real kernel makes of a text that a plain file only keeps. */
function asKernel(path: string, text: string | undefined): string | undefined {
  if (text === undefined) return KERNEL[path]
  const taken = writtenTo(path, text)
  return taken.kind === 'takes' ? taken.value : KERNEL[path]
}

describe('files of sysctl.d, as systemd-sysctl and procps read them', () => {
  for (const row of rows<OrderRow>('sysctl-order.json')) {
    it(`${row.name}: order`, () => {
      const files = hostTree(row.files)
      assert.deepEqual(
        confFiles(files, 'sysctl.d').read.map(({ path }) => path),
        row.order,
      )
      assert.deepEqual(
        systemFiles(files).read.map(({ path }) => path),
        row.procps.order,
      )
    })
    it(`${row.name}: values`, () => {
      const files = hostTree(row.files)
      const before = hostMoment(files, { sysctl })
      for (const path of Object.keys(KERNEL)) {
        // What stands in /run is gone after a boot, so such a row is about the order alone.
        if (row.order.some(each => each.startsWith('/run/'))) continue
        // An interface that is there later takes what `default` has: the rows know only one that was there.
        if (/eth0/.test(path) && sysctlAtBoot(files, before, sysctlKeyOf(path)).value.kind === 'unknown') continue
        const { value } = sysctlAtBoot(files, before, sysctlKeyOf(path))
        assert.equal(value.kind === 'known' ? value.value : value.kind, asKernel(path, row.values[path]), path)
      }
      const last = new Map<string, string>()
      for (const { path, value } of applyProcps(systemFiles(files).read, Object.keys(KERNEL))) {
        if (KERNEL[path] !== undefined) last.set(path, value)
      }
      for (const [path, value] of Object.entries(KERNEL)) {
        assert.equal(last.get(path) ?? value, row.procps.values[path] ?? value, `procps: ${path}`)
      }
    })
  }
})

describe('what the kernel makes of a written text', () => {
  const written = rows<{ write: string; to: string; expected: Readonly<Record<string, string>> | 'EINVAL' }>(
    'kernel-sysctl.json',
  )
  for (const { write, to, expected } of written) {
    it(`${to} <- ${JSON.stringify(write)}`, () => {
      const own = expected === 'EINVAL' ? { kind: 'refuses' } : { kind: 'takes', value: expected[to] }
      assert.deepEqual(writtenTo(to, write), own)
      if (expected === 'EINVAL') return
      // All of them start from 0, but for the row that turns off what is on.
      const before = hostMoment(hostTree({}), {
        sysctl: Object.fromEntries(Object.keys(expected).map(path => [sysctlKeyOf(path), '0'])),
      })
      const files = hostTree({
        '/etc/sysctl.d/a.conf': `${write === '0' ? 'net.ipv4.ip_forward=1\n' : ''}${to}=${write}\n`,
      })
      for (const [path, value] of Object.entries(expected)) {
        const found = sysctlAtBoot(files, before, sysctlKeyOf(path)).value
        assert.equal(found.kind === 'known' ? found.value : found.kind, value, path)
      }
    })
  }
})

const RELEASE = '6.1.0'
const MODULES = {
  [`/lib/modules/${RELEASE}/modules.dep`]: 'extra/foo_a.ko:\nextra/foo_b.ko:\nextra/foo-c.ko:\n',
  [`/lib/modules/${RELEASE}/modules.builtin`]: 'kernel/bltin.ko\n',
  [`/lib/modules/${RELEASE}/modules.alias`]: 'alias al-foo_a foo_a\nalias al-foo_b foo_b\nalias al-foo-c foo_c\n',
}

describe('modules-load.d, as systemd-modules-load reads it', () => {
  const outcomes: Readonly<Record<string, string>> = {
    loads: 'attempted',
    'built-in': 'builtin',
    'not-found': 'notfound',
    denied: 'denied',
    install: 'install-command-failed',
  }
  const cases = rows<{ name: string; files: Readonly<Record<string, Node>>; expected: readonly (readonly string[])[] }>(
    'modules-load.json',
  )
  for (const { name, files: record, expected } of cases) {
    it(name, () => {
      const files = hostTree({ ...MODULES, ...record })
      const before = hostMoment(files, { sysctl: { 'kernel.osrelease': RELEASE } })
      const { attempts } = modulesLoad(files, before)
      const found = confFiles(files, 'modules-load.d').read.flatMap(({ path }) => [
        ['file', path],
        ...attempts
          .filter(({ place }) => place.file === path)
          .map(each => [outcomes[each.outcome], each.outcome === 'not-found' ? each.name : each.modules[0]]),
      ])
      assert.deepEqual(found, expected)
    })
  }
})

describe('names of modules, as kmod looks them up', () => {
  const cases = rows<{
    words: readonly string[]
    modprobeD: Readonly<Record<string, string>>
    status: number
    output: string
  }>('kmod-cli.json')
  for (const { words, modprobeD, status, output } of cases) {
    const name = words.at(-1) ?? ''
    const isBlacklisted = words.includes('-b') || name.startsWith('al-')
    it(words.join(' '), () => {
      const record = Object.fromEntries(
        Object.entries(modprobeD).map(([file, text]) => [`/etc/modprobe.d/${file}`, text]),
      )
      const files = hostTree({ ...MODULES, ...record })
      const before = hostMoment(files, { sysctl: { 'kernel.osrelease': RELEASE } })
      const { outcome } = lookUp(files, name, { file: '/x' }, modprobeConf(files), kernelModules(files, before), before)
      assert.equal(outcome === 'not-found', status === 1)
      // What a blacklist keeps out, plain modprobe loads by its own name.
      if (words[0] === 'modprobe' && status === 0 && name !== 'bltin') {
        assert.equal(outcome === 'denied' && isBlacklisted ? '' : 'insmod', output.split(' ')[0])
      }
    })
  }
})

describe('lines of swap, as systemd-fstab-generator reads them', () => {
  for (const { name, fstab, units } of rows<{ name: string; fstab: string; units: readonly string[] }>(
    'fstab-boot-swap.json',
  )) {
    it(name, () => assert.deepEqual(unitsOf(fstab), [...units].sort()))
  }
})

/** The files the generator makes, by their names. */
export function unitsOf(fstab: string): readonly string[] {
  return fstabSwaps(fstab, '/etc/fstab')
    .flatMap(({ unit, noauto, nofail }) => {
      if (unit === undefined) return []
      return noauto ? [unit] : [unit, `swap.target.${nofail ? 'wants' : 'requires'}/${unit}`]
    })
    .sort()
}
