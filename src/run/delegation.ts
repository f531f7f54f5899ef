import type { Task } from '../ansible/statement.js'
import { groupNamesOf } from '../inventory/inventory.js'
import { observeOperations } from '../jinja/observed.js'
import type { Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Entry } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import { chainOf, type Frame, inheritedKeyword, rolesOf } from './frame.js'
import type { Role } from './role.js'
import type { OfOneHost } from './scopes.js'
import type { Walk } from './walk.js'

/** Names whose value is the same for every host of a play. */
const sameForAll: ReadonlySet<string> = new Set([
  ...['groups', 'play_hosts', 'ansible_play_hosts', 'ansible_play_hosts_all', 'ansible_play_batch'],
])

/** The other hosts of a play that delegate a task to this one, or may; of a task with `run_once` only the first is asked. */
export function sendersOf(walk: Walk, task: Task, frame: Frame, isOnce: boolean): readonly string[] {
  const delegate = inheritedKeyword(frame, task, 'delegate_to')
  if (delegate === undefined) return []
  const { host } = walk.state.options
  const scope = walk.scopes.ofTask(frame, task, new Map())
  const { result, reads } = scope.withReads(() => evaluateNode(delegate, scope))
  const isSame = [...reads].every(name => sameForAll.has(name))
  if (isSame && result.kind === 'known' && result.data !== host) return []
  const [first] = walk.hosts
  const hosts = isOnce && first !== undefined ? [first] : walk.hosts
  return delegating(walk, delegate, task, frame, hosts)
}

/** Which hosts delegate to the run's own, and what that rests on. */
interface Delegating {
  readonly hosts: readonly string[]
  readonly senders: readonly string[]
  readonly roles: readonly Role[]
  readonly reads: ReadonlySet<string>
  readonly version: number
}

/** A file that is included once a download asks a thousand hosts the same at each. */
const delegatingOf = new WeakMap<Walk, Map<Node, readonly Delegating[]>>()

/** The hosts of these that delegate to the run's own, or may; taken from before where nothing it rests on has changed since. */
function delegating(walk: Walk, delegate: Node, task: Task, frame: Frame, hosts: readonly string[]): readonly string[] {
  const { changes, options } = walk.state
  const roles = rolesOf(frame)
  const known = delegatingOf.get(walk) ?? new Map<Node, readonly Delegating[]>()
  delegatingOf.set(walk, known)
  const local = namesOfFrames(frame, task)
  const isCurrent = ({ reads, version }: Delegating): boolean =>
    [...reads].every(name => changes.changedAt(name) <= version)
  const all = known.get(delegate)?.filter(isCurrent) ?? []
  const before = all.find(
    each =>
      each.hosts === hosts &&
      each.roles.length === roles.length &&
      each.roles.every((role, index) => role === roles[index]) &&
      [...each.reads].every(name => !local.has(name)),
  )
  if (before !== undefined) return before.senders
  const reads = new Set<string>()
  const version = changes.version()
  const open: string[] = []
  const kinds: Kind[] = []
  const delegated = hosts.filter(sender => {
    if (sender === options.host) return false
    const own = walk.scopes.ofOneHost(sender, frame)
    const alike = kinds.find(kind => isOfKind(kind, own))
    const kind = alike ?? evaluated(walk, delegate, task, frame, sender, own)
    if (alike === undefined) {
      kinds.push(kind)
      for (const name of kind.reads) reads.add(name)
    }
    if (kind.delegates === 'perhaps') open.push(sender)
    return kind.delegates !== 'no'
  })
  const left = new Set(open.length > mostOpen ? open.filter(sender => !isFirstAlike(walk, sender, frame)) : [])
  const senders = delegated.filter(sender => !left.has(sender))
  if ([...reads].every(name => !local.has(name) && !ofEachFrame.has(name)))
    known.set(delegate, [...all, { hosts, senders, roles, reads, version }])
  return senders
}

/** Whether a host delegates to the run's own, and what of the host that rests on. */
interface Kind {
  readonly delegates: 'yes' | 'no' | 'perhaps'
  readonly reads: ReadonlySet<string>
  readonly own: OfOneHost
  /** Whether the same holds of every host that has the same variables. */
  readonly isOfAll: boolean
}

function evaluated(walk: Walk, delegate: Node, task: Task, frame: Frame, sender: string, own: OfOneHost): Kind {
  const scope = walk.scopes.ofHost(sender, frame, task, new Map())
  let decidesByName = false
  const short = shortName(sender)
  const { result, reads } = observeOperations(
    ({ operands }) => {
      decidesByName ||= operands.some(operand => mentions(operand, short))
    },
    () => scope.withReads(() => evaluateNode(delegate, scope)),
  )
  const target = result.kind === 'known' ? result.data : undefined
  const delegates = result.kind !== 'known' ? 'perhaps' : target === walk.state.options.host ? 'yes' : 'no'
  // A name that is only passed on makes the host the target itself: never the run's own.
  const isOnlyPassedOn =
    !decidesByName && optionsOf(result).every(each => isText(each, sender) || !mentions(each, short))
  const readsName = reads.has('inventory_hostname') || reads.has('inventory_hostname_short')
  const readsOther = [...reads].some(name => ofOneHost.has(name))
  return { delegates, reads, own, isOfAll: !readsOther && (!readsName || isOnlyPassedOn) }
}

/** Whether a host has the same variables, as far as they were read. */
function isOfKind({ isOfAll, reads, own: first }: Kind, own: OfOneHost): boolean {
  return isOfAll && [...reads].every(name => sameEntries(first.entries(name), own.entries(name)))
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

function optionsOf(value: Value): readonly Value[] {
  return value.kind === 'one-of' ? value.options.map(option => option.value) : [value]
}

function isText(value: Value, text: string): boolean {
  return value.kind === 'known' && value.data === text
}

function shortName(host: string): string {
  return host.split('.')[0] ?? host
}

/** Whether a text stands anywhere in a value; what is computed when looked at may hold anything. */
function mentions(value: Value, text: string): boolean {
  if (value.kind === 'one-of') return optionsOf(value).some(option => mentions(option, text))
  if (value.kind === 'unknown')
    return value.fields !== undefined || (value.text?.some(part => part?.includes(text)) ?? false)
  if (value.kind !== 'known') return false
  const { data } = value
  if (typeof data === 'string') return data.includes(text)
  if (Array.isArray(data)) return (data as readonly Value[]).some(item => mentions(item, text))
  return typeof data === 'object' && data !== null
}

/** Of more hosts than this that only may delegate here, one of each kind stands for the others. */
const mostOpen = 16

const alikeOf = new WeakMap<Walk, Map<string, string>>()

/** Whether a host is the first of those in the same groups with the same variables of their own, but for names and addresses. */
function isFirstAlike(walk: Walk, host: string, frame: Frame): boolean {
  const { inventory, options, storesOf } = walk.state
  const own = options
    .hostLayers(inventory, host, frame.playbookDirectory, storesOf(host).added)
    .flatMap(layer => [...layer.names()].flatMap(name => layer.entries(name).slice(0, 1)))
    .filter(({ origin }) => /host.vars/.test(origin))
    .map(({ at }) =>
      at.file.text
        .slice(at.start, at.end)
        .replaceAll(host, '#')
        .replaceAll(/[0-9a-f.:]{7,}/g, '#'),
    )
  const key = JSON.stringify([groupNamesOf(inventory, host), own])
  const firsts = alikeOf.get(walk) ?? new Map<string, string>()
  alikeOf.set(walk, firsts)
  const first = firsts.get(key) ?? host
  firsts.set(key, first)
  return first === host
}

/** Magic variables that may differ between two frames of the same role, or read all there is. */
const ofEachFrame: ReadonlySet<string> = new Set([
  ...['vars', 'hostvars', 'role_name', 'role_path', 'ansible_role_name', 'ansible_parent_role_names'],
  ...['ansible_collection_name', 'playbook_dir'],
])

/** Magic variables that are one host's, beside its name. */
const ofOneHost: ReadonlySet<string> = new Set([
  ...['vars', 'hostvars', 'ansible_facts', 'group_names', 'inventory_file', 'inventory_dir'],
])

/** The names that the frames of a task and the task itself define for it. */
function namesOfFrames(frame: Frame, task: Task): ReadonlySet<string> {
  const names = new Set(task.vars.map(({ name }) => name))
  for (const { directives, include } of chainOf(frame)) {
    for (const { name } of directives.vars) names.add(name)
    for (const { name } of include?.parameters ?? []) names.add(name)
    for (const { name } of include?.apply?.vars ?? []) names.add(name)
    for (const name of include?.items.keys() ?? []) names.add(name)
  }
  return names
}
