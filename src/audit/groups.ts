import type { Play, Task } from '../ansible/statement.js'
import { piecesCanBe } from '../effects/argument.js'
import { inventoryFiles } from '../inventory/group-places.js'
import { hostsOf } from '../inventory/inventory.js'
import { matchHosts } from '../inventory/patterns.js'
import { compileRegex } from '../inventory/regex.js'
import { readInventorySettings } from '../inventory/settings.js'
import { hasTemplate } from '../jinja/parser.js'
import { printExpression } from '../jinja/print.js'
import type { Change } from '../reports/audit.js'
import { type Place, placeOfSpan, placeText } from '../reports/place.js'
import { once } from '../source/once.js'
import { pathToOpen, type Span } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import type { Matching } from './matching/matching.js'
import type { NameRead, Owner, RoleIndex } from './role-index.js'
import type { Side } from './side.js'

/** Groups every inventory has, and names that are no groups. */
const alwaysThere = new Set(['all', 'ungrouped', 'localhost', '127.0.0.1'])

/** Places shown for a rename at most: a group can be asked for in hundreds. */
const evidenceShown = 3

/**
 * Groups that OLD's code asks for and NEW's no longer does. With a successor at the same places it is a rename, else the
 * group has no use any more. It matters (`required`) where the inventory has hosts in such a group and NEW's own run on
 * that inventory does not bring them to where its plays look for them.
 */
export function groupChanges(old: Side, next: Side, matching: Matching): readonly Change[] {
  const successors = once(() => successorsBetween(old, next, matching))
  const placesInInventory = once(() => inventoryPlaces(old))
  const passedOnBefore = passedOn(old)
  const passedOnNow = passedOn(next)
  return [...old.index.groups].flatMap(([name, all]): readonly Change[] => {
    if (alwaysThere.has(name) || isMadeByRun(old, name)) return []
    if (isAskedFor(next, name)) return []
    const [first] = all
    if (first === undefined) return []
    // A name that OLD only passed on was an old one there already: what it passed it on to is its successor.
    const isOldName = all.every(read => passedOnTo(read) !== undefined)
    const found = isOldName ? undefined : successors().get(name)
    const to = [found?.to, passedOnBefore.get(name), passedOnNow.get(name)].find(
      each => each !== undefined && next.index.groups.has(each),
    )
    const standing = standingOf(next, name, to)
    if (isOldName && (standing !== 'left-out' || standingOf(old, name, to) === 'left-out')) return []
    const inventory = isUsers(old) ? (placesInInventory().get(name) ?? []) : []
    const evidence = found?.to === to ? found?.evidence : undefined
    const open = to === undefined ? openAskerOf(next, name) : undefined
    const target = to === undefined ? open : shownOf(next.index.groups.get(to) ?? [])
    const before = shownOf(all.filter(read => passedOnTo(read) === undefined)) ?? first
    return [
      {
        kind: to === undefined ? 'group-unused' : 'group-renamed',
        name,
        ...(to === undefined
          ? unused(old, next, matching, name, open !== undefined, inventory.length > 0)
          : { to, ...renamed(next, name, to, inventory.length > 0 ? standing : 'empty') }),
        old: evidence?.[0]?.old ?? placeOfSpan(before.at),
        new: evidence?.[0]?.new ?? (target === undefined ? null : placeOfSpan(target.at)),
        inventory,
        ...(evidence === undefined ? {} : { evidence }),
      },
    ]
  })
}

/** The place that shows best what a group is for: a play for it. */
function shownOf(reads: readonly NameRead[]): NameRead | undefined {
  return reads.find(({ owner }) => owner.kind === 'play') ?? reads[0]
}

/** What becomes of the hosts of a group whose name NEW does not know. */
type Standing = 'empty' | 'already-there' | 'passed-on' | 'left-out'

function standingOf({ analysis }: Side, name: string, to: string | undefined): Standing {
  const members = hostsOf(analysis.inventory, name)
  if (members.length === 0) return 'empty'
  if (to === undefined) return 'left-out'
  const allIn = (hosts: readonly string[]): boolean => {
    const there = new Set(hosts)
    return members.every(member => there.has(member))
  }
  if (allIn(hostsOf(analysis.inventory, to))) return 'already-there'
  return allIn(hostsOf(analysis.run.inventory, to)) ? 'passed-on' : 'left-out'
}

type Told = Pick<Change, 'action' | 'says'>

/** What to do and say about a group that has another name now. */
function renamed({ analysis }: Side, name: string, to: string, standing: Standing): Told {
  const says = `the group ${name} is called ${to} now`
  switch (standing) {
    case 'left-out': {
      const there = new Set(hostsOf(analysis.run.inventory, to))
      const left = hostsOf(analysis.inventory, name).filter(host => !there.has(host))
      return {
        action: 'required',
        says: `${says}: plays and conditions that ask for it leave out ${shortList(left)}`,
      }
    }
    case 'passed-on':
      return { action: 'advised', says: `${says}; the playbook still puts the hosts of ${name} there by itself` }
    case 'already-there':
      return { action: 'none', says: `${says}, and the inventory puts its hosts there` }
    case 'empty':
      return { action: 'none', says }
  }
}

/** What to do and say about a group without a successor; where the inventory does not name it, only that it is so. */
function unused(
  old: Side,
  next: Side,
  matching: Matching,
  name: string,
  isPerhapsAsked: boolean,
  isInInventory: boolean,
): Told {
  const members = isInInventory ? hostsOf(next.analysis.inventory, name) : []
  if (isPerhapsAsked) {
    return {
      action: members.length === 0 ? 'none' : 'advised',
      says: `no play or condition names the group ${name} any more; it may be asked for where a name is put together or matched`,
    }
  }
  const gone = `no play or condition asks for the group ${name} any more`
  if (members.length === 0) return { action: 'none', says: gone }
  const variables = hasVariables(next, name) ? '; its variables still apply' : ''
  const alone = membersAlone(next, name, members)
  if (alone.length > 0) {
    return {
      action: 'required',
      says: `${gone}, nor for another group of ${shortList(alone)}${variables}`,
    }
  }
  const { play, hosts } = leftOutByPlay(old, next, matching, name, members) ?? {}
  if (play !== undefined && hosts !== undefined) {
    return {
      action: 'required',
      says: `${gone}: the play at ${placeText(placeOfSpan(play.at))} leaves out ${shortList(hosts)} now${variables}`,
    }
  }
  return { action: 'advised', says: `${gone}; other groups of its hosts are asked for${variables}` }
}

function shortList(hosts: readonly string[]): string {
  return hosts.slice(0, 4).join(', ') + (hosts.length > 4 ? ` and ${hosts.length - 4} more` : '')
}

/** Whether the inventory, or a file beside it or the playbook, sets variables for a group. */
function hasVariables({ analysis: { inventory, variableFiles } }: Side, name: string): boolean {
  return (inventory.groups.get(name)?.variables.length ?? 0) > 0 || variableFiles.some(({ group }) => group === name)
}

/** Those of a group's hosts that are in no other group that anything asks for, but for those that every host is in. */
function membersAlone(side: Side, name: string, members: readonly string[]): readonly string[] {
  const asked = [...side.index.groups.keys()].filter(
    each => each !== name && !alwaysThere.has(each) && isAskedFor(side, each),
  )
  const there = new Set(asked.flatMap(each => hostsOf(side.analysis.run.inventory, each)))
  return members.filter(host => !there.has(host))
}

/** A play that OLD had for the group, and that is still there, but no longer for all of the group's hosts. */
function leftOutByPlay(
  old: Side,
  next: Side,
  matching: Matching,
  name: string,
  members: readonly string[],
): { readonly play: Play; readonly hosts: readonly string[] } | undefined {
  for (const read of old.index.groups.get(name) ?? []) {
    if (read.owner.kind !== 'play' || passedOnTo(read) !== undefined) continue
    const play = matching.playOf(read.owner)?.play
    const [before, now] = [hostsOfPlay(old, read.owner.play), play && hostsOfPlay(next, play)]
    if (play === undefined || before === undefined || now === undefined) continue
    const hosts = members.filter(host => before.has(host) && !now.has(host))
    if (hosts.length > 0) return { play, hosts }
  }
  return undefined
}

/** The hosts of a play as its pattern is written; undefined where that holds a template. */
function hostsOfPlay({ analysis }: Side, { hosts }: Play): ReadonlySet<string> | undefined {
  const nodes = hosts?.kind === 'list' ? hosts.items : hosts === undefined ? [] : [hosts]
  const patterns = nodes.flatMap(node => (node.kind === 'scalar' && typeof node.data === 'string' ? [node.data] : []))
  if (patterns.length === 0 || patterns.length < nodes.length || patterns.some(hasTemplate)) return undefined
  return new Set(matchHosts(patterns, analysis.run.inventory))
}

/** Whether anything asks for a group other than to pass its hosts on; a template in `hosts:` may name it in its text. */
function isAskedFor({ index }: Side, name: string): boolean {
  if ((index.groups.get(name) ?? []).some(read => passedOnTo(read) === undefined)) return true
  return index.plays.some(({ play: { hosts } }) => {
    const text = hosts?.kind === 'scalar' && typeof hosts.data === 'string' ? hosts.data : ''
    return hasTemplate(text) && text.includes(name) && asWritten([name]).test(text)
  })
}

/**
 * Where NEW may ask for a group without naming it. A name of which no piece is known can only be this one where the role
 * code has it as data somewhere.
 */
function openAskerOf({ index }: Side, name: string): { readonly at: Span } | undefined {
  const isWritten = once(() => [...index.definitions.values()].flat().some(({ node }) => node && holdsText(node, name)))
  return index.dynamicGroups.find(({ pieces, regex }) => {
    if (regex !== undefined) {
      const compiled = compileRegex(regex, '')
      return typeof compiled === 'string' || compiled.test(name)
    }
    return pieces.every(piece => piece === null) ? isWritten() : piecesCanBe(pieces, name)
  })
}

function holdsText(node: Node, text: string): boolean {
  switch (node.kind) {
    case 'scalar':
      return node.data === text
    case 'list':
      return node.items.some(item => holdsText(item, text))
    case 'map':
      return node.entries.some(({ value }) => holdsText(value, text))
    case 'unreadable':
      return false
  }
}

/** The default inventory is the program's own, made from each version's sample: nobody has to act on it. */
function isUsers({ analysis }: Side): boolean {
  return analysis.inventory.sources.length > 0
}

/** A group that the run makes by itself (`group_by`) and no inventory has to have. */
function isMadeByRun({ analysis }: Side, name: string): boolean {
  return analysis.run.inventory.groups.has(name) && !analysis.inventory.groups.has(name)
}

/** Where the inventory names each group: sections, keys, members of other groups, files of variables. */
function inventoryPlaces({ analysis }: Side): ReadonlyMap<string, readonly Place[]> {
  const found = new Map<string, Map<string, Place>>()
  const add = (name: string, place: Place): void => {
    const places = found.get(name) ?? new Map<string, Place>()
    found.set(name, places)
    places.set(placeText(place), place)
  }
  for (const { groups } of inventoryFiles(analysis.inventory, readInventorySettings(analysis.code.tree))) {
    for (const { name, at } of groups) add(name, placeOfSpan(at))
  }
  for (const { group, file } of analysis.variableFiles) {
    if (group !== undefined && analysis.inventory.groups.has(group)) add(group, { file: pathToOpen(file), line: 1 })
  }
  return new Map([...found].map(([name, places]) => [name, [...places.values()]]))
}

/** Old names of groups and the names their hosts are put into by plays that do nothing else. */
function passedOn({ index }: Side): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, reads] of index.groups) {
    const to = reads.flatMap(read => passedOnTo(read) ?? [])[0]
    if (to !== undefined && to !== name) found.set(name, to)
  }
  return found
}

/** For a play whose only work is to put its hosts into another group: that group. */
function passedOnTo({ owner, slot, name }: NameRead): string | undefined {
  if (owner.kind !== 'play' || slot !== 'hosts') return undefined
  const { roles, preTasks, tasks, postTasks } = owner.play
  if (roles.length + preTasks.length + postTasks.length > 0) return undefined
  const keys = tasks.map(task => (task.kind === 'task' ? groupMade(task) : undefined))
  return keys.every(key => key !== undefined) ? keys.find(key => key !== name) : undefined
}

function groupMade(task: Task): string | undefined {
  const key = task.module === 'ansible.builtin.group_by' ? task.arguments.named.get('key') : undefined
  return key?.kind === 'scalar' && typeof key.data === 'string' && !hasTemplate(key.data) ? key.data : undefined
}

interface Successor {
  readonly to: string
  readonly evidence: readonly { readonly old: Place; readonly new: Place }[]
}

/** Two reads of which the one stands where the other stood. */
interface Exchange {
  readonly old: NameRead
  readonly new: NameRead
}

/**
 * For each group that only OLD asks for the name that NEW has in its stead: where the same place holds the very same text
 * with just such names exchanged, and at least half of the places that are still there do.
 */
function successorsBetween(old: Side, next: Side, matching: Matching): ReadonlyMap<string, Successor> {
  const gone = [...old.index.groups.keys()].filter(name => !alwaysThere.has(name) && !isAskedFor(next, name))
  // A group that OLD asks for too is no new name: it takes the place of this one, or is asked for beside it.
  const fresh = [...next.index.groups.keys()].filter(name => !alwaysThere.has(name) && !old.index.groups.has(name))
  if (gone.length === 0 || fresh.length === 0) return new Map()
  const now = readsByPlace(next.index)
  const [goneNames, freshNames] = [asWritten(gone), asWritten(fresh)]
  const successors = new Map<string, Successor>()
  for (const name of gone) {
    const votes = new Map<string, Exchange[]>()
    let standing = 0
    for (const read of old.index.groups.get(name) ?? []) {
      const owner = passedOnTo(read) === undefined ? matching.ownerOf(read.owner) : undefined
      const others = owner === undefined ? undefined : now.get(placeKey(owner, read.slot))
      if (others === undefined) continue
      standing += 1
      const before = withoutNames(read, goneNames)
      for (const other of others) {
        const to = exchangedFor(before, withoutNames(other, freshNames), name)
        // Of the names that stand together here each is told by its own read.
        if (to !== other.name) continue
        votes.set(to, [...(votes.get(to) ?? []), { old: read, new: other }])
        break
      }
    }
    const [best, second] = [...votes].sort(([, left], [, right]) => right.length - left.length)
    if (best === undefined || best[1].length * 2 < standing || second?.[1].length === best[1].length) continue
    successors.set(name, { to: best[0], evidence: evidenceIn(best[1]) })
  }
  return successors
}

/** The places that show a rename best, a play for the group first. */
function evidenceIn(exchanges: readonly Exchange[]): Successor['evidence'] {
  const shown = shownOf(exchanges.map(each => each.old))
  return exchanges
    .toSorted((left, right) => Number(right.old === shown) - Number(left.old === shown))
    .slice(0, evidenceShown)
    .map(each => ({ old: placeOfSpan(each.old.at), new: placeOfSpan(each.new.at) }))
}

/** Reads of groups by what holds them and the keyword they stand under. */
function readsByPlace({ groups }: RoleIndex): ReadonlyMap<string, readonly NameRead[]> {
  const found = new Map<string, NameRead[]>()
  for (const read of [...groups.values()].flat()) {
    if (passedOnTo(read) !== undefined) continue
    const key = placeKey(read.owner, read.slot)
    const known = found.get(key)
    if (known === undefined) found.set(key, [read])
    else known.push(read)
  }
  return found
}

function placeKey(owner: Owner, slot: string): string {
  switch (owner.kind) {
    case 'statement':
      return `${owner.placed.path}\0${owner.placed.ordinal}\0${slot}`
    case 'play':
      return `${owner.path}\0play ${owner.play.at.start}\0${slot}`
    case 'role-entry':
      return `${owner.path}\0role ${owner.entry.role.split('/').at(-1)?.replaceAll('-', '_')}\0${slot}`
    case 'import':
    case 'template':
      return owner.path
    case 'definition':
      return `definition ${owner.defined.name}`
  }
}

/** A text with marks in place of names, and those names in order. */
interface Marked {
  readonly text: string
  readonly names: readonly string[]
}

function withoutNames(read: NameRead, written: RegExp): Marked {
  const names: string[] = []
  const text = textOf(read).replaceAll(written, name => {
    names.push(name)
    return '\0'
  })
  return { text, names }
}

/** What stands everywhere in the one text where the other has the name, if nothing but names differs. */
function exchangedFor(before: Marked, after: Marked, name: string): string | undefined {
  if (before.text !== after.text) return undefined
  const found = new Set(after.names.filter((_, index) => before.names[index] === name))
  const [to, ...others] = found
  return others.length === 0 ? to : undefined
}

/** Any of these groups' names in a text, not as a part of another one. */
function asWritten(names: readonly string[]): RegExp {
  const any = names
    .toSorted((left, right) => right.length - left.length)
    .map(name => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`(?<![\\w-])(?:${any.join('|')})(?![\\w-])`, 'g')
}

/** The expression a read stands in, or the host pattern; of a template also the line, since many expressions are just a name. */
function textOf({ at, whole, owner }: NameRead): string {
  const { text } = at.file
  if (whole === undefined) return text.slice(at.start, at.end)
  const expression = printExpression(whole)
  if (owner.kind !== 'template') return expression
  const end = text.indexOf('\n', at.start)
  const line = text.slice(text.lastIndexOf('\n', at.start - 1) + 1, end === -1 ? text.length : end)
  return `${expression}\n${line.trim()}`
}
