import { createHash } from 'node:crypto'
import type { Task } from '../ansible/statement.js'
import { hasTemplate, parseExpression, parseTemplate } from '../jinja/parser.js'
import { printExpression } from '../jinja/print.js'
import type { Span } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import { foldBlanks, printNode } from '../yaml/print.js'

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

/** An address as text, also one of which not everything is known; the ordinal is left out where it is the first. */
export function addressText({ owner, name, module = '', ordinal = 1, content }: PartialAddress): string {
  const which = `${module}${ordinal === 1 ? '' : `#${ordinal}`}`
  return `${owner}:${name}${which === '' ? '' : `:${which}`}${content === undefined ? '' : `@${content}`}`
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

/** A module by the last word of its full name; `-` where a template gives it, since what it is is not known. */
export function moduleWord({ module }: Pick<Task, 'module'>): string {
  return /^[\w.]+$/.test(module) ? lastWord(module) : '-'
}

function lastWord(module: string): string {
  return module.slice(module.lastIndexOf('.') + 1)
}

/** Keywords that a task has as members of its own, and its name. */
const readAbove = new Set(['name', 'when', 'tags', 'vars', 'loop', 'args'])

/** Keywords and arguments whose texts are expressions without braces. */
const expressionKeywords = new Set(['changed_when', 'failed_when', 'until', 'that', 'break_when'])

/**
 * A hash of what a task says: its module, arguments, conditions, loop, tags and all other keywords, not its name. Quotes,
 * order of keys, comments, blanks in expressions, short or full names of modules, `k=v` arguments and the ways to write a
 * mode do not count.
 */
export function contentOf(task: Task): string {
  const { named, raw, template } = task.arguments
  const parts: [key: string, value: string][] = [['module', task.module]]
  for (const [key, node] of named) parts.push([`arguments.${key}`, argument(key, node)])
  if (raw !== undefined) parts.push(['arguments', printNode(raw, printTemplate)])
  if (template !== undefined) parts.push(['args', printNode(template, printTemplate)])
  for (const [index, node] of task.when.entries()) parts.push([`when.${index}`, printNode(node, printCondition)])
  for (const [index, node] of task.tags.entries()) parts.push([`tags.${index}`, printNode(node, printTemplate)])
  for (const { name, node } of task.vars) parts.push([`vars.${name}`, printNode(node, printTemplate)])
  if (task.loop !== undefined) parts.push([`loop ${task.loop.plugin}`, printNode(task.loop.terms, printTemplate)])
  for (const [keyword, { value }] of task.keywords) {
    if (!readAbove.has(keyword)) parts.push([keyword, argument(keyword, value)])
  }
  const text = parts
    .map(([key, value]) => `${key}: ${value}`)
    .toSorted()
    .join('\n')
  return shortHash(text)
}

/** The first hex digits of SHA-256. */
export function shortHash(text: string, digits = 7): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

function argument(key: string, node: Node): string {
  // 0644 is the number that the text "0644" stands for.
  if (key === 'mode' && node.kind === 'scalar' && typeof node.data === 'bigint') return `0${node.data.toString(8)}`
  return printNode(node, expressionKeywords.has(key) ? printCondition : printTemplate)
}

const nowhere: Span = { file: { path: '', text: '' }, start: 0, end: 0 }

/** A condition as this program writes expressions; as it is where it cannot be read. */
function printCondition(text: string): string {
  if (hasTemplate(text)) return printTemplate(text)
  const parsed = parseExpression(text, nowhere)
  return parsed.kind === 'syntax-problem' ? foldBlanks(text) : printExpression(parsed)
}

/** A text with its `{{ … }}` as this program writes expressions; blanks outside of them are part of what it says. */
function printTemplate(text: string): string {
  const parsed = hasTemplate(text) ? parseTemplate(text, nowhere) : undefined
  if (parsed === undefined || parsed.kind === 'syntax-problem') return text
  const parts = parsed.body.map(part =>
    part.kind === 'text' ? part.text : part.kind === 'output' ? `{{${printExpression(part.expression)}}}` : undefined,
  )
  return parts.includes(undefined) ? text : parts.join('')
}
