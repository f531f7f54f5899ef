import type { Span } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import type { Definition } from './inventory.js'

/** Why a source cannot be read, in words for the user, and where. Ansible then ignores the whole source. */
export interface Fault {
  readonly kind: 'fault'
  readonly says: string
  readonly at: Span
}

/** What is wrong with a source, and where. */
export function fault(says: string, at: Span): Fault {
  return { kind: 'fault', says, at }
}

export interface DraftGroup {
  readonly name: string
  readonly children: string[]
  readonly parents: string[]
  readonly hosts: Set<string>
  readonly variables: Definition[]
  priority: number
}

export interface DraftHost {
  readonly name: string
  readonly variables: Definition[]
  readonly source: string | undefined
}

/** An inventory while its sources are read: what Ansible's plugins write into, in the order they do. */
export interface Draft {
  readonly groups: Map<string, DraftGroup>
  readonly hosts: Map<string, DraftHost>
}

/** An inventory without hosts: the groups `all` and `ungrouped`, which Ansible always has. */
export function emptyDraft(): Draft {
  const draft: Draft = { groups: new Map(), hosts: new Map() }
  draftGroup(draft, 'all').children.push('ungrouped')
  draftGroup(draft, 'ungrouped').parents.push('all')
  return draft
}

/** A copy to try a source on, so that a source that breaks off halfway leaves nothing behind. */
export function copyOf(draft: Draft): Draft {
  const groups = new Map<string, DraftGroup>()
  for (const [name, group] of draft.groups) {
    groups.set(name, {
      name,
      children: [...group.children],
      parents: [...group.parents],
      hosts: new Set(group.hosts),
      variables: [...group.variables],
      priority: group.priority,
    })
  }
  const hosts = new Map<string, DraftHost>()
  for (const [name, host] of draft.hosts) {
    hosts.set(name, { name, variables: [...host.variables], source: host.source })
  }
  return { groups, hosts }
}

/** The group of this name, made where there is none. */
export function draftGroup(draft: Draft, name: string): DraftGroup {
  const existing = draft.groups.get(name)
  if (existing) return existing
  const group: DraftGroup = { name, children: [], parents: [], hosts: new Set(), variables: [], priority: 1 }
  draft.groups.set(name, group)
  return group
}

/** Puts a host into a group. A port counts only where the host is named for the first time, as in Ansible. */
export function draftHost(
  draft: Draft,
  name: string,
  group: string,
  source: string | undefined,
  port: Definition | undefined,
): void {
  if (!draft.hosts.has(name)) draft.hosts.set(name, { name, variables: port ? [port] : [], source })
  draftGroup(draft, group).hosts.add(name)
}

/**
 * Makes one group the child of another. Fails, as Ansible does, for a group that would hold itself.
 * `at` is where the two are joined.
 */
export function joinGroups(draft: Draft, parent: string, child: string, at: Span): Fault | undefined {
  const above = draftGroup(draft, parent)
  const below = draftGroup(draft, child)
  if (above === below) return fault(`group ${parent} cannot be a child of itself`, at)
  if (below.parents.includes(parent)) return undefined
  if (ancestorsIn(draft, parent).has(child)) {
    return fault(`group ${child} as a child of ${parent} would make a circle, as ${parent} already belongs to it`, at)
  }
  above.children.push(child)
  below.parents.push(parent)
  return undefined
}

function ancestorsIn(draft: Draft, name: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [name]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const parent of draft.groups.get(next)?.parents ?? []) {
      if (!found.has(parent)) {
        found.add(parent)
        open.push(parent)
      }
    }
  }
  return found
}

/**
 * Sets a variable of a group or host. Ansible looks among the groups first, so a host that is named like a group gives
 * its variables to that group; `ansible_group_priority` of a group is no variable but its rank.
 */
export function defineFor(draft: Draft, entity: string, definition: Definition): Fault | undefined {
  const group = draft.groups.get(entity)
  if (group === undefined) {
    draft.hosts.get(entity)?.variables.push(definition)
    return undefined
  }
  if (definition.name !== 'ansible_group_priority') {
    group.variables.push(definition)
    return undefined
  }
  const priority = priorityFrom(definition.node)
  if (priority === undefined) return fault('expected a whole number as ansible_group_priority', definition.at)
  group.priority = priority
  return undefined
}

/** Python's int(): of a number (cut off), a truth, or a text of digits. */
function priorityFrom(node: Node): number | undefined {
  if (node.kind !== 'scalar') return undefined
  const { data } = node
  if (typeof data === 'boolean' || typeof data === 'bigint') return Number(data)
  if (typeof data === 'number') return Number.isFinite(data) ? Math.trunc(data) : undefined
  if (typeof data === 'string' && /^[+-]?[0-9]+(?:_[0-9]+)*$/.test(data.trim())) {
    return Number(data.trim().replaceAll('_', ''))
  }
  return undefined
}
