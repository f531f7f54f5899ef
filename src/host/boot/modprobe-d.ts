import type { HostFiles } from '../../evidence/host-files.js'
import type { HostPlace } from '../moment.js'
import { confFiles, linesOf } from './conf-files.js'

/** A line of modprobe.d about one module (or pattern of names). */
export interface ModprobeLine {
  readonly command: 'alias' | 'blacklist' | 'install' | 'softdep' | 'options' | 'remove'
  /** With `_` for `-`. */
  readonly name: string
  /** What stands behind the name. */
  readonly rest: string
  readonly place: HostPlace
}

/** What modprobe.d says. */
export interface ModprobeConf {
  readonly lines: readonly ModprobeLine[]
  readonly unknown: readonly string[]
}

const COMMANDS = new Set(['alias', 'blacklist', 'install', 'softdep', 'options', 'remove'])

/**
 * The lines of modprobe.d in the order in which kmod reads them: a backslash at the end goes on in the next line, `#` begins
 * a comment only at the start. Source: kmod libkmod/libkmod-config.c; man modprobe.d(5).
 */
export function modprobeConf(files: HostFiles): ModprobeConf {
  const { read, unknown } = confFiles(files, 'modprobe.d', { dotFiles: false, directoriesMask: false })
  const lines: ModprobeLine[] = []
  const open: string[] = [...unknown]
  for (const { path, text } of read) {
    if (text.kind === 'unknown') open.push(text.because)
    if (text.kind === 'known') lines.push(...modprobeLines(text.value.text, path))
  }
  return { lines, unknown: open }
}

function modprobeLines(text: string, file: string): readonly ModprobeLine[] {
  const lines: ModprobeLine[] = []
  let whole = ''
  let start = 0
  for (const { text: raw, line } of linesOf(text)) {
    if (whole === '') start = line
    if (raw.endsWith('\\')) {
      whole += raw.slice(0, -1)
      continue
    }
    const said = `${whole}${raw}`
    whole = ''
    const [command = '', name = '', ...rest] = said.split(/[\t ]+/).filter(word => word !== '')
    if (!isCommand(command) || name === '') continue
    const place = { file, line: start, says: said.trim() }
    lines.push({ command, name: moduleName(name), rest: rest.join(' ').trim(), place })
  }
  return lines
}

function isCommand(word: string): word is ModprobeLine['command'] {
  return COMMANDS.has(word)
}

/** The one spelling of a module's name: `_` for `-`, but not within brackets of a pattern. */
export function moduleName(name: string): string {
  if (!name.includes('[')) return name.replaceAll('-', '_')
  let inside = false
  return [...name]
    .map(char => {
      if (char === '[') inside = true
      if (char === ']') inside = false
      return char === '-' && !inside ? '_' : char
    })
    .join('')
}
