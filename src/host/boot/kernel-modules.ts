import { type Found, type HostFiles, textAt } from '../../evidence/host-files.js'
import type { Moment } from '../moment.js'
import { linesOf } from './conf-files.js'
import { moduleName } from './modprobe-d.js'

/** What a kernel has of modules. */
export interface KernelModules {
  /** Loadable modules, each with those it needs. */
  readonly loadable: Found<ReadonlyMap<string, readonly string[]>>
  readonly builtIn: Found<ReadonlySet<string>>
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
  const text = (name: string): Found<string> => {
    let because = `there is no /lib/modules/${release}/${name}`
    for (const root of ['/lib/modules', '/usr/lib/modules']) {
      const found = textAt(files, `${root}/${release}/${name}`)
      if (found.kind === 'known') return { kind: 'known', value: found.value.text }
      if (found.kind === 'unknown') because = found.because
    }
    return { kind: 'unknown', because }
  }
  const dep = text('modules.dep')
  const builtin = text('modules.builtin')
  const alias = text('modules.alias')
  return {
    loadable: dep.kind === 'known' ? { kind: 'known', value: dependencies(dep.value) } : dep,
    builtIn:
      builtin.kind === 'known'
        ? { kind: 'known', value: new Set([...linesOf(builtin.value)].map(({ text }) => nameOfPath(text))) }
        : builtin,
    aliases: alias.kind === 'known' ? { kind: 'known', value: aliasesIn(alias.value) } : alias,
  }
}

function dependencies(text: string): ReadonlyMap<string, readonly string[]> {
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

function aliasesIn(text: string): readonly (readonly [string, string])[] {
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
