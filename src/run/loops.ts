import type { Task } from '../ansible/statement.js'
import { scopeOf } from '../jinja/evaluate.js'
import { runLookup } from '../jinja/lookups.js'
import { type Cause, type Key, known, unknown, type Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import { storedValue } from '../variables/stored.js'
import { entryOf, type Node } from '../yaml/node.js'
import type { Frame } from './frame.js'
import { searched } from './lookups.js'
import { firstFound, searchDirectories } from './search.js'
import type { RunState } from './state.js'

/** The items of a task's loop. */
export type Items =
  | { readonly kind: 'known'; readonly items: readonly Value[] }
  /** Which items there are is not known, or (`fails`) Ansible fails to tell; `item` stands for any of them. */
  | { readonly kind: 'unknown'; readonly item: Value; readonly causes: readonly Cause[]; readonly fails?: string }

/** More items than this are treated as one item that is not known. */
const mostItems = 2000

/** Evaluates the list a task loops over (rule 105); undefined when it has no loop. */
export function evaluateLoop(task: Task, frame: Frame, scope: Scope, state: RunState): Items | undefined {
  if (task.loop === undefined) return undefined
  const { plugin, terms } = task.loop
  if (plugin === 'first_found') return firstFoundItems(evaluateNames(terms, scope), task, frame, state)
  const value = evaluateNode(terms, scope)
  if (plugin === '') return itemsOf(value, task)
  const given = value.kind === 'known' && Array.isArray(value.data) ? value.data : [value]
  if (plugin === 'items') return itemsOf(known(given.flatMap(flattenedOnce)), task)
  const result = runLookup(plugin, given, new Map(), true, scopeOf(scope, terms.span).context)
  return itemsOf(result, task)
}

/** `with_items` flattens one level; of a term that is not known it is not known how many items it stands for. */
function flattenedOnce(term: Value): readonly Value[] {
  return term.kind === 'known' && Array.isArray(term.data) ? term.data : [term]
}

function itemsOf(value: Value, task: Task): Items {
  switch (value.kind) {
    case 'known':
      if (!Array.isArray(value.data)) return failing('a loop needs a list', task)
      if (value.data.length > mostItems) {
        const says = `more than ${mostItems} items are not told apart`
        return unknownItems(says, task, [{ says, at: task.at, unread: true }])
      }
      return { kind: 'known', items: value.data }
    case 'unknown':
      return unknownItems('the items of the loop are not known', task, value.causes)
    case 'one-of':
      return unknownItems(
        'the items of the loop are not known',
        task,
        value.options.flatMap(({ because }) => because),
      )
    case 'undefined':
    case 'failure':
      return failing(`evaluating the loop fails: ${value.says}`, task)
  }
}

/** Ansible stops where it cannot evaluate a loop; what the task would do, and with which items, is not known. */
function failing(says: string, task: Task): Items {
  return { ...unknownItems(says, task, [{ says, at: task.at, unread: true }]), fails: says }
}

function unknownItems(says: string, task: Task, causes: readonly Cause[]): Extract<Items, { kind: 'unknown' }> {
  const all = causes.length > 0 ? causes : [{ says, at: task.at }]
  return { kind: 'unknown', item: unknown(all.map(cause => ({ ...cause, name: loopVariable(task) }))), causes: all }
}

/** File names one by one: `first_found` passes over a name that rests on an undefined variable. */
function evaluateNames(node: Node, scope: Scope): Value {
  if (node.kind === 'list') {
    return known(
      node.items.map(item => evaluateNames(item, scope)).filter(name => name.kind !== 'failure' || !name.undefined),
    )
  }
  if (node.kind !== 'map') return evaluateNode(node, scope)
  return known(new Map(node.entries.map(({ key, value }) => [key.data, evaluateNames(value, scope)] as const)))
}

/** The first file that is there, by rule 97; with names that are not known, one of the files that fit. */
function firstFoundItems(value: Value, task: Task, frame: Frame, state: RunState): Items {
  const { files, skip } = searched([value], new Map())
  // Ansible derives the folder from the module's name: files/ unless the module is about templates or variables.
  const kind = task.action.includes('template') ? 'templates' : task.action.includes('var') ? 'vars' : 'files'
  const found = firstFound(state.code, files, searchDirectories(frame, kind))
  if (found !== undefined) return { kind: 'known', items: [found] }
  return skip ? { kind: 'known', items: [] } : failing('no file was found by with_first_found', task)
}

/** The name a loop binds its item to: `item` unless `loop_control` says otherwise. */
export function loopVariable(task: Task): string {
  return loopControl(task, 'loop_var') ?? 'item'
}

/**
 * What a loop binds for one item: the item, and what `loop_control` asks for. `all` are the items of the loop; undefined
 * where it is not known which there are.
 */
export function bindItem(
  task: Task,
  item: Value,
  index: number,
  all: readonly Value[] | undefined,
): ReadonlyMap<string, Value> {
  const bound = new Map<string, Value>([[loopVariable(task), storedValue(item)]])
  bound.set('ansible_loop_var', known(loopVariable(task)))
  const indexName = loopControl(task, 'index_var')
  const open = unknown([{ says: 'which items the loop has is not known', at: task.at }])
  if (indexName !== undefined) {
    bound.set('ansible_index_var', known(indexName))
    bound.set(indexName, all === undefined ? open : known(BigInt(index)))
  }
  const extended = controlNode(task, 'extended')
  if (extended?.kind === 'scalar' && extended.data === true) {
    bound.set('ansible_loop', all === undefined ? open : extendedLoop(index, all))
  }
  return bound
}

/** `ansible_loop` of `loop_control: {extended: true}`. */
function extendedLoop(index: number, all: readonly Value[]): Value {
  const numbers = {
    index: index + 1,
    index0: index,
    length: all.length,
    revindex: all.length - index,
    revindex0: all.length - index - 1,
  }
  const facts = new Map<Key, Value>([
    ['allitems', known(all.map(storedValue))],
    ...Object.entries(numbers).map(([name, number]) => [name, known(BigInt(number))] as const),
    ['first', known(index === 0)],
    ['last', known(index === all.length - 1)],
  ])
  const next = all[index + 1]
  const previous = all[index - 1]
  if (next !== undefined) facts.set('nextitem', storedValue(next))
  if (previous !== undefined) facts.set('previtem', storedValue(previous))
  return known(facts)
}

function loopControl(task: Task, name: string): string | undefined {
  const node = controlNode(task, name)
  return node?.kind === 'scalar' && typeof node.data === 'string' ? node.data : undefined
}

function controlNode(task: Task, name: string): Node | undefined {
  const control = task.keywords.get('loop_control')?.value
  return control?.kind === 'map' ? entryOf(control, name)?.value : undefined
}
