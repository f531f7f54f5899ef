import { textOf } from '../../effects/argument.js'
import { effectsOfReading } from '../../effects/commands.js'
import { readShell } from '../../effects/shell.js'
import type { Found, HostFiles } from '../../evidence/host-files.js'
import { known } from '../../jinja/value.js'
import { ownEntry } from '../../source/own-entry.js'
import { wholeFile } from '../../source/text.js'
import type { HostPlace, Moment, Seen } from '../moment.js'
import { bootPrograms, isCertain } from './at-boot.js'
import { confFiles, confText, linesOf, linesOfSystemd, strip, withoutRun } from './conf-files.js'
import { bootUnits } from './enabled.js'
import { kernelCommandLine, valuesOfParameter } from './kernel-command-line.js'
import { type KernelModules, kernelModules, NEEDED } from './kernel-modules.js'
import { type ModprobeConf, type ModprobeLine, modprobeConf, moduleName } from './modprobe-d.js'
import { matchesPattern } from './pattern.js'

/** What becomes of one name that is to be loaded at boot. */
export interface ModuleAttempt {
  /** As written. */
  readonly name: string
  readonly place: HostPlace
  /**
   * `denied`: a `blacklist` line of modprobe.d; `refused`: module_blacklist= of the kernel; `install`: an `install` line runs something
   * else instead.
   */
  readonly outcome: 'loads' | 'built-in' | 'not-found' | 'denied' | 'refused' | 'install' | 'unknown'
  /** The modules that are there afterwards, or would be, the named one first. */
  readonly modules: readonly string[]
  /** The line that stands in the way. */
  readonly by?: HostPlace
  readonly because?: string
}

/** What modules-load.d comes to. */
export interface ModulesLoad {
  readonly attempts: readonly ModuleAttempt[]
  /** Why there may be more. */
  readonly unknown: readonly string[]
  /** Why none of the files counts: systemd-modules-load.service is masked. */
  readonly off?: HostPlace
}

const SERVICE = 'systemd-modules-load.service'

/**
 * The modules systemd-modules-load asks for: those of the kernel's command line, then of modules-load.d, a name a line, taken
 * as it stands (`foo # why` is a name nobody has). Source: systemd src/modules-load/modules-load.c; kmod libkmod-module.c.
 */
export function modulesLoad(files: HostFiles, before: Moment): ModulesLoad {
  const units = bootUnits(files)
  const off = units.masked(SERVICE)
  if (off !== undefined || !units.started.has(SERVICE)) {
    return {
      attempts: [],
      unknown: [],
      off: off ?? { file: '/usr/lib/systemd/system', says: `${SERVICE} is not started` },
    }
  }
  const conf = modprobeConf(files)
  const kernel = kernelModules(files, before)
  const attempts: ModuleAttempt[] = []
  const attempt = (name: string, place: HostPlace): void => {
    attempts.push(lookUp(files, name, place, conf, kernel, before))
  }
  for (const value of valuesOfParameter(files, 'modules_load', 'rd.modules_load')) {
    const place = { file: '/proc/cmdline', says: `modules_load=${value ?? ''}` }
    for (const name of (value ?? '').split(',')) if (name !== '') attempt(name, place)
  }
  const { read, unknown } = confFiles(files, 'modules-load.d')
  const open = [...unknown]
  for (const { path, text } of read) {
    if (text.kind === 'unknown') open.push(text.because)
    if (text.kind !== 'known') continue
    for (const { text: raw, line } of linesOfSystemd(text.value.text)) {
      const name = strip(raw)
      if (name !== '' && !/^[#;]/.test(name)) attempt(name, { file: path, line, says: name })
    }
  }
  return { attempts, unknown: open }
}

/** What `modprobe -b NAME`, which is what systemd-modules-load does, comes to. */
export function lookUp(
  files: HostFiles,
  name: string,
  place: HostPlace,
  conf: ModprobeConf,
  kernel: KernelModules,
  before: Moment,
): ModuleAttempt {
  const attempt = (
    outcome: ModuleAttempt['outcome'],
    modules: readonly string[],
    more: { readonly by?: HostPlace; readonly because?: string } = {},
  ): ModuleAttempt => ({ name, place, outcome, modules, ...more })
  const wanted = moduleName(name)
  const target = moduleOf(wanted, conf, kernel, before)
  if (target.kind === 'absent') return attempt('not-found', [wanted])
  if (target.kind === 'unknown') return attempt('unknown', [wanted], { because: target.because })
  const [module, isBuiltIn] = target.value
  if (isBuiltIn) return attempt('built-in', [module])
  if (conf.unknown.length > 0) return attempt('unknown', [module], { because: [...new Set(conf.unknown)].join('; ') })
  const needs =
    kernel.loadable.kind === 'known' ? (kernel.loadable.value.get(module) ?? []) : (ownEntry(NEEDED, module) ?? [])
  const denied = conf.lines.find(line => line.command === 'blacklist' && line.name === module)
  if (denied !== undefined) return attempt('denied', [module], { by: denied.place })
  const parameter = blacklistedByKernel(files, 'modprobe.blacklist', [module])
  if (parameter !== undefined) return attempt('denied', [module], { by: parameter })
  const refused = blacklistedByKernel(files, 'module_blacklist', [module, ...needs])
  if (refused !== undefined) return attempt('refused', [module], { by: refused })
  for (const each of [module, ...needs]) {
    const install = conf.lines.find(line => line.command === 'install' && matchesName(line, each))
    if (install === undefined) continue
    const loads = installLoads(install, each)
    if (loads === false) return attempt('install', [module], { by: install.place })
    if (loads === undefined) {
      const because = `${install.place.file} runs another command in place of loading ${each}`
      return attempt('unknown', [module], { by: install.place, because })
    }
  }
  return attempt('loads', [module, ...needs, ...softNeeds(module, conf)])
}

/** The module a name means, in the order in which kmod looks: aliases of modprobe.d, modules, install lines, aliases of modules. */
function moduleOf(
  wanted: string,
  conf: ModprobeConf,
  kernel: KernelModules,
  before: Moment,
): Found<readonly [string, boolean]> {
  const configured = conf.lines.find(line => line.command === 'alias' && matchesName(line, wanted))
  const name = configured === undefined ? wanted : moduleName(configured.rest)
  const { loadable, builtIn, aliases } = kernel
  if (loadable.kind === 'known' && loadable.value.has(name)) return { kind: 'known', value: [name, false] }
  if (conf.lines.some(line => line.command === 'install' && line.name === name)) {
    return { kind: 'known', value: [name, false] }
  }
  if (aliases.kind === 'known') {
    const alias = aliases.value.find(([pattern]) => matchesPattern(pattern, name, { path: false }))
    if (alias !== undefined) return { kind: 'known', value: [alias[1], false] }
  }
  if (builtIn.kind === 'known' && builtIn.value.has(name)) return { kind: 'known', value: [name, true] }
  const now = before.module(name)
  if (now.kind === 'known') return { kind: 'known', value: [name, now.value === 'built-in'] }
  // A name with a blank in it is no module's, whatever the kernel has.
  if (/\s/.test(name)) return { kind: 'absent' }
  if (loadable.kind !== 'known') return notKnown(`whether the kernel has a module ${name} is not known`, loadable)
  if (builtIn.kind !== 'known') return notKnown(`whether ${name} is built into the kernel is not known`, builtIn)
  if (aliases.kind !== 'known' && !/^(br_netfilter|ip_vs\w*|overlay|nf_conntrack|dummy)$/.test(name)) {
    return notKnown(`whether ${name} is another name of a module is not known`, aliases)
  }
  return { kind: 'absent' }
}

function notKnown(says: string, found: Found<unknown>): Found<never> {
  return { kind: 'unknown', because: found.kind === 'unknown' ? `${says}: ${found.because}` : says }
}

function matchesName(line: ModprobeLine, name: string): boolean {
  return matchesPattern(line.name, name, { path: false })
}

function blacklistedByKernel(files: HostFiles, parameter: string, names: readonly string[]): HostPlace | undefined {
  const found = kernelCommandLine(files)
  if (found.kind !== 'known') return undefined
  const listed = found.value.find(
    ({ name, value }) => name === parameter && (value ?? '').split(',').some(each => names.includes(moduleName(each))),
  )
  return listed === undefined ? undefined : { file: '/proc/cmdline', says: `${listed.name}=${listed.value ?? ''}` }
}

/** Programs that load nothing: an `install` line with one of them keeps the module out. */
const LOADS_NOTHING = new Set(['true', 'false', ':', 'echo', 'logger', 'exit'])

/** Whether the command of an `install` line loads the module itself; undefined: it may. */
function installLoads(line: ModprobeLine, module: string): boolean | undefined {
  const file = { path: line.place.file, text: line.rest }
  const at = wholeFile(file)
  const effects = effectsOfReading(readShell(known(line.rest), at), at, () => undefined)
  const loads = effects.some(
    effect =>
      effect.kind === 'kernel-module' &&
      effect.state === 'loaded' &&
      moduleName(textOf(effect.module) ?? '') === module &&
      isCertain(effect),
  )
  if (loads) return true
  const programs = effects.flatMap(effect => (effect.kind === 'command' ? [effect.program ?? ''] : ['']))
  return programs.length > 0 && programs.every(program => LOADS_NOTHING.has(program)) ? false : undefined
}

/** `softdep NAME pre: a b post: c`: loaded with it where the kernel has them. */
function softNeeds(module: string, conf: ModprobeConf): readonly string[] {
  return conf.lines
    .filter(line => line.command === 'softdep' && line.name === module)
    .flatMap(({ rest }) => rest.split(/\s+/).filter(word => word !== '' && !word.endsWith(':')))
    .map(moduleName)
}

/** Services that load a module while they work, without a line that says so. */
const MAY_LOAD: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^br_netfilter$/, ['docker.service', 'libvirtd.service', 'virtnetworkd.service', 'lxd.service']],
  [
    /^nf_conntrack$/,
    [
      'docker.service',
      'firewalld.service',
      'ufw.service',
      'nftables.service',
      'iptables.service',
      'netfilter-persistent.service',
      'libvirtd.service',
      'keepalived.service',
    ],
  ],
  [/^overlay$/, ['docker.service', 'containerd.service', 'crio.service', 'podman.service']],
  [/^ip_vs(_\w+)?$/, ['keepalived.service', 'docker.service']],
]

/**
 * Whether a module is there after the next boot. `sysinit`: when systemd-sysctl applies its files; `later`: once every unit that is
 * started at boot has been. Modules that hardware asks for are not foretold.
 */
export function moduleAtBoot(
  current: HostFiles,
  before: Moment,
  name: string,
  stage: 'sysinit' | 'later',
): Seen<'loaded' | 'built-in'> {
  const found = moduleOfBoot(withoutRun(current), before, name, stage)
  const run = current.list('/run/modules-load.d')
  if (run.kind === 'absent' || (run.kind === 'known' && run.value.length === 0)) return found
  if (found.kind === 'known' && found.value === 'built-in') return found
  if (run.kind === 'unknown') return { kind: 'unknown', because: run.because, places: found.places }
  const again = moduleOfBoot(current, before, name, stage)
  if (again.kind === found.kind) return found
  const because = 'whether what stands in /run/modules-load.d now is put there again at the next boot is not known'
  return { kind: 'unknown', because, places: again.places }
}

function moduleOfBoot(
  files: HostFiles,
  before: Moment,
  name: string,
  stage: 'sysinit' | 'later',
): Seen<'loaded' | 'built-in'> {
  const wanted = moduleName(name)
  const kernel = kernelModules(files, before)
  const now = before.module(wanted)
  if ((kernel.builtIn.kind === 'known' && kernel.builtIn.value.has(wanted)) || isBuiltIn(now)) {
    return { kind: 'known', value: 'built-in', places: now.places }
  }
  const found = modulesLoad(files, before)
  const loads = found.attempts.find(({ outcome, modules }) => outcome === 'loads' && modules.includes(wanted))
  // A directory that was not captured may hide a file of a weaker one.
  const isSure = found.unknown.length === 0 || !/^\/(usr|run|lib)\//.test(loads?.place.file ?? '')
  if (loads !== undefined && isSure) return { kind: 'known', value: 'loaded', places: [loads.place] }
  const inTheWay = found.attempts.filter(({ modules }) => modules.includes(wanted))
  const places = inTheWay.flatMap(({ place, by }) => (by === undefined ? [place] : [by, place]))
  const open = inTheWay.find(({ outcome }) => outcome === 'unknown')
  if (open?.because !== undefined) return { kind: 'unknown', because: open.because, places }
  if (found.unknown.length > 0) return { kind: 'unknown', because: [...new Set(found.unknown)].join('; '), places }
  if (stage === 'later') {
    const later = loadedLater(files, wanted)
    if (later !== undefined) return later
    const { unknown } = bootUnits(files)
    if (unknown.length > 0) {
      const because = `whether a unit that is started at boot loads ${wanted} is not known: ${[...new Set(unknown)].join('; ')}`
      return { kind: 'unknown', because, places }
    }
  }
  const early = asInitramfs(files, wanted)
  if (early !== undefined) return early
  if (now.places.some(({ file }) => file === '/proc/modules') && isAskedFor(wanted, kernel)) {
    return { kind: 'unknown', because: `${wanted} is loaded now, and what loads it was not found`, places }
  }
  return { kind: 'absent', places: found.off === undefined ? places : [found.off, ...places] }
}

function isBuiltIn(now: Seen<'loaded' | 'built-in'>): boolean {
  return now.kind === 'known' && now.value === 'built-in'
}

function loadedLater(files: HostFiles, wanted: string): Seen<'loaded'> | undefined {
  let open: Seen<'loaded'> | undefined
  for (const { effect, by, place } of bootPrograms(files).effects) {
    if (effect.kind !== 'kernel-module' || effect.when !== 'now' || effect.state !== 'loaded') continue
    const name = textOf(effect.module)
    if (name === undefined || by === SERVICE) continue
    const modules = [moduleName(name), ...(ownEntry(NEEDED, moduleName(name)) ?? [])]
    if (!modules.includes(wanted)) continue
    if (isCertain(effect)) return { kind: 'known', value: 'loaded', places: [place] }
    open ??= { kind: 'unknown', because: `${by} is started at boot and may load ${wanted}`, places: [place] }
  }
  if (open !== undefined) return open
  const units = bootUnits(files)
  const unit = MAY_LOAD.find(([pattern]) => pattern.test(wanted))?.[1].find(each => units.started.has(each))
  if (unit === undefined) return undefined
  const places = [units.started.get(unit)?.pulledBy].filter(place => place !== undefined)
  return { kind: 'unknown', because: `${unit} is started at boot and loads ${wanted} when it needs it`, places }
}

/** Modules of the initial RAM disk are there before systemd; whether it was made anew since is not known. */
function asInitramfs(files: HostFiles, wanted: string): Seen<never> | undefined {
  const path = '/etc/initramfs-tools/modules'
  const text = confText(files, path)
  if (text.kind !== 'known') return undefined
  for (const { text: raw, line } of linesOf(text.value.text)) {
    if (moduleName(raw.trim().split(/\s+/)[0] ?? '') !== wanted) continue
    const because = `${path} names ${wanted}, and whether the initial RAM disk was made anew since is not known`
    return { kind: 'unknown', because, places: [{ file: path, line, says: raw.trim() }] }
  }
  return undefined
}

/** Whether a device or the kernel itself can ask for a module by another name. */
function isAskedFor(module: string, { aliases }: KernelModules): boolean {
  if (aliases.kind === 'known') return aliases.value.some(([, target]) => target === module)
  return !/^(br_netfilter|ip_vs\w*)$/.test(module)
}
