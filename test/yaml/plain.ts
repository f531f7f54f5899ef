import type { Node, ScalarNode } from '../../src/yaml/node.js'

/** A node in the notation of test/yaml/pyyaml.py, without spans. */
export function plainOf(node: Node): unknown {
  switch (node.kind) {
    case 'scalar':
      return plainScalar(node)
    case 'list':
      return node.items.map(plainOf)
    case 'map':
      return { map: node.entries.map(({ key, value }) => [plainOf(key), plainOf(value)]) }
    case 'unreadable':
      return { unreadable: node.says }
  }
}

function plainScalar({ data, tag }: ScalarNode): unknown {
  if (tag !== undefined) return { [tag]: data }
  if (typeof data === 'bigint') return { int: String(data) }
  return typeof data === 'number' ? { float: data } : data
}

/** Whether anything in it could not be read. */
export function isLossy(node: Node): boolean {
  switch (node.kind) {
    case 'scalar':
      return false
    case 'list':
      return node.items.some(isLossy)
    case 'map':
      return node.entries.some(({ value }) => isLossy(value))
    case 'unreadable':
      return true
  }
}
