import { known, type Unknown, type Value } from '../jinja/value.js'
import type { Invocation, TaskRun } from '../run/task-run.js'
import type { Span } from '../source/text.js'
import { entryOf, type Node } from '../yaml/node.js'
import { templateText } from './role-text.js'

/**
 * What a task that does not run would be called with: its arguments as written, with unknown pieces where a template
 * stands. Only near misses are made of it: they name what did not happen.
 */
export function invocationsAsWritten(run: TaskRun): readonly Invocation[] {
  const items = literalItems(run)
  if (items === undefined) return [asWritten(run, undefined)]
  return items.map(item => asWritten(run, item))
}

/** The items of a loop over a literal list of plain scalars. */
function literalItems(run: TaskRun): readonly Node[] | undefined {
  const loop = run.task.loop
  if (loop === undefined || !['', 'items', 'list'].includes(loop.plugin) || loop.terms.kind !== 'list') return undefined
  const items = loop.terms.items
  return items.length > 0 && items.length <= 100 && items.every(item => !hasTemplate(item)) ? items : undefined
}

function hasTemplate(node: Node): boolean {
  switch (node.kind) {
    case 'scalar':
      return typeof node.data === 'string' && /\{[{%]/.test(node.data)
    case 'list':
      return node.items.some(hasTemplate)
    case 'map':
      return node.entries.some(entry => hasTemplate(entry.value))
    case 'unreadable':
      return true
  }
}

function asWritten(run: TaskRun, item: Node | undefined): Invocation {
  const { named, raw } = run.task.arguments
  return {
    ...(item === undefined ? {} : { item: valueAsWritten(item, undefined) }),
    runs: run.runs,
    remains: run.remains,
    arguments: new Map([...named].map(([name, node]) => [name, valueAsWritten(node, item)])),
    raw: raw === undefined ? undefined : valueAsWritten(raw, item),
    environment: new Map(),
  }
}

function valueAsWritten(node: Node, item: Node | undefined): Value {
  switch (node.kind) {
    case 'scalar': {
      if (typeof node.data !== 'string' || node.tag === 'unsafe') return known(node.data)
      const ofItem = item === undefined ? undefined : itemNamed(node.data, item)
      if (ofItem !== undefined) return valueAsWritten(ofItem, undefined)
      if (!/\{[{%#]/.test(node.data)) return known(node.data)
      const { content } = templateText(node.data, node.span)
      const text = content.kind === 'unknown' ? content.text : undefined
      return text === undefined ? content : { ...notEvaluated(node.span), text }
    }
    case 'list':
      return known(node.items.map(member => valueAsWritten(member, item)))
    case 'map':
      return known(
        new Map(
          node.entries.map(entry => [
            typeof entry.key.data === 'string' ? entry.key.data : String(entry.key.data),
            valueAsWritten(entry.value, item),
          ]),
        ),
      )
    case 'unreadable':
      return notEvaluated(node.span)
  }
}

function notEvaluated(at: Span): Unknown {
  return { kind: 'unknown', causes: [{ says: 'the task does not run, so this is not evaluated', at }] }
}

/** `{{ item }}` and `{{ item.key }}` alone are the item or its member. */
function itemNamed(text: string, item: Node): Node | undefined {
  const name = text.match(/^\{\{\s*item(?:\.(\w+))?\s*\}\}$/)
  if (name === null) return undefined
  const key = name[1]
  if (key === undefined) return item
  return item.kind === 'map' ? entryOf(item, key)?.value : undefined
}
