import { splitArguments } from '../ansible/arguments.js'
import type { Task } from '../ansible/statement.js'
import { type Dict, type Key, known, type Value } from '../jinja/value.js'
import { storedValue } from '../variables/stored.js'
import type { Invocation } from './task-run.js'

/**
 * Parts of a read-only task's result that the host's facts decide, by the name they have in the result. A table of small
 * functions: each looks at what the task runs, never at its name. Undefined: the facts say nothing about it.
 */
const readers: readonly ((words: readonly string[], facts: Dict) => ReadonlyMap<string, Value> | undefined)[] = [
  osRelease,
]

const commands = new Set(['raw', 'command', 'shell'].map(name => `ansible.builtin.${name}`))

/** What is known of a task's result before it ran. */
export function knownResult(
  task: Task,
  invocation: Invocation,
  facts: Dict | undefined,
): ReadonlyMap<string, Value> | undefined {
  const { raw } = invocation
  if (facts === undefined || !commands.has(task.module) || raw?.kind !== 'known' || typeof raw.data !== 'string')
    return undefined
  const words = splitArguments(raw.data) ?? []
  for (const read of readers) {
    const fields = read(words, facts)
    if (fields !== undefined) return fields
  }
  return undefined
}

/** Keywords that give a result other values, or more of them. */
const judging = ['changed_when', 'failed_when', 'until', 'async', 'delegate_to']

/** The whole result of a `debug` with a message: it says what it was given. Undefined where more than that decides. */
export function debugResult(task: Task, { arguments: given }: Invocation): Value | undefined {
  if (task.module !== 'ansible.builtin.debug' || judging.some(name => task.keywords.has(name))) return undefined
  const msg = given.get('msg')
  if (given.size !== 1 || msg === undefined || msg.kind === 'failure' || msg.kind === 'undefined') return undefined
  return known(
    new Map<Key, Value>([
      ['msg', storedValue(msg)],
      ['failed', known(false)],
      ['changed', known(false)],
    ]),
  )
}

/**
 * `ID` of os-release by the distribution fact that Ansible's setup module makes of it. Fedora is not here: whether it is
 * CoreOS stands in VARIANT_ID, which no fact repeats.
 */
const osReleaseIds: Readonly<Record<string, string>> = {
  AlmaLinux: 'almalinux',
  Amazon: 'amzn',
  CentOS: 'centos',
  Debian: 'debian',
  Flatcar: 'flatcar',
  'Flatcar Container Linux by Kinvolk': 'flatcar',
  'Kylin Linux Advanced Server': 'kylin',
  OracleLinux: 'ol',
  RedHat: 'rhel',
  Rocky: 'rocky',
  SLES: 'sles',
  Ubuntu: 'ubuntu',
  openEuler: 'openEuler',
  'openSUSE Leap': 'opensuse-leap',
  'openSUSE Tumbleweed': 'opensuse-tumbleweed',
}

/** `cat /etc/os-release`: the lines whose content the facts repeat. */
function osRelease(words: readonly string[], facts: Dict): ReadonlyMap<string, Value> | undefined {
  if (words.length !== 2 || words[0] !== 'cat' || words[1] !== '/etc/os-release') return undefined
  const distribution = textOf(facts.get('distribution'))
  const id = distribution === undefined ? undefined : osReleaseIds[distribution]
  if (id === undefined) return undefined
  const version = textOf(facts.get('distribution_version'))
  const lines = [`ID=${id}`, ...(version === undefined ? [] : [`VERSION_ID="${version}"`])]
  return new Map<string, Value>([
    ['rc', known(0n)],
    ['stdout_lines', known(lines.map(line => known(line)))],
  ])
}

function textOf(value: Value | undefined): string | undefined {
  return value?.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}
