import { createHash } from 'node:crypto'
import type { Task } from '../ansible/statement.js'
import { printNode } from '../yaml/print.js'

/**
 * What a task is, wherever it stands: `OWNER:NAME:MODULE#ORDINAL@CONTENT`, as in
 * `kubernetes/preinstall:disable-swap:command@1f3c9a2`. No line, no file and no number of a file is part of it.
 */
export interface TaskAddress {
  /** The role, as its path under `roles/`; outside of roles the file (`playbooks/cluster.yml`). */
  readonly owner: string
  /** The task's name as `wordsOf` gives it; `-` for a task without a name. */
  readonly name: string
  /** The last word of the module's full name: `command`, `mount`. */
  readonly module: string
  /** From 1, among the tasks with the same owner, name and module: files by path, in a file from top to bottom. */
  readonly ordinal: number
  /** The first 7 hex digits of SHA-256 of what the task says (`contentOf`). */
  readonly content: string
}

/** What of an address somebody wrote: the name suffices where it says which task is meant. */
export type PartialAddress = Pick<TaskAddress, 'owner' | 'name'> & Partial<TaskAddress>

const SEVEN = /^[0-9a-f]{7}$/

/** An address as text; the ordinal is left out where it is the first. */
export function addressText({ owner, name, module, ordinal, content }: TaskAddress): string {
  return `${owner}:${name}:${module}${ordinal === 1 ? '' : `#${ordinal}`}@${content}`
}

/**
 * Reads an address, also one whose end was left out (`OWNER:NAME`, `OWNER:NAME:MODULE`). Undefined where the text is none.
 * A name is compared in the form `wordsOf` gives it, so it may be written as the task has it.
 */
export function parseAddress(text: string): PartialAddress | undefined {
  const [whole = '', content, ...noMore] = text.split('@')
  const [owner = '', written = '', last, ...more] = whole.split(':')
  if (owner === '' || written === '' || noMore.length > 0 || more.length > 0) return undefined
  if (content !== undefined && !SEVEN.test(content)) return undefined
  const [module, ordinal, ...noMoreEither] = (last ?? '').split('#')
  if (noMoreEither.length > 0 || (ordinal !== undefined && !/^[1-9]\d*$/.test(ordinal))) return undefined
  return {
    owner: owner.replace(/^roles\//, ''),
    name: wordsOf(written),
    ...(module === undefined || module === '' ? {} : { module: lastWord(module) }),
    ...(ordinal === undefined ? {} : { ordinal: Number(ordinal) }),
    ...(content === undefined ? {} : { content }),
  }
}

/** A task's name in small letters, with one hyphen for everything between words: `disable-swap`. */
export function wordsOf(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
  return words === '' ? '-' : words
}

/** A module by the last word of its full name. */
export function moduleWord({ module }: Task): string {
  // A templated module is no word; what it may be is not known.
  return lastWord(module).replaceAll(/[^\w.]+/g, '') || '-'
}

function lastWord(module: string): string {
  return module.slice(module.lastIndexOf('.') + 1)
}

/** Keywords that a task has as members of its own, and its name. */
const readAbove = new Set(['name', 'when', 'tags', 'vars', 'loop', 'args'])

/**
 * A hash of what a task says: its module, arguments, conditions, loop, tags and all other keywords, not its name. Quotes,
 * order of keys, comments, short or full names of modules and `k=v` arguments do not count.
 */
export function contentOf(task: Task): string {
  const { named, raw, template } = task.arguments
  const parts: [key: string, value: string][] = [['module', task.module]]
  for (const [key, node] of named) parts.push([`arguments.${key}`, printNode(node)])
  if (raw !== undefined) parts.push(['arguments', printNode(raw)])
  if (template !== undefined) parts.push(['args', printNode(template)])
  for (const [index, node] of task.when.entries()) parts.push([`when.${index}`, printNode(node)])
  for (const [index, node] of task.tags.entries()) parts.push([`tags.${index}`, printNode(node)])
  for (const { name, node } of task.vars) parts.push([`vars.${name}`, printNode(node)])
  if (task.loop !== undefined) parts.push([`loop ${task.loop.plugin}`, printNode(task.loop.terms)])
  for (const [keyword, { value }] of task.keywords) {
    if (!readAbove.has(keyword)) parts.push([keyword, printNode(value)])
  }
  const text = parts
    .map(([key, value]) => `${key}: ${value}`)
    .toSorted()
    .join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, 7)
}
