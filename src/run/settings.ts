import { readDefinitions } from '../ansible/read-tasks.js'
import { ANY_NAME, type Definition } from '../ansible/statement.js'
import { hasTemplate } from '../jinja/parser.js'
import { evaluateTemplate } from '../jinja/template.js'
import { known, type Truth, unknown, type Value } from '../jinja/value.js'
import { entryOfAny } from '../variables/layers.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Entry, Scope } from '../variables/scope.js'
import { storedValue } from '../variables/stored.js'
import type { Node } from '../yaml/node.js'
import { addGap, isTrue, type Setting, textOf } from './action.js'
import { allOf } from './conditions.js'
import { inheritedKeyword } from './frame.js'
import { filesBelow } from './role.js'
import { type Candidate, findFiles, pathInCheckout, searchDirectories } from './search.js'
/** The modules that set variables, by full name: the next item of their loop already sees what one item has set. */
export const settings: Readonly<Record<string, (setting: Setting) => void>> = {
  'ansible.builtin.set_fact': setFact,
  'ansible.builtin.include_vars': includeVars,
}

function entry(origin: Entry['origin'], at: Entry['at'], content: Entry['content'], { truth, once }: Setting): Entry {
  const everyHost = once ? ({ everyHost: true } as const) : {}
  if (truth.kind !== 'unknown') return { origin, at, content, ...everyHost }
  const names = [...new Set(truth.causes.flatMap(({ name }) => name ?? []))]
  const says = names.length === 0 ? 'set here under a condition' : `set here depending on ${names.join(', ')}`
  return { origin, at, content, maybe: [{ says, at }, ...truth.causes], ...everyHost }
}

function setFact(setting: Setting): void {
  const { walk, task, scope, invocation, itemsKnown } = setting
  const { host, truth } = ownerOf(setting)
  const set: [string, Entry][] = []
  for (const [key, value] of invocation.arguments) {
    if (key === 'cacheable') continue
    const name = textOf(evaluateTemplate(key, task.at, scope)) ?? key
    const node = task.arguments.named.get(key)
    const stored = itemsKnown || node === undefined ? value : afterAnyItems(name, node, value, scope)
    const at = node?.span ?? task.at
    set.push([name, entry('set_fact', at, contentOf(asFact(storedValue(stored)), at), { ...setting, truth })])
  }
  for (const [name, made] of set) walk.state.storesOf(host).facts.set(name, made)
  walk.state.changes.note('hostvars')
}

/** The host that what a module sets belongs to: with `delegate_facts` the one the task is delegated to. */
export function ownerOf({ by: host, task, frame, scope, truth }: Omit<Setting, 'invocation' | 'itemsKnown'>): {
  readonly host: string
  readonly truth: Truth
} {
  const to = inheritedKeyword(frame, task, 'delegate_to')
  const facts = inheritedKeyword(frame, task, 'delegate_facts')
  if (to === undefined || facts === undefined || !isTrue(evaluateNode(facts, scope))) return { host, truth }
  const name = evaluateNode(to, scope)
  if (name.kind === 'known') return { host: textOf(name) ?? host, truth }
  const says = 'which host the fact is set for is not known'
  return { host, truth: allOf([truth, unknown([{ says, at: to.span }])]) }
}

/** What builds on its own value (a list that grows) has, after nobody knows how many items, a value nobody knows. */
function afterAnyItems(name: string, node: Node, value: Value, scope: Scope): Value {
  if (!scope.withReads(() => evaluateNode(node, scope)).reads.has(name)) return value
  return unknown([{ says: `${name} is set for each item of a loop whose items are not known`, at: node.span, name }])
}

/** A text that still holds a template (`{{ '{{' }} x }}`) is templated again each time the fact is used. */
function contentOf(value: Value, at: Entry['at']): Entry['content'] {
  return value.kind === 'known' && typeof value.data === 'string' && hasTemplate(value.data)
    ? { node: { kind: 'scalar', data: value.data, span: at } }
    : { value }
}

/** `set_fact` turns the texts yes, no, true and false into booleans. */
function asFact(value: Value): Value {
  if (value.kind !== 'known' || typeof value.data !== 'string') return value
  const text = value.data.toLowerCase()
  if (text === 'yes' || text === 'true') return known(true)
  return text === 'no' || text === 'false' ? known(false) : value
}

function includeVars(setting: Setting): void {
  const { walk, frame, invocation } = setting
  const { host, truth } = ownerOf(setting)
  const under = textOf(invocation.arguments.get('name'))
  const directory = invocation.arguments.get('dir')
  const file = invocation.arguments.get('file') ?? invocation.raw
  const found =
    directory === undefined
      ? file && findFiles(walk.state.code, file, searchDirectories(frame, 'vars'))
      : directoryFiles(setting, directory)
  if (found === undefined) return
  if (found.absent || found.candidates.length === 0) {
    const says = found.absent
      ? 'include_vars: no such file in the checkout'
      : 'include_vars: which file it reads is not known'
    addGap(setting, says, truth)
    return
  }
  for (const { path, because } of found.candidates) {
    const node = walk.state.code.document(path)
    if (node === undefined) continue
    const reached = because.length === 0 ? truth : allOf([truth, { kind: 'unknown', causes: because }])
    const definitions: readonly Definition[] =
      under === undefined ? readDefinitions(node) : [{ name: under, node, at: node.span }]
    for (const found of definitions) {
      const { name, node: content, at } = found
      const set =
        name === ANY_NAME
          ? entryOfAny('include_vars', found)
          : entry('include_vars', at, { node: content }, { ...setting, truth: reached })
      walk.state.storesOf(host).includedVars.set(name, set)
    }
  }
  walk.state.changes.note('hostvars')
}

function directoryFiles(
  { walk, frame, task, invocation }: Setting,
  directory: Value,
): { candidates: readonly Candidate[]; absent: boolean } {
  const name = textOf(directory) ?? pathInCheckout(directory)
  if (name === undefined) return { candidates: [], absent: false }
  const folders = [...searchDirectories(frame, 'vars').map(folder => `${folder}/${name}`), name]
  const folder = folders.find(path => walk.state.code.tree.entryKind(path) === 'directory')
  const below = folder === undefined ? [] : filesBelow(walk.state.code, folder)
  const depth = depthOf(invocation.arguments.get('depth'))
  const levels = (path: string): number => path.slice((folder ?? '').length + 1).split('/').length
  const because = depth === undefined ? [{ says: 'how deep include_vars looks is not known', at: task.at }] : []
  const files = depth === undefined || depth === 0 ? below : below.filter(path => levels(path) <= depth)
  return { candidates: files.map(path => ({ path, because })), absent: folder === undefined }
}

/** How many levels down `include_vars` looks; 0, as without it, is all the way. Undefined where that is not known. */
function depthOf(value: Value | undefined): number | undefined {
  if (value === undefined) return 0
  const depth = value.kind === 'known' ? Number(value.data) : Number.NaN
  return Number.isNaN(depth) ? undefined : depth
}
