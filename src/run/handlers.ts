import type { Task } from '../ansible/statement.js'
import { type Cause, mergeCauses, type Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import type { Compiled } from './compile.js'
import { type Frame, inheritedFrom } from './frame.js'
import type { TaskRun } from './task-run.js'

/** A handler at its place in the play, with the tasks that notified it since it last ran. */
export interface Handler {
  readonly task: Task
  readonly frame: Frame
  /** Its name, alone and behind its role's. */
  readonly names: readonly string[]
  readonly topics: readonly string[]
  notifiedBy: TaskRun[]
  /** Why it may be another handler that is notified; empty where it is this one. */
  perhaps: readonly Cause[]
  ran: boolean
}

/**
 * The handlers among compiled statements, in order; those of a block are notified one by one (rule 100). In its `rescue` and
 * `always` Ansible finds none (seen with 2.14): they have no name to notify them by.
 */
export function handlersIn(compiled: readonly Compiled[], scopeOf: (frame: Frame) => Scope): readonly Handler[] {
  return compiled.flatMap(item => {
    if (item.kind === 'block') {
      const unheard = handlersIn([...item.rescue, ...item.always], scopeOf)
      return [...handlersIn(item.block, scopeOf), ...unheard.map(each => ({ ...each, names: [], topics: [] }))]
    }
    if (item.kind === 'role') return handlersIn(item.body, scopeOf)
    if (item.kind === 'gap') return []
    const { task, frame } = item
    const scope = scopeOf(frame)
    const name = task.name ?? task.action
    const plain = [textOf(scope.template(name, task.at)) ?? name]
    const roleName = frame.role?.name
    const listen = task.keywords.get('listen')?.value
    const topics = listen === undefined ? [] : namesOf(listen, scope).known
    const names = [...plain, ...(roleName === undefined ? [] : [`${roleName} : ${plain[0]}`])]
    return [{ task, frame, names, topics, notifiedBy: [], perhaps: [], ran: false }]
  })
}

/** Of handlers, what could not be read; the others wait until they are notified. */
export function gapsIn(compiled: readonly Compiled[]): readonly Compiled[] {
  return compiled.flatMap(item => {
    if (item.kind === 'gap') return [item]
    return item.kind === 'block' ? gapsIn([...item.block, ...item.rescue, ...item.always]) : []
  })
}

/** What a task notifies: names, and why there may be any other. */
export interface Notified {
  readonly known: readonly string[]
  readonly open: readonly Cause[]
}

/** The names a task notifies, its own and those it inherits, templated. */
export function notifiedNames(task: Task, frame: Frame, scope: Scope): Notified {
  const nodes: Node[] = []
  const own = task.keywords.get('notify')?.value
  if (own) nodes.push(own)
  for (let at: Frame | undefined = frame; at; at = at.parent) {
    const inherited =
      at.kind === 'block' || at.kind === 'import' || at.kind === 'include'
        ? inheritedFrom(at)?.keywords.get('notify')?.value
        : undefined
    if (inherited) nodes.push(inherited)
  }
  const all = nodes.map(node => namesOf(node, scope))
  return { known: all.flatMap(({ known }) => known), open: mergeCauses(all.flatMap(({ open }) => open)) }
}

/** Modules whose result never says `changed`, by name below `ansible.builtin`. */
const neverChanging: ReadonlySet<string> = new Set(
  'assert debug fail find getent include_vars package_facts ping service_facts set_fact setup slurp stat wait_for'
    .split(' ')
    .map(name => `ansible.builtin.${name}`),
)

/** Whether a task certainly changes nothing, so that its `notify` reaches nobody: by what it says of itself, or its module. */
export function neverChanges({ keywords, module }: Pick<Task, 'keywords' | 'module'>): boolean {
  const changed = keywords.get('changed_when')?.value
  if (changed === undefined) return neverChanging.has(module)
  return changed.kind === 'scalar' && (changed.data === false || changed.data === 'false')
}

/**
 * Marks what a task notifies. Of handlers with one name only one runs: the first of the list that was loaded last, be it a
 * role's or the play's. A topic reaches every handler that listens. A name that is not known may be that of any handler.
 */
export function notify(handlers: readonly Handler[], { known, open }: Notified, by: TaskRun): void {
  for (const name of known) {
    const byName = handlers.filter(handler => handler.names.includes(name))
    const lastList = byName.at(-1)?.frame.role
    const named = byName.find(({ frame }) => frame.role === lastList)
    for (const handler of handlers) {
      if (handler !== named && !handler.topics.includes(name)) continue
      handler.notifiedBy.push(by)
      handler.perhaps = []
    }
  }
  if (open.length === 0) return
  for (const handler of handlers) {
    if (handler.names.length + handler.topics.length === 0 || handler.notifiedBy.includes(by)) continue
    if (handler.notifiedBy.length === 0 || handler.perhaps.length > 0)
      handler.perhaps = mergeCauses([...handler.perhaps, ...open])
    handler.notifiedBy.push(by)
  }
}

/** The texts of one name or a list of names. */
function namesOf(node: Node, scope: Scope): Notified {
  const value = evaluateNode(node, scope)
  const items = value.kind === 'known' && Array.isArray(value.data) ? (value.data as readonly Value[]) : [value]
  const names: string[] = []
  const open: Cause[] = []
  for (const item of items.flatMap(each =>
    each.kind === 'one-of' ? each.options.map(({ value }) => value) : [each],
  )) {
    const name = textOf(item)
    if (name !== undefined) names.push(name)
    else if (item.kind === 'unknown') open.push(...item.causes)
    else if (item.kind === 'known' && Array.isArray(item.data))
      names.push(...item.data.flatMap(each => textOf(each) ?? []))
  }
  return { known: names, open }
}

function textOf(value: Value): string | undefined {
  return value.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}
