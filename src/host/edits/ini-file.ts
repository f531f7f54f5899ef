import { type Edited, universalLines } from './lines.js'

/** The options of `ini_file` with `state: present` that decide about the text. */
export interface IniOptions {
  readonly section: string
  readonly option: string
  readonly value: string
  /** `option=value` instead of `option = value`. */
  readonly noExtraSpaces?: boolean
}

/**
 * `ini_file` with one value: the first line of the option in its section, also one that is a comment, takes the value and the others
 * go; without one it comes behind the last line of the section that says something, or with the section to the end of the file.
 * Source: community.general plugins/modules/ini_file.py do_ini.
 */
export function iniFileWith(text: string | undefined, { section, option, value, noExtraSpaces }: IniOptions): Edited {
  const lines = universalLines((text ?? '').replace(/^\ufeff/, ''))
  if (lines.length === 0) lines.push('\n')
  const last = lines.at(-1) ?? ''
  if (!last.endsWith('\n')) lines[lines.length - 1] = `${last}\n`
  const line = noExtraSpaces === true ? `${option}=${value}\n` : `${option} = ${value}\n`
  const start = sectionStart(lines, section)
  const whole = (all: readonly string[]): Edited => ({ text: all.join(''), changed: all.join('') !== text })
  if (start === undefined) return whole([...lines, `[${section}]\n`, line])
  const next = lines.findIndex((each, index) => index > start && each.startsWith('[') && !isHead(each, section))
  const end = next === -1 ? lines.length : next
  let isThere = false
  const own = lines.slice(start, end).flatMap((each, index) => {
    if (index === 0 || !isOption(each, option)) return [each]
    if (isThere) return []
    isThere = true
    return [line]
  })
  if (!isThere) own.splice(own.findLastIndex(each => !/^[ \t]*([#;].*)?$/.test(each.replace(/\n$/, ''))) + 1, 0, line)
  return whole([...lines.slice(0, start), ...own, ...lines.slice(end)])
}

function isHead(line: string, section: string): boolean {
  return line.startsWith(`[${section}]`)
}

/** Of several sections of that name that follow each other the last counts, as the module has it. */
function sectionStart(lines: readonly string[], section: string): number | undefined {
  let start: number | undefined
  for (const [index, line] of lines.entries()) {
    if (isHead(line, section)) start = index
    else if (line.startsWith('[') && start !== undefined) break
  }
  return start
}

function isOption(line: string, option: string): boolean {
  const rest = line.replace(/\n$/, '').replace(/^[#;]?[ \t]*/, '')
  return rest.startsWith(option) && /^[ \t]*(=|$)/.test(rest.slice(option.length))
}
