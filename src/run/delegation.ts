import type { Task } from '../ansible/statement.js'
import { groupNamesOf, shortName } from '../inventory/inventory.js'
import type { Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Node } from '../yaml/node.js'
import { chainOf, type Frame, inheritedKeyword, rolesOf } from './frame.js'
import { forHosts, mentions } from './host-kinds.js'
import type { Role } from './role.js'
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
  return delegating(walk, delegate, task, frame, isOnce)
}

/** Which hosts delegate to the run's own, and what that rests on. */
interface Delegating {
  readonly isOnce: boolean
  readonly senders: readonly string[]
  readonly roles: readonly Role[]
  readonly reads: ReadonlySet<string>
  readonly version: number
}

/** A file that is included once a download asks a thousand hosts the same at each. */
const delegatingOf = new WeakMap<Walk, Map<Node, readonly Delegating[]>>()

/** The hosts that delegate to the run's own, or may; taken from before where nothing it rests on has changed since. */
function delegating(walk: Walk, delegate: Node, task: Task, frame: Frame, isOnce: boolean): readonly string[] {
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
      each.isOnce === isOnce &&
      each.roles.length === roles.length &&
      each.roles.every((role, index) => role === roles[index]) &&
      [...each.reads].every(name => !local.has(name)),
  )
  if (before !== undefined) return before.senders
  const version = changes.version()
  const others = walk.hosts.slice(0, isOnce ? 1 : undefined).filter(host => host !== options.host)
  const { results, reads } = forHosts(
    walk,
    frame,
    task,
    others,
    new Map(),
    scope => evaluateNode(delegate, scope),
    (target, sender) => !passesOn(target, sender),
  )
  const mayBe = (sender: string): Value['kind'] | 'own' | undefined => {
    const target = results.get(sender)
    return target?.kind === 'known' && target.data === options.host ? 'own' : target?.kind
  }
  const delegated = others.filter(sender => mayBe(sender) !== 'known')
  const open = delegated.filter(sender => mayBe(sender) !== 'own')
  const left = new Set(open.length > mostOpen ? open.filter(sender => !isFirstAlike(walk, sender, frame)) : [])
  const senders = delegated.filter(sender => !left.has(sender))
  if ([...reads].every(name => !local.has(name) && !ofEachFrame.has(name)))
    known.set(delegate, [...all, { isOnce, senders, roles, reads, version }])
  return senders
}

/** Whether a target is another host, or the very one that names it: never the run's own by the name of the one that names it. */
function passesOn(target: Value, sender: string): boolean {
  const options = target.kind === 'one-of' ? target.options.map(option => option.value) : [target]
  const short = shortName(sender)
  return options.every(each => (each.kind === 'known' && each.data === sender) || !mentions(each, short))
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
