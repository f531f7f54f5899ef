import type { Found, HostFiles } from '../../evidence/host-files.js'
import type { HostPlace, Moment, Seen } from '../moment.js'
import { withoutRun } from './conf-files.js'
import { bootUnits } from './enabled.js'
import { kernelCommandLine } from './kernel-command-line.js'
import { laterWriters } from './later-writers.js'
import type { Mend } from './mends.js'
import { moduleAtBoot } from './modules.js'
import { expandBraces, matchesPattern } from './pattern.js'
import {
  isUnread,
  type SysctlFiles,
  type SysctlOption,
  sysctlFiles,
  sysctlKeyOf,
  sysctlPath,
  type UnreadOptions,
} from './sysctl-d.js'
import {
  alsoWritten,
  defaultOf,
  influencesOn,
  interfaceKey,
  isAlwaysThere,
  moduleOfKey,
  pathsOf,
  variableOf,
  writtenTo,
} from './sysctl-keys.js'

/** What a kernel setting is after the next boot, and which line decides it. */
export interface SysctlDecision {
  /** With dots. */
  readonly key: string
  readonly value: Seen<string>
  /** What gives the value; absent: the kernel's own. */
  readonly decidedBy?: HostPlace
  /** Every other line that sets the key (under any of its names), in the order in which they are read. */
  readonly overridden: readonly HostPlace[]
  /** Lines whose value the kernel does not take. */
  readonly refused: readonly HostPlace[]
  /** What keeps a program from deciding that writes it after the files. */
  readonly stop?: () => Mend
  /** Why no file of sysctl.d counts: what masks the service that applies them; `true`: nothing starts it. */
  readonly off?: HostPlace | true
  /** What else a reader has to know: a file at boot that is not read, a program that may write it later. */
  readonly notes: readonly string[]
}

const SERVICE = 'systemd-sysctl.service'

/**
 * What a key is after the next boot: the kernel's default, its command line, the files of sysctl.d as systemd-sysctl applies
 * them after the modules of modules-load.d are loaded, and programs that write it later. `before` is the host before the
 * boot: which keys it has, and which modules its kernel knows.
 */
export function sysctlAtBoot(files: HostFiles, before: Moment, key: string): SysctlDecision {
  const path = sysctlPath(key)
  const decision = decide(withoutRun(files), files, before, path)
  const run = files.list('/run/sysctl.d')
  if (run.kind === 'absent' || (run.kind === 'known' && run.value.length === 0)) return decision
  if (run.kind === 'unknown') return unsure(decision, run.because)
  // Who wrote there will perhaps do it again at the next boot, perhaps not.
  const again = decide(files, files, before, path)
  if (isSame(again.value, decision.value)) return decision
  return unsure(decision, 'whether what stands in /run/sysctl.d now is put there again at the next boot is not known')
}

function isSame(left: Seen<string>, right: Seen<string>): boolean {
  return left.kind === right.kind && (left.kind !== 'known' || right.kind !== 'known' || left.value === right.value)
}

function unsure(decision: SysctlDecision, because: string): SysctlDecision {
  if (decision.value.kind === 'unknown') return decision
  return { ...decision, value: { kind: 'unknown', because, places: decision.value.places } }
}

/** One variable while the boot goes on. */
interface Cell {
  readonly value: Found<string>
  readonly place?: HostPlace
  readonly stop?: (() => Mend) | undefined
}

interface Run {
  readonly cells: Map<string, Cell>
  readonly refused: HostPlace[]
}

function decide(files: HostFiles, current: HostFiles, before: Moment, path: string): SysctlDecision {
  const variable = variableOf(path)
  const names = pathsOf(variable)
  const read = sysctlFiles(files)
  const notes: string[] = []
  const assigned = read.assignments.filter(
    option => option.value !== undefined && names.some(name => covers(option, name, read.named)),
  )
  const off = serviceIsOff(files, notes)
  const decision = (
    { value, place: decidedBy, stop }: Cell,
    refused: readonly HostPlace[] = [],
    more: readonly HostPlace[] = [],
  ): SysctlDecision => {
    const others = assigned.map(({ place }) => place).filter(place => !isAt(place, decidedBy))
    const service = off === undefined || off === true ? [] : [off]
    const places = decidedBy === undefined ? [...more, ...service] : [decidedBy, ...others]
    const decides = decidedBy === undefined || value.kind !== 'known' ? {} : { decidedBy }
    return {
      key: sysctlKeyOf(path),
      value: { ...value, places, ...decides },
      ...(decidedBy === undefined ? {} : { decidedBy }),
      ...(stop === undefined ? {} : { stop }),
      ...(off === undefined ? {} : { off }),
      overridden: others.filter(place => !refused.some(each => isAt(each, place))),
      refused,
      notes,
    }
  }
  const module = moduleOfKey(path)
  const early = module === undefined ? undefined : moduleAtBoot(files, before, module, 'sysinit')
  const exists = early === undefined ? isThere(path, before) : fromModule(early)
  if (exists.kind !== 'known') {
    const late = module === undefined ? undefined : moduleAtBoot(files, before, module, 'later')
    if (exists.kind === 'absent' && module !== undefined && late?.kind === 'known') {
      notes.push(`${module} is loaded after ${SERVICE} has read the files, so none of them sets ${sysctlKeyOf(path)}`)
      return decision({ value: defaultOf(path) }, [], late.places)
    }
    if (exists.kind === 'absent' && late?.kind === 'unknown') return decision({ value: late }, [], late.places)
    if (exists.kind === 'absent' && module !== undefined && assigned.length > 0) {
      notes.push(`${sysctlKeyOf(path)} exists only while ${module} is loaded, and nothing loads it at boot`)
    }
    return decision({ value: exists }, [], early?.places)
  }

  const influences = [...new Set([...names.map(variableOf), ...influencesOn(variable)])]
  const isOff = off !== undefined
  const options = isOff ? [] : read.options
  const run: Run = { cells: begin(files, influences), refused: [] }
  apply(run, options, influences, read.named)
  let cell = run.cells.get(variable) ?? { value: defaultOf(path) }

  const ofInterface = interfaceKey(path)
  if (ofInterface !== undefined && !/^(all|default|lo)$/.test(ofInterface.of)) {
    cell = withLateInterface(cell, path, ofInterface.version, files, read, influences, isOff)
  }
  if (!isOff && read.unknown.length > 0) {
    cell = { ...cell, value: { kind: 'unknown', because: [...new Set(read.unknown)].join('; ') } }
  }
  cell = later(cell, variable, files, current, before, run, notes)
  return decision(cell, run.refused)
}

function isAt(place: HostPlace, other: HostPlace | undefined): boolean {
  return place.file === other?.file && place.line === other.line
}

/** The key comes with its module, whether or not both are there now. */
function fromModule(module: Seen<'loaded' | 'built-in'>): Found<true> {
  return module.kind === 'known' ? { kind: 'known', value: true } : module
}

function isThere(path: string, before: Moment): Found<true> {
  const now = before.sysctl(sysctlKeyOf(path))
  if (now.kind === 'known' || (now.kind === 'unknown' && isAlwaysThere(path))) return { kind: 'known', value: true }
  if (now.kind === 'absent' && isAlwaysThere(path) && before.sysctl('kernel.osrelease').kind === 'absent') {
    // A root without /proc says nothing of the kernel.
    return { kind: 'known', value: true }
  }
  return now
}

/** The variables as the kernel starts with them: its defaults, and `sysctl.KEY=VALUE` of its command line. */
function begin(files: HostFiles, variables: readonly string[]): Map<string, Cell> {
  const cells = new Map<string, Cell>(variables.map(variable => [variable, { value: defaultOf(variable) }]))
  const line = kernelCommandLine(files)
  if (line.kind !== 'known') return cells
  const run: Run = { cells, refused: [] }
  for (const { name, value } of line.value) {
    const place = { file: '/proc/cmdline', says: value === undefined ? name : `${name}=${value}` }
    if (value === undefined) continue
    if (name.startsWith('sysctl.') || name.startsWith('sysctl/')) {
      const path = variableOf(sysctlPath(name.slice('sysctl.'.length)))
      if (cells.has(path)) write(run, path, value, place)
    }
    if (name === 'panic' && cells.has('kernel/panic')) write(run, 'kernel/panic', value, place)
    if (name === 'oops' && value === 'panic' && cells.has('kernel/panic_on_oops')) {
      write(run, 'kernel/panic_on_oops', '1', place)
    }
  }
  const ipv6 = line.value.some(({ name, value }) => name === 'ipv6.disable_ipv6' && value === '1')
  for (const variable of variables) {
    if (/^net\/ipv6\/conf\/[^/]+\/disable_ipv6$/.test(variable)) {
      cells.set(variable, { value: { kind: 'known', value: ipv6 ? '1' : '0' } })
    }
  }
  return cells
}

/** Applies the list to the variables that matter for the one asked for. */
function apply(
  run: Run,
  options: readonly (SysctlOption | UnreadOptions)[],
  variables: readonly string[],
  named: ReadonlySet<string>,
): void {
  const unread = options.find(isUnread)
  const written = new Map<string, Set<string>>()
  for (const option of options) {
    if (isUnread(option)) {
      for (const variable of variables) {
        run.cells.set(variable, { value: { kind: 'unknown', because: option.because }, place: option.place })
      }
      written.clear()
      continue
    }
    if (option.value === undefined) continue
    for (const variable of variables) {
      for (const path of pathsOf(variable)) {
        if (!covers(option, path, named)) continue
        if (option.isPattern && unread !== undefined) {
          // The file may take the key out of every pattern.
          run.cells.set(variable, { value: { kind: 'unknown', because: unread.because }, place: option.place })
          continue
        }
        write(run, path, option.value, option.place)
        written.set(variable, (written.get(variable) ?? new Set()).add(option.value))
      }
    }
  }
  // What cannot be read may hold one of these lines already: then that one has its place there, before the others.
  if (unread !== undefined) {
    for (const [variable, values] of written) {
      if (values.size > 1) run.cells.set(variable, { value: { kind: 'unknown', because: unread.because } })
    }
  }
}

/** Whether an entry sets a key: by its name, or by a pattern while no other entry names the key. */
function covers(option: SysctlOption, path: string, named: ReadonlySet<string>): boolean {
  if (!option.isPattern) return option.path === path
  if (named.has(path)) return false
  const patterns = expandBraces(option.path)
  return patterns?.some(pattern => matchesPattern(pattern, path, { path: true })) === true
}

function write(run: Run, path: string, text: string, place: HostPlace): void {
  const variable = variableOf(path)
  const taken = writtenTo(variable, text)
  if (taken.kind === 'refuses') {
    run.refused.push(place)
    return
  }
  const old = run.cells.get(variable)
  const before = old?.value.kind === 'known' ? old.value.value : undefined
  run.cells.set(variable, { value: { kind: 'known', value: taken.value }, place })
  for (const [other, value] of alsoWritten(variable, taken.value, before, [...run.cells.keys()])) {
    if (other === variable) continue
    // Whether it changed is not known where the old value is not: the others are then one or the other.
    const certain = before !== undefined || old === undefined || run.cells.get(other)?.value.kind !== 'known'
    const known: Cell = { value: { kind: 'known', value }, place }
    run.cells.set(
      other,
      certain ? known : { value: { kind: 'unknown', because: 'an earlier value is not known' }, place },
    )
  }
}

/**
 * An interface that comes after systemd-sysctl has run begins with the values of `default`, and udev has the files applied to
 * its own keys alone. Source: systemd rules.d/99-systemd.rules.
 */
function withLateInterface(
  early: Cell,
  path: string,
  version: string,
  files: HostFiles,
  read: SysctlFiles,
  influences: readonly string[],
  isOff: boolean,
): Cell {
  const defaults = influences.filter(each => each !== path)
  const run: Run = { cells: begin(files, defaults), refused: [] }
  apply(run, isOff ? [] : read.options, defaults, read.named)
  const start = run.cells.get(path.replace(/(conf\/)[^/]+/, '$1default')) ?? { value: defaultOf(path) }
  const own: Run = { cells: new Map([[path, start]]), refused: [] }
  apply(own, read.options, [path], read.named)
  const late = own.cells.get(path) ?? start
  const same =
    early.value.kind === late.value.kind &&
    (early.value.kind !== 'known' || late.value.kind !== 'known' || early.value.value === late.value.value)
  if (same) return early
  const name = interfaceKey(path)?.of ?? path
  const because = `it depends on whether the interface ${name} is there (IPv${version}) before or after ${SERVICE}`
  return { value: { kind: 'unknown', because }, ...(late.place === undefined ? {} : { place: late.place }) }
}

/** Why the files are not applied at all: what masks the service, or that nothing starts it. */
function serviceIsOff(files: HostFiles, notes: string[]): HostPlace | true | undefined {
  const units = bootUnits(files)
  const masked = units.masked(SERVICE)
  if (masked !== undefined) {
    notes.push(`${SERVICE} is masked (${masked.says ?? masked.file}): no file of sysctl.d is applied at boot`)
    return masked
  }
  if (units.started.has(SERVICE)) return undefined
  notes.push(`${SERVICE} is not started at boot: no file of sysctl.d is applied`)
  return true
}

function later(
  cell: Cell,
  variable: string,
  files: HostFiles,
  current: HostFiles,
  before: Moment,
  run: Run,
  notes: string[],
): Cell {
  const known = (key: string): Found<string> => {
    const path = variableOf(sysctlPath(key))
    return path === variable ? cell.value : (run.cells.get(path)?.value ?? before.sysctl(key))
  }
  const writers = laterWriters(files, [...run.cells.keys()].flatMap(pathsOf), known)
  const units = bootUnits(current)
  if (units.unknown.length > 0) {
    notes.push(`which programs write it after boot is not known: ${[...new Set(units.unknown)].join('; ')}`)
  }
  const outcomes: Cell[] = []
  for (const writer of writers) {
    if (writer.kind === 'may') {
      notes.push(writer.says)
      continue
    }
    const changed: Run = { cells: new Map(run.cells), refused: run.refused }
    changed.cells.set(variable, cell)
    if (writer.kind === 'unknown') {
      // A value nobody can read, or one written only sometimes.
      if (writer.value !== undefined && cell.value.kind === 'known') {
        const taken = writtenTo(variable, writer.value)
        if (taken.kind === 'refuses' || taken.value === cell.value.value) continue
      }
      notes.push(writer.says)
      outcomes.push({ value: { kind: 'unknown', because: writer.says }, place: writer.place, stop: writer.stop })
      continue
    }
    write(changed, writer.path, writer.value, writer.place)
    const after = changed.cells.get(variable)
    if (after === undefined || after === cell) continue
    notes.push(writer.says)
    outcomes.push({ ...after, stop: writer.stop })
  }
  const [first, ...rest] = outcomes
  if (first === undefined) {
    // The programs that are known to write forwarding turn it on; with their units unseen, 0 is no more than the files' word.
    const isOff =
      /\bip_forward$|\/forwarding$/.test(variable) && cell.value.kind === 'known' && cell.value.value === '0'
    if (!isOff || units.unknown.length === 0) return cell
    const because = `which programs turn it on after boot is not known: ${[...new Set(units.unknown)].join('; ')}`
    return { ...cell, value: { kind: 'unknown', because } }
  }
  const open = outcomes.find(({ value }) => value.kind !== 'known')
  if (open !== undefined) return open
  const isOne = rest.every(each => JSON.stringify(each.value) === JSON.stringify(first.value))
  if (isOne) return first
  const because = 'several programs write it after boot, each another value'
  return { ...first, value: { kind: 'unknown', because } }
}
