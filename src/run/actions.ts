import { ANY_NAME } from '../ansible/statement.js'
import { addHost, addToGroup, shortName } from '../inventory/inventory.js'
import { type Cause, known, type Truth, type Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Entry, Scope } from '../variables/scope.js'
import { storedValue } from '../variables/stored.js'
import { type Action, addGap, effective, itemsOf, textOf, textsOf } from './action.js'
import { assertCheck, failCheck } from './checks.js'
import { allOf, evaluateConditions } from './conditions.js'
import { forHosts } from './host-kinds.js'
import { includeRole, includeTasks } from './includes.js'
import { bindItem } from './loops.js'
import type { Walk } from './walk.js'

/** The modules that otherwise change or end the run, once the whole task is decided; all others only act on the host. */
export const actions: Readonly<Record<string, (action: Action) => void>> = {
  'ansible.builtin.assert': assertCheck,
  'ansible.builtin.fail': failCheck,
  'ansible.builtin.group_by': groupBy,
  'ansible.builtin.add_host': addHosts,
  'ansible.builtin.meta': meta,
  'ansible.builtin.include_tasks': includeTasks,
  'ansible.builtin.include': includeTasks,
  'ansible.builtin.include_role': includeRole,
}

/** Groups are made for every host of the play, each with its own variables and conditions. */
function groupBy(action: Action): void {
  const { walk, task, frame } = action
  const keyNode = task.arguments.named.get('key') ?? task.arguments.raw
  // Where only this host is not in the play, the others still make their groups.
  if (keyNode === undefined || (action.run.excluded !== undefined && walk.inPlay.kind !== 'false')) return
  const parentsNode = task.arguments.named.get('parents')
  const made = new Map<
    string,
    { readonly group: string; readonly parents: readonly string[]; readonly hosts: string[] }
  >()
  // What this host skips others may do: without a loop there is one key for each.
  const each = task.loop === undefined ? [{ item: undefined }] : action.invocations
  for (const [index, { item }] of each.entries()) {
    const items = item === undefined ? new Map<string, Value>() : bindItem(task, item, index, itemsOf(action))
    const membership = (scope: Scope): Membership => ({
      truth: evaluateConditions(frame, task, scope).truth,
      key: textOf(evaluateNode(keyNode, scope)),
      parents: parentsNode === undefined ? [] : textsOf(evaluateNode(parentsNode, scope)).map(groupName),
    })
    const { results } = forHosts(walk, frame, task, walk.hosts, items, membership, namesHost)
    for (const [host, { truth: own, key, parents }] of results) {
      const truth = host === walk.state.options.host ? allOf([own, action.runs]) : own
      if (truth.kind === 'false') continue
      if (key === undefined) {
        addGap(action, `group_by: the group of ${host} is not known`, truth)
        perhapsMember(walk, host, undefined, [
          { says: 'group_by makes a group of a name that is not known', at: task.at },
        ])
        continue
      }
      if (truth.kind === 'unknown') {
        perhapsMember(walk, host, groupName(key), truth.causes)
        continue
      }
      const id = JSON.stringify([key, parents])
      const members = made.get(id) ?? { group: groupName(key), parents, hosts: [] }
      made.set(id, members)
      members.hosts.push(host)
    }
  }
  // The groups are there once all hosts are through with the task.
  for (const { group, parents, hosts } of made.values()) {
    const inventory = addToGroup(walk.state.inventory, hosts, group, parents)
    if (inventory === walk.state.inventory) continue
    walk.state.inventory = inventory
    noteGroups(walk)
  }
}

/** Whether a host comes into a group, and into which. */
interface Membership {
  readonly truth: Truth
  readonly key: string | undefined
  readonly parents: readonly string[]
}

function namesHost({ key, parents }: Membership, host: string): boolean {
  return [key ?? '', ...parents].some(name => name.includes(shortName(host)))
}

/** group_by puts a dash for each blank in the names of groups. */
function groupName(key: string): string {
  return key.replaceAll(' ', '-')
}

/** Arguments of `add_host` that are no variables of the host. */
const hostArguments: ReadonlySet<string> = new Set(['name', 'hostname', 'host', 'groups', 'groupname', 'group'])

function addedBy(at: Entry['at'], value: Value, truth: Truth): Entry {
  const maybe = truth.kind === 'unknown' ? { maybe: truth.causes } : {}
  return { origin: 'inventory file host vars', at, content: { value: storedValue(value) }, ...maybe }
}

function addHosts(action: Action): void {
  const { walk, task } = action
  for (const invocation of action.invocations) {
    const truth = effective(action, invocation)
    if (truth.kind === 'false') continue
    const argument = (name: string): Value | undefined => invocation.arguments.get(name)
    const name = textOf(argument('name') ?? argument('hostname') ?? argument('host'))
    if (name === undefined) {
      addGap(action, 'add_host: the name of the host is not known', action.runs)
      continue
    }
    const given = argument('groups') ?? argument('groupname') ?? argument('group') ?? known([])
    const groups = textsOf(given)
    const open = openCauses(given)
    if (open.length > 0) perhapsMember(walk, name, undefined, open)
    if (truth.kind === 'true') walk.state.inventory = addHost(walk.state.inventory, name, groups)
    else for (const group of ['all', ...groups]) perhapsMember(walk, name, group, truth.causes)
    for (const [key, value] of invocation.arguments) {
      const at = task.arguments.named.get(key)?.span ?? task.at
      if (!hostArguments.has(key)) walk.state.storesOf(name).added.set(key, addedBy(at, value, truth))
    }
    noteGroups(walk)
  }
}

/** Why a list of names may hold others than are known. */
function openCauses(value: Value): readonly Cause[] {
  if (value.kind === 'unknown') return value.causes
  if (value.kind === 'one-of') return value.options.flatMap(({ because }) => because)
  return value.kind === 'known' && Array.isArray(value.data) ? value.data.flatMap(openCauses) : []
}

/** Keeps a membership that may have come about. */
function perhapsMember(walk: Walk, host: string, group: string | undefined, causes: readonly Cause[]): void {
  walk.state.perhaps = [...walk.state.perhaps, { host, group, causes }]
  noteGroups(walk)
  walk.state.changes.note(ANY_NAME)
}

function noteGroups(walk: Walk): void {
  for (const name of ['groups', 'group_names', 'hostvars']) walk.state.changes.note(name)
}

/** What each `meta` that ends something ends, and how what is left out says it. */
const endings: Readonly<Record<string, 'play' | 'role'>> = {
  end_play: 'play',
  end_host: 'play',
  end_batch: 'play',
  end_role: 'role',
}

function meta(action: Action): void {
  const { walk, task, frame, runs } = action
  const what = task.arguments.raw?.kind === 'scalar' ? String(task.arguments.raw.data) : ''
  if (what === 'flush_handlers' && runs.kind !== 'false') walk.flush()
  // What the host failed at is forgotten for the plays that follow.
  if (what === 'clear_host_errors') walk.state.stopped = undefined
  const ends = endings[what]
  if (ends === undefined || runs.kind === 'false' || (ends === 'role' && frame.role === undefined)) return
  if (runs.kind === 'true') {
    walk.ended ||= ends === 'play'
    walk.skipping ??= `the ${ends} ended before (meta: ${what})`
    return
  }
  // What follows runs only where this did not.
  const text = `the ${ends} does not end before: meta at ${placeOf(task.at)}`
  const condition = { text, at: task.at, from: ends, truth: runs, remains: text, names: [] }
  walk.open = [...walk.open, { ends, condition }]
}
