import type { Task } from '../../ansible/statement.js'
import type { CommandResult, Evidence } from '../../evidence/evidence.js'
import type { Found } from '../../evidence/host-files.js'
import { type Key, known, type Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import type { Moment } from '../moment.js'
import { givenIn } from './arguments.js'
import { open } from './said.js'

/** How the collector asks a package manager, and what its lines say. */
interface Manager {
  readonly source: 'apt' | 'rpm'
  readonly words: readonly string[]
  /** One line as a package; undefined for one that is not installed. */
  readonly parse: (line: string, task: Task) => Package | undefined
}

interface Package {
  readonly name: string
  readonly members: readonly (readonly [Key, Value])[]
}

const managers: readonly Manager[] = [
  {
    source: 'apt',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg
    words: ['dpkg-query', '-W', '-f', '${Package} ${Version} ${Architecture} ${db:Status-Abbrev}\\n'],
    parse: (line, task) => {
      const [name, version, arch, status] = line.trim().split(/\s+/)
      if (name === undefined || version === undefined || arch === undefined || status?.startsWith('ii') !== true)
        return undefined
      const unasked = open('the collector does not ask for it', task)
      const members: readonly (readonly [Key, Value])[] = [
        ['name', known(name)],
        ['version', known(version)],
        ['arch', known(arch)],
        ['category', unasked],
        ['origin', unasked],
      ]
      return { name, members }
    },
  },
  {
    source: 'rpm',
    words: ['rpm', '-qa', '--qf', '%{NAME} %{EPOCHNUM} %{VERSION} %{RELEASE} %{ARCH}\\n'],
    parse: line => {
      const [name, epoch, version, release, arch] = line.trim().split(/\s+/)
      if (name === undefined || version === undefined || release === undefined || arch === undefined) return undefined
      const members: readonly (readonly [Key, Value])[] = [
        ['name', known(name)],
        ['version', known(version)],
        ['release', known(release)],
        // A package without an epoch counts as one with 0 for rpm, and the module says null of it.
        ['epoch', known(epoch === '0' || epoch === undefined ? null : BigInt(epoch))],
        ['arch', known(arch === '(none)' ? null : arch)],
      ]
      return { name, members }
    },
  },
]

/**
 * `package_facts`: the packages as the package manager listed them when the evidence was taken, as long as no task may have
 * changed them since.
 */
export function packageFactsOf(
  task: Task,
  invocation: Invocation,
  moment: Moment,
  evidence: Evidence,
): Answered | undefined {
  const given = givenIn(invocation)
  if (!given.lacks('manager', 'strategy') || moment.packagesChanged !== undefined) return undefined
  for (const manager of managers) {
    const printed: Found<CommandResult> = evidence.command(manager.words)
    if (printed.kind !== 'known' || printed.value.status !== 0) continue
    const facts = known(new Map<Key, Value>([['packages', known(packagesIn(printed.value.stdout, manager, task))]]))
    return { kind: 'fields', fields: new Map([['ansible_facts', facts]]) }
  }
  return undefined
}

function packagesIn(stdout: string, { parse, source }: Manager, task: Task): ReadonlyMap<Key, Value> {
  const packages = new Map<Key, Value[]>()
  for (const line of stdout.split('\n')) {
    const found = parse(line, task)
    if (found === undefined) continue
    const one = known(new Map<Key, Value>([...found.members, ['source', known(source)]]))
    packages.set(found.name, [...(packages.get(found.name) ?? []), one])
  }
  return new Map([...packages].map(([name, all]) => [name, known(all)]))
}
