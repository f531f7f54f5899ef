import type { PartialAddress } from '../../addresses/address.js'
import type { AddressedTask } from '../../addresses/addressed.js'
import type { Task } from '../../ansible/statement.js'
import { likenessOf, wordsIn } from '../../audit/matching/lines.js'
import type { PlacedStatement } from '../../audit/role-index.js'
import { printNode } from '../../yaml/print.js'
import { type Found, findTask } from './find-task.js'
import { addressedTask, matchingOf, placedTask, type Version } from './version.js'

/**
 * Finds the task an address of OLD names, where OLD is at hand: it says what the address means, and what `findTask` calls
 * gone is looked for by what the task does and where it stands (`matchSides`). An address that OLD does not have, or has
 * several of, is looked for in NOW as it is.
 */
export function findTaskAcross(old: Version, now: Version, address: PartialAddress): Found {
  const there = findTask(old.addresses, address)
  return there.state === 'same' ? followTask(old, now, there.task) : findTask(now.addresses, address)
}

/**
 * What a task of OLD is in NOW: what `findTask` says, but for alike tasks and for what it finds in another role, where
 * `matchSides` knows more, since it knows what all the others of OLD are now.
 */
export function followTask(old: Version, now: Version, task: AddressedTask): Found {
  const found = findTask(now.addresses, task.address)
  const placed = placedTask(old, task)
  const matching = matchingOf(old, now)
  const match = placed && matchedStatement(old, now, placed)
  const matched = match && addressedTask(now, match)
  if (matched !== undefined && isSameContent(matched, task)) {
    const isFound = found.state === 'same' && found.task === matched
    return {
      state: 'same',
      task: matched,
      how: isFound ? found.how : `the same content, in its place in ${matched.path}`,
    }
  }
  if (found.state === 'same' || found.state === 'changed') {
    const there = placedTask(now, found.task)
    const other = there && matching.oldStatementOf(there)
    const isOthers = other !== undefined && other !== placed
    if (isSameName(found.task, task) || !isOthers) return found
  }
  if (matched !== undefined) {
    const how = `it stands in the place of this one, and ${differences(task.task, matched.task)}`
    return { state: 'changed', task: matched, how }
  }
  const reworded = rewordedTask(old, now, task)
  if (reworded !== undefined) {
    const how = `most of what it says is said there, and ${differences(task.task, reworded.task)}`
    return { state: 'changed', task: reworded, how }
  }
  const nearest = found.state === 'gone' ? found.nearest?.task : found.state === 'ambiguous' ? undefined : found.task
  if (nearest === undefined) return { state: 'gone' }
  const why = found.state === 'gone' ? found.nearest?.why : 'it is what another task has become'
  return { state: 'gone', nearest: { task: nearest, why: `${why}; ${differences(task.task, nearest.task)}` } }
}

/**
 * What `matchSides` says a task or block is now; not what is left over of many that say the same, in another role and under
 * another name.
 */
export function matchedStatement(old: Version, now: Version, placed: PlacedStatement): PlacedStatement | undefined {
  const { statementOf, roleOf } = matchingOf(old, now)
  const there = statementOf(placed)
  const task = there && addressedTask(now, there)
  if (there === undefined || task === undefined) return there
  const role = placed.role === undefined ? undefined : roleOf(placed.role)
  const before = addressedTask(old, placed)
  if (there.role === role || (task.address.name !== '-' && before?.address.name === task.address.name)) return there
  const alike = now.addresses.all().filter(({ address }) => address.content === task.address.content)
  return alike.length === 1 ? there : undefined
}

/** So much of two tasks is alike that the one is the other in other words; a second one must not come near it. */
const [reworded, apart] = [0.65, 0.1]

/** The task of its role and module that says most of what a task says, unless that is what another one has become. */
function rewordedTask(old: Version, now: Version, { task, address }: AddressedTask): AddressedTask | undefined {
  const matching = matchingOf(old, now)
  const ours = wordsIn(textOf(task))
  const owner = address.owner.replaceAll('-', '_')
  const [best, second] = now.addresses
    .all()
    .flatMap(each => {
      const isAlike = each.address.owner.replaceAll('-', '_') === owner && each.address.module === address.module
      const placed = isAlike ? placedTask(now, each) : undefined
      if (!isAlike || (placed !== undefined && matching.oldStatementOf(placed) !== undefined)) return []
      return [{ each, likeness: likenessOf(ours, wordsIn(textOf(each.task))) }]
    })
    .toSorted((left, right) => right.likeness - left.likeness)
  if (best === undefined || best.likeness < reworded) return undefined
  return second !== undefined && best.likeness - second.likeness < apart ? undefined : best.each
}

function textOf({ at: { file, start, end } }: Task): string {
  return file.text.slice(start, end)
}

function isSameContent({ address: left }: AddressedTask, { address: right }: AddressedTask): boolean {
  return left.content === right.content && left.module === right.module
}

/** The one task of its owner with this name. */
function isSameName({ address: left }: AddressedTask, { address: right }: AddressedTask): boolean {
  return (
    left.owner.replaceAll('-', '_') === right.owner.replaceAll('-', '_') &&
    left.name === right.name &&
    left.name !== '-' &&
    left.ordinal === right.ordinal
  )
}

/** How many of a task's keys and arguments another one has with the same value, in words. */
function differences(old: Task, now: Task): string {
  const [ours, theirs] = [sayingsOf(old), sayingsOf(now)]
  const same = [...ours].filter(([key, value]) => theirs.get(key) === value).length
  return `${same} of its ${ours.size} keys ${same === 1 ? 'is' : 'are'} the same`
}

function sayingsOf(task: Task): ReadonlyMap<string, string> {
  const { named, raw, template } = task.arguments
  const found = new Map<string, string>([['module', task.module]])
  for (const [key, node] of named) found.set(`argument ${key}`, printNode(node))
  if (raw !== undefined) found.set('argument', printNode(raw))
  if (template !== undefined) found.set('args', printNode(template))
  if (task.when.length > 0) found.set('when', task.when.map(node => printNode(node)).join('\n'))
  if (task.tags.length > 0) found.set('tags', task.tags.map(node => printNode(node)).join('\n'))
  for (const { name, node } of task.vars) found.set(`vars ${name}`, printNode(node))
  if (task.loop !== undefined) found.set('loop', printNode(task.loop.terms))
  for (const [keyword, { value }] of task.keywords) {
    if (!saidAbove.has(keyword)) found.set(keyword, printNode(value))
  }
  return found
}

/** Keywords that a task has as members of its own, and its name. */
const saidAbove = new Set(['name', 'when', 'tags', 'vars', 'loop', 'args'])
