import type { Environment } from '../jinja/environment.js'
import { hasTemplate } from '../jinja/parser.js'
import { evaluateTemplate } from '../jinja/template.js'
import { failure, type Key, known, unknown, type Value } from '../jinja/value.js'
import type { Node, ScalarNode } from '../yaml/node.js'

/**
 * The value of a YAML node as Ansible templates it: every text in it, not the keys. A member that fails makes the whole
 * fail, as it does in Ansible; a member that is unknown stays unknown inside.
 */
export function evaluateNode(node: Node, environment: Environment): Value {
  return literalValue(node) ?? evaluateTemplated(node, environment)
}

function evaluateTemplated(node: Node, environment: Environment): Value {
  switch (node.kind) {
    case 'unreadable':
      return unknown([{ says: node.says, at: node.span, unread: true }])
    case 'scalar':
      return evaluateScalar(node, environment)
    case 'list': {
      const items: Value[] = []
      for (const item of node.items) {
        const value = evaluateNode(item, environment)
        if (value.kind === 'failure') return value
        if (value.kind === 'undefined') return failure(value.says, value.at, true)
        items.push(value)
      }
      return known(items)
    }
    case 'map': {
      const entries = new Map<Key, Value>()
      for (const { key, value: member } of node.entries) {
        const value = evaluateNode(member, environment)
        if (value.kind === 'failure') return value
        if (value.kind === 'undefined') return failure(value.says, value.at, true)
        entries.set(key.data, value)
      }
      return known(entries)
    }
  }
}

function evaluateScalar(node: ScalarNode, environment: Environment): Value {
  if (node.tag === 'vault')
    return unknown([{ says: 'the value is encrypted with Ansible Vault', at: node.span, unread: true }])
  if (typeof node.data !== 'string' || node.tag === 'unsafe' || !hasTemplate(node.data)) return known(node.data)
  return evaluateTemplate(node.data, node.span, environment)
}

/** Values of nodes without templates do not depend on any scope: computed once (a release's checksum tables are large). */
const literals = new WeakMap<Node, { readonly value: Value | undefined }>()

/** The value of a node in which nothing is templated; undefined for any other. */
export function literalValue(node: Node): Value | undefined {
  const cached = literals.get(node)
  if (cached) return cached.value
  const value = computeLiteral(node)
  literals.set(node, { value })
  return value
}

function computeLiteral(node: Node): Value | undefined {
  switch (node.kind) {
    case 'unreadable':
      return undefined
    case 'scalar':
      if (node.tag === 'vault') return undefined
      return typeof node.data === 'string' && node.tag !== 'unsafe' && hasTemplate(node.data)
        ? undefined
        : known(node.data)
    case 'list': {
      const items = node.items.map(literalValue)
      return items.every(item => item !== undefined) ? known(items) : undefined
    }
    case 'map': {
      const entries = new Map<Key, Value>()
      for (const { key, value } of node.entries) {
        const member = literalValue(value)
        if (member === undefined) return undefined
        entries.set(key.data, member)
      }
      return known(entries)
    }
  }
}
