import { type Data, type Key, known, unknown, type Value } from '../jinja/value.js'
import type { Node } from '../yaml/node.js'

/** A node as the value it stands for, untemplated. What cannot be read, or is encrypted, is unknown for that reason. */
export function dataValue(node: Node): Value {
  return convert(node, new Map())
}

/** Nodes that aliases share are converted once, so that a small document cannot become a huge value. */
function convert(node: Node, done: Map<Node, Value>): Value {
  const earlier = done.get(node)
  if (earlier) return earlier
  const value = fresh(node, done)
  done.set(node, value)
  return value
}

function fresh(node: Node, done: Map<Node, Value>): Value {
  switch (node.kind) {
    case 'scalar':
      return node.tag === 'vault'
        ? unknown([{ says: 'the value is encrypted with Ansible Vault', at: node.span }])
        : known(node.data)
    case 'list':
      return known(node.items.map(item => convert(item, done)))
    case 'map': {
      const entries = new Map<Key, Value>()
      for (const { key, value } of node.entries) entries.set(key.data, convert(value, done))
      const data: Data = entries
      return known(data)
    }
    case 'unreadable':
      return unknown([{ says: node.says, at: node.span }])
  }
}
