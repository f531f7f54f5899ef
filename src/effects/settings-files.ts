import { type Cause, FALSE, known, TRUE, type Truth, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import {
  askText,
  causesOf,
  isCertainlySame,
  isOneOfTexts,
  isText,
  optionsOf,
  piecesCanBe,
  piecesOf,
  textOf,
} from './argument.js'
import { effectsOfReading, type ScriptOnHost } from './commands.js'
import { describeEffect } from './describe.js'
import { type Effect, EVERY_POWER, type FileChange, onlyIf, type Power } from './effect.js'
import { PROGRAMS } from './programs.js'
import { readCommandLine, readShell } from './shell.js'
import { readUnitText, type UnitText } from './unit-text.js'

/** Directories systemd-modules-load and systemd-sysctl read at boot and that outlive a reboot (man modules-load.d, sysctl.d). */
const MODULE_DIRECTORIES = [
  '/etc/modules-load.d/',
  '/usr/local/lib/modules-load.d/',
  '/usr/lib/modules-load.d/',
  '/lib/modules-load.d/',
]
const SYSCTL_DIRECTORIES = ['/etc/sysctl.d/', '/usr/local/lib/sysctl.d/', '/usr/lib/sysctl.d/', '/lib/sysctl.d/']
const UNIT_DIRECTORIES = [
  '/etc/systemd/system/',
  '/usr/local/lib/systemd/system/',
  '/usr/lib/systemd/system/',
  '/lib/systemd/system/',
]

/** Whether a path is `directory/name.conf` in one of these directories; name may be unknown. */
function isIn(path: Value, directories: readonly string[], suffix: string): Truth {
  return askText(
    path,
    text => directories.some(directory => isDirectly(text, directory) && text.endsWith(suffix)),
    pieces => {
      const first = pieces[0]
      const last = pieces.at(-1)
      const fits =
        (typeof first !== 'string' ||
          directories.some(directory => first.startsWith(directory) || directory.startsWith(first))) &&
        (typeof last !== 'string' || last.endsWith(suffix) || suffix.endsWith(last))
      if (!fits) return false
      // Known from the directory to the suffix, only the name between is open.
      return typeof first === 'string' &&
        typeof last === 'string' &&
        last.endsWith(suffix) &&
        directories.some(directory => first.startsWith(directory))
        ? true
        : undefined
    },
  )
}

function isDirectly(path: string, directory: string): boolean {
  return path.startsWith(directory) && !path.slice(directory.length).includes('/') && path.length > directory.length
}

/** Whether systemd-modules-load reads this file at boot. */
export function isModulesLoadFile(path: Value): Truth {
  return isIn(path, MODULE_DIRECTORIES, '.conf')
}

/** Whether systemd-sysctl reads this file at boot by its own name. `/etc/sysctl.conf` is read only through a link. */
export function isSysctlDirectoryFile(path: Value): Truth {
  return isIn(path, SYSCTL_DIRECTORIES, '.conf')
}

/** Whether a path is /etc/sysctl.conf, which is read at boot only through a link in a sysctl.d directory. */
export function isSysctlConf(path: Value): Truth {
  return askText(
    path,
    text => text === '/etc/sysctl.conf',
    pieces => (piecesCanBe(pieces, '/etc/sysctl.conf') ? undefined : false),
  )
}

/** systemd runs /etc/rc.local as this unit at each boot where the file is executable. */
export const RC_LOCAL = 'rc-local.service'

/** The template a file is made of, as written, where there is one. */
export type TextAsWritten = () => Value | undefined

/**
 * What a written file means beyond being a file: modules loaded at boot, kernel settings applied at boot, units.
 * A file of that kind whose content is not known gives an effect with an unknown module, key or command.
 */
export function effectsOfFile(
  change: FileChange,
  script: ScriptOnHost,
  written: TextAsWritten = () => undefined,
): readonly Effect[] {
  const { path } = change
  if (change.change === 'link') return [...effectsOfLink(change), ...settingsOf(linkedFile(change))]
  if (change.change === 'unpacked') return unpackedSettings(change)
  if (change.change !== 'written' && change.change !== 'line') return []
  // `cp x /etc/sysctl.d`: the file lands in the directory, under a name that is not known.
  const directory = textOf(path)?.replace(/\/*$/, '/')
  if (directory !== undefined && [...MODULE_DIRECTORIES, ...SYSCTL_DIRECTORIES].includes(directory))
    return unpackedSettings({ ...change, change: 'unpacked', content: undefined })
  const effects: Effect[] = [...settingsOf(change)]
  const edits = change.change === 'line' ? ({ edits: true } as const) : {}
  if (isOneOfTexts(path, ['/etc/rc.local', '/etc/rc.d/rc.local']).kind === 'true') {
    const text = change.content ?? unknownContent(change)
    const atStart = effectsOfReading(readShell(text, change.at), change.at, script)
    effects.push({ kind: 'unit-file', unit: RC_LOCAL, path, atStart, ...edits, at: change.at })
  }
  const unit = unitOfPath(path)
  if (unit !== undefined) {
    const atStart = commandsAtStart(change, unit, script, written)
    effects.push({ kind: 'unit-file', unit, path, atStart, ...edits, at: change.at })
  }
  return effects
}

function settingsOf(change: FileChange): readonly Effect[] {
  const { path } = change
  const effects: Effect[] = []
  if (isModulesLoadFile(path).kind === 'true') effects.push(...modulesAtBoot(change))
  if (isText(path, '/etc/modules').kind === 'true')
    effects.push(...modulesAtBoot(change).map(effect => onlyIf(effect, READS_ETC_MODULES)))
  if (isSysctlDirectoryFile(path).kind === 'true' || isSysctlConf(path).kind === 'true')
    effects.push(...settingsAtBoot(change))
  effects.push(...settingNow(change))
  return effects
}

/** Debian and Ubuntu have /etc/modules-load.d/modules.conf as a link to it. */
const READS_ETC_MODULES = 'a link in /etc/modules-load.d points to /etc/modules'

/** A link stands for the file it points to, whose text is not known; /dev/null is empty. */
function linkedFile(change: FileChange): FileChange {
  const empty = textOf(change.target) === '/dev/null'
  return { ...change, change: 'written', content: empty ? known('') : undefined }
}

/** An archive or tree that lands in a directory of settings, or in one above it, may bring any. */
function unpackedSettings(change: FileChange): readonly Effect[] {
  const text = textOf(change.path)
  if (text === undefined) return []
  const into = text.replace(/\/*$/, '/')
  const inside = (directories: readonly string[]): Value | undefined => {
    const found = directories.find(directory => directory.startsWith(into))
    if (found === undefined) return undefined
    const causes = [{ says: `which files come into ${text} is not worked out`, at: change.at, unread: true as const }]
    return { kind: 'unknown', causes, text: [found, null, '.conf'] }
  }
  const [modules, settings] = [inside(MODULE_DIRECTORIES), inside(SYSCTL_DIRECTORIES)]
  const brought = { ...change, change: 'written', content: undefined } as const
  return [
    ...(modules === undefined ? [] : modulesAtBoot({ ...brought, path: modules })),
    ...(settings === undefined ? [] : settingsAtBoot({ ...brought, path: settings })),
  ]
}

const PROC_SYS = '/proc/sys/'

/** A file of /proc/sys is the setting itself: what is written to it holds at once, until the next boot. */
function settingNow(change: FileChange): readonly Effect[] {
  const pieces = piecesOf(change.path)
  const first = pieces?.[0]
  if (pieces === undefined || typeof first !== 'string' || !first.startsWith(PROC_SYS)) return []
  const names = [`/${first.slice(PROC_SYS.length)}`, ...pieces.slice(1)]
  const key: Value = names.includes(null)
    ? { kind: 'unknown', causes: causesOf(change.path), text: names }
    : known(sysctlKey(names.join('')))
  const content = textOf(change.content)
  const value = content === undefined ? (change.content ?? unknownContent(change)) : known(content.trim())
  return [{ kind: 'sysctl', key, value, file: undefined, now: TRUE, persisted: FALSE, at: change.at }]
}

/** The unit a path is the file of, or a drop-in of; `…` stands for what is not known of its name. */
function unitOfPath(path: Value): string | undefined {
  const text = piecesOf(path)
    ?.map(piece => piece ?? '…')
    .join('')
  const directory = UNIT_DIRECTORIES.find(each => text?.startsWith(each) === true)
  if (text === undefined || directory === undefined) return undefined
  const [name, dropIn, more] = text.slice(directory.length).split('/')
  if (name === undefined || more !== undefined) return undefined
  if (dropIn === undefined)
    return /(\.(service|socket|target|mount|timer|path|swap|slice)|…)$/.test(name) ? name : undefined
  return name.endsWith('.d') && /(\.conf|…)$/.test(dropIn) ? name.slice(0, -2) : undefined
}

/** A link of a unit's name to /dev/null masks it; one in `*.wants` or `*.requires` enables it. */
function effectsOfLink(change: FileChange): readonly Effect[] {
  const path = textOf(change.path)
  const directory = path === undefined ? undefined : UNIT_DIRECTORIES.find(each => path.startsWith(each))
  if (path === undefined || directory === undefined) return []
  const [name, inside] = path.slice(directory.length).split('/')
  const unit = { kind: 'unit', state: undefined, at: change.at } as const
  if (name !== undefined && inside === undefined && textOf(change.target ?? known('')) === '/dev/null') {
    return [{ ...unit, unit: known(name), enabled: undefined, masked: known(true) }]
  }
  if (inside !== undefined && name !== undefined && /\.(wants|requires)$/.test(name)) {
    return [{ ...unit, unit: known(inside), enabled: known(true), masked: undefined }]
  }
  return []
}

/** The lines of a file's content that say something, as far as they are known; undefined where nothing is. */
export function statementsOf(content: Value | undefined): readonly Value[] | undefined {
  return linesOf(content)
    ?.filter(line => !isBlank(line))
    .map(trimmed)
}

/** The lines of a content, each as far as it is known; undefined where the content is not known at all. */
function linesOf(content: Value | undefined): readonly Value[] | undefined {
  if (content === undefined || content.kind === 'one-of') return undefined
  const pieces = piecesOf(content)
  if (pieces === undefined) return undefined
  const causes = causesOf(content)
  const lines: (string | null)[][] = [[]]
  for (const piece of pieces) {
    if (piece === null) {
      lines.at(-1)?.push(null)
      continue
    }
    for (const [index, part] of piece.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push(part)
    }
  }
  return lines.map(line => (line.includes(null) ? { kind: 'unknown', causes, text: line } : known(line.join(''))))
}

function isBlank(line: Value): boolean {
  const first = piecesOf(line)?.[0]
  if (first === undefined) return true
  if (first === null) return false
  const start = first.trimStart()
  return start.startsWith('#') || start.startsWith(';') || (start === '' && line.kind === 'known')
}

function unknownContent(change: FileChange): Value {
  const causes: readonly Cause[] =
    change.content === undefined
      ? [{ says: 'the content of the file is not known here', at: change.at, unread: true }]
      : causesOf(change.content)
  return { kind: 'unknown', causes: causes.length > 0 ? causes : [{ says: 'the content is no text', at: change.at }] }
}

/** What stands in each of the alternatives is there whichever is written. */
function eachContent(change: FileChange, read: (content: FileChange) => readonly Effect[]): readonly Effect[] {
  if (change.content?.kind !== 'one-of') return read(change)
  const all = optionsOf(change.content).map(({ value, because }) => ({
    effects: read({ ...change, content: value }),
    onlyIf: whichContent(because),
  }))
  const [first] = all
  const shared = (first?.effects ?? []).filter(effect =>
    all.every(({ effects }) => effects.some(other => isSameLine(effect, other))),
  )
  const some = all.flatMap(({ effects, onlyIf }) =>
    effects.filter(effect => !shared.some(other => isSameLine(effect, other))).map(effect => ({ ...effect, onlyIf })),
  )
  return [...shared, ...some]
}

function whichContent([because]: readonly Cause[]): string {
  if (because === undefined) return 'this content is written'
  return because.name === undefined ? because.says : `${because.name} has it written`
}

function isSameLine(left: Effect, right: Effect): boolean {
  if (left.kind === 'kernel-module' && right.kind === 'kernel-module') return isCertainlySame(left.module, right.module)
  // What a unit runs: words tell it apart.
  if (left.kind !== 'sysctl') return left.kind === right.kind && describeEffect(left) === describeEffect(right)
  if (right.kind !== 'sysctl') return false
  const [ours, theirs] = [left.value, right.value]
  return (
    ours !== undefined && theirs !== undefined && isCertainlySame(left.key, right.key) && isCertainlySame(ours, theirs)
  )
}

function modulesAtBoot(change: FileChange): readonly Effect[] {
  return eachContent(change, one => {
    const module = (name: Value): Effect => ({
      kind: 'kernel-module',
      module: name,
      when: 'boot',
      state: 'loaded',
      parameters: undefined,
      file: change.path,
      at: change.at,
    })
    const lines = linesOf(one.content)
    if (lines === undefined) return [module(unknownContent(one))]
    return lines.filter(line => !isBlank(line)).map(line => module(trimmed(line)))
  })
}

function trimmed(line: Value): Value {
  const text = textOf(line)
  return text === undefined ? line : known(text.trim())
}

function settingsAtBoot(change: FileChange): readonly Effect[] {
  return eachContent(change, one => {
    const setting = (key: Value, value: Value): Effect => ({
      kind: 'sysctl',
      key,
      value,
      file: change.path,
      now: FALSE,
      persisted: TRUE,
      at: change.at,
    })
    const lines = linesOf(one.content)
    if (lines === undefined) return [setting(unknownContent(one), unknownContent(one))]
    return lines
      .filter(line => !isBlank(line))
      .flatMap(line => {
        const pieces = piecesOf(line) ?? [null]
        const at = pieces.findIndex(piece => piece?.includes('=') === true)
        const piece = pieces[at]
        if (typeof piece !== 'string') return line.kind === 'known' ? [] : [setting(line, line)]
        const equals = piece.indexOf('=')
        const key = partOf([...pieces.slice(0, at), piece.slice(0, equals)], line)
        const value = partOf([piece.slice(equals + 1), ...pieces.slice(at + 1)], line)
        return [setting(mapKey(key), value)]
      })
  })
}

function partOf(pieces: readonly (string | null)[], line: Value): Value {
  if (!pieces.includes(null)) return known(pieces.join('').trim())
  return { kind: 'unknown', causes: causesOf(line), text: pieces.filter(piece => piece !== '') }
}

/** A leading `-` only says that a failure is ignored. */
function mapKey(key: Value): Value {
  const text = textOf(key)
  return text?.startsWith('-') ? known(text.slice(1).trim()) : key
}

/**
 * The effects of what a unit runs at each start; what may run beside it is a command that cannot be read. Where rendering
 * left lines or programs open, the template as written has all there can be: it counts too, without being certain.
 */
function commandsAtStart(
  change: FileChange,
  unit: string,
  script: ScriptOnHost,
  written: TextAsWritten,
): readonly Effect[] {
  const { at } = change
  const unreadable = (says: string): Effect => ({ kind: 'unreadable-command', says, at })
  const read = ({ commands }: UnitText): readonly Effect[] =>
    commands.flatMap(command => effectsOfReading(readCommandLine(command, at), at, script))
  const effects = eachContent(change, ({ content }) => {
    const lines = linesOf(content)
    // An edit whose text is not known may put in any line.
    if (lines === undefined) {
      const isBrought = change.change === 'written' && change.content === undefined
      return [isBrought ? broughtService(unit, at) : unreadable(`what ${unit} runs at its start is not known`)]
    }
    const text = readUnitText(lines, at)
    const open = text.unseen.length === 0 ? [] : [unreadable(`lines of ${textOf(change.path) ?? unit} are not known`)]
    return [...read(text), ...open]
  })
  const isOpen = (effect: Effect): boolean =>
    effect.kind === 'unreadable-command' || (effect.kind === 'command' && effect.program === undefined)
  const whole = effects.some(isOpen) ? linesOf(written()) : undefined
  if (whole === undefined) return effects
  const text = readUnitText(whole, at)
  const all = read(text)
  if (text.unseen.length > 0 || all.some(isOpen)) return effects
  const known = effects.filter(effect => !isOpen(effect))
  const more = all.filter(effect => !known.some(other => isSameLine(other, effect)))
  return [...known, ...more.map(effect => ({ ...effect, unread: `the template of ${unit} was not rendered in full` }))]
}

/**
 * What a unit runs whose file comes from an archive or a package on the host: the program it is named after, with what that
 * is known for, and perhaps `modprobe` before it, as such units do.
 */
function broughtService(unit: string, at: Span): Effect {
  const program = unit.replace(/\.service$/, '')
  const known = PROGRAMS.get(program)
  const powers: readonly Power[] = known === undefined ? EVERY_POWER : [...known.powers, 'changes-modules']
  return { kind: 'command', program, arguments: [], powers, unfamiliar: known === undefined, at }
}

/** A key of sysctl as the kernel names it: dots for slashes by systemd's rule (the first of `/` and `.` decides). */
export function sysctlKey(key: string): string {
  const first = key.match(/[/.]/)?.[0]
  const dotted = first === '/' ? key.replace(/[/.]/g, char => (char === '/' ? '.' : '/')) : key
  return dotted.replace(/\.{2,}/g, '.').replace(/^\./, '')
}
