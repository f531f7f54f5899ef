import { optionsOf, piecesCanBe, piecesOf, textOf } from '../../effects/argument.js'
import type { KernelModule, Sysctl } from '../../effects/effect.js'
import { ABSENT, type HostFiles, textAt } from '../../evidence/host-files.js'
import type { Value } from '../../jinja/value.js'
import { compareBytes } from '../../source/store.js'
import { confText } from '../boot/conf-files.js'
import { kernelModules } from '../boot/kernel-modules.js'
import { modprobeConf, moduleName } from '../boot/modprobe-d.js'
import { lookUp, type ModuleAttempt } from '../boot/modules.js'
import { matchesPattern } from '../boot/pattern.js'
import { loadByProcps, procpsSettings } from '../boot/procps.js'
import { isPattern, sysctlKeyOf, sysctlPath } from '../boot/sysctl-d.js'
import { ALWAYS_THERE, alsoWritten, pathsOf, variableOf, writtenTo } from '../boot/sysctl-keys.js'
import { persistentFiles } from '../edits/modprobe.js'
import { isSameRunningValue, reloadCommand, sysctlFileWith } from '../edits/sysctl-file.js'
import { liveModule, liveMoment, liveSetting } from '../host-state.js'
import type { Seen } from '../moment.js'
import { type Applied, editFile, failTask, fileEntry, moduleNameOf } from './applied.js'

/**
 * A setting of the kernel is written. Ansible's module writes its file and then has the whole of it applied; a file that a task
 * writes as text changes with that text.
 */
export function changeSysctl(effect: Sysctl, applied: Applied): void {
  const { sure } = applied
  const key = textOf(effect.key)
  const value = textOf(effect.value)
  const byModule = moduleNameOf(applied) === 'sysctl'
  const path = textOf(effect.file)
  if (byModule && effect.persisted.kind !== 'false' && effect.file !== undefined) {
    const isOpen = key === undefined || (effect.value !== undefined && value === undefined)
    const isCertain = sure && effect.persisted.kind === 'true'
    const differs = key === undefined || value === undefined || !isRunning(applied, key, value)
    let changes = differs
    if (path !== undefined && key !== undefined && !isOpen) {
      if (isCertain) forgetPerhaps(path, key, applied)
      else if (notePerhaps(path, key, value, applied)) {
        if (effect.now.kind !== 'false') setLive(sysctlPath(key), value, { ...applied, sure: false })
        return
      }
    }
    editFile({ ...applied, sure: isCertain }, effect.file, text => {
      if (isOpen) return undefined
      const edited = sysctlFileWith(text, { name: key, value })
      changes ||= edited.changed
      return edited.text
    })
    if (effect.now.kind === 'true' && isCertain && !isOpen && path !== undefined && changes) {
      applyFile(path, effect, applied)
      return
    }
  }
  if (effect.now.kind === 'false') return
  if (key === undefined) {
    doubtSettings(effect.key, applied)
    return
  }
  setLive(sysctlPath(key), value, { ...applied, sure: sure && effect.now.kind === 'true' })
}

/** Which setting is written only the host knows, or it is one of a few: each that it can be may have another value now. */
function doubtSettings(key: Value, { state, because }: Applied): void {
  for (const { value } of optionsOf(key)) {
    const pieces = piecesOf(value) ?? [null]
    state.sysctlDoubts.push({ pieces, because })
    for (const name of [...state.sysctl.keys()]) if (piecesCanBe(pieces, name)) state.sysctl.delete(name)
  }
}

/**
 * A line that may be written changes nothing of the others, where the file is there and known: it is noted, so that only its own
 * key is not known.
 */
function notePerhaps(file: string, key: string, value: string | undefined, { state, because }: Applied): boolean {
  const text = textAt(state.files, file)
  if (text.kind !== 'known') return false
  if (sysctlFileWith(text.value.text, { name: key, value }).changed) {
    const set = { file, key: sysctlKeyOf(sysctlPath(key)), because, ...(value === undefined ? {} : { value }) }
    state.perhapsSet = [...state.perhapsSet, set]
  }
  return true
}

function forgetPerhaps(file: string, key: string, { state }: Applied): void {
  const name = sysctlKeyOf(sysctlPath(key))
  state.perhapsSet = state.perhapsSet.filter(each => each.file !== file || each.key !== name)
}

function isRunning({ state }: Applied, key: string, value: string): boolean {
  const seen = liveSetting(state, key)
  return seen.kind === 'known' && isSameRunningValue(seen.value, value)
}

/** `sysctl -p FILE`: every line of it; one that the kernel refuses fails the task, after the others were applied. */
function applyFile(path: string, effect: Sysctl, applied: Applied): void {
  const { state } = applied
  const ignoreErrors = effect.ignoresUnknownKeys?.kind === 'true'
  const { writes, failures } = loadByProcps(
    state.files.copy(),
    path,
    {
      exists: each => {
        const seen = liveSetting(state, sysctlKeyOf(each))
        return seen.kind === 'known' ? { kind: 'known', value: true } : seen
      },
      takes: (each, text) => writtenTo(each, text).kind === 'takes',
      keys: keysForPatterns(path, applied),
    },
    { ignoreUnknown: ignoreErrors },
  )
  for (const write of writes) setLive(write.path, write.value, applied)
  const [first] = failures
  if (first !== undefined && effect.ignoresUnknownKeys?.kind !== 'unknown') {
    const { file, line } = first.place
    const command = reloadCommand(path, { ignoreErrors }).join(' ')
    failTask(applied, `${command} fails: ${first.says} (${line === undefined ? file : `${file}:${line}`})`)
  }
}

/** Directories of settings of an interface that every kernel has. */
const ALWAYS_OF = ['all', 'default', 'lo']

/**
 * Keys that a pattern of the file may mean: those the file itself names under any interface, those that were written in this run, those
 * of every kernel, and what was captured of /proc/sys where its directories were.
 */
function keysForPatterns(path: string, { state }: Applied): readonly string[] {
  const patterns = procpsSettings({ path, text: confText(state.files, path) }).filter(each => each.isPattern)
  if (patterns.length === 0) return []
  const written = [...state.sysctl.keys()].map(sysctlPath)
  const guessed = patterns.flatMap(each =>
    /^net\/ipv[46]\/conf\/[^/]*\//.test(each.path)
      ? ALWAYS_OF.map(of => each.path.replace(/(\/conf\/)[^/]*/, `$1${of}`))
      : [],
  )
  const captured = patterns.flatMap(each => capturedKeys(state.files, each.path.split('/')))
  const keys = new Set(
    [...guessed, ...captured, ...written, ...ALWAYS_THERE].flatMap(each => pathsOf(variableOf(each))),
  )
  // glob(3) sorts what it finds.
  return [...keys].filter(each => !isPattern(each)).sort(compareBytes)
}

/** What stands in /proc/sys under a pattern, as far as its directories were captured. */
function capturedKeys(files: HostFiles, parts: readonly string[], at = ''): readonly string[] {
  const [part, ...rest] = parts
  if (part === undefined) return [at]
  const listed = files.list(`/proc/sys${at === '' ? '' : `/${at}`}`)
  const names = listed.kind === 'known' ? listed.value : isPattern(part) ? [] : [part]
  return names
    .filter(name => matchesPattern(part, name, { path: true }))
    .flatMap(name => capturedKeys(files, rest, at === '' ? name : `${at}/${name}`))
}

/** The running kernel gets a value, and whatever it changes along with that. */
function setLive(path: string, text: string | undefined, { state, sure, because }: Applied): void {
  const written = text === undefined ? undefined : writtenTo(path, text)
  // What the kernel refuses leaves it as it is.
  if (written?.kind === 'refuses') return
  const before = liveSetting(state, sysctlKeyOf(path))
  if (before.kind === 'absent' && sure) return
  const variable = variableOf(path)
  const put = (each: string, value: string | undefined): void => {
    for (const name of pathsOf(each)) {
      const key = sysctlKeyOf(name)
      const old = liveSetting(state, key)
      if (value !== undefined && old.kind === 'known' && old.value === value) continue
      const seen: Seen<string> =
        sure && value !== undefined ? { kind: 'known', value, places: [] } : { kind: 'unknown', because, places: [] }
      state.sysctl.set(key, seen)
    }
  }
  put(variable, written?.value)
  if (written === undefined) return
  const old = before.kind === 'known' ? before.value : undefined
  for (const [other, value] of alsoWritten(variable, written.value, old, [])) put(other, value)
}

/** A kernel module is loaded or unloaded now, or named for the next boot. */
export function changeModule(effect: KernelModule, applied: Applied): void {
  const { state, sure, because } = applied
  const name = textOf(effect.module)
  if (name === undefined) return
  if (effect.when === 'boot') {
    if (moduleNameOf(applied) === 'modprobe') nameForBoot(name, effect, applied)
    return
  }
  const set = (module: string, wanted: Seen<'loaded' | 'built-in'>): void => {
    if (wanted.kind !== 'unknown' && liveModule(state, module).kind === wanted.kind) return
    state.modules.set(moduleName(module), sure ? wanted : { kind: 'unknown', because, places: [] })
  }
  if (effect.state === 'unloaded') {
    set(name, { ...ABSENT, places: [] })
    return
  }
  if (liveModule(state, name).kind === 'known') return
  const attempt = attemptOf(name, state.files.copy(), applied)
  switch (attempt.outcome) {
    case 'not-found':
      failTask(applied, `modprobe ${name} fails: this kernel has no such module`)
      return
    case 'install':
    case 'refused':
      failTask(applied, `modprobe ${name} fails: ${attempt.by?.file ?? 'modprobe.d'} refuses it`)
      return
    case 'built-in':
      return
    case 'unknown':
      // It is taken to be there, as the task takes it; whether it fails is not known.
      set(name, { kind: 'unknown', because: attempt.because ?? because, places: [] })
      return
    default:
      for (const module of [name, ...attempt.modules]) set(module, { kind: 'known', value: 'loaded', places: [] })
  }
}

/** A name given to modprobe itself is loaded whatever is blacklisted. */
function attemptOf(name: string, files: HostFiles, { state }: Applied): ModuleAttempt {
  const moment = liveMoment(state)
  return lookUp(files, name, { file: '/sbin/modprobe' }, modprobeConf(files), kernelModules(files, moment), moment)
}

function nameForBoot(name: string, effect: KernelModule, applied: Applied): void {
  const { state, sure, because } = applied
  const params = textOf(effect.parameters)
  const written = persistentFiles(state.files.copy(), {
    name,
    ...(params === undefined ? {} : { params }),
    persistent: effect.state === 'loaded' ? 'present' : 'absent',
  })
  if (written.kind === 'known') {
    for (const { path, text } of written.value)
      state.files.put(path, sure ? fileEntry(path, text) : { kind: 'unknown', because })
    return
  }
  const file = `/etc/modules-load.d/${name}.conf`
  state.files.put(file, written.kind === 'unknown' ? written : { kind: 'unknown', because })
}
