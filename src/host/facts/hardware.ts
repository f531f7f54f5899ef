import { type HostFiles, textAt } from '../../evidence/host-files.js'
import { type Dict, type Key, known, unknown, type Value } from '../../jinja/value.js'
import { isMissing, isThere } from './file-content.js'

const MEMORY = new Set(['MemTotal', 'SwapTotal', 'MemFree', 'SwapFree', 'Buffers', 'Cached', 'SwapCached'])

/**
 * Facts of /proc/meminfo in MiB, rounded down as Ansible does. What is free or used changes from moment to moment: it stays
 * unknown, but for swap on a host that has none.
 */
export function memoryFacts(files: HostFiles): Dict {
  const text = textAt(files, '/proc/meminfo')
  if (text.kind !== 'known') return new Map()
  const sizes = new Map<string, bigint>()
  for (const line of text.value.text.split('\n')) {
    const found = /^(\w+):\s*([0-9]+)(?: |$)/.exec(line)
    const [name, number] = [found?.[1], found?.[2]]
    if (name !== undefined && number !== undefined && MEMORY.has(name)) sizes.set(name, BigInt(number) / 1024n)
  }
  const total = sizes.get('MemTotal')
  const swap = sizes.get('SwapTotal')
  if (total === undefined || swap === undefined) return new Map()
  const open = unknown([{ says: 'it changes from moment to moment', at: { file: text.value, start: 0, end: 0 } }])
  const moving = swap === 0n ? known(0n) : open
  const dict = (entries: readonly (readonly [string, Value])[]): Value => known(new Map<Key, Value>(entries))
  const facts = new Map<Key, Value>([
    ['memtotal_mb', known(total)],
    ['swaptotal_mb', known(swap)],
    [
      'memory_mb',
      dict([
        [
          'real',
          dict([
            ['total', known(total)],
            ['used', open],
            ['free', open],
          ]),
        ],
        [
          'nocache',
          dict([
            ['free', open],
            ['used', open],
          ]),
        ],
        [
          'swap',
          dict([
            ['total', known(swap)],
            ['free', moving],
            ['used', moving],
            ['cached', moving],
          ]),
        ],
      ]),
    ],
  ])
  if (swap === 0n) facts.set('swapfree_mb', known(0n))
  return facts
}

const PROCESSOR_KEYS = new Set(['model name', 'Processor', 'vendor_id', 'cpu', 'Vendor', 'processor'])

/**
 * Facts of /proc/cpuinfo, counted as Ansible counts. `processor_nproc` is left out: it is how many processors the login may use.
 * So are counts in which the versions of Ansible differ (threads that do not divide evenly), and those of s390x.
 */
export function cpuFacts(files: HostFiles, machine: string | undefined): Dict {
  const text = textAt(files, '/proc/cpuinfo')
  if (text.kind !== 'known') return new Map()
  const lines = text.value.text
    .trim()
    .split('\n')
    .map(line => {
      const colon = line.indexOf(':')
      return colon === -1
        ? { key: line.trim(), value: '' }
        : { key: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() }
    })
  const isIntel = lines.some(({ key }) => key === 'vendor_id') && lines.some(({ key }) => key === 'flags')
  const architecture = machine ?? (isIntel ? 'x86_64' : undefined)
  if (architecture === undefined || architecture === 's390x') return new Map()
  // Xen's paravirtual guests are counted in another way.
  const isPlain = lines.every(({ key, value }) => key !== 'flags' || value.includes('vme'))
  if (!isPlain && !(isMissing(files, '/proc/xen') && (isMissing(files, '/sys/hypervisor/type') || !isXen(files))))
    return new Map()
  return counted(lines, architecture)
}

function isXen(files: HostFiles): boolean {
  const text = textAt(files, '/sys/hypervisor/type')
  return text.kind !== 'known' || text.value.text.split('\n')[0]?.trim() === 'xen' || isThere(files, '/proc/xen')
}

function counted(lines: readonly { readonly key: string; readonly value: string }[], architecture: string): Dict {
  const processor: string[] = []
  const seen = { vendor: 0, model: 0, processor: 0 }
  // Before a line names one, socket and core have a number that no line can give.
  let [socket, core] = [' ', ' ']
  const sockets = new Map<string, number>()
  const cores = new Map<string, number>()
  for (const { key, value } of lines) {
    if (PROCESSOR_KEYS.has(key)) {
      processor.push(value)
      if (key === 'vendor_id') seen.vendor++
      if (key === 'model name') seen.model++
      if (key === 'processor') seen.processor++
    } else if (key === 'physical id') {
      socket = value
      if (!sockets.has(socket)) sockets.set(socket, 1)
    } else if (key === 'core id') {
      core = value
      if (!sockets.has(core)) cores.set(core, 1)
    } else if (key === 'cpu cores') sockets.set(socket, Number(value))
    else if (key === 'siblings') cores.set(core, Number(value))
    else if (key === 'ncpus active') return new Map()
  }
  let count = processor.length
  if (seen.vendor > 0 && seen.vendor === seen.model) count = seen.vendor
  if (/^(armv|aarch|ppc)/.test(architecture)) count = seen.processor
  const [perSocket] = sockets.values()
  const [siblings = 1] = cores.values()
  const each = perSocket || 1
  const facts = new Map<Key, Value>([['processor', known(processor.map(known))]])
  if (![count, each, siblings].every(number => Number.isSafeInteger(number))) return facts
  const chips = sockets.size || count
  facts.set('processor_count', known(BigInt(chips))).set('processor_cores', known(BigInt(each)))
  const threads = siblings / each
  if (!Number.isInteger(threads) && !(Math.floor(threads) === Math.round(threads))) return facts
  const whole = Math.floor(threads)
  return facts
    .set('processor_threads_per_core', known(BigInt(whole)))
    .set('processor_vcpus', known(BigInt(whole * chips * each)))
}
