import { causeText, isSet, isText, membersOf, optionsOf, piecesOf, textOf } from '../effects/argument.js'
import { describeEffect, unitName } from '../effects/describe.js'
import type { Effect, FileChange, KernelModule, ProcessesSignalled, Sysctl, Unit } from '../effects/effect.js'
import type { TaskEffect } from '../effects/run-effects.js'
import { sysctlKey } from '../effects/settings-files.js'
import { endsProcesses } from '../effects/signals.js'
import { type Standing, standingOf } from '../effects/standing.js'
import { ABSENT, type Entry, type Found, follow, textAt } from '../evidence/host-files.js'
import type { Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import { fstabWithout } from './edits/fstab.js'
import { blockInFile, lineInFile } from './edits/lines.js'
import { sysctlFileWith } from './edits/sysctl-file.js'
import { type HostState, isHeldBy, moduleName } from './host-state.js'
import type { Listener, Seen } from './moment.js'
import { linksOfEnabling, linksThatEnable } from './units/install-links.js'

/** One effect on a host: it happens, or only may (`because` says what is open, as a clause). */
interface Applied {
  readonly state: HostState
  readonly occurrence: TaskEffect
  readonly sure: boolean
  readonly because: string
}

/**
 * Applies an effect to a host as the module or command would. Where it is not known whether it happens, or what exactly it
 * does, what it touches becomes unknown, unless that makes no difference.
 */
export function applyEffect(state: HostState, occurrence: TaskEffect): void {
  const standing = standingOf(occurrence)
  if (standing.kind === 'never') return
  const { effect } = occurrence
  const applied = { state, occurrence, sure: standing.kind === 'happens', because: becauseOf(occurrence, standing) }
  const change = changes[effect.kind] as ((effect: Effect, applied: Applied) => void) | undefined
  change?.(effect, applied)
}

function becauseOf({ task, effect }: TaskEffect, standing: Standing): string {
  const what = `"${task.name === '' ? task.task.action : task.name}" (${placeOf(effect.at)})`
  switch (standing.kind) {
    case 'host-decides':
      return `${what} changes it only if ${standing.condition}`
    case 'unread': {
      const [cause] = standing.causes
      return `${what} may change it${cause === undefined ? '' : `: ${causeText(cause)}`}`
    }
    default:
      return `${what} changes it`
  }
}

/** What each kind of effect does to the files of a host and to what runs there. Kinds that change nothing of it are not here. */
const changes: {
  readonly [Kind in Effect['kind']]?: (effect: Extract<Effect, { kind: Kind }>, applied: Applied) => void
} = {
  file: changeFile,
  'fstab-entries-removed': (effect, applied) => {
    const mountPoint = textOf(effect.mountPoint)
    const source = textOf(effect.source)
    const isOpen = mountPoint === undefined || (effect.source !== undefined && source === undefined)
    const fstype = textOf(effect.fstype)
    edit(applied, effect.file, text =>
      isOpen || text === undefined
        ? undefined
        : fstabWithout(text, {
            name: mountPoint,
            ...(source === undefined ? {} : { src: source }),
            ...(fstype === undefined ? {} : { fstype }),
          }),
    )
  },
  // A new line for a mount point: what stood there for it goes, and where the new one is put depends on the module's version.
  'fstab-entry-written': (effect, applied) => edit(applied, effect.file, () => undefined),
  sysctl: changeSysctl,
  'kernel-module': changeModule,
  swap: (effect, { state, sure, because }) => {
    if (effect.state === 'off' && effect.which === 'all' && sure) state.swap = { kind: 'known', value: [], places: [] }
    else if (effect.state === 'on' || state.swap.kind !== 'known' || state.swap.value.length > 0)
      state.swap = { kind: 'unknown', because, places: [] }
  },
  unit: changeUnit,
  'processes-signalled': endProcesses,
  kubeadm: (effect, { state, because }) => {
    if (!/^(init|join|reset)\b/.test(effect.subcommand)) return
    for (const directory of ['/etc/kubernetes/', '/var/lib/kubelet/', '/var/lib/etcd/'])
      state.files.blur([directory, null], because)
  },
  container: (effect, applied) => {
    if (effect.action === 'stopped' || effect.action === 'removed')
      endListeners(applied, false, listener => listener.holder.kind === 'container')
  },
  package: ({ names, state: wanted }, { state, because }) => {
    if (['absent', 'removed', 'held', 'hold'].includes(textOf(wanted) ?? '')) return
    const named = membersOf(names).flatMap(name => textOf(name) ?? [])
    // What a package brings is not known; configuration that is there stays as it is.
    state.brought.push(named.length === 0 ? because : `${because} (${named.join(', ')})`)
  },
  command: ({ powers, arguments: words }, { state, because }) => {
    if (!powers.includes('writes-files')) return
    for (const word of words) {
      const pieces = piecesOf(word)
      const [first] = pieces ?? []
      if (pieces !== undefined && typeof first === 'string' && first.startsWith('/')) state.files.blur(pieces, because)
    }
  },
}

/** Changes the text of a file, if it is one that is known; `undefined` is a file that is not there, or a text nobody knows. */
function edit(
  { state, sure, because }: Applied,
  file: Value,
  change: (text: string | undefined) => string | undefined,
): void {
  for (const { value } of optionsOf(file)) {
    const path = textOf(value)
    if (path === undefined) {
      blurValue(state, value, because)
      continue
    }
    const before = textAt(state.files, path)
    if (before.kind === 'unknown') {
      state.files.put(path, { kind: 'unknown', because: before.because })
      continue
    }
    const text = before.kind === 'known' ? before.value.text : undefined
    const after = change(text)
    if (after === text && text !== undefined) continue
    const isOnly = file.kind !== 'one-of' && sure
    put(
      state,
      path,
      after === undefined ? { kind: 'unknown', because } : isOnly ? fileOf(path, after) : { kind: 'unknown', because },
    )
  }
}

function put(state: HostState, path: string, entry: Found<Entry>): void {
  // Editors write to what a link leads to.
  const found = follow(state.files, path)
  const place = found.kind === 'known' ? found.value.path : path
  state.files.put(place, entry.kind === 'known' ? { kind: 'known', value: { ...entry.value, path: place } } : entry)
}

function fileOf(path: string, text: string): Found<Entry> {
  return {
    kind: 'known',
    value: {
      kind: 'file',
      path,
      content: () => ({ kind: 'text', file: { path, text } }),
      size: Buffer.byteLength(text),
    },
  }
}

function blurValue({ files }: HostState, path: Value, because: string): void {
  const pieces = piecesOf(path)
  // A path of which nothing is known is no reason to suspect every file.
  if (pieces?.some(piece => piece !== null)) files.blur(pieces, because)
}

function changeFile(effect: FileChange, applied: Applied): void {
  const { state, sure, because } = applied
  if (effect.change === 'attributes') return
  for (const { value } of optionsOf(effect.path)) {
    const path = textOf(value)
    if (path === undefined) {
      blurValue(state, value, because)
      continue
    }
    if (!path.startsWith('/')) continue
    const isOnly = effect.path.kind !== 'one-of' && sure
    const entry = entryAfter(effect, path, applied)
    if (entry === undefined) continue
    if (effect.change === 'unpacked') state.files.blur([`${path.replace(/\/+$/, '')}/`, null], because)
    else if (!isOnly) blurUnlessSame(state, path, entry, because)
    else if (entry.kind === 'absent') state.files.remove(path)
    else if (effect.change === 'line') put(state, path, entry)
    else state.files.put(path, entry)
  }
}

/** What stands at a path once a change of it has happened; undefined where it stays as it is. */
function entryAfter(effect: FileChange, path: string, applied: Applied): Found<Entry> | undefined {
  const { state, because } = applied
  switch (effect.change) {
    case 'removed':
      return ABSENT
    case 'directory': {
      const before = follow(state.files, path)
      return before.kind === 'known' && before.value.kind === 'directory'
        ? undefined
        : { kind: 'known', value: { kind: 'directory', path } }
    }
    case 'link': {
      const target = textOf(effect.target)
      return target === undefined
        ? { kind: 'unknown', because }
        : { kind: 'known', value: { kind: 'link', path, target } }
    }
    case 'written': {
      const text = effect.contentUnsure === undefined ? textOf(effect.content) : undefined
      if (text !== undefined) return fileOf(path, text)
      const withheld = { kind: 'withheld', because: `its new text is not known: ${because}` } as const
      return { kind: 'known', value: { kind: 'file', path, content: () => withheld } }
    }
    case 'line':
      return editedLines(path, applied)
    default:
      return undefined
  }
}

/** A file after lineinfile or blockinfile, where everything they are given is known. */
function editedLines(path: string, { state, occurrence, because }: Applied): Found<Entry> {
  const { invocation, task } = occurrence
  const edits = { lineinfile: lineInFile, blockinfile: blockInFile }
  const name = (invocation.module ?? task.task.module).split('.').at(-1) ?? ''
  const editor = name === 'lineinfile' || name === 'blockinfile' ? edits[name] : undefined
  const before = textAt(state.files, path)
  if (before.kind === 'unknown') return before
  const given = new Map<string, string>()
  for (const [argument, value] of invocation.arguments) {
    const text = textOf(value)
    if (text === undefined) return { kind: 'unknown', because }
    given.set(argument, text)
  }
  const after = editor?.(before.kind === 'known' ? before.value.text : undefined, given)
  return after === undefined ? { kind: 'unknown', because } : fileOf(path, after)
}

/** A change that only may happen makes a difference where it would leave something else than stands there. */
function blurUnlessSame({ files }: HostState, path: string, entry: Found<Entry>, because: string): void {
  const before = files.entry(path)
  if (entry.kind === 'absent' && before.kind === 'absent') return
  const [old, text] = [
    textAt(files, path),
    entry.kind === 'known' && entry.value.kind === 'file' ? entry.value.content() : undefined,
  ]
  if (text?.kind === 'text' && old.kind === 'known' && old.value.text === text.file.text) return
  files.put(path, { kind: 'unknown', because })
  if (entry.kind === 'absent') files.blur([`${path.replace(/\/+$/, '')}/`, null], because)
}

function changeSysctl(effect: Sysctl, applied: Applied): void {
  const { state, sure, because } = applied
  const key = textOf(effect.key)
  const value = textOf(effect.value)
  const isOpenKey = key === undefined
  if (effect.persisted.kind !== 'false' && effect.file !== undefined && writesFileItself(applied)) {
    const certain = { ...applied, sure: sure && effect.persisted.kind === 'true' }
    edit(certain, effect.file, text =>
      isOpenKey || (effect.value !== undefined && value === undefined) ? undefined : sysctlFileWith(text, key, value),
    )
  }
  if (effect.now.kind === 'false' || isOpenKey) return
  const isSure = sure && effect.now.kind === 'true'
  for (const name of sameSetting(sysctlKey(key))) {
    const before = state.sysctl.get(name) ?? state.captured.sysctl(name)
    if (value !== undefined && before.kind === 'known' && before.value === value) continue
    const seen: Seen<string> =
      isSure && value !== undefined ? { kind: 'known', value, places: [] } : { kind: 'unknown', because, places: [] }
    state.sysctl.set(name, seen)
  }
}

/** The settings of a file that a task writes as text come with that text. */
function writesFileItself({ occurrence: { task, invocation } }: Applied): boolean {
  return /(^|\.)sysctl$/.test(invocation.module ?? task.task.module)
}

/** The kernel has forwarding of all interfaces and ip_forward as one variable (net/ipv4/devinet.c). */
function sameSetting(key: string): readonly string[] {
  const both = ['net.ipv4.ip_forward', 'net.ipv4.conf.all.forwarding']
  return both.includes(key) ? both : [key]
}

function changeModule(effect: KernelModule, applied: Applied): void {
  const { state, sure, because } = applied
  const name = textOf(effect.module)
  if (name === undefined) return
  if (effect.when === 'now') {
    const wanted: Seen<'loaded' | 'built-in'> =
      effect.state === 'loaded' ? { kind: 'known', value: 'loaded', places: [] } : { ...ABSENT, places: [] }
    const before = state.modules.get(moduleName(name)) ?? state.captured.module(name)
    if (before.kind === wanted.kind) return
    state.modules.set(moduleName(name), sure ? wanted : { kind: 'unknown', because, places: [] })
    return
  }
  // A file that a task writes as text comes with that text.
  if (
    effect.file === undefined ||
    !/(^|\.)modprobe$/.test(applied.occurrence.invocation.module ?? applied.occurrence.task.task.module)
  )
    return
  if (effect.state === 'loaded') edit(applied, effect.file, text => (hasLine(text, name) ? text : `${name}\n`))
  else edit(applied, effect.file, () => undefined)
}

function hasLine(text: string | undefined, name: string): boolean {
  return text?.split('\n').some(line => line.trim() === name) === true
}

function changeUnit(effect: Unit, applied: Applied): void {
  const { state, sure, because } = applied
  const text = textOf(effect.unit)
  if (text === undefined) return
  const unit = unitName(text)
  const stops = isText(effect.state, 'stopped')
  const starts = ['started', 'restarted'].some(each => isText(effect.state, each).kind === 'true')
  if (effect.state !== undefined) {
    const known: Found<boolean> =
      stops.kind === 'true' ? { kind: 'known', value: false } : { kind: 'known', value: true }
    const decided = sure && (stops.kind === 'true' || starts)
    state.active.set(unit, decided ? known : { kind: 'unknown', because })
    if (stops.kind !== 'false') endListeners(applied, stops.kind === 'true', listener => isHeldBy(listener, unit))
  }
  const link = `/etc/systemd/system/${unit}`
  if (effect.masked !== undefined) {
    const masked = isSet(effect.masked, false)
    const current = state.files.entry(link)
    const isMasked = current.kind === 'known' && current.value.kind === 'link' && current.value.target === '/dev/null'
    const isSame = current.kind !== 'unknown' && masked.kind !== 'unknown' && isMasked === (masked.kind === 'true')
    if (!isSame) {
      if (!sure || masked.kind === 'unknown') state.files.put(link, { kind: 'unknown', because })
      else if (masked.kind === 'true')
        state.files.put(link, { kind: 'known', value: { kind: 'link', path: link, target: '/dev/null' } })
      else state.files.remove(link)
    }
  }
  if (effect.enabled !== undefined) {
    const enabled = isSet(effect.enabled, false)
    const enables = enabled.kind === 'true'
    for (const { path, target } of (enables ? linksOfEnabling : linksThatEnable)(state.files.copy(), unit)) {
      if (!sure || enabled.kind === 'unknown') state.files.put(path, { kind: 'unknown', because })
      else if (enabled.kind === 'true') state.files.put(path, { kind: 'known', value: { kind: 'link', path, target } })
      else state.files.remove(path)
    }
  }
}

function endProcesses(effect: ProcessesSignalled, applied: Applied): void {
  const ends = endsProcesses(effect.signal)
  const target = textOf(effect.target)
  if (ends.kind === 'false') return
  const isMeant = (listener: Listener): boolean => {
    if (target === undefined) return true
    switch (effect.by) {
      case 'port':
        return String(listener.port) === target
      case 'pid':
        return listener.holder.pids.some(pid => String(pid) === target)
      case 'name':
        return listener.holder.program === target
      case 'unit':
        return isHeldBy(listener, unitName(target))
      default:
        return true
    }
  }
  endListeners(applied, ends.kind === 'true' && target !== undefined && effect.by !== 'file', isMeant)
}

function endListeners(
  { state, sure, because, occurrence }: Applied,
  certain: boolean,
  isMeant: (listener: Listener) => boolean,
): void {
  const { listeners } = state
  if (listeners.kind !== 'known' || !listeners.value.some(isMeant)) return
  const { places } = listeners
  if (sure && certain) {
    state.listeners = { kind: 'known', value: listeners.value.filter(each => !isMeant(each)), places }
    return
  }
  const perhaps = `${because} (${describeEffect(occurrence.effect)})`
  const value = listeners.value.map(each => (isMeant(each) ? { ...each, perhapsEnded: perhaps } : each))
  state.listeners = { kind: 'known', value, places }
}
