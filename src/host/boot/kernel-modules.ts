import { ABSENT, type Found, type HostFiles, textAt } from '../../evidence/host-files.js'
import type { SourceFile } from '../../source/text.js'
import type { HostPlace, Moment } from '../moment.js'
import { linesOf } from './conf-files.js'
import { moduleName } from './modprobe-d.js'

/** What a kernel has of modules. */
export interface KernelModules {
  /** Loadable modules, each with those it needs. */
  readonly loadable: Found<ReadonlyMap<string, readonly string[]>>
  /** Modules that are part of the kernel, each with the line that says so. */
  readonly builtIn: Found<ReadonlyMap<string, HostPlace>>
  /** Patterns of other names, each with its module. */
  readonly aliases: Found<readonly (readonly [string, string])[]>
}

const cache = new WeakMap<HostFiles, Map<string, KernelModules>>()

/** The modules of the running kernel: `modules.dep`, `modules.builtin`, `modules.alias` in /lib/modules. */
export function kernelModules(files: HostFiles, before: Moment): KernelModules {
  const release = kernelRelease(files, before)
  if (release === undefined) {
    const found: Found<never> = {
      kind: 'unknown',
      because: 'which kernel runs is not known (no /proc/sys/kernel/osrelease)',
    }
    return { loadable: found, builtIn: found, aliases: found }
  }
  const known = cache.get(files) ?? new Map<string, KernelModules>()
  cache.set(files, known)
  const modules = known.get(release) ?? readKernelModules(files, release)
  known.set(release, modules)
  return modules
}

function kernelRelease(files: HostFiles, before: Moment): string | undefined {
  const now = before.sysctl('kernel.osrelease')
  if (now.kind === 'known') return now.value.trim()
  const version = textAt(files, '/proc/version')
  return version.kind === 'known' ? /^Linux version (\S+)/.exec(version.value.text)?.[1] : undefined
}

function readKernelModules(files: HostFiles, release: string): KernelModules {
  const read = <T>(name: string, parse: (text: string) => T): Found<T> => {
    const found = modulesFile(files, release, name)
    if (found.kind === 'absent') return { kind: 'unknown', because: `there is no /lib/modules/${release}/${name}` }
    return found.kind === 'known' ? { kind: 'known', value: parse(found.value.text) } : found
  }
  const builtIn = builtInModules(files, release)
  return {
    loadable: read('modules.dep', dependenciesIn),
    builtIn: builtIn.kind === 'absent' ? read('modules.builtin', () => new Map()) : builtIn,
    aliases: read('modules.alias', aliasesIn),
  }
}

const builtInCache = new WeakMap<HostFiles, Map<string, Found<ReadonlyMap<string, HostPlace>>>>()

/** What is part of the kernel of a release, by `modules.builtin`; absent where there is no such file. */
export function builtInModules(files: HostFiles, release: string): Found<ReadonlyMap<string, HostPlace>> {
  const known = builtInCache.get(files) ?? new Map<string, Found<ReadonlyMap<string, HostPlace>>>()
  builtInCache.set(files, known)
  const before = known.get(release)
  if (before !== undefined) return before
  const file = modulesFile(files, release, 'modules.builtin')
  const found: Found<ReadonlyMap<string, HostPlace>> =
    file.kind === 'known' ? { kind: 'known', value: builtInModulesIn(file.value.text, file.value.path) } : file
  known.set(release, found)
  return found
}

/** A file that depmod writes; /lib need not have been captured, which is a link to /usr/lib today. */
function modulesFile(files: HostFiles, release: string, name: string): Found<SourceFile> {
  const found = ['/lib/modules', '/usr/lib/modules'].map(root => textAt(files, `${root}/${release}/${name}`))
  return found.find(({ kind }) => kind === 'known') ?? found.find(({ kind }) => kind === 'unknown') ?? ABSENT
}

/** The modules of a `modules.builtin`, each with its line. */
export function builtInModulesIn(text: string, file: string): ReadonlyMap<string, HostPlace> {
  return new Map([...linesOf(text)].map(({ text: path, line }) => [nameOfPath(path), { file, line }]))
}

/** The modules of a `modules.dep`, each with those it needs. */
export function dependenciesIn(text: string): ReadonlyMap<string, readonly string[]> {
  const modules = new Map<string, readonly string[]>()
  for (const { text: line } of linesOf(text)) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    const needs = line.slice(colon + 1).trim()
    modules.set(nameOfPath(line.slice(0, colon)), needs === '' ? [] : needs.split(/\s+/).map(nameOfPath))
  }
  return modules
}

function nameOfPath(path: string): string {
  const base = path.trim().split('/').at(-1) ?? path
  return moduleName(base.replace(/\.ko(\.\w+)?$/, ''))
}

/** The patterns of a `modules.alias`, each with its module. */
export function aliasesIn(text: string): readonly (readonly [string, string])[] {
  return [...linesOf(text)].flatMap(({ text: line }) => {
    const [word, pattern, module] = line.trim().split(/\s+/)
    return word === 'alias' && pattern !== undefined && module !== undefined
      ? [[moduleName(pattern), moduleName(module)] as const]
      : []
  })
}

/** What well-known modules need, where modules.dep was not captured; so since Linux 3.18. */
export const NEEDED: Readonly<Record<string, readonly string[]>> = {
  br_netfilter: ['bridge', 'stp', 'llc'],
  bridge: ['stp', 'llc'],
  xt_physdev: ['br_netfilter', 'bridge', 'stp', 'llc'],
  ip_vs: ['nf_conntrack', 'nf_defrag_ipv4', 'nf_defrag_ipv6'],
  ip_vs_rr: ['ip_vs', 'nf_conntrack'],
  ip_vs_wrr: ['ip_vs', 'nf_conntrack'],
  ip_vs_sh: ['ip_vs', 'nf_conntrack'],
  ip_vs_lc: ['ip_vs', 'nf_conntrack'],
  ip_vs_wlc: ['ip_vs', 'nf_conntrack'],
}
