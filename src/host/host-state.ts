import { piecesCanBe } from '../effects/argument.js'
import type { Found, HostFiles } from '../evidence/host-files.js'
import type { Invocation, TaskRun } from '../run/task-run.js'
import { moduleName } from './boot/modprobe-d.js'
import { sysctlKeyOf, sysctlPath } from './boot/sysctl-d.js'
import { defaultOf, moduleOfKey } from './boot/sysctl-keys.js'
import { type ChangedFiles, changedFiles } from './changed-files.js'
import type { Holder, Listener, Moment, PerhapsSet, Seen, SwapArea, UnitState } from './moment.js'

/** A host as a run changes it: its files, and what runs on it where that is no longer what was captured. */
export interface HostState {
  readonly files: ChangedFiles
  /** Kernel settings that were written, by key. */
  readonly sysctl: Map<string, Seen<string>>
  /** Settings that may have been written, by what is known of their keys: those not written since have no known value. */
  readonly sysctlDoubts: { readonly pieces: readonly (string | null)[]; readonly because: string }[]
  /** Kernel modules that were loaded or unloaded, by name with `_`. */
  readonly modules: Map<string, Seen<'loaded' | 'built-in'>>
  /** Units that were started or stopped. */
  readonly active: Map<string, Found<boolean>>
  swap: Seen<readonly SwapArea[]>
  listeners: Seen<readonly Listener[]>
  /** Packages that may have come, for people: what they brought is not known. */
  readonly brought: string[]
  /** Why packages may have come or gone. */
  readonly packagesChanged: string[]
  /** Tasks that certainly fail on this host, and why. Whether the run goes on is theirs to say. */
  readonly failures: ForeseenFailure[]
  /** Lines of settings that may have been written. */
  perhapsSet: readonly PerhapsSet[]
  /** Executions that fail before they are through. */
  readonly broken: Set<Invocation>
  readonly captured: Moment
}

/** A task that fails because of what the host is, not by a check of its own. */
export interface ForeseenFailure {
  readonly task: TaskRun
  /** As a clause: `modprobe ip_vs fails: this kernel has no such module`. */
  readonly because: string
}

/** A host before a run has changed anything of it. */
export function hostState(captured: Moment): HostState {
  return {
    files: changedFiles(captured.files),
    sysctl: new Map(),
    sysctlDoubts: [],
    modules: new Map(),
    active: new Map(),
    swap: captured.swap,
    listeners: captured.listeners,
    brought: [],
    packagesChanged: [],
    failures: [],
    perhapsSet: [],
    broken: new Set(),
    captured,
  }
}

/** How a unit stands where these files are there: reads them, not what runs. */
export type ReadUnit = (files: HostFiles, name: string) => Seen<UnitState>

/** The host as it is now in the run; what the run does later does not change it. */
export function momentOf(state: HostState, readUnit: ReadUnit): Moment {
  const files = withBrought(state.files.copy(), [...state.brought])
  const [sysctl, modules, active] = [new Map(state.sysctl), new Map(state.modules), new Map(state.active)]
  const { captured, swap, listeners } = state
  const [packagesChanged] = state.packagesChanged
  const sysctlDoubts = [...state.sysctlDoubts]
  return {
    files,
    sysctl: key => liveSetting({ sysctl, sysctlDoubts, modules, captured }, key),
    module: name => liveModule({ modules, captured }, name),
    swap,
    listeners,
    ...(packagesChanged === undefined ? {} : { packagesChanged }),
    ...(state.perhapsSet.length === 0 ? {} : { perhapsSet: state.perhapsSet }),
    unit: name => {
      const read = readUnit(files, name)
      const changed = active.get(name)
      return changed === undefined || read.kind !== 'known'
        ? read
        : { ...read, value: { ...read.value, active: changed } }
    },
  }
}

/** The value a setting has now in the run. A key that a module brings is there once it was loaded, with the kernel's own value. */
export function liveSetting(
  { sysctl, sysctlDoubts, modules, captured }: Pick<HostState, 'sysctl' | 'sysctlDoubts' | 'modules' | 'captured'>,
  key: string,
): Seen<string> {
  const path = sysctlPath(key)
  const name = sysctlKeyOf(path)
  const written = sysctl.get(name)
  if (written !== undefined) return written
  const doubt = sysctlDoubts.find(({ pieces }) => piecesCanBe(pieces, name))
  if (doubt !== undefined) return { kind: 'unknown', because: doubt.because, places: [] }
  const seen = captured.sysctl(name)
  if (seen.kind !== 'absent') return seen
  const brought = modules.get(moduleOfKey(path) ?? '')
  if (brought === undefined || brought.kind === 'absent') return seen
  return brought.kind === 'unknown' ? brought : { ...defaultOf(path), places: [] }
}

/** Whether a kernel module is there now in the run. */
export function liveModule(
  { modules, captured }: Pick<HostState, 'modules' | 'captured'>,
  name: string,
): Seen<'loaded' | 'built-in'> {
  return modules.get(moduleName(name)) ?? captured.module(name)
}

/** What runs on the host now in the run, for what asks only that. */
export function liveMoment(state: HostState): Moment {
  return {
    ...state.captured,
    sysctl: key => liveSetting(state, key),
    module: name => liveModule(state, name),
    swap: state.swap,
    listeners: state.listeners,
  }
}

/** Whether a listener is held by a unit, also by the socket unit that starts it. */
export function isHeldBy({ holder }: { readonly holder: Holder }, unit: string): boolean {
  return holder.unit === unit || holder.starts === unit
}

/** Where packages put programs; what they bring elsewhere is taken not to stand in the way of what was captured. */
const OF_PACKAGES = /^\/(usr\/)?(s?bin|lib(64|exec)?|share)\/|^\/opt\//
/** What decides about a boot stays as it was captured: else nothing could be told once a package was installed. */
const OF_THE_BOOT = /\/(sysctl|modules-load|modprobe)\.d(\/|$)|\/systemd(\/|$)|\/lib\/modules(\/|$)/

/** A program that is not there may have come with a package. */
function withBrought(files: HostFiles, brought: readonly string[]): HostFiles {
  const [first] = brought
  if (first === undefined) return files
  return {
    ...files,
    entry: path => {
      const found = files.entry(path)
      const mayHaveCome = found.kind === 'absent' && OF_PACKAGES.test(path) && !OF_THE_BOOT.test(path)
      return mayHaveCome ? { kind: 'unknown', because: first } : found
    },
  }
}
