import { textOf } from '../../effects/argument.js'
import { effectsOfReading, effectsOfScriptText, type ScriptOnHost } from '../../effects/commands.js'
import { type Effect, onlyIf } from '../../effects/effect.js'
import { effectsOfFile } from '../../effects/settings-files.js'
import { readCommandLine, readShell } from '../../effects/shell.js'
import { readUnitText } from '../../effects/unit-text.js'
import { follow, type HostFiles, textAt } from '../../evidence/host-files.js'
import { known } from '../../jinja/value.js'
import { type Span, wholeFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'
import { quoted } from '../quoted.js'
import { conditionsOf } from './conditions.js'
import { linesOf } from './conf-files.js'
import { bootUnits } from './enabled.js'
import { commentOut, isOwnFile, type Mend } from './mends.js'

/** Something a program that is started at boot does to the host, by what its unit or script says. */
export interface BootEffect {
  readonly effect: Effect
  /** The unit, or the file that runs it: `zramswap.service`, `/etc/rc.local`. */
  readonly by: string
  readonly place: HostPlace
  /** What the operator does so that it does not happen again. */
  readonly stop: () => Mend
}

/** A script that is run at boot, or a table of what is, whose text is not known: it may do anything. */
export interface UnreadProgram {
  readonly by: string
  readonly place: HostPlace
  /** As a clause: `node.service runs /opt/node.sh at boot, and …`. */
  readonly says: string
}

/** What is run at boot. */
export interface BootPrograms {
  readonly effects: readonly BootEffect[]
  readonly unread: readonly UnreadProgram[]
}

const doneAtBoot = new WeakMap<HostFiles, BootPrograms>()

/**
 * What units, /etc/rc.local and `@reboot` jobs run at boot, as their text says. A daemon that does more than its command line
 * says is not seen here.
 */
export function bootPrograms(files: HostFiles): BootPrograms {
  const done = doneAtBoot.get(files)
  if (done !== undefined) return done
  const unread: UnreadProgram[] = []
  const effects = [
    ...effectsOfUnits(files, unread),
    ...effectsOfRcLocal(files, unread),
    ...effectsOfCron(files, unread),
  ]
  const programs = { effects, unread }
  doneAtBoot.set(files, programs)
  return programs
}

function effectsOfUnits(files: HostFiles, unread: UnreadProgram[]): readonly BootEffect[] {
  return [...bootUnits(files).started.values()].flatMap(unit => {
    const [first] = unit.files
    if (first === undefined || /\.(target|slice)$/.test(unit.name)) return []
    const conditions = conditionsOf(unit.files, files)
    if (conditions.kind === 'false') return []
    const at = wholeFile(first)
    const lines = unit.files.flatMap(file => file.text.split('\n').map(line => known(line)))
    return readUnitText(lines, at).commands.flatMap(command => {
      const text = textOf(command)
      const place = { file: first.path, ...lineWith(first.text, text), ...(text === undefined ? {} : { says: text }) }
      const scripts = scriptsOf(files)
      const effects = withFiles(effectsOfReading(readCommandLine(command, at), at, scripts.read), files)
      noteUnread(scripts, unit.name, place, unread)
      return effects.map(effect => ({
        effect: conditions.kind === 'true' ? effect : onlyIf(effect, `${unit.name} has ${conditions.says}`),
        by: unit.name,
        place,
        stop: () => inScript(scripts.asked, effect, files, unit.name) ?? keepUnitOff(unit.name),
      }))
    })
  })
}

function keepUnitOff(unit: string): Mend {
  return { kind: 'keep-off', unit, says: `keep ${unit} from being started at boot` }
}

function lineWith(text: string, command: string | undefined): { readonly line?: number } {
  if (command === undefined) return {}
  for (const { text: raw, line } of linesOf(text)) if (/^\s*Exec/.test(raw) && raw.includes(command)) return { line }
  return {}
}

/** systemd-rc-local-generator starts it where it can be executed. Source: man systemd-rc-local-generator(8). */
function effectsOfRcLocal(files: HostFiles, unread: UnreadProgram[]): readonly BootEffect[] {
  if (bootUnits(files).masked('rc-local.service') !== undefined) return []
  const seen = new Set<string>()
  return ['/etc/rc.local', '/etc/rc.d/rc.local'].flatMap(path => {
    const entry = follow(files, path)
    if (entry.kind === 'known' && seen.has(entry.value.path)) return []
    if (entry.kind === 'known') seen.add(entry.value.path)
    const text = textAt(files, path)
    const mode = entry.kind === 'known' ? entry.value.mode : undefined
    if (mode !== undefined && (mode & 0o111) === 0) return []
    if (text.kind === 'unknown')
      unread.push({ by: path, place: { file: path }, says: `what ${path} runs at boot is not known: ${text.because}` })
    if (text.kind !== 'known') return []
    const at = wholeFile(text.value)
    const scripts = scriptsOf(files)
    const effects = withFiles(effectsOfScriptText(path, known(text.value.text), at, scripts.read), files)
    noteUnread(scripts, path, { file: path }, unread)
    return effects.map((effect): BootEffect => {
      const line = lineDoing(text.value.text, effect, files)
      return {
        effect,
        by: path,
        place: { file: path, ...(line === undefined ? {} : { line }) },
        stop: () => inScript([path, ...scripts.asked], effect, files, path) ?? byHand(path, effect),
      }
    })
  })
}

/** Where no line of a script does it by itself, the operator has to look. */
function byHand(path: string, effect: Effect): Mend {
  const word = effect.kind === 'sysctl' ? (textOf(effect.key) ?? 'sysctl') : 'swap'
  const says = `take what does it out of ${path}, which is run at boot`
  return { kind: 'by-hand', says, command: `grep -n ${quoted(word.slice(word.lastIndexOf('.') + 1))} ${quoted(path)}` }
}

/** The line of a script, of an operator and not of a package, that does something by itself, made to do nothing. */
function inScript(paths: readonly string[], effect: Effect, files: HostFiles, by: string): Mend | undefined {
  for (const path of paths) {
    const text = textAt(files, path)
    if (text.kind !== 'known' || !isOwnFile(text.value.path)) continue
    const line = lineDoing(text.value.text, effect, files)
    const run = path === by ? 'which is run at boot' : `which ${by} runs at boot`
    // An empty `if` is no shell: the line stays a command.
    if (line !== undefined)
      return commentOut(files, { file: path, line }, `take line ${line} out of ${path}, ${run}`, ': # ')
  }
  return undefined
}

/** The line of a script that does something also when it stands alone. */
function lineDoing(text: string, effect: Effect, files: HostFiles): number | undefined {
  if (effect.kind !== 'swap' && effect.kind !== 'sysctl' && effect.kind !== 'command') return undefined
  if (effect.kind === 'command' && effect.program !== 'sysctl') return undefined
  let goesOn = false
  for (const { text: raw, line } of linesOf(text)) {
    const isWhole = !goesOn && !raw.endsWith('\\')
    goesOn = raw.endsWith('\\')
    if (!isWhole || !/swap|sysctl|\/proc\/sys/.test(raw)) continue
    const at = wholeFile({ path: '', text: raw })
    const alone = withFiles(
      effectsOfReading(readShell(known(raw), at), at, () => undefined),
      files,
    )
    if (alone.some(each => isSameDeed(each, effect))) return line
  }
  return undefined
}

function isSameDeed(left: Effect, right: Effect): boolean {
  if (left.kind === 'swap' && right.kind === 'swap') return left.state === right.state
  if (left.kind === 'sysctl' && right.kind === 'sysctl') return textOf(left.key) === textOf(right.key)
  if (left.kind !== 'command' || right.kind !== 'command' || left.program !== right.program) return false
  return left.arguments.map(textOf).join('\0') === right.arguments.map(textOf).join('\0')
}

/** Where cron looks for the jobs of root, who alone can do what matters here. */
const ROOT_TABLES = ['/var/spool/cron/crontabs/root', '/var/spool/cron/root', '/var/spool/cron/tabs/root']
const CRON = ['cron.service', 'crond.service', 'cronie.service']

function effectsOfCron(files: HostFiles, unread: UnreadProgram[]): readonly BootEffect[] {
  const runs = CRON.some(name => bootUnits(files).started.has(name))
  const open = (file: string, because: string): void => {
    const says = `what cron runs at boot by ${file} is not known: ${because}`
    if (runs) unread.push({ by: file, place: { file }, says })
  }
  const listed = files.list('/etc/cron.d')
  if (listed.kind === 'unknown') open('/etc/cron.d', listed.because)
  const names = listed.kind === 'known' ? listed.value.filter(name => /^[\w-]+$/.test(name)) : []
  const tables = [
    { path: '/etc/crontab', hasUser: true },
    ...names.map(name => ({ path: `/etc/cron.d/${name}`, hasUser: true })),
    ...ROOT_TABLES.map(path => ({ path, hasUser: false })),
  ]
  // A distribution has one of them: where one was looked for, the others say nothing.
  const isRootUnseen = ROOT_TABLES.every(path => textAt(files, path).kind === 'unknown')
  return tables.flatMap(({ path, hasUser }) => {
    const text = textAt(files, path)
    if (text.kind === 'unknown' && (hasUser || isRootUnseen)) open(path, text.because)
    if (text.kind !== 'known') return []
    return [...linesOf(text.value.text)].flatMap(({ text: raw, line }) => {
      const command = /^\s*@reboot\s+(.*)$/.exec(raw)?.[1]
      if (command === undefined) return []
      const shell = hasUser ? command.replace(/^\S+\s+/, '') : command
      const at: Span = wholeFile(text.value)
      const place = { file: path, line, says: raw.trim() }
      const scripts = scriptsOf(files)
      const effects = withFiles(effectsOfReading(readShell(known(shell), at), at, scripts.read), files)
      noteUnread(scripts, path, place, unread)
      return effects.map(effect => ({
        effect,
        by: path,
        place,
        stop: () =>
          commentOut(files, place, `take line ${line} out of ${path}, which cron runs at boot`) ?? byHand(path, effect),
      }))
    })
  })
}

/** A file written by a command may itself be a setting: `/proc/sys/net/ipv4/ip_forward`. */
function withFiles(effects: readonly Effect[], files: HostFiles): readonly Effect[] {
  const scripts = scriptsOf(files)
  return effects.flatMap(effect =>
    effect.kind === 'file' ? [effect, ...effectsOfFile(effect, scripts.read)] : [effect],
  )
}

/** Scripts by their paths, and which of them were asked for. */
interface Scripts {
  readonly read: ScriptOnHost
  readonly asked: string[]
  readonly unread: { readonly path: string; readonly because: string }[]
}

function scriptsOf(files: HostFiles): Scripts {
  const asked: string[] = []
  const unread: { path: string; because: string }[] = []
  const read: ScriptOnHost = path => {
    const name = textOf(path)
    if (name?.startsWith('/') !== true) return undefined
    asked.push(name)
    const text = textAt(files, name)
    if (text.kind === 'known') return { content: known(text.value.text), unsure: undefined }
    if (text.kind === 'unknown' && isSuspect(files, name)) unread.push({ path: name, because: text.because })
    return undefined
  }
  return { read, asked, unread }
}

function noteUnread({ unread }: Scripts, by: string, place: HostPlace, all: UnreadProgram[]): void {
  for (const { path, because } of unread)
    all.push({ by, place, says: `${by} runs ${path} at boot, and what that does is not known: ${because}` })
}

/** Where packages put their programs: those do what they are for. */
const OF_PACKAGES = /^\/(usr\/)?(s?bin|lib(32|64|exec)?|share)\/|^\/etc\/init\.d\//
const SCRIPT_NAME = /\.(sh|bash|ksh|zsh)$/
/** A program that was compiled is larger. */
const LARGEST_SCRIPT = 64 * 1024

/** Whether a program of which no text is known may be a script of the host's administrators. */
function isSuspect(files: HostFiles, path: string): boolean {
  if (OF_PACKAGES.test(path)) return false
  if (SCRIPT_NAME.test(path)) return true
  const found = follow(files, path)
  if (found.kind !== 'known' || found.value.kind !== 'file' || found.value.size === undefined) return false
  return found.value.size <= LARGEST_SCRIPT && found.value.content().kind === 'withheld'
}

/** Whether an effect certainly happens once its program is started. */
export function isCertain(effect: Effect): boolean {
  return effect.onlyIf === undefined && effect.unread === undefined
}

/** One line of a file of the form systemd uses. */
export interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
  readonly place: HostPlace
}

/** The settings of one file of the form `[section]`, `key=value`. */
export function settingsIn(text: string, file: string): readonly Setting[] {
  const settings: Setting[] = []
  let section = ''
  for (const { text: raw, line } of linesOf(text)) {
    const trimmed = raw.trim()
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) continue
    const head = /^\[(.+)\]$/.exec(trimmed)?.[1]
    if (head !== undefined) {
      section = head
      continue
    }
    const equals = trimmed.indexOf('=')
    if (equals === -1) continue
    const place = { file, line, says: trimmed }
    settings.push({ section, key: trimmed.slice(0, equals).trim(), value: trimmed.slice(equals + 1).trim(), place })
  }
  return settings
}
