import { readDefinitions } from '../ansible/read-tasks.js'
import { ANY_NAME, type Definition, type Task } from '../ansible/statement.js'
import { addHost, addToGroup } from '../inventory/inventory.js'
import { hasTemplate } from '../jinja/parser.js'
import { evaluateTemplate } from '../jinja/template.js'
import { known, type Truth, unknown, type Value } from '../jinja/value.js'
import { entryOfAny } from '../variables/layers.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Entry, Scope } from '../variables/scope.js'
import { storedValue } from '../variables/stored.js'
import type { Node } from '../yaml/node.js'
import { allOf, evaluateConditions } from './conditions.js'
import { type Frame, inheritedKeyword, stepsOf } from './frame.js'
import { includeRole, includeTasks } from './includes.js'
import { bindItem } from './loops.js'
import { filesBelow } from './role.js'
import { type Candidate, findFiles, pathInCheckout, searchDirectories } from './search.js'
import type { AppliedCondition, Invocation, TaskRun } from './task-run.js'
import type { Walk } from './walk.js'

/** A task whose module changes the run itself: variables, groups, handlers, or the tasks that follow. */
export interface Action {
  readonly walk: Walk
  readonly task: Task
  readonly frame: Frame
  readonly part: TaskRun['part']
  readonly run: TaskRun
  readonly scope: Scope
  /** Whether it has its effect: the task's conditions, and in a rescue section that it is reached. */
  readonly runs: Truth
  readonly invocations: readonly Invocation[]
  /** The conditions of each invocation as they came out. */
  readonly applied: readonly (readonly AppliedCondition[])[]
  readonly itemsKnown: boolean
}

/** One invocation of a module that sets variables. */
export interface Setting {
  readonly walk: Walk
  readonly task: Task
  readonly frame: Frame
  /** What the invocation sees, the item of its loop included. */
  readonly scope: Scope
  readonly invocation: Invocation
  /** Whether it has its effect. */
  readonly truth: Truth
  /** False where the invocation stands for any number of items. */
  readonly itemsKnown: boolean
}

/** The modules that set variables, by full name: the next item of their loop already sees what one item has set. */
export const settings: Readonly<Record<string, (setting: Setting) => void>> = {
  'ansible.builtin.set_fact': setFact,
  'ansible.builtin.include_vars': includeVars,
}

/** The modules that otherwise change the run, once the whole task is decided; all others only act on the host. */
export const actions: Readonly<Record<string, (action: Action) => void>> = {
  'ansible.builtin.group_by': groupBy,
  'ansible.builtin.add_host': addHosts,
  'ansible.builtin.meta': meta,
  'ansible.builtin.include_tasks': includeTasks,
  'ansible.builtin.include': includeTasks,
  'ansible.builtin.include_role': includeRole,
}

/** Whether an invocation takes effect, with what else must hold. */
export function effective(action: Action, invocation: Invocation): Truth {
  return action.runs.kind === 'true' ? invocation.runs : allOf([action.runs, invocation.runs])
}

function entry(origin: Entry['origin'], at: Entry['at'], content: Entry['content'], truth: Truth): Entry {
  if (truth.kind !== 'unknown') return { origin, at, content }
  const names = [...new Set(truth.causes.flatMap(({ name }) => name ?? []))]
  const says = names.length === 0 ? 'set here under a condition' : `set here depending on ${names.join(', ')}`
  return { origin, at, content, maybe: [{ says, at }, ...truth.causes] }
}

function setFact(setting: Setting): void {
  const { walk, task, scope, invocation, itemsKnown } = setting
  const { host, truth } = ownerOf(setting)
  const set: [string, Entry][] = []
  for (const [key, value] of invocation.arguments) {
    if (key === 'cacheable') continue
    const name = textOf(evaluateTemplate(key, task.at, scope)) ?? key
    const node = task.arguments.named.get(key)
    const stored = itemsKnown || node === undefined ? value : afterAnyItems(name, node, value, scope)
    const at = node?.span ?? task.at
    set.push([name, entry('set_fact', at, contentOf(asFact(storedValue(stored)), at), truth)])
  }
  for (const [name, made] of set) walk.state.storesOf(host).facts.set(name, made)
  walk.state.changes.note('hostvars')
}

/** The host that what a module sets belongs to: with `delegate_facts` the one the task is delegated to. */
function ownerOf({ walk, task, frame, scope, truth }: Setting): { readonly host: string; readonly truth: Truth } {
  const { host } = walk.state.options
  const to = inheritedKeyword(frame, task, 'delegate_to')
  const facts = inheritedKeyword(frame, task, 'delegate_facts')
  if (to === undefined || facts === undefined || !isTrue(evaluateNode(facts, scope))) return { host, truth }
  const name = evaluateNode(to, scope)
  if (name.kind === 'known') return { host: textOf(name) ?? host, truth }
  const says = 'which host the fact is set for is not known'
  return { host, truth: allOf([truth, unknown([{ says, at: to.span }])]) }
}

/** What builds on its own value (a list that grows) has, after nobody knows how many items, a value nobody knows. */
function afterAnyItems(name: string, node: Node, value: Value, scope: Scope): Value {
  if (!scope.withReads(() => evaluateNode(node, scope)).reads.has(name)) return value
  return unknown([{ says: `${name} is set for each item of a loop whose items are not known`, at: node.span, name }])
}

/** A text that still holds a template (`{{ '{{' }} x }}`) is templated again each time the fact is used. */
function contentOf(value: Value, at: Entry['at']): Entry['content'] {
  return value.kind === 'known' && typeof value.data === 'string' && hasTemplate(value.data)
    ? { node: { kind: 'scalar', data: value.data, span: at } }
    : { value }
}

/** `set_fact` turns the texts yes, no, true and false into booleans. */
function asFact(value: Value): Value {
  if (value.kind !== 'known' || typeof value.data !== 'string') return value
  const text = value.data.toLowerCase()
  if (text === 'yes' || text === 'true') return known(true)
  return text === 'no' || text === 'false' ? known(false) : value
}

function includeVars(setting: Setting): void {
  const { walk, frame, invocation } = setting
  const { host, truth } = ownerOf(setting)
  const under = textOf(invocation.arguments.get('name'))
  const directory = invocation.arguments.get('dir')
  const file = invocation.arguments.get('file') ?? invocation.raw
  const found =
    directory === undefined
      ? file && findFiles(walk.state.code, file, searchDirectories(frame, 'vars'))
      : directoryFiles(setting, directory)
  if (found === undefined) return
  if (found.absent || found.candidates.length === 0) {
    const says = found.absent
      ? 'include_vars: no such file in the checkout'
      : 'include_vars: which file it reads is not known'
    addGap(setting, says, truth)
    return
  }
  for (const { path, because } of found.candidates) {
    const node = walk.state.code.document(path)
    if (node === undefined) continue
    const reached = because.length === 0 ? truth : allOf([truth, { kind: 'unknown', causes: because }])
    const definitions: readonly Definition[] =
      under === undefined ? readDefinitions(node) : [{ name: under, node, at: node.span }]
    for (const found of definitions) {
      const { name, node: content, at } = found
      const set =
        name === ANY_NAME ? entryOfAny('include_vars', found) : entry('include_vars', at, { node: content }, reached)
      walk.state.storesOf(host).includedVars.set(name, set)
    }
  }
  walk.state.changes.note('hostvars')
}

function directoryFiles(
  { walk, frame }: Setting,
  directory: Value,
): { candidates: readonly Candidate[]; absent: boolean } {
  const name = textOf(directory) ?? pathInCheckout(directory)
  if (name === undefined) return { candidates: [], absent: false }
  const folders = [...searchDirectories(frame, 'vars').map(folder => `${folder}/${name}`), name]
  const folder = folders.find(path => walk.state.code.tree.entryKind(path) === 'directory')
  const files = folder === undefined ? [] : filesBelow(walk.state.code, folder)
  return { candidates: files.map(path => ({ path, because: [] })), absent: folder === undefined }
}

/** Groups are made for every host of the play, each with its own variables and conditions. */
function groupBy(action: Action): void {
  const { walk, task, frame } = action
  const keyNode = task.arguments.named.get('key') ?? task.arguments.raw
  // Where only this host is not in the play, the others still make their groups.
  if (keyNode === undefined || (action.run.excluded !== undefined && walk.inPlay.kind !== 'false')) return
  const parentsNode = task.arguments.named.get('parents')
  for (const host of walk.hosts) {
    for (const [index, { item }] of action.invocations.entries()) {
      const scope = walk.scopes.ofHost(host, frame, task, item === undefined ? new Map() : bindItem(task, item, index))
      const { truth } = evaluateConditions(frame, task, scope)
      if (truth.kind === 'false') continue
      const key = textOf(evaluateNode(keyNode, scope))
      if (key === undefined) {
        addGap(action, `group_by: the group of ${host} is not known`, truth)
        continue
      }
      const parents = parentsNode === undefined ? [] : textsOf(evaluateNode(parentsNode, scope))
      walk.state.inventory = addToGroup(walk.state.inventory, host, key.replaceAll(' ', '-'), parents)
      noteGroups(walk)
    }
  }
}

/** Arguments of `add_host` that are no variables of the host. */
const hostArguments: ReadonlySet<string> = new Set(['name', 'hostname', 'host', 'groups', 'groupname', 'group'])

function addedBy(at: Entry['at'], value: Value): Entry {
  return { origin: 'inventory file host vars', at, content: { value: storedValue(value) } }
}

function addHosts(action: Action): void {
  const { walk, task } = action
  for (const invocation of action.invocations) {
    if (effective(action, invocation).kind === 'false') continue
    const argument = (name: string): Value | undefined => invocation.arguments.get(name)
    const name = textOf(argument('name') ?? argument('hostname') ?? argument('host'))
    if (name === undefined) {
      addGap(action, 'add_host: the name of the host is not known', action.runs)
      continue
    }
    const groups = textsOf(argument('groups') ?? argument('groupname') ?? argument('group') ?? known([]))
    walk.state.inventory = addHost(walk.state.inventory, name, groups)
    for (const [key, value] of invocation.arguments) {
      const at = task.arguments.named.get(key)?.span ?? task.at
      if (!hostArguments.has(key)) walk.state.storesOf(name).added.set(key, addedBy(at, value))
    }
    noteGroups(walk)
  }
}

function noteGroups(walk: Walk): void {
  for (const name of ['groups', 'group_names', 'hostvars']) walk.state.changes.note(name)
}

function meta(action: Action): void {
  const { walk, task } = action
  const what = task.arguments.raw?.kind === 'scalar' ? task.arguments.raw.data : undefined
  if (what === 'flush_handlers' && action.runs.kind !== 'false') walk.flush()
  const ends = what === 'end_play' || what === 'end_host' || what === 'end_batch'
  if (ends && action.runs.kind === 'true') {
    walk.ended = true
    walk.skipping ??= `the play ended before (meta: ${what})`
  }
}

export function addGap(
  { walk, task, frame }: Pick<Action, 'walk' | 'task' | 'frame'>,
  says: string,
  runs: Truth,
): void {
  walk.gaps.push({ says, at: task.at, via: stepsOf(frame), runs })
}

/** Whether a value is one that Ansible takes for true where it wants a boolean. */
export function isTrue(value: Value | undefined): boolean {
  if (value?.kind !== 'known') return false
  const { data } = value
  return data === true || data === 1n || (typeof data === 'string' && /^(?:yes|true|on|1|y|t)$/i.test(data))
}

export function textOf(value: Value | undefined): string | undefined {
  return value?.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}

function textsOf(value: Value): readonly string[] {
  if (value.kind !== 'known') return []
  if (typeof value.data === 'string')
    return value.data
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== '')
  return Array.isArray(value.data) ? value.data.flatMap(item => textOf(item) ?? []) : []
}
