import type { Span } from '../source/text.js'

/** A YAML scalar as PyYAML's safe loader (YAML 1.1, as Ansible uses it) reads it. int → bigint, float → number. */
export type ScalarData = null | boolean | bigint | number | string

/**
 * A scalar. `tag` is set for `!vault` (data is the encrypted text) and `!unsafe` (text that is never templated).
 * `span` covers the scalar as written, quotes included.
 */
export interface ScalarNode {
  readonly kind: 'scalar'
  readonly data: ScalarData
  readonly tag?: 'vault' | 'unsafe'
  readonly span: Span
}

export interface ListNode {
  readonly kind: 'list'
  readonly items: readonly Node[]
  readonly span: Span
}

export interface MapEntry {
  readonly key: ScalarNode
  readonly value: Node
}

/** A mapping: entries in the order they stand, duplicates resolved (last wins, reported), merge keys applied. */
export interface MapNode {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
  readonly span: Span
}

/** Text that could not be read as YAML. What rests on it is unknown for this reason. */
export interface UnreadableNode {
  readonly kind: 'unreadable'
  readonly says: string
  readonly span: Span
}

/** Aliases stand for the very node object they name, so a document is a graph without cycles, not always a tree. */
export type Node = ScalarNode | ListNode | MapNode | UnreadableNode

/** The entry of a mapping with this text key; undefined when there is none. */
export function entryOf(node: MapNode, key: string): MapEntry | undefined {
  return node.entries.find(entry => entry.key.data === key)
}
