import type { SourceFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'

/** One `Name=Value` of a unit file or a drop-in. */
export interface Setting {
  readonly section: string
  readonly name: string
  /** Trimmed; empty takes back what stood before, where the setting is a list. */
  readonly value: string
  readonly place: HostPlace
}

/**
 * The settings of a unit file in their order (man systemd.syntax): a backslash at the end goes on in the next line, also over
 * comments; what stands before any section or has no `=` says nothing.
 */
export function parseUnitText(file: SourceFile): readonly Setting[] {
  const settings: Setting[] = []
  let section: string | undefined
  let open: { text: string; line: number } | undefined
  const end = ({ text, line }: { text: string; line: number }): void => {
    const trimmed = text.trim()
    const header = /^\[(.*)\]$/.exec(trimmed)?.[1]
    if (header !== undefined) {
      section = header
      return
    }
    const equals = trimmed.indexOf('=')
    if (section === undefined || equals < 1) return
    const name = trimmed.slice(0, equals).trim()
    const value = trimmed.slice(equals + 1).trim()
    settings.push({ section, name, value, place: { file: file.path, line, says: `${name}=${value}` } })
  }
  for (const [index, line] of file.text.split('\n').entries()) {
    if (/^\s*[#;]/.test(line)) continue
    const whole = { text: (open?.text ?? '') + line.replace(/\r$/, ''), line: open?.line ?? index + 1 }
    const slashes = /\\+$/.exec(whole.text)?.[0].length ?? 0
    if (slashes % 2 === 1) open = { text: `${whole.text.slice(0, -1)} `, line: whole.line }
    else {
      open = undefined
      end(whole)
    }
  }
  if (open !== undefined) end(open)
  return settings
}

/** What a setting that is a list comes to: an empty assignment takes back what stood before it. */
export function listed(settings: readonly Setting[], section: string, name: string): readonly Setting[] {
  let kept: Setting[] = []
  for (const setting of settings) {
    if (setting.section !== section || setting.name !== name) continue
    if (setting.value === '') kept = []
    else kept.push(setting)
  }
  return kept
}

/** The setting that counts where only one can: the last; undefined also where that one is empty. */
export function last(settings: readonly Setting[], section: string, name: string): Setting | undefined {
  const found = settings.findLast(setting => setting.section === section && setting.name === name)
  return found?.value === '' ? undefined : found
}

/** systemd's booleans (man systemd.syntax). */
export function isYes(setting: Setting | undefined): boolean {
  return /^(1|yes|y|true|t|on)$/i.test(setting?.value ?? '')
}

/** The words of a list setting that are names of units. */
export function wordsOf(setting: Setting): readonly string[] {
  return setting.value.split(/\s+/).filter(word => word !== '')
}

/** The type at the end of a unit's name. */
export function typeOf(unit: string): string {
  return unit.slice(unit.lastIndexOf('.') + 1)
}

const UNIT_NAME =
  /^[A-Za-z0-9:_.\\-]+(@[A-Za-z0-9:_.\\@-]*)?\.(service|socket|target|device|mount|automount|swap|timer|path|slice|scope)$/

/** Whether a text is the name of a unit (man systemd.unit). */
export function isUnitName(text: string): boolean {
  return text.length < 256 && UNIT_NAME.test(text)
}

/** `foo@.service` of `foo@bar.service`; undefined for what is no instance. */
export function templateOf(unit: string): string | undefined {
  const found = /^([^@]+@)(.+)(\.[a-z]+)$/.exec(unit)
  return found === null ? undefined : `${found[1]}${found[3]}`
}

/** The text with `\xNN` undone, as systemd escapes what goes into a name. */
export function unescapeUnit(text: string): string {
  if (!text.includes('\\x')) return text
  const bytes = Buffer.from(
    text.replace(/\\x([0-9a-fA-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return bytes.toString('utf8')
}

/**
 * A value with the specifiers put in that the name of the unit decides (man systemd.unit): `%i %I %p %P %n %N %j %J %%`.
 * Undefined where another one stands in it.
 */
export function withSpecifiers(value: string, unit: string): string | undefined {
  const [, prefix = '', instance = ''] = /^([^@]+)(?:@(.*))?\.[a-z]+$/.exec(unit) ?? []
  const dash = prefix.slice(prefix.lastIndexOf('-') + 1)
  const plain = (text: string): string => unescapeUnit(text.replaceAll('-', '/'))
  let open = false
  const text = value.replace(/%(.)/g, (all, letter) => {
    if (letter === '%') return '%'
    if (letter === 'i') return instance
    if (letter === 'I') return plain(instance)
    if (letter === 'p') return prefix
    if (letter === 'P') return plain(prefix)
    if (letter === 'n') return unit
    if (letter === 'N') return unit.replace(/\.[a-z]+$/, '')
    if (letter === 'j') return dash
    if (letter === 'J') return plain(dash)
    open = true
    return all
  })
  return open ? undefined : text
}
