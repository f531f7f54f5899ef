import type { Play, Task } from '../ansible/statement.js'
import { inventoryFiles } from '../inventory/group-places.js'
import { hostsOf } from '../inventory/inventory.js'
import { readInventorySettings } from '../inventory/settings.js'
import { hasTemplate } from '../jinja/parser.js'
import type { Action, Change } from '../reports/audit.js'
import { type Place, placeOfSpan, placeText } from '../reports/place.js'
import { once } from '../source/once.js'
import { pathToOpen } from '../source/text.js'
import type { NameRead, Owner } from './role-index.js'
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
export function groupChanges(old: Side, next: Side): readonly Change[] {
  const successors = once(() => successorsBetween(old, next))
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
    const action = inventory.length === 0 ? 'none' : actionFor(standing)
    const evidence = found?.to === to ? found?.evidence : undefined
    const target = to === undefined ? undefined : shownOf(next.index.groups.get(to) ?? [])
    const before = shownOf(all.filter(read => passedOnTo(read) === undefined)) ?? first
    return [
      {
        kind: to === undefined ? 'group-unused' : 'group-renamed',
        name,
        ...(to === undefined ? {} : { to }),
        action,
        says: sentence(next, name, to, inventory.length > 0 ? standing : 'empty'),
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

function actionFor(standing: Standing): Action {
  return standing === 'left-out' ? 'required' : standing === 'passed-on' ? 'advised' : 'none'
}

function sentence(next: Side, name: string, to: string | undefined, standing: Standing): string {
  if (to === undefined) {
    const gone = `nothing asks for the group ${name} any more`
    return standing === 'left-out' ? `${gone}: it does nothing for ${hostList(next, name)}` : gone
  }
  const renamed = `the group ${name} is called ${to} now`
  switch (standing) {
    case 'left-out':
      return `${renamed}: plays and conditions that ask for it leave out ${hostList(next, name, to)}`
    case 'passed-on':
      return `${renamed}; the playbook still puts the hosts of ${name} there by itself`
    case 'already-there':
      return `${renamed}, and the inventory puts its hosts there`
    case 'empty':
      return renamed
  }
}

function hostList({ analysis }: Side, name: string, to?: string): string {
  const there = new Set(to === undefined ? [] : hostsOf(analysis.run.inventory, to))
  const hosts = hostsOf(analysis.inventory, name).filter(host => !there.has(host))
  return hosts.slice(0, 4).join(', ') + (hosts.length > 4 ? ` and ${hosts.length - 4} more` : '')
}

/** Whether anything asks for a group other than to pass its hosts on; a template in `hosts:` may name it in its text. */
function isAskedFor({ index }: Side, name: string): boolean {
  if ((index.groups.get(name) ?? []).some(read => passedOnTo(read) === undefined)) return true
  return index.plays.some(({ play: { hosts } }) => {
    const text = hosts?.kind === 'scalar' && typeof hosts.data === 'string' ? hosts.data : ''
    return hasTemplate(text) && text.includes(name) && asWritten(name).test(text)
  })
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

/**
 * For each group of OLD the name that NEW has at most of its places, where OLD had no such name. Places that name several
 * groups are compared once the names found before are exchanged.
 */
function successorsBetween(old: Side, next: Side): ReadonlyMap<string, Successor> {
  const now = readsByPlace(next, new Map())
  // A group that OLD asks for too is no new name: it takes the place of this one, or is asked for beside it.
  const isNew = (name: string): boolean => !old.index.groups.has(name)
  const first = comparePlaces(readsByPlace(old, new Map()), now, isNew)
  const isFound = (name: string): boolean => first.has(name) || next.index.groups.has(name)
  if ([...old.index.groups.keys()].every(isFound)) return first
  return new Map([...comparePlaces(readsByPlace(old, first), now, isNew), ...first])
}

type ReadsByPlace = ReadonlyMap<string, ReadonlyMap<string, readonly NameRead[]>>

function comparePlaces(
  before: ReadsByPlace,
  now: ReadsByPlace,
  isNew: (name: string) => boolean,
): ReadonlyMap<string, Successor> {
  const found = new Map<string, Map<string, { old: NameRead; new: NameRead }[]>>()
  for (const [key, reads] of before) {
    const after = now.get(key)
    if (after === undefined) continue
    const [name, ...otherNames] = [...reads.keys()].filter(each => !after.has(each))
    const [to, ...others] = [...after.keys()].filter(each => !reads.has(each))
    if (name === undefined || to === undefined || otherNames.length + others.length > 0 || !isNew(to)) continue
    const [oldRead] = reads.get(name) ?? []
    const [newRead] = after.get(to) ?? []
    if (oldRead === undefined || newRead === undefined) continue
    const votes = found.get(name) ?? new Map<string, { old: NameRead; new: NameRead }[]>()
    found.set(name, votes)
    const places = votes.get(to) ?? []
    votes.set(to, places)
    places.push({ old: oldRead, new: newRead })
  }
  const successors = new Map<string, Successor>()
  for (const [name, votes] of found) {
    const [best, second] = [...votes].sort(([, left], [, right]) => right.length - left.length)
    if (best === undefined || (second !== undefined && second[1].length === best[1].length)) continue
    const [to, reads] = best
    const shown = shownOf(reads.map(each => each.old))
    const evidence = [...reads].sort((left, right) => Number(right.old === shown) - Number(left.old === shown))
    successors.set(name, {
      to,
      evidence: evidence
        .slice(0, evidenceShown)
        .map(each => ({ old: placeOfSpan(each.old.at), new: placeOfSpan(each.new.at) })),
    })
  }
  return successors
}

/** Reads of groups by what stands around the name: file, statement, keyword, and the text without the name. */
function readsByPlace({ index }: Side, successors: ReadonlyMap<string, Successor>): ReadsByPlace {
  const exchanges = [...successors].map(([name, { to }]) => ({ name, written: asWritten(name), to }))
  const found = new Map<string, Map<string, NameRead[]>>()
  for (const [name, reads] of index.groups) {
    const written = asWritten(name)
    for (const read of reads) {
      if (passedOnTo(read) !== undefined) continue
      let text = textAt(read).replaceAll(written, '\0')
      for (const each of exchanges) {
        if (each.name !== name && text.includes(each.name)) text = text.replaceAll(each.written, each.to)
      }
      const key = [pathKey(read.at.file.path), ownerKey(read.owner), read.slot, text].join('\n')
      const names = found.get(key) ?? new Map<string, NameRead[]>()
      found.set(key, names)
      const same = names.get(name)
      if (same === undefined) names.set(name, [read])
      else same.push(read)
    }
  }
  return found
}

/** A group's name in a text, not as a part of another one. */
function asWritten(name: string): RegExp {
  return new RegExp(`(?<![\\w-])${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\w-])`, 'g')
}

/** Playbooks moved into a directory of their own, and roles changed dashes into underscores: the same file. */
function pathKey(path: string): string {
  return path.replace(/^(?:extra_)?playbooks\//, '').replaceAll('-', '_')
}

function ownerKey(owner: Owner): string {
  switch (owner.kind) {
    case 'statement':
      return plainName(owner.placed.statement.name ?? '')
    case 'play':
      return playKey(owner.play)
    case 'role-entry':
      return owner.entry.role
    case 'import':
    case 'template':
      return ''
    case 'definition':
      return owner.defined.name
  }
}

/** What a play does, in short: its name may have come later. */
function playKey({ roles, preTasks, tasks, postTasks }: Play): string {
  const entries = roles.map(entry => ('role' in entry ? plainName(entry.role) : ''))
  const statements = [...preTasks, ...tasks, ...postTasks].map(each =>
    each.kind === 'unreadable' ? '' : plainName(each.name ?? ''),
  )
  return [...entries, ...statements].join(' ')
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]+/g, ' ')
}

/** The text a read stands in: the value, or its line of a template. */
function textAt({ at, owner }: NameRead): string {
  const { text } = at.file
  if (owner.kind !== 'template') return text.slice(at.start, at.end)
  const end = text.indexOf('\n', at.start)
  return text.slice(text.lastIndexOf('\n', at.start - 1) + 1, end === -1 ? text.length : end).trim()
}
