import { type Entry, follow, type HostFiles, textAt } from '../../evidence/host-files.js'
import { type ChangedFiles, changedFiles } from '../changed-files.js'
import type { HostPlace, OperatorStep } from '../moment.js'
import { quoted } from '../quoted.js'
import { linksThatEnable } from '../units/install-links.js'
import { triggersOf } from '../units/triggers.js'
import { PERSISTENT } from '../units/unit-files.js'
import { linesOf } from './conf-files.js'
import { bootUnits } from './enabled.js'

/**
 * Something an operator does to the files of a host, so that its meaning can be tried out before it is told. `file` is where the
 * text stands, links followed; `text` is a line as it stands.
 */
export type Mend = { readonly says: string } & (
  | {
      readonly kind: 'comment-out'
      readonly file: string
      readonly text: string
      readonly line: number
      readonly mark: string
    }
  | {
      readonly kind: 'replace-line'
      readonly file: string
      readonly text: string
      readonly line: number
      readonly by: string
    }
  | { readonly kind: 'append'; readonly file: string; readonly text: string }
  /** A package's file gets a stronger one of its name in /etc, without one line. */
  | {
      readonly kind: 'override'
      readonly from: string
      readonly file: string
      readonly text: string
      readonly line: number
    }
  | { readonly kind: 'unmask'; readonly unit: string }
  | { readonly kind: 'mask'; readonly unit: string }
  | { readonly kind: 'add-wants'; readonly target: string; readonly unit: string }
  | { readonly kind: 'keep-off'; readonly unit: string }
  | { readonly kind: 'off-command-line'; readonly word: string }
  | { readonly kind: 'by-hand'; readonly command: string }
)

/** Where an operator's own files stand; what packages bring stands elsewhere, and is overridden instead. */
const OWN = /^\/(etc|usr\/local|opt|root|home|srv|var\/(spool\/cron|local|lib))\//

/** Whether a file is changed in its place, and not overridden. */
export function isOwnFile(path: string): boolean {
  return OWN.test(path)
}

/** Where a text is edited: where a link leads, unless that is a package's file; then an editor puts a file in the link's place. */
function editedPath(files: HostFiles, path: string): string | undefined {
  const led = follow(files, path)
  if (led.kind !== 'known' || led.value.kind !== 'file' || led.value.content().kind !== 'text') return undefined
  if (isOwnFile(led.value.path)) return led.value.path
  return isOwnFile(path) && files.entry(path).kind === 'known' ? path : undefined
}

/** The line of a place as it stands; undefined where an editor does not see it as the program does (a carriage return within). */
function lineAt(files: HostFiles, { file, line }: HostPlace): string | undefined {
  const text = textAt(files, file)
  if (text.kind !== 'known' || line === undefined) return undefined
  const raw = text.value.text.split('\n')[line - 1]
  return raw === undefined || /\r./.test(raw) ? undefined : raw
}

/** The line of a place made a comment; undefined where that cannot be done in its file. */
export function commentOut(files: HostFiles, place: HostPlace, says: string, mark = '# '): Mend | undefined {
  const [file, text] = [editedPath(files, place.file), lineAt(files, place)]
  if (file === undefined || text === undefined || place.line === undefined) return undefined
  return { kind: 'comment-out', file, text, line: place.line, mark, says }
}

/** The line of a place with another text. */
export function replaceLine(files: HostFiles, place: HostPlace, by: string, says: string): Mend | undefined {
  const [file, text] = [editedPath(files, place.file), lineAt(files, place)]
  if (file === undefined || text === undefined || place.line === undefined) return undefined
  return { kind: 'replace-line', file, text, line: place.line, by, says }
}

/** A file of a package without one line, under its name in a directory of /etc. */
export function overrideWithout(files: HostFiles, place: HostPlace, directory: string, says: string): Mend | undefined {
  const text = lineAt(files, place)
  if (text === undefined || place.line === undefined) return undefined
  const file = `${directory}/${place.file.slice(place.file.lastIndexOf('/') + 1)}`
  return { kind: 'override', from: place.file, file, text, line: place.line, says }
}

/** Whether two mends are one. */
export function isSameMend(left: Mend, right: Mend): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

/** Whether lines can be added to a file by `>>`: there is none, or one whose last line is ended. */
export function isAppendable(files: HostFiles, path: string): boolean {
  const entry = files.entry(path)
  if (entry.kind === 'absent') return true
  if (entry.kind !== 'known' || entry.value.kind !== 'file') return false
  const text = textAt(files, path)
  return text.kind === 'known' && /(^|\n)$/.test(text.value.text)
}

/**
 * A mend in words, with its command. `before` are the files when the operator acts, before a run: lines are counted there. What
 * is not there yet is done after the run.
 */
export function stepOf(mend: Mend, before: HostFiles): OperatorStep {
  const { says } = mend
  switch (mend.kind) {
    case 'comment-out':
      return lineStep(mend, before, at => `${at}s/^/${mend.mark}/`)
    case 'replace-line':
      return lineStep(mend, before, at => `${at}s/.*/${mend.by}/`)
    case 'append':
      return { says, command: `echo ${quoted(mend.text)} >> ${quoted(mend.file)}` }
    case 'override': {
      const { lines, isAfter } = linesBefore(before, mend.from, mend)
      const script = lines.map(at => `${at}s/^/# /`).join(';')
      const command = `sed ${quoted(script)} ${quoted(mend.from)} > ${quoted(mend.file)}`
      return { says: isAfter ? `after the run: ${says}` : says, command }
    }
    case 'unmask':
      return { says, command: `systemctl unmask ${unitWord(mend.unit)}` }
    case 'mask':
      return { says, command: `systemctl mask ${unitWord(mend.unit)}` }
    case 'add-wants':
      return { says, command: `systemctl add-wants ${mend.target} ${unitWord(mend.unit)}` }
    case 'keep-off':
      return { says, command: offCommand(before, mend.unit) }
    case 'off-command-line': {
      const name = mend.word.split('=')[0] ?? mend.word
      return { says, command: `grep -rn ${quoted(name)} /etc/default/grub /etc/kernel /boot/loader` }
    }
    case 'by-hand':
      return { says, command: mend.command }
  }
}

function lineStep(
  mend: Mend & { readonly file: string; readonly text: string; readonly line: number },
  before: HostFiles,
  edit: (line: number) => string,
): OperatorStep {
  const { lines, isAfter } = linesBefore(before, mend.file, mend)
  const says = isAfter ? `after the run: ${mend.says}` : mend.says
  return { says, command: `sed -i ${scriptWord(lines.map(edit).join(';'))} ${quoted(mend.file)}` }
}

/** A script of sed stands in quotes, whether or not the shell asks for them. */
function scriptWord(script: string): string {
  return script.includes("'") ? quoted(script) : `'${script}'`
}

/** Where a line stands before the run, all places of it; where it is not there, its place after. */
function linesBefore(
  before: HostFiles,
  file: string,
  { text, line }: { readonly text: string; readonly line: number },
): { readonly lines: readonly number[]; readonly isAfter: boolean } {
  const found = textAt(before, file)
  const lines = found.kind === 'known' ? [...linesOf(found.value.text)].filter(each => each.text === text) : []
  return lines.length === 0
    ? { lines: [line], isAfter: true }
    : { lines: lines.map(({ line: at }) => at), isAfter: false }
}

/** The name of a unit as a word; one that begins with a dash is no option. */
function unitWord(unit: string): string {
  return unit.startsWith('-') ? `-- ${quoted(unit)}` : quoted(unit)
}

/** Does to files what a mend means. */
export function applyMend(mend: Mend, files: ChangedFiles): void {
  switch (mend.kind) {
    case 'comment-out':
      editLines(files, mend.file, mend.text, `${unmarked(mend.mark)}${mend.text}`)
      return
    case 'replace-line':
      editLines(files, mend.file, mend.text, mend.by)
      return
    case 'append': {
      const text = textAt(files, mend.file)
      putText(files, mend.file, `${text.kind === 'known' ? text.value.text : ''}${mend.text}\n`)
      return
    }
    case 'override': {
      const text = textAt(files, mend.from)
      if (text.kind === 'known') putText(files, mend.file, withLines(text.value.text, mend.text, `# ${mend.text}`))
      return
    }
    case 'unmask':
      files.remove(`${PERSISTENT}/${mend.unit}`)
      return
    case 'mask':
      putLink(files, `${PERSISTENT}/${mend.unit}`, '/dev/null')
      return
    case 'add-wants':
      putLink(files, `${PERSISTENT}/${mend.target}.wants/${mend.unit}`, `/usr/lib/systemd/system/${mend.unit}`)
      return
    case 'keep-off':
      keepOff(files, mend.unit)
      return
    case 'off-command-line': {
      const line = textAt(files, '/proc/cmdline')
      if (line.kind !== 'known') return
      putText(
        files,
        '/proc/cmdline',
        line.value.text
          .split(/(\s+)/)
          .filter(word => word !== mend.word)
          .join(''),
      )
      return
    }
    case 'by-hand':
      return
  }
}

/** What sed writes for a mark of its script. */
function unmarked(mark: string): string {
  return mark.replaceAll('\\', '')
}

function withLines(text: string, line: string, by: string): string {
  return text
    .split('\n')
    .map(each => (each === line ? by : each))
    .join('\n')
}

function editLines(files: ChangedFiles, file: string, line: string, by: string): void {
  const text = textAt(files, file)
  if (text.kind === 'known') putText(files, file, withLines(text.value.text, line, by))
}

function putText(files: ChangedFiles, path: string, text: string): void {
  const old = follow(files, path)
  const mode = old.kind === 'known' ? old.value.mode : undefined
  const entry: Entry = {
    kind: 'file',
    path,
    ...(mode === undefined ? {} : { mode }),
    content: () => ({ kind: 'text', file: { path, text } }),
  }
  files.put(path, { kind: 'known', value: entry })
}

function putLink(files: ChangedFiles, path: string, target: string): void {
  files.put(path, { kind: 'known', value: { kind: 'link', path, target } })
}

/** The paths that go when units are disabled: their links below /etc, and those of run levels. */
function linksOf(files: HostFiles, unit: string): readonly string[] {
  const script = unit.replace(/\.service$/, '')
  const levels = ['2', '3', '4', '5'].flatMap(level => {
    const listed = files.list(`/etc/rc${level}.d`)
    const names = listed.kind === 'known' ? listed.value : []
    return names
      .filter(name => /^S\d\d/.test(name) && name.slice(3) === script)
      .map(name => `/etc/rc${level}.d/${name}`)
  })
  return [...linksThatEnable(files, unit).map(({ path }) => path), ...levels]
}

/** A unit with what starts it at boot by itself. */
function withTriggers(files: HostFiles, unit: string): readonly string[] {
  const { started } = bootUnits(files)
  return [unit, ...triggersOf(files, unit, unit).filter(each => started.has(each))]
}

function disable(files: ChangedFiles, units: readonly string[]): void {
  for (const unit of units) for (const path of linksOf(files, unit)) files.remove(path)
}

function keepOff(files: ChangedFiles, unit: string): void {
  disable(files, withTriggers(files, unit))
  if (bootUnits(files.copy()).started.has(unit)) putLink(files, `${PERSISTENT}/${unit}`, '/dev/null')
}

/**
 * The command that keeps a unit from being started at boot: `disable` takes the links of the unit and of its timers; where something
 * else starts it all the same it is masked, for which its own file in /etc has to go out of the way.
 */
function offCommand(files: HostFiles, unit: string): string {
  const units = withTriggers(files, unit)
  const changed = changedFiles(files)
  disable(changed, units)
  const words = units.map(unitWord).join(' ')
  if (!bootUnits(changed.copy()).started.has(unit)) return `systemctl disable --now ${words}`
  const own = `${PERSISTENT}/${unit}`
  const isInTheWay = files.entry(own).kind === 'known'
  const away = isInTheWay ? `mv ${quoted(own)} ${quoted(`${own}.off`)} && ` : ''
  const takes = units.some(each => linksOf(files, each).length > 0)
  const disables = takes ? `systemctl disable --now ${words} && ` : ''
  return `${disables}${away}systemctl mask --now ${unitWord(unit)}`
}
