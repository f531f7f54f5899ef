import type { Task } from '../ansible/statement.js'
import { compareText } from '../inventory/inventory.js'
import { known, type Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import { chainOf, type Frame } from './frame.js'

/**
 * The tags of a task: its own and those of all it stands in, sorted. Tags of a dynamic include select the include only;
 * its `apply:` and what stands around it reach inside (rule 93).
 */
export function tagsOf(frame: Frame, task: Task, scope: Scope): readonly string[] {
  const own = task.tags.flatMap(node => textsOf(node, scope))
  return sortedTags([...tagsOfFrame(frame, scope), ...own])
}

/** Frames are shared by all their tasks; tags depend on variables only in theory, and are taken at first sight. */
const tagsByFrame = new WeakMap<Frame, readonly string[]>()

/** The tags of a frame with those of all it stands in, sorted. */
export function tagsOfFrame(frame: Frame, scope: Scope): readonly string[] {
  const before = tagsByFrame.get(frame)
  if (before) return before
  const tags = collectTags(frame, scope)
  tagsByFrame.set(frame, tags)
  return tags
}

function collectTags(frame: Frame, scope: Scope): readonly string[] {
  const nodes = chainOf(frame).flatMap(({ directives, include }) =>
    include ? (include.apply?.tags ?? []) : directives.tags,
  )
  return sortedTags(nodes.flatMap(node => textsOf(node, scope)))
}

/** Each tag once, in order. */
export function sortedTags(tags: readonly string[]): readonly string[] {
  return [...new Set(tags)].sort(compareText)
}

/** The tags of a node: one text is split at its commas, the texts of a list are taken as they are. */
function textsOf(node: Node, scope: Scope): readonly string[] {
  if (node.kind === 'list') return node.items.flatMap(item => tagsIn(evaluateNode(item, scope)))
  return splitAtCommas(tagsIn(evaluateNode(node, scope)))
}

/** The tags of a node with nothing put in for the templates in it. */
export function tagsAsWritten(node: Node): readonly string[] {
  if (node.kind === 'list') return node.items.flatMap(item => (item.kind === 'scalar' ? tagsIn(known(item.data)) : []))
  return node.kind === 'scalar' ? splitAtCommas(tagsIn(known(node.data))) : []
}

function splitAtCommas(tags: readonly string[]): readonly string[] {
  return tags.flatMap(tag => tag.split(',').map(part => part.trim())).filter(tag => tag !== '')
}

function tagsIn(value: Value): readonly string[] {
  const items = value.kind === 'known' && Array.isArray(value.data) ? (value.data as readonly Value[]) : [value]
  return items.flatMap(item =>
    item.kind === 'known' && (typeof item.data === 'string' || typeof item.data === 'bigint')
      ? [String(item.data)]
      : [],
  )
}

/** Why `--tags` or `--skip-tags` leave a task out; undefined when they do not. */
export function leftOutByTags(
  tags: readonly string[],
  only: readonly string[],
  skip: readonly string[],
): string | undefined {
  const has = (tag: string): boolean => tags.includes(tag)
  const asked = only.length === 0 ? ['all'] : only
  const named = tags.some(tag => asked.includes(tag))
  const chosen =
    named ||
    (has('always') && !has('never')) ||
    (asked.includes('all') && !has('never')) ||
    (asked.includes('tagged') && tags.length > 0 && !has('never')) ||
    (asked.includes('untagged') && tags.length === 0)
  if (!chosen) {
    return has('never') ? 'tagged never, and not asked for with --tags' : `not selected by --tags ${only.join(',')}`
  }
  if (skip.some(tag => has(tag) || (tag === 'all' && !has('always')) || (tag === 'tagged' && tags.length > 0))) {
    return `left out by --skip-tags ${skip.join(',')}`
  }
  if (skip.includes('untagged') && tags.length === 0) return 'left out by --skip-tags untagged'
  return undefined
}
