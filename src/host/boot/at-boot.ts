import { textOf } from '../../effects/argument.js'
import { effectsOfReading, effectsOfScriptText, type ScriptOnHost } from '../../effects/commands.js'
import type { Effect } from '../../effects/effect.js'
import { effectsOfFile } from '../../effects/settings-files.js'
import { readCommandLine, readShell } from '../../effects/shell.js'
import { readUnitText } from '../../effects/unit-text.js'
import { follow, type HostFiles, textAt } from '../../evidence/host-files.js'
import { known } from '../../jinja/value.js'
import { lineOf, type Span, wholeFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'
import { linesOf } from './conf-files.js'
import { bootUnits } from './enabled.js'

/** Something a program that is started at boot does to the host, by what its unit or script says. */
export interface BootEffect {
  readonly effect: Effect
  /** The unit, or the file that runs it: `zramswap.service`, `/etc/rc.local`. */
  readonly by: string
  readonly place: HostPlace
  /** What the operator turns off so that it does not happen again. */
  readonly stop: string
}

const doneAtBoot = new WeakMap<HostFiles, readonly BootEffect[]>()

/**
 * What units, /etc/rc.local and `@reboot` jobs run at boot, as their text says. A daemon that does more than its command line
 * says is not seen here.
 */
export function bootEffects(files: HostFiles): readonly BootEffect[] {
  const done = doneAtBoot.get(files)
  if (done !== undefined) return done
  const effects = [...effectsOfUnits(files), ...effectsOfRcLocal(files), ...effectsOfCron(files)]
  doneAtBoot.set(files, effects)
  return effects
}

function effectsOfUnits(files: HostFiles): readonly BootEffect[] {
  return [...bootUnits(files).started.values()].flatMap(unit => {
    const [first] = unit.files
    if (first === undefined || /\.(target|slice)$/.test(unit.name)) return []
    const at = wholeFile(first)
    const lines = unit.files.flatMap(file => file.text.split('\n').map(line => known(line)))
    return readUnitText(lines, at).commands.flatMap(command => {
      const text = textOf(command)
      const place = { file: first.path, ...lineWith(first.text, text), ...(text === undefined ? {} : { says: text }) }
      return withFiles(effectsOfReading(readCommandLine(command, at), at, scriptsOf(files)), files).map(effect => ({
        effect,
        by: unit.name,
        place,
        stop: `systemctl disable --now ${unit.name}`,
      }))
    })
  })
}

function lineWith(text: string, command: string | undefined): { readonly line?: number } {
  if (command === undefined) return {}
  for (const { text: raw, line } of linesOf(text)) if (/^\s*Exec/.test(raw) && raw.includes(command)) return { line }
  return {}
}

/** systemd-rc-local-generator starts it where it can be executed. Source: man systemd-rc-local-generator(8). */
function effectsOfRcLocal(files: HostFiles): readonly BootEffect[] {
  if (bootUnits(files).masked('rc-local.service') !== undefined) return []
  return ['/etc/rc.local', '/etc/rc.d/rc.local'].flatMap(path => {
    const entry = follow(files, path)
    const text = textAt(files, path)
    if (entry.kind !== 'known' || text.kind !== 'known') return []
    if (entry.value.mode !== undefined && (entry.value.mode & 0o111) === 0) return []
    const at = wholeFile(text.value)
    const stop = `remove that line from ${path}`
    return withFiles(effectsOfScriptText(path, known(text.value.text), at, scriptsOf(files)), files).map(effect => ({
      effect,
      by: path,
      place: { file: path, ...lineOfEffect(effect) },
      stop,
    }))
  })
}

function lineOfEffect(effect: Effect): { readonly line?: number } {
  // The whole script is the place of what a shell reading says; a line of it only where it has one.
  return effect.at.start === 0 ? {} : { line: lineOf(effect.at) }
}

function effectsOfCron(files: HostFiles): readonly BootEffect[] {
  const listed = files.list('/etc/cron.d')
  const names = listed.kind === 'known' ? listed.value.filter(name => /^[\w-]+$/.test(name)) : []
  const users = files.list('/var/spool/cron/crontabs')
  const tables = [
    { path: '/etc/crontab', hasUser: true },
    ...names.map(name => ({ path: `/etc/cron.d/${name}`, hasUser: true })),
    ...(users.kind === 'known' ? users.value : []).map(name => ({
      path: `/var/spool/cron/crontabs/${name}`,
      hasUser: false,
    })),
  ]
  return tables.flatMap(({ path, hasUser }) => {
    const text = textAt(files, path)
    if (text.kind !== 'known') return []
    return [...linesOf(text.value.text)].flatMap(({ text: raw, line }) => {
      const command = /^\s*@reboot\s+(.*)$/.exec(raw)?.[1]
      if (command === undefined) return []
      const shell = hasUser ? command.replace(/^\S+\s+/, '') : command
      const at: Span = wholeFile(text.value)
      return withFiles(effectsOfReading(readShell(known(shell), at), at, scriptsOf(files)), files).map(effect => ({
        effect,
        by: path,
        place: { file: path, line, says: raw.trim() },
        stop: `remove that line from ${path}`,
      }))
    })
  })
}

/** A file written by a command may itself be a setting: `/proc/sys/net/ipv4/ip_forward`. */
function withFiles(effects: readonly Effect[], files: HostFiles): readonly Effect[] {
  return effects.flatMap(effect =>
    effect.kind === 'file' ? [effect, ...effectsOfFile(effect, scriptsOf(files))] : [effect],
  )
}

function scriptsOf(files: HostFiles): ScriptOnHost {
  return path => {
    const name = textOf(path)
    const text = name?.startsWith('/') === true ? textAt(files, name) : undefined
    return text?.kind === 'known' ? { content: known(text.value.text), unsure: undefined } : undefined
  }
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
