import type { HostFiles } from '../../evidence/host-files.js'
import { compareBytes } from '../../source/store.js'
import { type ChangedFiles, changedFiles } from '../changed-files.js'
import type { HostPlace, Moment } from '../moment.js'
import { confDirectories } from './conf-files.js'
import { bootUnits } from './enabled.js'
import { kernelModules } from './kernel-modules.js'
import { lineText } from './later-writers.js'
import { applyMend, commentOut, isAppendable, isSameMend, type Mend, overrideWithout } from './mends.js'
import { modprobeConf, moduleName } from './modprobe-d.js'
import { lookUp, moduleAtBoot, modulesLoad } from './modules.js'
import { swapAtBoot } from './swap.js'
import { type SysctlDecision, sysctlAtBoot } from './sysctl.js'
import { parseSysctlLine, sysctlKeyOf, sysctlPath } from './sysctl-d.js'
import { moduleOfKey, pathsOf, variableOf } from './sysctl-keys.js'

/** What has to be done, in order, and whether the next boot is right by it, as far as a boot can be foretold. */
export interface Mending {
  readonly mends: readonly Mend[]
  readonly isEnough: boolean
}

/** So many rounds at most: each line of a file that is in the way takes one. */
const MOST_ROUNDS = 24

/**
 * Boots the files, does what the outcome asks for, and boots again, until it is right or nothing more is to be done. `next` gives
 * what is to be tried, the first that was not yet done; `'done'` where all is right.
 */
function mendUntil(files: HostFiles, next: (files: ChangedFiles) => readonly Mend[] | 'done'): Mending {
  const changed = changedFiles(files)
  const mends: Mend[] = []
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const tried = next(changed)
    if (tried === 'done') return { mends, isEnough: true }
    const mend = tried.find(each => !mends.some(done => isSameMend(done, each)))
    if (mend === undefined) break
    mends.push(mend)
    applyMend(mend, changed)
  }
  return { mends, isEnough: false }
}

/** A kernel setting that is to have another value after the next boot. */
export interface WantedSetting {
  readonly key: string
  readonly isRight: (value: string) => boolean
  /** The value to set. */
  readonly wanted: string
}

const SYSCTL_SERVICE = 'systemd-sysctl.service'
const MODULES_SERVICE = 'systemd-modules-load.service'

/** What gives a setting its value at the next boot: programs that write it kept from it, lines taken out, a line added. */
export function mendSetting({ key, isRight, wanted }: WantedSetting, files: HostFiles, before: Moment): Mending {
  return mendUntil(files, changed => {
    const now = changed.copy()
    const decision = sysctlAtBoot(now, before, key)
    const { value } = decision
    if (value.kind === 'known' && isRight(value.value)) return 'done'
    const module = moduleOfKey(sysctlPath(key))
    if (value.kind === 'absent') return module === undefined ? [] : moduleSteps(module, now, before, 'sysinit')
    return settingSteps(key, wanted, decision, now)
  })
}

function settingSteps(key: string, wanted: string, decision: SysctlDecision, files: HostFiles): readonly Mend[] {
  const { decidedBy, stop, off, value } = decision
  if (stop !== undefined) return [stop()]
  if (value.kind === 'unknown') return []
  if (off !== undefined) return startSteps(SYSCTL_SERVICE, off, 'let the files of sysctl.d be applied at boot again')
  const line = decidedBy?.line === undefined ? undefined : decidedBy
  const out =
    line === undefined
      ? undefined
      : commentOut(files, line, `take ${lineText(line)} out of ${line.file}, which is read at boot`)
  if (out !== undefined) return [out]
  return namesFor(key, decidedBy).map(name => ({
    kind: 'append',
    file: `/etc/sysctl.d/${lastName(files)}`,
    text: `${name} = ${wanted}`,
    says: 'have it set at boot, in a file that is read last',
  }))
}

/**
 * The names under which a variable can be set, the one that decides first: a line that repeats the value of an earlier one has that
 * one's place, before the line that decides.
 */
function namesFor(key: string, decidedBy: HostPlace | undefined): readonly string[] {
  const said = decidedBy?.says === undefined ? undefined : parseSysctlLine(decidedBy.says, decidedBy)
  const own = sysctlPath(key)
  const paths = pathsOf(variableOf(own))
  const decides = typeof said === 'object' && paths.includes(said.path) ? [said.path] : []
  return [...new Set([...decides, own, ...paths])].map(sysctlKeyOf)
}

function startSteps(unit: string, off: HostPlace | true, says: string): readonly Mend[] {
  if (off !== true && off.file.startsWith('/etc/')) return [{ kind: 'unmask', unit, says }]
  return off === true ? [{ kind: 'add-wants', target: 'sysinit.target', unit, says }] : []
}

const OWN_NAME = 'zz-kubernetes.conf'
const OWN_ENDING = '_kubernetes.conf'

/** A name in /etc/sysctl.d to which lines can be added and that is read after all others, byte by byte. */
function lastName(files: HostFiles): string {
  const names = confNames(files, 'sysctl.d')
  const last = [...names.keys()].sort(compareBytes).at(-1)
  const isFree = (name: string): boolean =>
    (names.get(name) ?? ['/etc/sysctl.d']).every(directory => directory === '/etc/sysctl.d') &&
    isAppendable(files, `/etc/sysctl.d/${name}`)
  if (last === undefined || compareBytes(last, OWN_NAME) <= 0) {
    if (isFree(OWN_NAME)) return OWN_NAME
    return `zz-kubernetes${OWN_ENDING}`
  }
  if (last.endsWith(OWN_ENDING) && isFree(last)) return last
  const name = `${last.slice(0, -'.conf'.length)}${OWN_ENDING}`
  // One that would be too long: the same beginning, cut, with the last of all bytes a name has.
  return Buffer.byteLength(name) <= 255 ? name : `${last.slice(0, 40)}\u{10ffff}${OWN_ENDING}`
}

/** The names of files of one kind, each with the directories that have it. */
function confNames(files: HostFiles, kind: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const directory of confDirectories(files, kind)) {
    const listed = files.list(directory)
    for (const name of listed.kind === 'known' ? listed.value : []) {
      if (name.endsWith('.conf')) names.set(name, [...(names.get(name) ?? []), directory])
    }
  }
  return names
}

/** What makes something load a module at each boot: what keeps it out goes, and its name is put where it is read. */
export function mendModule(name: string, files: HostFiles, before: Moment): Mending {
  return mendUntil(files, changed => {
    const now = changed.copy()
    return moduleAtBoot(now, before, name, 'later').kind === 'known' ? 'done' : moduleSteps(name, now, before, 'later')
  })
}

/** What keeps modprobe itself from loading a module now; a name given to it is loaded whatever is on the deny list. */
export function liftForNow(name: string, files: HostFiles, before: Moment): readonly Mend[] {
  const attempt = attemptOf(name, files, before)
  return attempt.outcome === 'denied' ? [] : liftSteps(attempt.by, files)
}

function attemptOf(name: string, files: HostFiles, before: Moment): ReturnType<typeof lookUp> {
  const place = { file: '/etc/modules-load.d' }
  return lookUp(files, name, place, modprobeConf(files), kernelModules(files, before), before)
}

/** Whether the kernel has a module at all. */
export function hasModule(name: string, files: HostFiles, before: Moment): boolean {
  return attemptOf(name, files, before).outcome !== 'not-found'
}

function moduleSteps(name: string, files: HostFiles, before: Moment, stage: 'sysinit' | 'later'): readonly Mend[] {
  const attempt = attemptOf(name, files, before)
  if (attempt.outcome === 'not-found' || attempt.outcome === 'unknown') return []
  if (attempt.by !== undefined) return liftSteps(attempt.by, files)
  const { attempts, off } = modulesLoad(files, before)
  if (off !== undefined) {
    const says = 'let the modules of modules-load.d be loaded at boot again'
    return startSteps(MODULES_SERVICE, bootUnits(files).masked(MODULES_SERVICE) ?? true, says)
  }
  if (stage === 'later' && attempts.some(({ modules }) => modules.includes(moduleName(name)))) return []
  return [appendModule(name, files)]
}

function appendModule(name: string, files: HostFiles): Mend {
  const names = confNames(files, 'modules-load.d')
  // A file of a package with this name would not be read any more.
  const isFree = (each: string): boolean =>
    (names.get(each) ?? ['/etc/modules-load.d']).every(directory => directory === '/etc/modules-load.d') &&
    isAppendable(files, `/etc/modules-load.d/${each}`)
  const file = [`${name}.conf`, `kubernetes-${name}.conf`].find(isFree) ?? `kubernetes-${name}-at-boot.conf`
  return {
    kind: 'append',
    file: `/etc/modules-load.d/${file}`,
    text: name,
    says: `have ${name} loaded at each boot`,
  }
}

function liftSteps(by: HostPlace | undefined, files: HostFiles): readonly Mend[] {
  if (by === undefined) return []
  if (by.line === undefined) {
    const word = by.says ?? ''
    const says = `take ${word === '' ? 'what keeps it out' : word} off the kernel command line, in the settings of the boot loader, and boot again`
    return [{ kind: 'off-command-line', word, says }]
  }
  const says = `take ${by.says === undefined ? `line ${by.line}` : `"${by.says}"`} out of ${by.file}`
  const out = commentOut(files, by, says)
  if (out !== undefined) return [out]
  const overridden = `${says}, by a file of its name in /etc/modprobe.d`
  const override = overrideWithout(files, by, '/etc/modprobe.d', overridden)
  return override === undefined ? [] : [override]
}

/** What keeps swap off at the next boot; where something else may bring it then, that too. */
export function mendSwap(files: HostFiles): Mending {
  return mendUntil(files, changed => {
    const { comesBack, mayCome, unknown } = swapAtBoot(changed.copy())
    if (comesBack.length > 0) return comesBack.map(({ stop }) => stop())
    if (mayCome.length === 0) return unknown.length === 0 ? 'done' : []
    return mayCome.map(({ stop, because }) => {
      const mend = stop()
      return { ...mend, says: `to be sure, because ${because}: ${mend.says}` }
    })
  })
}
