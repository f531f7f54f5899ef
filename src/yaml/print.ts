import type { Node, ScalarNode } from './node.js'

/** Aliases can make a short file print as a very long text; what two values differ in stands before that. */
const maxPrinted = 200_000

/**
 * A value as one line, without regard to how it is written down: quotes and the order of keys do not count, and of texts what
 * `printText` makes of them. Equal lines are equal values.
 */
export function printNode(node: Node, printText: (text: string) => string = foldBlanks): string {
  return printWithin(node, printText, { left: maxPrinted })
}

function printWithin(node: Node, printText: (text: string) => string, room: { left: number }): string {
  if (room.left <= 0) return '…'
  switch (node.kind) {
    case 'scalar': {
      const text = printScalar(node, printText)
      room.left -= text.length + 1
      return text
    }
    case 'list': {
      const items: string[] = []
      for (const item of node.items) {
        items.push(printWithin(item, printText, room))
        if (room.left <= 0) break
      }
      return `[${items.join(', ')}]`
    }
    case 'map': {
      const entries: string[] = []
      for (const { key, value } of node.entries) {
        entries.push(`${printScalar(key, printText)}: ${printWithin(value, printText, room)}`)
        if (room.left <= 0) break
      }
      return `{${entries.toSorted().join(', ')}}`
    }
    case 'unreadable':
      return '?'
  }
}

function printScalar({ data, tag }: ScalarNode, printText: (text: string) => string): string {
  if (tag !== undefined) return `!${tag} ${String(data)}`
  return typeof data === 'string' ? printText(data) : String(data)
}

/** A text with each run of blanks as one, and none inside of braces. */
export function foldBlanks(text: string): string {
  if (!/\s|\{\{/.test(text)) return text
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{\{-? ?/g, '{{')
    .replaceAll(/ ?-?\}\}/g, '}}')
    .trim()
}
