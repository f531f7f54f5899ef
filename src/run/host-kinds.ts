import { ANY_NAME, type Task } from '../ansible/statement.js'
import { type Inventory, shortName } from '../inventory/inventory.js'
import { observeOperations } from '../jinja/observed.js'
import type { Value } from '../jinja/value.js'
import { once } from '../source/once.js'
import type { Entry, Scope } from '../variables/scope.js'
import type { Frame } from './frame.js'
import type { OfOneHost } from './scopes.js'
import type { RunState } from './state.js'
import type { Walk } from './walk.js'

/** What was evaluated for several hosts. */
export interface ForHosts<T> {
  readonly results: ReadonlyMap<string, T>
  /** The names that were read for any of them. */
  readonly reads: ReadonlySet<string>
}

/**
 * Evaluates the same for several hosts of a play, once for all that have the same variables, as far as they are read: a play of a
 * thousand hosts has few kinds of them. A host's own name may be read where nothing is made of it; `keepsName`: whether a result
 * has the name in a way that another host's result does not have with its own.
 */
export function forHosts<T>(
  walk: Walk,
  frame: Frame,
  task: Task,
  hosts: readonly string[],
  items: ReadonlyMap<string, Value>,
  evaluate: (scope: Scope) => T,
  keepsName: (result: T, host: string) => boolean,
): ForHosts<T> {
  const differs = differingNames(walk, frame)
  const kinds: Kind<T>[] = []
  const results = new Map<string, T>()
  for (const host of hosts) {
    const own = once(() => walk.scopes.ofOneHost(host, frame))
    let kind = kinds.find(each => isOfKind(each, own, differs))
    if (kind === undefined) {
      kind = kindOf(walk.scopes.ofHost(host, frame, task, items), host, own(), evaluate, keepsName)
      kinds.push(kind)
    }
    results.set(host, kind.result)
  }
  return { results, reads: new Set(kinds.flatMap(({ reads }) => [...reads])) }
}

interface Kind<T> {
  readonly result: T
  readonly reads: ReadonlySet<string>
  readonly own: OfOneHost
  /** Whether every host with the same variables has the same result. */
  readonly isOfAll: boolean
}

function kindOf<T>(
  scope: Scope,
  host: string,
  own: OfOneHost,
  evaluate: (scope: Scope) => T,
  keepsName: (result: T, host: string) => boolean,
): Kind<T> {
  const short = shortName(host)
  let isMadeOfName = false
  const { result, reads } = observeOperations(
    ({ operands }) => {
      isMadeOfName ||= operands.some(operand => mentions(operand, short))
    },
    () => scope.withReads(() => evaluate(scope)),
  )
  const readsName = reads.has('inventory_hostname')
  const isOfOne =
    [...reads].some(name => ofOneHost.has(name)) || (readsName && (isMadeOfName || keepsName(result, host)))
  return { result, reads, own, isOfAll: !isOfOne }
}

/** Magic variables that are one host's, beside its whole name and its groups. */
const ofOneHost: ReadonlySet<string> = new Set([
  'vars',
  'hostvars',
  'inventory_hostname_short',
  'ansible_facts',
  'inventory_file',
  'inventory_dir',
])

function isOfKind<T>({ isOfAll, reads, own: first }: Kind<T>, own: () => OfOneHost, differs: Differs): boolean {
  if (!isOfAll) return false
  for (const name of reads) {
    if (name === 'group_names' && !sameGroups(first, own())) return false
    if (differs(name) && !sameEntries(first.entries(name), own().entries(name))) return false
  }
  return true
}

function sameGroups({ groups: left }: OfOneHost, { groups: right }: OfOneHost): boolean {
  return left !== undefined && right !== undefined && left.join('\n') === right.join('\n')
}

function sameEntries(left: readonly Entry[], right: readonly Entry[]): boolean {
  return left.length === right.length && left.every((entry, index) => sameEntry(entry, right[index]))
}

function sameEntry(left: Entry, right: Entry | undefined): boolean {
  if (left === right) return true
  if (right === undefined || left.at !== right.at || left.maybe?.length !== right.maybe?.length) return false
  const [a, b] = [left.content, right.content]
  return 'value' in a && 'value' in b ? sameValue(a.value, b.value) : false
}

/** Values of which nobody could tell them apart; of what is not known the words do not count. */
function sameValue(left: Value, right: Value): boolean {
  if (left === right) return true
  if (left.kind === 'known') return right.kind === 'known' && typeof left.data !== 'object' && left.data === right.data
  if (left.kind !== 'unknown' || right.kind !== 'unknown') return false
  const isPlain = [left, right].every(({ text, fields }) => text === undefined && fields === undefined)
  return isPlain && left.causes.length === right.causes.length
}

/** Whether hosts may differ in a name. */
type Differs = (name: string) => boolean

interface Known {
  readonly inventory: Inventory
  readonly perhaps: RunState['perhaps']
  readonly gathered: RunState['gathered']
  readonly directory: string
  readonly names: ReadonlySet<string>
  /** A file that cannot be read may define any name. */
  readonly isOpen: boolean
}

const knownOf = new WeakMap<Walk, Known>()

/** The names that any host of the play has for itself: given, or set during the run. Facts are asked of each. */
function differingNames(walk: Walk, frame: Frame): Differs {
  const { inventory, perhaps, gathered, setByTasks } = walk.state
  const before = knownOf.get(walk)
  const isCurrent =
    before?.inventory === inventory &&
    before.perhaps === perhaps &&
    before.gathered === gathered &&
    before.directory === frame.playbookDirectory
  const { isOpen, names } = isCurrent ? before : namesGiven(walk, frame)
  if (isOpen || setByTasks.has(ANY_NAME)) return () => true
  return name => name.startsWith('ansible_') || names.has(name) || setByTasks.has(name)
}

function namesGiven(walk: Walk, frame: Frame): Known {
  const { inventory, perhaps, gathered } = walk.state
  const layers = new Set(walk.hosts.flatMap(host => walk.scopes.ofOneHost(host, frame).layers))
  const names = new Set([...layers].flatMap(layer => [...layer.names()]))
  const isOpen = [...layers].some(layer => layer.entries(nobodys).length > 0)
  const known = { inventory, perhaps, gathered, directory: frame.playbookDirectory, names, isOpen }
  knownOf.set(walk, known)
  return known
}

/** A name that nobody defines. */
const nobodys = ' '

/** Whether a text stands anywhere in a value; what is computed when looked at may hold anything. */
export function mentions(value: Value, text: string): boolean {
  if (value.kind === 'one-of') return value.options.some(option => mentions(option.value, text))
  if (value.kind === 'unknown')
    return value.fields !== undefined || (value.text?.some(part => part?.includes(text)) ?? false)
  if (value.kind !== 'known') return false
  const { data } = value
  if (typeof data === 'string') return data.includes(text)
  if (Array.isArray(data)) return (data as readonly Value[]).some(item => mentions(item, text))
  return typeof data === 'object' && data !== null
}
