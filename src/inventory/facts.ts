import type { Dict, Key, Value } from '../jinja/value.js'
import { type Report, UsageError } from '../source/diagnostic.js'
import { placeOf, type SourceFile, type Span } from '../source/text.js'
import { readJson } from '../yaml/json.js'
import { entryOf, type MapNode, type Node } from '../yaml/node.js'
import { dataValue } from './data.js'
import { openPath } from './opened.js'
import { nameOf } from './yaml-inventory.js'

/** What facts of a file that names no host are for. */
export const ANY_HOST = '*'

const EXPECTED = "expected a JSON object of facts, or what 'ansible -m setup' prints"

/**
 * Facts by host, `*` for those that name no host. A file holds what `ansible HOSTS -m setup` prints (any number of
 * hosts, colour codes and warnings allowed, also with `-o` or the json callback), a JSON object of facts, an object with
 * `ansible_facts`, or an object of such objects by host. A directory holds any of these, and objects in files named after
 * their hosts, as `--tree` and the jsonfile fact cache write them; a prefix of all their names before those of `hosts` is
 * that of the cache plugin. Names lose the prefix `ansible_` as in Ansible's `ansible_facts`; those without it stay. A host
 * that did not answer is reported (facts-malformed) and left out. Throws UsageError, with file, line and what was expected,
 * for anything else, and where nobody answered.
 */
export function readFacts(path: string, report: Report, hosts: Iterable<string> = []): ReadonlyMap<string, Dict> {
  const opened = openPath(path)
  if (opened === undefined) throw new UsageError(`${path}: expected a file or directory of facts, found none`)
  const facts = new Map<string, Dict>()
  const files =
    opened.kind === 'file'
      ? [opened.path]
      : opened.tree.list('').filter(name => !name.startsWith('.') && opened.tree.entryKind(name) === 'file')
  const prefix = opened.kind === 'file' ? '' : prefixOf(files.map(withoutEnding), new Set(hosts))
  for (const name of files) {
    const file = opened.tree.read(name)
    if (file === undefined) {
      const refusal = opened.tree.diagnostics()[0]
      throw new UsageError(refusal ? `${placeOf(refusal.at)}: ${refusal.message}` : `${path}: the file cannot be read`)
    }
    const host = opened.kind === 'file' ? ANY_HOST : withoutEnding(name).slice(prefix.length)
    for (const [each, read] of readFile(file, host, report)) {
      if (facts.has(each)) {
        const message = `there are facts of ${each} in another file too; these count`
        report({ code: 'facts-malformed', severity: 'warning', message, at: { file, start: 0, end: 0 } })
      }
      facts.set(each, read)
    }
  }
  if (facts.size > 0) return facts
  const expected =
    files.length > 0 ? 'the facts of a host, but none answered' : 'one JSON file of facts a host, found none'
  throw new UsageError(`${path}${opened.kind === 'file' ? ':1' : ''}: expected ${expected}`)
}

function withoutEnding(name: string): string {
  return name.replace(/\.json$/, '')
}

/**
 * What the cache plugin puts before the names of all hosts: nothing where a file is called like a host, else what stands
 * before all names and makes the most of them those of hosts.
 */
function prefixOf(names: readonly string[], hosts: ReadonlySet<string>): string {
  if (names.some(name => hosts.has(name))) return ''
  const counts = new Map<string, number>()
  const [first = ''] = names
  const common = names.reduce((before, name) => before.slice(0, sharedLength(before, name)), first).length
  for (const name of names) {
    for (let length = 1; length <= Math.min(common, name.length - 1); length++) {
      if (!hosts.has(name.slice(length))) continue
      const prefix = name.slice(0, length)
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
    }
  }
  const [best] = [...counts].toSorted(([, left], [, right]) => right - left)
  return best?.[0] ?? ''
}

function sharedLength(left: string, right: string): number {
  let length = 0
  while (length < left.length && left[length] === right[length]) length++
  return length
}

function readFile(file: SourceFile, host: string, report: Report): ReadonlyMap<string, Dict> {
  // Colours would only stand in what ansible prints; a JSON text cannot hold an escape character.
  const plain: SourceFile = { path: file.path, text: file.text.replace(/^\uFEFF|\x1b\[[0-9;]*[A-Za-z]/g, '') }
  if (!/^\s*\{/.test(plain.text) && ANSWER.test(plain.text)) return readAnswers(plain, report)
  const root = readObject(withoutWarnings(plain))
  const byHost = factsByHost(root) ?? factsOfPlays(root, report)
  if (byHost) return byHost
  const failed = failureOf(root)
  if (failed !== undefined) {
    tellNoAnswer(host === ANY_HOST ? file.path : host, failed, root.span, report)
    return new Map()
  }
  return new Map([[host, factsFrom(root)]])
}

/** `node1 | SUCCESS => {`, `node2 | FAILED! => {`; of `-o` also `node3 | UNREACHABLE!: no route to host`. */
const ANSWER = /^(\S+) \| ([A-Z]+)(?:!?(?: \| rc=-?[0-9]+)?(?: \([a-z]+\))? =>\s*(?=\{)|!(?:: | => )(?!\{)(.*)$)/m

/** The file with blanks for the lines of warnings that went into it before a JSON text; what is left keeps its place. */
function withoutWarnings(file: SourceFile): SourceFile {
  const { path, text } = file
  const end = /^\s*\[[A-Z ]*WARNING\]/.test(text) ? text.search(/^\{/m) : -1
  return end < 1 ? file : { path, text: text.slice(0, end).replaceAll(/[^\n]/g, ' ') + text.slice(end) }
}

function readAnswers(file: SourceFile, report: Report): ReadonlyMap<string, Dict> {
  const facts = new Map<string, Dict>()
  const heads = [...file.text.matchAll(new RegExp(ANSWER, 'gm'))]
  let read = 0
  for (const head of heads) {
    // A line inside an earlier answer's text is no answer.
    if (head.index < read) continue
    const start = head.index + head[0].length
    const end = objectEnd(file.text, start)
    read = end
    const host = head[1] ?? ''
    if (head[3] !== undefined) {
      tellNoAnswer(host, head[3].trim(), { file, start: head.index, end: start }, report)
      read = start
      continue
    }
    const root = readObject({ path: file.path, text: file.text.slice(start, end) }, { file, start })
    if (head[2] === 'SUCCESS' || head[2] === 'CHANGED') facts.set(host, factsFrom(root))
    else tellNoAnswer(host, failureOf(root) ?? 'no reason given', { file, start: head.index, end }, report)
  }
  return facts
}

/** The end of the JSON object that begins at an offset: braces inside texts do not count. */
function objectEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = textEnd(text, at)
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return at + 1
  }
  return text.length
}

/** The closing quote of the JSON text that opens at an offset. */
function textEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}

function tellNoAnswer(host: string, why: string, at: Span, report: Report): void {
  const message = `there are no facts of ${host}: ${why.split('\n')[0]}`
  report({ code: 'facts-malformed', severity: 'warning', message, at })
}

/** Why a host did not answer, where the object says so. */
function failureOf(root: MapNode): string | undefined {
  const isTrue = (key: string): boolean => {
    const value = entryOf(root, key)?.value
    return value?.kind === 'scalar' && value.data === true
  }
  if (entryOf(root, 'ansible_facts')?.value.kind === 'map' && !isTrue('failed')) return undefined
  // A file of --tree does not say that it failed: it holds the result of a module that gave no facts.
  const isResult = ['changed', 'msg'].every(key => entryOf(root, key) !== undefined)
  if (!isTrue('failed') && !isTrue('unreachable') && !isResult) return undefined
  const message = entryOf(root, 'msg')?.value
  return message?.kind === 'scalar' ? String(message.data) : 'no reason given'
}

/** The JSON object of a text; `within` says where in which file the text stands, if it is only a part of it. */
function readObject(file: SourceFile, within = { file, start: 0 }): MapNode {
  const root = readJson(file)
  if (root?.kind === 'map') return root
  const got = root === undefined ? '' : `, got ${nameOf(root)}`
  const offset = root === undefined ? faultOffset(file) : root.span.start
  const at = within.start + offset
  throw new UsageError(`${placeOf({ file: within.file, start: at, end: at })}: ${EXPECTED}${got}`)
}

const JSON_TOKEN = /[\s{}[\]:,]+|-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity|"/y

/**
 * Where the text stops being JSON. JavaScript's reader names the place for some faults only; an unknown word is found by
 * looking at the tokens.
 */
function faultOffset(file: SourceFile): number {
  const end = file.text.trimEnd().length
  try {
    JSON.parse(file.text)
  } catch (error) {
    const position = error instanceof Error ? /at position ([0-9]+)/.exec(error.message)?.[1] : undefined
    if (position !== undefined) return Math.min(Number(position), end)
  }
  for (let at = 0; at < end; ) {
    JSON_TOKEN.lastIndex = at
    const token = JSON_TOKEN.exec(file.text)
    if (token === null) return at
    at = token[0] === '"' ? textEnd(file.text, at) + 1 : JSON_TOKEN.lastIndex
  }
  return end
}

/** An object whose every value is an object of `ansible_facts` holds hosts. */
function factsByHost(root: MapNode): ReadonlyMap<string, Dict> | undefined {
  const facts = new Map<string, Dict>()
  for (const { key, value } of root.entries) {
    if (value.kind !== 'map' || entryOf(value, 'ansible_facts')?.value.kind !== 'map') return undefined
    facts.set(String(key.data), factsFrom(value))
  }
  return facts.size > 0 ? facts : undefined
}

/** What the json callback prints: plays, their tasks, and the result of each host; undefined for anything else. */
function factsOfPlays(root: MapNode, report: Report): ReadonlyMap<string, Dict> | undefined {
  const plays = listAt(root, 'plays')
  if (plays === undefined) return undefined
  const facts = new Map<string, Dict>()
  for (const play of plays) {
    for (const task of listAt(play, 'tasks') ?? []) {
      const hosts = task.kind === 'map' ? entryOf(task, 'hosts')?.value : undefined
      for (const { key, value } of hosts?.kind === 'map' ? hosts.entries : []) {
        if (value.kind !== 'map') continue
        const host = String(key.data)
        const failed = failureOf(value)
        if (failed !== undefined) tellNoAnswer(host, failed, value.span, report)
        else if (entryOf(value, 'ansible_facts') !== undefined) {
          facts.set(host, new Map([...(facts.get(host) ?? []), ...factsFrom(value)]))
        }
      }
    }
  }
  return facts
}

function listAt(node: Node, key: string): readonly Node[] | undefined {
  const value = node.kind === 'map' ? entryOf(node, key)?.value : undefined
  return value?.kind === 'list' ? value.items : undefined
}

function factsFrom(root: MapNode): Dict {
  const inner = entryOf(root, 'ansible_facts')?.value
  if (inner !== undefined && inner.kind !== 'map') {
    throw new UsageError(`${placeOf(inner.span)}: expected a JSON object under ansible_facts, got ${nameOf(inner)}`)
  }
  const facts = new Map<Key, Value>()
  for (const { key, value } of (inner ?? root).entries) facts.set(factName(key.data), dataValue(value))
  return facts
}

/** Ansible's namespace_facts: `ansible_local` alone keeps its prefix. */
function factName(key: Key): Key {
  return typeof key === 'string' && key.startsWith('ansible_') && key !== 'ansible_local' ? key.slice(8) : key
}
