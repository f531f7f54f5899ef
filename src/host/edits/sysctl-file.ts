import { type Edited, pythonStrip, pythonWords, universalLines } from './lines.js'

/** What `ansible.posix.sysctl` is asked for; without a value the key leaves the file (`state: absent`). */
export interface SysctlSetting {
  readonly name: string
  readonly value: string | undefined
}

/**
 * The file `ansible.posix.sysctl` leaves: written anew as a whole where the last line of the key has another text than the value (or
 * there is none), else untouched. Of several lines with one key the first survives; spaces around `=` go; keys are compared
 * as texts. Source: ansible.posix plugins/modules/sysctl.py (1.5.4 to 2.2.0 are the same).
 */
export function sysctlFileWith(text: string | undefined, setting: SysctlSetting): Edited {
  const name = pythonStrip(setting.name)
  const value = setting.value === undefined ? undefined : writtenValue(setting.value)
  const lines = universalLines(text ?? '').map(pythonStrip)
  const last = lines.reduce<string | undefined>((found, line) => {
    const assignment = assignmentOf(line)
    return assignment?.key === name ? assignment.value : found
  }, undefined)
  // A stored empty value is falsy to the module: `absent` leaves it alone.
  const writes = value === undefined ? last !== undefined && last !== '' : last !== value
  if (!writes) return { text: text ?? '', changed: false }
  const seen = new Set<string>()
  const kept = lines.flatMap(line => {
    const assignment = assignmentOf(line)
    if (assignment === undefined) return [line]
    const { key } = assignment
    if (seen.has(key)) return []
    seen.add(key)
    if (key !== name) return [`${key}=${assignment.value}`]
    return value === undefined ? [] : [`${key}=${value}`]
  })
  if (value !== undefined && !seen.has(name)) kept.push(`${name}=${value}`)
  return { text: kept.map(line => `${pythonStrip(line)}\n`).join(''), changed: true }
}

function assignmentOf(line: string): { readonly key: string; readonly value: string } | undefined {
  if (line === '' || line.startsWith('#') || line.startsWith(';') || !line.includes('=')) return undefined
  const equals = line.indexOf('=')
  return { key: pythonStrip(line.slice(0, equals)), value: pythonStrip(line.slice(equals + 1)) }
}

const TRUE = new Set(['y', 'yes', 'on', '1', 'true', 't'])
const FALSE = new Set(['n', 'no', 'off', '0', 'false', 'f'])

/** The text the module writes for a value: Ansible's words for yes and no become 1 and 0. */
export function writtenValue(value: string): string {
  const lower = value.toLowerCase()
  if (TRUE.has(lower)) return '1'
  return FALSE.has(lower) ? '0' : pythonStrip(value)
}

/**
 * The command `reload` runs after a change, word by word. With `reload`, a running value that differs (word by word) counts as a
 * change too, although the file stays.
 */
export function reloadCommand(path: string, { ignoreErrors }: { readonly ignoreErrors: boolean }): readonly string[] {
  return ignoreErrors ? ['sysctl', '-e', '-p', path] : ['sysctl', '-p', path]
}

/** Whether the running value is what is wanted, as the module compares: the same words in the same order. */
export function isSameRunningValue(running: string, wanted: string): boolean {
  const [ours, theirs] = [pythonWords(running), pythonWords(writtenValue(wanted))]
  return ours.length === theirs.length && ours.every((word, index) => word === theirs[index])
}
