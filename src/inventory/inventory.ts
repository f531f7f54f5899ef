import type { Span } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import { type Draft, type DraftGroup, draftGroup, draftHost, emptyDraft } from './draft.js'

/** A variable as a source defines it. Its value is not templated yet. */
export interface Definition {
  readonly name: string
  /** Values of an INI file are nodes too; each of them has the place of the whole value. */
  readonly node: Node
  /** The whole assignment: `key=value`, or the entry of the mapping. */
  readonly at: Span
}

export interface Group {
  readonly name: string
  readonly children: readonly string[]
  /** Groups it is a direct child of; every group but `all` has one. */
  readonly parents: readonly string[]
  /** The hosts that belong to it directly, in order of appearance. */
  readonly hosts: readonly string[]
  /** Its variables in the inventory source (`[g:vars]`, `vars:`), in order: for one name the last counts. */
  readonly variables: readonly Definition[]
  /** `ansible_group_priority`, 1 where not set. */
  readonly priority: number
  /** Length of the longest way from `all`. */
  readonly depth: number
}

export interface Host {
  readonly name: string
  /** Its variables in the inventory source, in order: for one name the last counts. */
  readonly variables: readonly Definition[]
  /** The groups it belongs to directly. */
  readonly groups: readonly string[]
  /** The file (or host list) that named it first, as an absolute path: Ansible's `inventory_file`. Absent for add_host. */
  readonly source?: string
}

/** One `-i` of the command line. */
export interface InventorySource {
  /** As the user gave it. */
  readonly path: string
  /** The directory whose group_vars and host_vars go with it; none for a host list (`a,b,`). */
  readonly directory?: string
}

/** A source, or a file of an inventory directory, that Ansible would ignore because it cannot be read. */
export interface RefusedSource {
  readonly path: string
  readonly says: string
}

export interface Inventory {
  /** In order of appearance. */
  readonly hosts: ReadonlyMap<string, Host>
  /** `all` and `ungrouped` first, then in order of appearance. */
  readonly groups: ReadonlyMap<string, Group>
  readonly sources: readonly InventorySource[]
  /** What was left out; an inventory is only as good as its sources. Empty when everything was read. */
  readonly refused: readonly RefusedSource[]
}

/** A host's name up to the first dot: `inventory_hostname_short`. */
export function shortName(host: string): string {
  return host.split('.')[0] ?? host
}

/** Names Ansible takes for the control host although no inventory names them. */
export const LOCALHOST_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '::1']

/**
 * All groups of a host with their parents and `all`, weakest first: by depth, then `ansible_group_priority`, then name.
 * Variables of a later group win. A host the inventory does not know (an implicit localhost) belongs to `all` only.
 * Source of the rule: Ansible's `sort_groups`; rule checked against ansible-core 2.14 and 2.18.
 */
export function groupsOf(inventory: Inventory, host: string): readonly string[] {
  const cache = cacheOf(inventory).groupsOf
  const cached = cache.get(host)
  if (cached) return cached
  const found = new Set<string>(['all'])
  const open = [...(inventory.hosts.get(host)?.groups ?? [])]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    open.push(...(inventory.groups.get(name)?.parents ?? []))
  }
  const groups = [...found].flatMap(name => inventory.groups.get(name) ?? [])
  groups.sort((a, b) => a.depth - b.depth || a.priority - b.priority || compareText(a.name, b.name))
  const names = groups.map(group => group.name)
  cache.set(host, names)
  return names
}

/** Ansible's `group_names`: sorted by name, without `all`. An ungrouped host has `ungrouped`. */
export function groupNamesOf(inventory: Inventory, host: string): readonly string[] {
  return groupsOf(inventory, host)
    .filter(name => name !== 'all')
    .sort(compareText)
}

/**
 * The hosts of a group and of its descendants: its own first, then those of its children level by level.
 * (Ansible orders groups that are two levels down by chance of memory; here they stand in order of appearance.)
 */
export function hostsOf(inventory: Inventory, group: string): readonly string[] {
  const cache = cacheOf(inventory).hostsOf
  const cached = cache.get(group)
  if (cached) return cached
  const hosts = new Set<string>()
  // A set keeps the order of insertion and may grow while it is walked.
  const groups = new Set([group])
  for (const name of groups) {
    const found = inventory.groups.get(name)
    for (const host of found?.hosts ?? []) hosts.add(host)
    for (const child of found?.children ?? []) groups.add(child)
  }
  const names = [...hosts]
  cache.set(group, names)
  return names
}

/**
 * The inventory after `group_by` put hosts into a group: a host or group that is new is made, and the group becomes a child of
 * the parents. The inventory given stays as it is, and is what is returned where nothing changes. Where a play groups a thousand
 * hosts the whole is not settled anew for each.
 */
export function addToGroup(
  inventory: Inventory,
  names: readonly string[],
  group: string,
  parents: readonly string[] = [],
): Inventory {
  let made = inventory
  let left = names
  for (;;) {
    const joined = joinGroup(made, left, group, parents)
    made = joined.inventory
    const [next, ...more] = joined.left
    if (next === undefined) return made
    made = addOne(made, next, group, parents)
    left = more
  }
}

function addOne(inventory: Inventory, host: string, group: string, parents: readonly string[]): Inventory {
  const draft = draftFrom(inventory)
  draftGroup(draft, group)
  for (const parent of parents) {
    const above = draftGroup(draft, parent)
    const below = draftGroup(draft, group)
    // Ansible refuses a group inside itself at run time; then nothing changes.
    if (above === below || below.parents.includes(parent) || isAbove(draft, group, parent)) continue
    above.children.push(group)
    below.parents.push(parent)
  }
  if (!hostsOf(inventory, group).includes(host)) draftHost(draft, host, group, undefined, undefined)
  return settle(draft, inventory.sources, inventory.refused)
}

/**
 * Hosts that have a group of their own come into one that is there already: nothing but these and the group change. `left` are
 * the others, from the first that has none.
 */
function joinGroup(
  inventory: Inventory,
  names: readonly string[],
  group: string,
  parents: readonly string[],
): { readonly inventory: Inventory; readonly left: readonly string[] } {
  const found = inventory.groups.get(group)
  const isThere = found !== undefined && group !== 'all' && group !== 'ungrouped'
  if (!isThere || !parents.every(parent => found.parents.includes(parent))) return { inventory, left: names }
  const before = new Set(hostsOf(inventory, group))
  const left: string[] = []
  const joined = new Map<string, Host>()
  const order = [...inventory.groups.keys()]
  for (const name of names) {
    if (left.length === 0 && (before.has(name) || joined.has(name))) continue
    const member = inventory.hosts.get(name)
    const isGrouped = member?.groups.some(each => each !== 'all' && each !== 'ungrouped')
    // The others come behind it, in their order.
    if (left.length > 0 || member === undefined || !isGrouped) left.push(name)
    else {
      const own = new Set([...member.groups, group])
      joined.set(name, { ...member, groups: order.filter(each => own.has(each)) })
    }
  }
  if (joined.size === 0) return { inventory, left }
  const groups = new Map(inventory.groups).set(group, { ...found, hosts: [...found.hosts, ...joined.keys()] })
  const hosts = new Map(inventory.hosts)
  for (const [name, host] of joined) hosts.set(name, host)
  return { inventory: { ...inventory, groups, hosts }, left }
}

/** The inventory after `add_host`: the host is in `all` and in the groups, its variables are set. */
export function addHost(
  inventory: Inventory,
  host: string,
  groups: readonly string[],
  variables: readonly Definition[] = [],
): Inventory {
  const draft = draftFrom(inventory)
  if (!draft.hosts.has(host)) draftHost(draft, host, 'all', undefined, undefined)
  draft.hosts.get(host)?.variables.push(...variables)
  for (const group of groups) draftHost(draft, host, group, undefined, undefined)
  return settle(draft, inventory.sources, inventory.refused)
}

function isAbove(draft: Draft, upper: string, lower: string): boolean {
  const seen = new Set<string>()
  const open = [lower]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === upper) return true
    if (seen.has(name)) continue
    seen.add(name)
    open.push(...(draft.groups.get(name)?.parents ?? []))
  }
  return false
}

/**
 * What Ansible does when all sources are read: groups without a parent become children of `all`, hosts without a group
 * go to `ungrouped` and hosts with one leave it.
 */
export function settle(
  draft: Draft,
  sources: readonly InventorySource[],
  refused: readonly RefusedSource[],
): Inventory {
  const all = draftGroup(draft, 'all')
  const ungrouped = draftGroup(draft, 'ungrouped')
  for (const group of draft.groups.values()) {
    if (group === all || group.parents.length > 0) continue
    all.children.push(group.name)
    group.parents.push('all')
  }
  const groupsByHost = new Map<string, string[]>()
  for (const group of draft.groups.values()) {
    for (const host of group.hosts) {
      const groups = groupsByHost.get(host)
      if (groups) groups.push(group.name)
      else groupsByHost.set(host, [group.name])
    }
  }
  const hosts = new Map<string, Host>()
  for (const host of draft.hosts.values()) {
    const named = groupsByHost.get(host.name) ?? []
    const grouped = named.some(group => group !== 'all' && group !== 'ungrouped')
    const groups = grouped ? named.filter(group => group !== 'ungrouped') : named
    if (grouped) ungrouped.hosts.delete(host.name)
    else if (!groups.includes('ungrouped')) {
      ungrouped.hosts.add(host.name)
      groups.push('ungrouped')
    }
    const plain = { name: host.name, variables: host.variables, groups }
    hosts.set(host.name, host.source === undefined ? plain : { ...plain, source: host.source })
  }
  const depths = depthsIn(draft)
  const groups = new Map<string, Group>()
  for (const group of draft.groups.values()) {
    groups.set(group.name, {
      name: group.name,
      children: group.children,
      parents: group.parents,
      hosts: [...group.hosts],
      variables: group.variables,
      priority: group.priority,
      depth: depths.get(group.name) ?? 0,
    })
  }
  return { hosts, groups, sources, refused }
}

/** The longest way from the top to each group: a group is ranked once all its parents are. */
function depthsIn(draft: Draft): ReadonlyMap<string, number> {
  const depths = new Map<string, number>()
  const waiting = new Map<string, number>()
  const ready: DraftGroup[] = []
  for (const group of draft.groups.values()) {
    waiting.set(group.name, group.parents.length)
    if (group.parents.length === 0) ready.push(group)
  }
  for (let group = ready.pop(); group !== undefined; group = ready.pop()) {
    const below = (depths.get(group.name) ?? 0) + 1
    for (const child of group.children) {
      depths.set(child, Math.max(depths.get(child) ?? 0, below))
      const left = (waiting.get(child) ?? 0) - 1
      waiting.set(child, left)
      const next = draft.groups.get(child)
      if (left === 0 && next) ready.push(next)
    }
  }
  return depths
}

function draftFrom(inventory: Inventory): Draft {
  const draft = emptyDraft()
  for (const group of inventory.groups.values()) {
    draft.groups.set(group.name, {
      name: group.name,
      children: [...group.children],
      parents: [...group.parents],
      hosts: new Set(group.hosts),
      variables: [...group.variables],
      priority: group.priority,
    })
  }
  for (const host of inventory.hosts.values()) {
    draft.hosts.set(host.name, { name: host.name, variables: [...host.variables], source: host.source })
  }
  return draft
}

interface Cache {
  readonly groupsOf: Map<string, readonly string[]>
  readonly hostsOf: Map<string, readonly string[]>
}

const caches = new WeakMap<Inventory, Cache>()

function cacheOf(inventory: Inventory): Cache {
  const known = caches.get(inventory)
  if (known) return known
  const cache: Cache = { groupsOf: new Map(), hostsOf: new Map() }
  caches.set(inventory, cache)
  return cache
}

/** Python's order of texts: by code point, not by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const left = a[Symbol.iterator]()
  const right = b[Symbol.iterator]()
  for (;;) {
    const x = left.next()
    const y = right.next()
    if (x.done || y.done) return Number(y.done ?? false) - Number(x.done ?? false)
    if (x.value !== y.value) return (x.value.codePointAt(0) ?? 0) - (y.value.codePointAt(0) ?? 0)
  }
}
