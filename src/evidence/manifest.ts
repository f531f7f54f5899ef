import { UsageError } from '../source/diagnostic.js'
import { resolveParts, type Scope } from './scope.js'

/** The name of the file that says what was captured. */
export const manifestName = 'evidence.json'

/** A command that was run when the evidence was taken; `stdout` is the name of the file beside evidence.json that holds what it printed. */
export interface CommandRun {
  readonly words: readonly string[]
  readonly status: number
  readonly stdout: string
}

/** What evidence.json says. */
export interface Manifest extends Scope {
  readonly host?: string
  readonly commands: readonly CommandRun[]
}

/** Reads evidence.json; `name` is how messages call it. Throws UsageError, with the line, where it does not say what it should. */
export function readManifest(name: string, text: string): Manifest {
  const said = parseJson(name, text)
  const wrong = (key: string, expected: string): UsageError =>
    new UsageError(
      `${name}:${lineOfKey(text, key)}: expected ${expected}; collect the evidence again, or correct the file`,
    )
  if (!isObject(said)) throw wrong('', 'an object, as in {"captured": ["/etc/fstab", "/etc/sysctl.d"]}')
  const paths = (key: keyof Scope): readonly string[] => {
    const given = said[key] ?? []
    if (!Array.isArray(given)) throw wrong(key, `"${key}" to be a list of absolute paths`)
    return given.map(path => {
      const resolved = typeof path === 'string' && path.startsWith('/') ? resolveParts(path) : undefined
      if (resolved === undefined)
        throw wrong(key, `"${key}" to list absolute paths, and ${JSON.stringify(path)} is none`)
      return key === 'withheld' && path.endsWith('/') ? `${resolved}/` : resolved
    })
  }
  if (said.captured === undefined)
    throw wrong('', '"captured", the list of the paths that were read, as in ["/etc/fstab"]')
  const { host } = said
  if (host !== undefined && (typeof host !== 'string' || host === ''))
    throw wrong('host', '"host" to be the name of the host')
  return {
    captured: paths('captured'),
    listed: paths('listed'),
    asked: paths('asked'),
    withheld: paths('withheld'),
    unreadable: paths('unreadable'),
    commands: commandsOf(said.commands, wrong),
    ...(host === undefined ? {} : { host }),
  }
}

function commandsOf(given: unknown, wrong: (key: string, expected: string) => UsageError): readonly CommandRun[] {
  const expected = '"commands" to be a list as [{"words": ["uname", "-r"], "status": 0, "stdout": "commands/1"}]'
  if (given === undefined) return []
  if (!Array.isArray(given)) throw wrong('commands', expected)
  return given.map(each => {
    const { words, status, stdout } = isObject(each) ? each : {}
    const areWords = Array.isArray(words) && words.every(word => typeof word === 'string')
    const inside = typeof stdout === 'string' ? resolveParts(stdout) : undefined
    if (!areWords || !Number.isInteger(status) || inside === undefined) throw wrong('commands', expected)
    return { words, status: Number(status), stdout: inside }
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? []
    const line = text.slice(0, position === undefined ? text.length : Number(position)).split('\n').length
    throw new UsageError(`${name}:${line}: it is no JSON; collect the evidence again, or correct the file`)
  }
}

/** The line a key first stands in. */
function lineOfKey(text: string, key: string): number {
  const at = key === '' ? -1 : text.indexOf(`"${key}"`)
  return at < 0 ? 1 : text.slice(0, at).split('\n').length
}
