import type { Node, ScalarNode } from './node.js'

/** Aliases can make a short file print as a very long text; what two values differ in stands before that. */
const maxPrinted = 200_000

/**
 * A value as one line, without regard to how it is written down: quotes and the order of keys do not count, blanks inside
 * texts count once, those inside braces not at all. Equal texts are equal values.
 */
export function printNode(node: Node): string {
  return printWithin(node, { left: maxPrinted })
}

function printWithin(node: Node, room: { left: number }): string {
  if (room.left <= 0) return '…'
  switch (node.kind) {
    case 'scalar': {
      const text = printScalar(node)
      room.left -= text.length + 1
      return text
    }
    case 'list': {
      const items: string[] = []
      for (const item of node.items) {
        items.push(printWithin(item, room))
        if (room.left <= 0) break
      }
      return `[${items.join(', ')}]`
    }
    case 'map': {
      const entries: string[] = []
      for (const { key, value } of node.entries) {
        entries.push(`${printScalar(key)}: ${printWithin(value, room)}`)
        if (room.left <= 0) break
      }
      return `{${entries.toSorted().join(', ')}}`
    }
    case 'unreadable':
      return '?'
  }
}

function printScalar({ data, tag }: ScalarNode): string {
  const text = String(data)
  if (tag !== undefined) return `!${tag} ${text}`
  if (typeof data !== 'string' || !/\s|\{\{/.test(text)) return text
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{\{-? ?/g, '{{')
    .replaceAll(/ ?-?\}\}/g, '}}')
    .trim()
}
