import type { Report } from '../source/diagnostic.js'
import type { SourceFile, Span } from '../source/text.js'
import { entryOf, type MapEntry, type MapNode, type Node } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'
import { type Draft, defineFor, draftGroup, draftHost, type Fault, fault, joinGroups } from './draft.js'
import { expandHosts } from './host-range.js'
import { portDefinition } from './ini.js'
import type { Definition } from './inventory.js'

/** Why a file is no YAML inventory, and whether it looked like one: then its fault is what the user has to hear. */
export interface YamlFault extends Fault {
  readonly looksLikeYaml: boolean
}

/**
 * Reads a YAML (or JSON) inventory into a draft. On a fault Ansible refuses the file as YAML and tries INI; the draft is
 * then to be thrown away. What is skipped with a warning by Ansible is reported.
 * Source of the rules: Ansible's `yaml` inventory plugin, checked against ansible-core 2.14 and 2.18.
 */
export function readYamlInventory(
  draft: Draft,
  file: SourceFile,
  source: string,
  report: Report,
): YamlFault | undefined {
  let syntax: Fault | undefined
  const root = readYamlFile(file, diagnostic => {
    if (diagnostic.severity === 'error') syntax ??= fault(diagnostic.message, diagnostic.at)
    else report(diagnostic)
  })
  const top: Span = { file, start: root.span.start, end: root.span.start }
  if (root.kind === 'unreadable') return { ...(syntax ?? fault(root.says, top)), looksLikeYaml: false }
  if (root.kind !== 'map') {
    return {
      ...fault(`expected groups at the top of a YAML inventory, got ${nameOf(root)}`, top),
      looksLikeYaml: false,
    }
  }
  if (root.entries.length === 0) return { ...fault('expected groups, got an empty file', top), looksLikeYaml: false }
  const plugin = entryOf(root, 'plugin')
  if (plugin && !isFalse(plugin.value)) {
    const name = plugin.value.kind === 'scalar' ? ` '${plugin.value.data}'` : ''
    const says = `this is the configuration of inventory plugin${name}, which is not run: expected an inventory file`
    return { ...fault(says, spanOf(plugin)), looksLikeYaml: true }
  }
  const reading: Reading = { draft, file, source, report }
  for (const entry of root.entries) {
    const problem = readGroup(reading, entry)
    if (problem) return { ...problem, looksLikeYaml: true }
  }
  return undefined
}

interface Reading {
  readonly draft: Draft
  readonly file: SourceFile
  readonly source: string
  readonly report: Report
}

function readGroup(reading: Reading, entry: MapEntry): Fault | undefined {
  const { draft, report } = reading
  const name = entry.key.data
  const content = entry.value
  if (content.kind === 'unreadable') return fault(content.says, content.span)
  if (content.kind !== 'map' && !isNull(content)) {
    report({
      code: 'inventory-group',
      severity: 'warning',
      message: `expected hosts, children or vars in group ${name}, got ${nameOf(content)}; Ansible skips it`,
      at: spanOf(entry),
    })
    return undefined
  }
  if (typeof name !== 'string') return fault(`expected a text as name of a group, got ${name}`, entry.key.span)
  if (name === '') return fault('expected the name of a group, got an empty one', entry.key.span)
  draftGroup(draft, name)
  if (content.kind !== 'map') return undefined
  for (const part of content.entries) {
    if (part.key.data !== 'vars' && part.key.data !== 'children' && part.key.data !== 'hosts') continue
    if (part.value.kind === 'map' || isNull(part.value) || isText(part.value)) continue
    const says =
      part.value.kind === 'unreadable'
        ? part.value.says
        : `expected a mapping under ${part.key.data} of group ${name}, got ${nameOf(part.value)}`
    return fault(says, part.value.span)
  }
  for (const part of content.entries) {
    const problem = readPart(reading, name, part)
    if (problem) return problem
  }
  return undefined
}

function readPart(reading: Reading, group: string, part: MapEntry): Fault | undefined {
  const members = membersOf(part.value)
  switch (part.key.data) {
    case 'vars':
      return each(members, member => defineFor(reading.draft, group, definitionOf(member)))
    case 'children':
      return each(members, member => readChild(reading, group, member))
    case 'hosts':
      return each(members, member => readHosts(reading, group, member))
    default:
      reading.report({
        code: 'inventory-group',
        severity: 'warning',
        message: `expected hosts, children or vars in group ${group}, got ${part.key.data}; Ansible skips it`,
        at: spanOf(part),
      })
      return undefined
  }
}

/** The entries of a mapping; a text stands for a mapping with that one key. */
export function membersOf(node: Node): readonly MapEntry[] {
  if (node.kind === 'map') return node.entries
  if (node.kind !== 'scalar' || typeof node.data !== 'string') return []
  return [{ key: node, value: { kind: 'scalar', data: null, span: node.span } }]
}

function each(members: readonly MapEntry[], read: (member: MapEntry) => Fault | undefined): Fault | undefined {
  for (const member of members) {
    const problem = read(member)
    if (problem) return problem
  }
  return undefined
}

function readChild(reading: Reading, group: string, member: MapEntry): Fault | undefined {
  const problem = readGroup(reading, member)
  if (problem) return problem
  const child = String(member.key.data)
  // A child whose content was skipped exists only if something else names it.
  if (!reading.draft.groups.has(child)) return fault(`expected a group as child of ${group}`, spanOf(member))
  return joinGroups(reading.draft, group, child, spanOf(member))
}

function readHosts(reading: Reading, group: string, member: MapEntry): Fault | undefined {
  const pattern = member.key.data
  const at = spanOf(member)
  if (typeof pattern !== 'string') {
    return fault(`expected a text as name of a host, got ${pattern}: put it in quotes`, member.key.span)
  }
  const expanded = expandHosts(pattern)
  if (typeof expanded === 'string') return fault(expanded, member.key.span)
  if (expanded.hosts.includes('')) return fault('expected the name of a host, got an empty one', member.key.span)
  if (member.value.kind !== 'map' && !isFalse(member.value)) {
    const says = member.value.kind === 'unreadable' ? member.value.says : undefined
    return fault(says ?? `expected a mapping of variables for host ${pattern}, got ${nameOf(member.value)}`, at)
  }
  const definitions = member.value.kind === 'map' ? definitionsOf(member.value) : []
  const port = portDefinition(expanded.port, member.key.span)
  for (const host of expanded.hosts) {
    draftHost(reading.draft, host, group, reading.source, port)
    for (const definition of definitions) {
      const problem = defineFor(reading.draft, host, definition)
      if (problem) return problem
    }
  }
  return undefined
}

/** The variables a mapping defines, in order. */
export function definitionsOf(node: MapNode): readonly Definition[] {
  return node.entries.map(definitionOf)
}

function definitionOf(entry: MapEntry): Definition {
  return { name: String(entry.key.data), node: entry.value, at: spanOf(entry) }
}

function spanOf(entry: MapEntry): Span {
  const { file, start } = entry.key.span
  // An alias stands where its anchor is, which may be before the key.
  return { file, start, end: Math.max(entry.key.span.end, entry.value.span.end) }
}

function isNull(node: Node): boolean {
  return node.kind === 'scalar' && node.data === null
}

function isText(node: Node): boolean {
  return node.kind === 'scalar' && typeof node.data === 'string'
}

/** Python's truth, turned around. */
function isFalse(node: Node): boolean {
  switch (node.kind) {
    case 'scalar':
      return !node.data
    case 'list':
      return node.items.length === 0
    case 'map':
      return node.entries.length === 0
    case 'unreadable':
      return false
  }
}

/** What a node is, in words for a message. */
export function nameOf(node: Node): string {
  switch (node.kind) {
    case 'list':
      return 'a list'
    case 'map':
      return 'a mapping'
    case 'unreadable':
      return 'something unreadable'
    case 'scalar':
      return node.data === null ? 'nothing' : typeof node.data === 'string' ? 'a text' : `${node.data}`
  }
}
