import type { PartialAddress, TaskAddress } from '../../addresses/address.js'
import type { AddressedTask, Addresses } from '../../addresses/addressed.js'
import { likenessOf } from '../../audit/matching/lines.js'
import { isTellingTask } from '../../audit/matching/meaning.js'
import { groupedBy } from './grouped.js'

/** What comes nearest to a task that is gone, and why it is not taken for it. */
export interface NearestTask {
  readonly task: AddressedTask
  readonly why: string
}

/** Which task an address names. `how` says in words how it was recognised and what is different. */
export type Found =
  /** It does the same as before, under whatever name and in whatever role. */
  | { readonly state: 'same'; readonly task: AddressedTask; readonly how: string }
  | { readonly state: 'changed'; readonly task: AddressedTask; readonly how: string }
  /** The address leaves open which of these it means. */
  | { readonly state: 'ambiguous'; readonly among: readonly AddressedTask[] }
  | { readonly state: 'gone'; readonly nearest?: NearestTask }

/**
 * Finds the task an address names. With a content hash: the same content under the same name, else under another name or in
 * another role where it stands once; then what has its name and changed. Without one only what has exactly this owner and
 * name, and the module and ordinal as far as they are given.
 */
export function findTask(now: Addresses, asked: PartialAddress): Found {
  const lookup = lookupOf(now)
  if (asked.content === undefined) return findExactly(lookup, asked)
  const found = findContent(lookup, asked, asked.content) ?? findChanged(lookup, asked)
  if (found !== undefined) return found
  const nearest = nearestTask(now, asked)
  return { state: 'gone', ...(nearest === undefined ? {} : { nearest }) }
}

interface Lookup {
  readonly addresses: Addresses
  readonly byOwner: ReadonlyMap<string, readonly AddressedTask[]>
  readonly byName: ReadonlyMap<string, readonly AddressedTask[]>
  readonly byContent: ReadonlyMap<string, readonly AddressedTask[]>
}

const lookups = new WeakMap<Addresses, Lookup>()

function lookupOf(addresses: Addresses): Lookup {
  const known = lookups.get(addresses)
  if (known !== undefined) return known
  const tasks = addresses.all()
  const made: Lookup = {
    addresses,
    byOwner: groupedBy(tasks, ({ address: { owner } }) => ownerKey(owner)),
    byName: groupedBy(tasks, ({ address: { name } }) => name),
    byContent: groupedBy(tasks, ({ address: { content } }) => content),
  }
  lookups.set(addresses, made)
  return made
}

/** Roles were renamed by exchanging hyphens for underscores. */
function ownerKey(owner: string): string {
  return owner.replaceAll('-', '_')
}

function findExactly({ addresses, byOwner }: Lookup, asked: PartialAddress): Found {
  const { owner, name, module, ordinal } = asked
  const among = (byOwner.get(ownerKey(owner)) ?? []).filter(
    ({ address }) =>
      address.owner === owner &&
      address.name === name &&
      (module === undefined || address.module === module) &&
      (ordinal === undefined || address.ordinal === ordinal),
  )
  const [task, ...more] = among
  if (task !== undefined) {
    return more.length === 0
      ? { state: 'same', task, how: 'the one task at this address' }
      : { state: 'ambiguous', among }
  }
  const nearest = nearestTask(addresses, asked)
  return { state: 'gone', ...(nearest === undefined ? {} : { nearest }) }
}

function findContent({ byContent }: Lookup, asked: PartialAddress, content: string): Found | undefined {
  const alike = (byContent.get(content) ?? []).filter(
    ({ address }) => asked.module === undefined || address.module === asked.module,
  )
  const inOwner = alike.filter(({ address }) => ownerKey(address.owner) === ownerKey(asked.owner))
  const named = inOwner.filter(({ address }) => address.name === asked.name)
  const exactly = named.filter(({ address }) => address.owner === asked.owner)
  const task = closestOrdinal(exactly.length > 0 ? exactly : named, asked.ordinal ?? 1)
  const count = exactly.length > 0 ? exactly.length : named.length
  if (task !== undefined) return { state: 'same', task, how: `${sameHow(asked, task)}${oneOf(count)}` }
  const [renamed, ...moreRenamed] = inOwner
  if (renamed !== undefined && moreRenamed.length === 0) {
    return { state: 'same', task: renamed, how: `the same content under the name ${renamed.address.name}` }
  }
  const [moved, ...moreMoved] = asked.name === '-' ? [] : alike.filter(({ address }) => address.name === asked.name)
  if (moved !== undefined && moreMoved.length === 0) {
    return { state: 'same', task: moved, how: `the same name and content in ${moved.address.owner}` }
  }
  const [elsewhere, ...moreElsewhere] = alike
  if (elsewhere !== undefined && moreElsewhere.length === 0 && isTellingTask(elsewhere.task)) {
    return {
      state: 'same',
      task: elsewhere,
      how: `the same content under the name ${elsewhere.address.name} in ${elsewhere.address.owner}`,
    }
  }
  return undefined
}

function sameHow(asked: PartialAddress, { address }: AddressedTask): string {
  if (address.owner !== asked.owner) return `the same name and content in ${address.owner}`
  return 'the same name and content'
}

/** Alike tasks are told apart by the order they stand in. */
function closestOrdinal(tasks: readonly AddressedTask[], ordinal: number): AddressedTask | undefined {
  const far = ({ address }: AddressedTask): number => Math.abs(address.ordinal - ordinal)
  return tasks.toSorted((left, right) => far(left) - far(right))[0]
}

function findChanged({ byOwner, byName }: Lookup, asked: PartialAddress): Found | undefined {
  // No name says which of the tasks without one it is.
  if (asked.name === '-') return undefined
  const ordinal = asked.ordinal ?? 1
  const inOwner = byOwner.get(ownerKey(asked.owner)) ?? []
  const alike = inOwner.filter(({ address }) => address.name === asked.name)
  const exactly = alike.filter(({ address }) => address.owner === asked.owner)
  const named = exactly.length > 0 ? exactly : alike
  const ofModule = named.filter(({ address }) => asked.module === undefined || address.module === asked.module)
  const task = ofModule.find(({ address }) => address.ordinal === ordinal)
  if (task !== undefined) {
    const how = `the same name and module in ${task.address.owner}${oneOf(ofModule.length)}; it says something else`
    return { state: 'changed', task, how }
  }
  // There were more of them: which of them is left cannot be told by the name.
  if (ofModule.length > 0 || ordinal > 1) return undefined
  const other = only(named)
  if (other !== undefined && isTellingTask(other.task)) {
    const how = `the same name in ${other.address.owner}, with the module ${other.address.module}`
    return { state: 'changed', task: other, how }
  }
  if (named.length > 0) return undefined
  const isOfModule = ({ address }: AddressedTask): boolean =>
    asked.module === undefined || address.module === asked.module
  const longer = only(inOwner.filter(each => isOfModule(each) && isLonger(each.address.name, asked.name)))
  if (longer !== undefined) {
    const how = `the same module in ${longer.address.owner} under the name ${longer.address.name}; it says something else`
    return { state: 'changed', task: longer, how }
  }
  const moved = only((byName.get(asked.name) ?? []).filter(isOfModule))
  if (moved === undefined) return undefined
  const isSameRoleElsewhere = lastPart(moved.address.owner) === lastPart(asked.owner)
  if (asked.name.split('-').length < (isSameRoleElsewhere ? 3 : tellingWords)) return undefined
  const how = `the same name and module in ${moved.address.owner}; it says something else`
  return { state: 'changed', task: moved, how }
}

/** Names got the role's name put before them (`CRI-O | Write its configuration`), or lost it. */
function isLonger(name: string, asked: string): boolean {
  const [short, long] = name.length < asked.length ? [name, asked] : [asked, name]
  return long.endsWith(`-${short}`) && short.includes('-')
}

/** What a role is called, wherever it stands. */
function lastPart(owner: string): string {
  return ownerKey(owner.slice(owner.lastIndexOf('/') + 1))
}

function only<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined
}

function oneOf(count: number): string {
  return count > 1 ? `, one of ${count} of them` : ''
}

/** Names of fewer words (`Gather OS specific variables`) stand in several roles. */
const tellingWords = 5

/** With less of its name in common a task is not worth a look. */
const leastLikeness = 0.4

/** The task with the most words of the name in common, the same role and module counting a little; undefined where none has any. */
function nearestTask(now: Addresses, asked: PartialAddress): NearestTask | undefined {
  const words = asked.name.split('-').filter(word => word !== '')
  const owner = ownerKey(asked.owner)
  let best: { readonly task: AddressedTask; readonly score: number } | undefined
  for (const task of now.all()) {
    const likeness = likenessOf(
      words,
      task.address.name.split('-').filter(word => word !== ''),
    )
    if (likeness < leastLikeness) continue
    const isSameOwner = ownerKey(task.address.owner) === owner
    const score = likeness + (isSameOwner ? 0.3 : 0) + (task.address.module === asked.module ? 0.2 : 0)
    if (best === undefined || score > best.score) best = { task, score }
  }
  return best && { task: best.task, why: whyNot(asked, best.task.address) }
}

function whyNot(asked: PartialAddress, address: TaskAddress): string {
  const parts = [
    ...(address.name === asked.name ? ['the same name'] : ['another name']),
    ...(ownerKey(address.owner) === ownerKey(asked.owner) ? [] : ['in another role']),
    ...(asked.module === undefined || address.module === asked.module ? [] : [`another module (${address.module})`]),
    ...(asked.content === undefined || address.content === asked.content ? [] : ['and it says something else']),
  ]
  return parts.join(', ')
}
