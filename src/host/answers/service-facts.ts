import type { Task } from '../../ansible/statement.js'
import type { Evidence } from '../../evidence/evidence.js'
import { type Key, known, type Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import { LazyDict } from '../../variables/lazy-dict.js'
import type { Moment } from '../moment.js'
import { open } from './said.js'

/** How a collector may have asked for the units. */
const LISTED = [
  ['systemctl', 'list-units', '--all', '--plain', '--no-legend'],
  ['systemctl', 'list-units', '--all', '--plain', '--no-legend', '--no-pager'],
  ['systemctl', 'list-units', '--all', '--no-legend', '--plain'],
]

/** A service as it was when the evidence was taken. */
interface Listed {
  readonly load: string
  readonly active: string
  readonly sub: string
}

/**
 * `service_facts`: the services systemd knows. Of each what was captured counts only as far as it is so at this moment; one
 * that was not listed is not there where the moment says so.
 */
export function serviceFactsOf(task: Task, moment: Moment, evidence: Evidence): Answered | undefined {
  const listed = listedServices(evidence)
  if (listed === undefined) return undefined
  const services = new LazyDict(
    () => [...listed.keys()].filter(name => moment.unit(name).kind !== 'absent'),
    key => serviceOf(String(key), listed, moment, task),
  )
  const facts = known(new Map<Key, Value>([['services', known(services)]]))
  return { kind: 'fields', fields: new Map([['ansible_facts', facts]]) }
}

function listedServices(evidence: Evidence): ReadonlyMap<string, Listed> | undefined {
  const printed = LISTED.map(evidence.command).find(found => found.kind === 'known' && found.value.status === 0)
  if (printed?.kind !== 'known') return undefined
  const services = new Map<string, Listed>()
  for (const line of printed.value.stdout.split('\n')) {
    const [name = '', load, active, sub] = line.replace(/^[\s●*]+/, '').split(/\s+/)
    if (name.endsWith('.service') && load !== undefined && active !== undefined && sub !== undefined) {
      services.set(name, { load, active, sub })
    }
  }
  return services
}

function serviceOf(name: string, listed: ReadonlyMap<string, Listed>, moment: Moment, task: Task): Value | undefined {
  const says = (because: string): Value => open(because, task)
  // Names without a suffix are those of scripts of an old init, which nobody listed.
  if (!name.endsWith('.service')) return says('scripts of an old init were not captured')
  const unit = moment.unit(name)
  if (unit.kind === 'unknown') return says(unit.because)
  if (unit.kind === 'absent') return undefined
  const before = listed.get(name)
  const { active, enabled } = unit.value
  const members: [Key, Value][] = [
    ['name', known(name)],
    ['source', known('systemd')],
    ['state', stateOf(name, before, active.kind === 'known' ? active.value : undefined, says)],
    ['status', statusOf(name, before, enabled, says)],
  ]
  return known(new Map(members))
}

function stateOf(
  name: string,
  before: Listed | undefined,
  isActive: boolean | undefined,
  says: (because: string) => Value,
): Value {
  if (isActive === undefined || before === undefined) return says(`whether ${name} runs is not known`)
  const wasActive = before.active === 'active'
  if (isActive === wasActive) return known(before.sub === 'running' ? 'running' : 'stopped')
  return isActive ? says(`whether ${name} goes on running once it is started`) : known('stopped')
}

/** As the module has it: what is bad about a unit, else what `list-unit-files` says of it. */
function statusOf(
  name: string,
  before: Listed | undefined,
  enabled: string | undefined,
  says: (because: string) => Value,
): Value {
  if (before?.load === 'not-found') return known('not-found')
  if (before?.active === 'failed') return known('failed')
  if (enabled === undefined) return says(`whether ${name} is enabled was not captured`)
  return known(enabled)
}
