import { fullModuleName } from '../ansible/modules.js'
import type { Task } from '../ansible/statement.js'
import { hasTemplate } from '../jinja/parser.js'
import { renderTemplateFile } from '../jinja/template.js'
import { type Cause, known, mergeCauses, type Truth, type Value } from '../jinja/value.js'
import { wholeFile } from '../source/text.js'
import { evaluateNode } from '../variables/node-value.js'
import type { Scope } from '../variables/scope.js'
import { allOf, evaluateAsserted } from './conditions.js'
import { chainOf, type Frame, inheritedFrom, inheritedKeyword } from './frame.js'
import { omitted } from './scopes.js'
import { findFiles, searchDirectories } from './search.js'
import type { RunState } from './state.js'
import type { Invocation } from './task-run.js'

/** One execution of a task, before its arguments are evaluated. */
export interface Execution {
  readonly state: RunState
  /** The host that runs it for all hosts of the play, where it is run only once. */
  readonly once: string | undefined
  readonly task: Task
  readonly frame: Frame
  readonly scope: Scope
  readonly runs: Truth
  readonly remains: string | null
  readonly conjuncts: readonly string[]
  readonly item?: Value
}

/** The module with its evaluated arguments; several where the module itself is one of a few. */
export function invocationsOf(execution: Execution): readonly Invocation[] {
  const { task, frame, scope, runs, remains, conjuncts, item } = execution
  const plain: Invocation = {
    runs,
    remains,
    conjuncts,
    ...argumentsOf(task, scope),
    raw: task.arguments.raw && evaluateNode(task.arguments.raw, scope),
    environment: environmentOf(frame, task, scope),
    ...(item === undefined ? {} : { item }),
    ...assertion(execution),
    ...delegation(execution),
    ...checking(execution),
  }
  const content = runs.kind === 'false' ? undefined : contentOf(execution, plain)
  const invocation = content === undefined ? plain : { ...plain, content }
  if (!hasTemplate(task.action)) return [invocation]
  return modulesOf(task, scope).map(({ module, because }) => ({
    ...invocation,
    module,
    runs: because.length === 0 ? runs : allOf([runs, { kind: 'unknown', causes: because }]),
    ...(because.length === 0
      ? {}
      : {
          remains: [remains, `the module is ${module}`].filter(Boolean).join(' and '),
          conjuncts: [...conjuncts, `the module is ${module}`],
        }),
  }))
}

function argumentsOf(task: Task, scope: Scope): Pick<Invocation, 'arguments' | 'openArguments'> {
  const named = new Map<string, Value>()
  const open =
    task.arguments.template === undefined ? [] : addMembers(evaluateNode(task.arguments.template, scope), named)
  for (const [name, node] of task.arguments.named) {
    const value = evaluateNode(node, scope)
    if (value.kind === 'known' && value.data === omitted) named.delete(name)
    else named.set(name, value)
  }
  return open.length === 0 ? { arguments: named } : { arguments: named, openArguments: open }
}

/** Puts the arguments a template gives into the map; the causes where it is not known which these are. */
function addMembers(value: Value, named: Map<string, Value>): readonly Cause[] {
  switch (value.kind) {
    case 'known':
      if (value.data instanceof Map) for (const [name, member] of value.data) named.set(String(name), member)
      return []
    case 'unknown':
      return value.causes
    case 'one-of':
      return mergeCauses(value.options.flatMap(({ because }) => because))
    case 'undefined':
    case 'failure':
      // The task fails.
      return [{ says: value.says, at: value.at }]
  }
}

function environmentOf(frame: Frame, task: Task, scope: Scope): ReadonlyMap<string, Value> {
  const merged = new Map<string, Value>()
  for (const { keywords } of [...chainOf(frame).flatMap(at => inheritedFrom(at) ?? []), task]) {
    const node = keywords.get('environment')?.value
    if (node === undefined) continue
    for (const part of node.kind === 'list' ? node.items : [node]) {
      const value = evaluateNode(part, scope)
      if (value.kind !== 'known' || !(value.data instanceof Map)) continue
      for (const [name, member] of value.data) merged.set(String(name), member)
    }
  }
  return merged
}

function assertion({ task, scope }: Execution): Pick<Invocation, 'asserted'> {
  const that = task.module === 'ansible.builtin.assert' ? task.arguments.named.get('that') : undefined
  return that === undefined ? {} : { asserted: evaluateAsserted(that, scope) }
}

/** Where the module runs instead, when that is not this host: by `delegate_to`, or as a `run_once` of another host. */
function delegation({ state, once, task, frame, scope }: Execution): { readonly delegateTo?: Value } {
  const { host } = state.options
  const delegate = inheritedKeyword(frame, task, 'delegate_to')
  if (delegate !== undefined) {
    const value = evaluateNode(delegate, scope)
    return value.kind === 'known' && value.data === host ? {} : { delegateTo: value }
  }
  return once === undefined || once === host ? {} : { delegateTo: known(once) }
}

/** `check_mode` of the task or what it stands in: it counts whatever the run itself does. */
function checking({ task, frame, scope }: Execution): Pick<Invocation, 'checkMode'> {
  const node = inheritedKeyword(frame, task, 'check_mode')
  return node === undefined ? {} : { checkMode: evaluateNode(node, scope) }
}

/** The text `template`, `copy` and `script` bring to the host: read from the tree, templates rendered. */
function contentOf({ state, task, frame, scope }: Execution, { arguments: named, raw }: Invocation): Value | undefined {
  const kind = contentKinds[task.module]
  if (kind === undefined) return undefined
  const given = named.get('content')
  if (given !== undefined) return given
  const name = named.get('src') ?? (task.module === 'ansible.builtin.script' ? raw : undefined)
  const remote = named.get('remote_src')
  if (name === undefined || (remote?.kind === 'known' && remote.data === true)) return undefined
  const { candidates, otherwise } = findFiles(state.code, name, searchDirectories(frame, kind))
  const [only, second] = candidates
  if (only === undefined || second !== undefined || otherwise.length > 0) return undefined
  const file = state.code.tree.read(only.path)
  if (file === undefined) return undefined
  return kind === 'templates' ? renderTemplateFile(file.text, wholeFile(file), scope) : known(file.text)
}

const contentKinds: Readonly<Record<string, 'files' | 'templates'>> = {
  'ansible.builtin.template': 'templates',
  'ansible.builtin.copy': 'files',
  'ansible.builtin.script': 'files',
}

/** What a templated `action` comes to. `ansible_pkg_mgr` is by definition what `package` runs. */
function modulesOf(
  task: Task,
  scope: Scope,
): readonly { readonly module: string; readonly because: readonly Cause[] }[] {
  const value = scope.template(task.action, task.at)
  const options = value.kind === 'one-of' ? value.options : [{ value, because: [] }]
  return options.flatMap(option => {
    const { value: single, because } = option
    if (single.kind === 'known' && typeof single.data === 'string')
      return [{ module: fullModuleName(single.data), because }]
    const names = single.kind === 'unknown' ? single.causes.map(({ name }) => name) : []
    const isPackage = names.length === 1 && /^ansible_(?:facts\.)?pkg_mgr$/.test(names[0] ?? '')
    if (isPackage) return [{ module: 'ansible.builtin.package', because }]
    return single.kind === 'unknown' ? [{ module: task.action, because }] : []
  })
}
