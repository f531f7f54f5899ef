import { FALSE, known, TRUE, type Truth, type Value } from '../jinja/value.js'
import {
  askText,
  causesOf,
  eitherTrue,
  isCertainlySame,
  isSamePath,
  isText,
  membersOf,
  optionsOf,
  piecesCanBe,
  piecesOf,
  textOf,
} from './argument.js'
import { SHELLS } from './commands.js'
import { unitName } from './describe.js'
import type { Effect, EffectKind } from './effect.js'
import { isSysctlConf, isSysctlDirectoryFile, sysctlKey } from './settings-files.js'

/** What somebody asks of a run's effects: who touches this? Empty lists ask nothing; of several questions any counts. */
export interface EffectQuery {
  /** Files: the path itself, and what takes it along (its directory removed, an archive unpacked above it). */
  readonly paths: readonly string[]
  /** Units, with or without `.service`. */
  readonly units: readonly string[]
  /** Kernel settings, in any spelling. */
  readonly sysctls: readonly string[]
  readonly kernelModules: readonly string[]
  readonly ports: readonly string[]
  readonly packages: readonly string[]
  /** Programs that commands run, by base name. */
  readonly programs: readonly string[]
  readonly kinds: readonly string[]
}

/** Whether an effect is one that is asked for; unknown where what it acts on is not known and may be it. */
export function isAskedFor(effect: Effect, query: EffectQuery): Truth {
  return [
    ...query.paths.map(path => touchesPath(effect, path)),
    ...query.units.map(unit => touchesUnit(effect, unit)),
    ...query.sysctls.map(key => (effect.kind === 'sysctl' ? isSetting(effect.key, [sysctlKey(key)]) : FALSE)),
    ...query.kernelModules.map(name => touchesModule(effect, name.replaceAll('-', '_'))),
    ...query.ports.map(port => touchesPort(effect, port)),
    ...query.packages.map(name => touchesPackage(effect, name)),
    ...query.programs.map(name => (effect.kind === 'command' && isProgram(effect.program, name) ? TRUE : FALSE)),
    ...query.kinds.map(kind => (effect.kind === kind ? TRUE : FALSE)),
  ].reduce(eitherTrue, FALSE)
}

/** `sh` stands for any shell. */
function isProgram(program: string | undefined, name: string): boolean {
  return program === name || (name === 'sh' && program !== undefined && SHELLS.has(program))
}

/** Whether a kernel setting's name is one of these, which are in the kernel's own spelling. */
export function isSetting(key: Value, keys: readonly string[]): Truth {
  return askText(
    key,
    text => keys.includes(sysctlKey(text)),
    pieces => {
      const first = pieces[0]
      return typeof first !== 'string' || keys.some(each => each.startsWith(sysctlKey(first))) ? undefined : false
    },
  )
}

/** Whether a module's name is this one; modprobe takes `-` and `_` for the same. */
export function isModuleName(value: Value, name: string): Truth {
  return askText(
    value,
    text => text.replaceAll('-', '_') === name,
    pieces => (pieces.length === 1 && pieces[0] === null ? undefined : piecesFit(pieces, name)),
  )
}

function piecesFit(pieces: readonly (string | null)[], name: string): boolean | undefined {
  const first = pieces[0]
  const last = pieces.at(-1)
  const fits =
    (typeof first !== 'string' || name.startsWith(first.replaceAll('-', '_'))) &&
    (typeof last !== 'string' || name.endsWith(last.replaceAll('-', '_')))
  return fits ? undefined : false
}

/** The paths an effect writes, removes or reads lines out of. */
export function pathsOf(effect: Effect): readonly Value[] {
  switch (effect.kind) {
    case 'file':
    case 'unit-file':
    case 'mount':
      return [effect.path]
    case 'fstab-entries-removed':
    case 'fstab-entry-written':
      return [effect.file]
    case 'sysctl':
    case 'kernel-module':
      return effect.file === undefined ? [] : [effect.file]
    default:
      return []
  }
}

function touchesPath(effect: Effect, path: string): Truth {
  const wanted = path.replace(/(?<=.)\/+$/, '')
  const takesAlong = effect.kind === 'file' && (effect.change === 'removed' || effect.change === 'unpacked')
  const touched = pathsOf(effect)
    .map(value => samePath(value, wanted, takesAlong))
    .reduce(eitherTrue, FALSE)
  return touched.kind === 'false' ? isOpenSettingsFile(effect, wanted) : touched
}

/** A setting goes into a file of settings: which one, where that is not known, may be any of those that are read at boot. */
function isOpenSettingsFile(effect: Effect, wanted: string): Truth {
  if (effect.kind !== 'sysctl' || effect.file === undefined || effect.persisted.kind === 'false') return FALSE
  const asked = known(wanted)
  if (isSysctlConf(asked).kind === 'false' && isSysctlDirectoryFile(asked).kind === 'false') return FALSE
  const open = optionsOf(effect.file).filter(({ value }) => piecesOf(value)?.some(piece => piece !== null) !== true)
  if (open.length === 0) return FALSE
  return { kind: 'unknown', causes: open.flatMap(({ value, because }) => [...because, ...causesOf(value)]) }
}

/**
 * Whether a path is the wanted one, or takes it along. An alternative of which nothing is known would answer every
 * question, so it answers none.
 */
function samePath(value: Value, wanted: string, takesAlong: boolean): Truth {
  const options = optionsOf(value)
  const placed = options.filter(({ value: single }) => piecesOf(single)?.some(piece => piece !== null) === true)
  const truths = placed.map(({ value: single }) => {
    const same = isText(single, wanted)
    const text = textOf(single)
    return takesAlong && text !== undefined && wanted.startsWith(`${text.replace(/\/+$/, '')}/`) ? TRUE : same
  })
  const some = truths.reduce(eitherTrue, FALSE)
  const isAll = placed.length === options.length && truths.every(truth => truth.kind === 'true')
  if (some.kind !== 'true' || isAll) return some
  const causes = [...options.flatMap(({ because }) => because), ...causesOf(value)]
  return { kind: 'unknown', causes }
}

/**
 * Whether an effect takes a file away: it, a directory above it, or what a pattern of a shell fits (`rm -f dir/*.conf`).
 * A removal of whose path nothing is known is not taken for one of every file there is.
 */
export function takesAway(effect: Effect, path: Value): Truth {
  if (effect.kind !== 'file' || effect.change !== 'removed') return FALSE
  if (textOf(path) === undefined && piecesOf(path)?.[0] === undefined) return isSamePath(effect.path, path)
  const truths = optionsOf(effect.path).map(({ value, because }): Truth => {
    const taken = takesWith(value, path)
    return taken.kind === 'true' && because.length > 0 ? { kind: 'unknown', causes: because } : taken
  })
  return isCertainlySame(effect.path, path) || (truths.length > 1 && truths.every(({ kind }) => kind === 'true'))
    ? TRUE
    : truths.reduce(eitherTrue, FALSE)
}

function takesWith(removed: Value, path: Value): Truth {
  const text = textOf(removed)
  if (text === undefined) return isSamePath(removed, path)
  const from = text.replace(/\/+$/, '')
  const given = textOf(path)
  const first = piecesOf(path)?.[0]
  if (typeof first === 'string' && first.startsWith(`${from}/`)) return TRUE
  if (!/[*?[]/.test(from)) return isSamePath(known(from), path)
  if (given === undefined) return isSamePath(unknownFrom(from), path)
  return fitsGlob(from, given) ? TRUE : FALSE
}

/** A pattern as a text with unknown pieces. */
function unknownFrom(pattern: string): Value {
  const text = pattern.split('*').flatMap((piece, index) => (index === 0 ? [piece] : [null, piece]))
  return { kind: 'unknown', causes: [], text: text.filter(piece => piece !== '') }
}

/** Part by part, as the shell takes a pattern; what a pattern above a path fits, the path goes with. Sets are not worked out. */
function fitsGlob(pattern: string, path: string): boolean {
  const names = path.split('/')
  return pattern.split('/').every((part, index) => {
    const name = names[index]
    if (name === undefined || (name.startsWith('.') && !part.startsWith('.'))) return false
    const pieces = part
      .replaceAll(/\[[^\]]*\]/g, '*')
      .split(/[*?]+/)
      .flatMap((piece, at) => (at === 0 ? [piece] : [null, piece]))
      .filter(piece => piece !== '')
    return part === name || (pieces.includes(null) && piecesCanBe(pieces, name))
  })
}

function touchesUnit(effect: Effect, unit: string): Truth {
  const wanted = unitName(unit)
  if (effect.kind === 'unit') return askText(effect.unit, text => unitName(text) === wanted)
  if (effect.kind === 'unit-file') return effect.unit === wanted ? TRUE : FALSE
  if (effect.kind === 'processes-signalled' && effect.by === 'unit') {
    return askText(effect.target, text => unitName(text) === wanted)
  }
  return FALSE
}

function touchesModule(effect: Effect, name: string): Truth {
  if (effect.kind === 'kernel-module') return isModuleName(effect.module, name)
  if (effect.kind !== 'unit-file') return FALSE
  return effect.atStart.map(each => touchesModule(each, name)).reduce(eitherTrue, FALSE)
}

function touchesPort(effect: Effect, port: string): Truth {
  if (effect.kind === 'processes-signalled' && effect.by === 'port') return isText(effect.target, port)
  if (effect.kind !== 'firewall') return FALSE
  return askText(effect.says, text => text.split(/[^0-9]+/).includes(port))
}

function touchesPackage(effect: Effect, name: string): Truth {
  if (effect.kind !== 'package') return FALSE
  return membersOf(effect.names)
    .map(member =>
      askText(
        member,
        text => text === name || text.replace(/[=:<>].*$/, '').trim() === name,
        pieces =>
          typeof pieces[0] === 'string' && !name.startsWith(pieces[0].replace(/[=<>].*$/, '')) ? false : undefined,
      ),
    )
    .reduce(eitherTrue, FALSE)
}

/** One entry a kind, so that none is missing. */
const kinds: Readonly<Record<EffectKind, true>> = {
  account: true,
  'boot-parameters': true,
  clock: true,
  'cluster-object': true,
  command: true,
  container: true,
  file: true,
  firewall: true,
  'fstab-entries-removed': true,
  'fstab-entry-written': true,
  hostname: true,
  'kernel-module': true,
  kubeadm: true,
  mount: true,
  network: true,
  package: true,
  'package-source': true,
  'processes-signalled': true,
  reboot: true,
  schedule: true,
  selinux: true,
  'stop-if': true,
  storage: true,
  swap: true,
  sysctl: true,
  unit: true,
  'unit-file': true,
  'unmodelled-module': true,
  'unreadable-command': true,
}

/** Every kind of effect, for questions by kind. */
export const effectKinds: readonly string[] = Object.keys(kinds)
