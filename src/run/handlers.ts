import type { Task } from '../ansible/statement.js'
import type { Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import type { Compiled } from './compile.js'
import type { Frame } from './frame.js'
import type { TaskRun } from './task-run.js'

/** A handler at its place in the play, with the tasks that notified it since it last ran. */
export interface Handler {
  readonly task: Task
  readonly frame: Frame
  /** Its name, alone and behind its role's. */
  readonly names: readonly string[]
  readonly topics: readonly string[]
  notifiedBy: TaskRun[]
  ran: boolean
}

/** The handlers among compiled statements, in order; those of a block are notified one by one (rule 100). */
export function handlersIn(compiled: readonly Compiled[], scopeOf: (frame: Frame) => Scope): readonly Handler[] {
  return compiled.flatMap(item => {
    if (item.kind === 'block') return handlersIn(item.block, scopeOf)
    if (item.kind === 'role') return handlersIn(item.body, scopeOf)
    if (item.kind === 'gap') return []
    const { task, frame } = item
    const scope = scopeOf(frame)
    const name = task.name ?? task.action
    const plain = [textOf(scope.template(name, task.at)) ?? name]
    const roleName = frame.role?.name
    const listen = task.keywords.get('listen')?.value
    const topics = listen === undefined ? [] : textsOf(listen, scope)
    const names = [...plain, ...(roleName === undefined ? [] : [`${roleName} : ${plain[0]}`])]
    return [{ task, frame, names, topics, notifiedBy: [], ran: false }]
  })
}

/** Of handlers, what could not be read; the others wait until they are notified. */
export function gapsIn(compiled: readonly Compiled[]): readonly Compiled[] {
  return compiled.flatMap(item => {
    if (item.kind === 'gap') return [item]
    return item.kind === 'block' ? gapsIn(item.block) : []
  })
}

/** The names a task notifies, templated; undefined where they cannot be told. */
export function notifiedNames(task: Task, frame: Frame, scope: Scope): readonly string[] {
  const nodes: Node[] = []
  const own = task.keywords.get('notify')?.value
  if (own) nodes.push(own)
  for (let at: Frame | undefined = frame; at; at = at.parent) {
    const inherited =
      at.kind === 'block' || at.kind === 'import' ? at.directives.keywords.get('notify')?.value : undefined
    if (inherited) nodes.push(inherited)
  }
  return nodes.flatMap(node => textsOf(node, scope))
}

/**
 * Marks what a task notifies. Of handlers with one name only one runs: the first of the list that was loaded last, be it a
 * role's or the play's. A topic reaches every handler that listens.
 */
export function notify(handlers: readonly Handler[], names: readonly string[], by: TaskRun): void {
  for (const name of names) {
    const byName = handlers.filter(handler => handler.names.includes(name))
    const lastList = byName.at(-1)?.frame.role
    const named = byName.find(({ frame }) => frame.role === lastList)
    for (const handler of handlers) {
      if (handler === named || handler.topics.includes(name)) handler.notifiedBy.push(by)
    }
  }
}

function textsOf(node: Node, scope: Scope): readonly string[] {
  const value = evaluateNode(node, scope)
  const items = value.kind === 'known' && Array.isArray(value.data) ? (value.data as readonly Value[]) : [value]
  return items.flatMap(item => textOf(item) ?? [])
}

function textOf(value: Value): string | undefined {
  return value.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}
