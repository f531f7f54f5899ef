import { taskKeywords } from '../ansible/keywords.js'
import { readDirectives } from '../ansible/read-tasks.js'
import type { Definition, Directives, Task } from '../ansible/statement.js'
import { type Cause, FALSE, type Truth, unknown, type Value } from '../jinja/value.js'
import { evaluateNode } from '../variables/node-value.js'
import { type Action, addGap, effective, isTrue, itemsOf, textOf } from './action.js'
import { cycleIn, entryFor, roleFiles, taskDirectories } from './compile.js'
import { allOf } from './conditions.js'
import { chainOf, type Frame } from './frame.js'
import { gapsIn, handlersIn } from './handlers.js'
import { bindItem } from './loops.js'
import type { Role } from './role.js'
import { type Candidate, findFiles } from './search.js'
import type { AppliedCondition, Invocation } from './task-run.js'
import type { Walk } from './walk.js'

/** `include_tasks`: each file it may stand for is compiled and walked below a frame that holds what was decided. */
export function includeTasks(action: Action): void {
  const { walk, task, frame } = action
  eachInvocation(action, (invocation, truth, conditions, items) => {
    const name = invocation?.arguments.get('file') ?? invocation?.raw ?? fileOf(action, items)
    if (name === undefined) return
    const found = findFiles(walk.state.code, name, taskDirectories(frame))
    if (found.absent || found.candidates.length === 0) {
      if (truth.kind === 'false') return
      const shown = textOf(name)
      addGap(
        action,
        found.absent
          ? `include_tasks: no file${shown === undefined ? '' : ` '${shown}'`}`
          : 'include_tasks: which file it includes is not known',
        truth,
      )
      return
    }
    // What first_found gives is a file that was found where it looks.
    const searchedFor = task.loop?.plugin === 'first_found'
    if (found.elsewhere.length > 0 && !searchedFor && truth.kind !== 'false') {
      const says = 'include_tasks: it may include a file of another directory'
      addGap(action, says, allOf([truth, unknown(found.elsewhere)]))
    }
    const uncertain = found.candidates.length > 1 || found.otherwise.length > 0
    // A file whose name only happens to fit cannot be one we stand in: including it would never end.
    const around = new Set(chainOf(frame).map(({ file }) => file))
    const candidates = uncertain ? found.candidates.filter(({ path }) => !around.has(path)) : found.candidates
    for (const candidate of candidates) {
      const chosen = whichFile(action, candidate, uncertain)
      const step = { kind: 'include', what: `include_tasks ${candidate.path}`, at: task.at } as const
      const inner: Frame = {
        parent: frame,
        kind: 'include',
        step,
        directives: task,
        role: frame.role,
        file: candidate.path,
        playbookDirectory: frame.playbookDirectory,
        include: {
          conditions: [...conditions, ...chosen],
          parameters: parametersOf(task),
          items,
          apply: applyOf(action),
        },
      }
      if (isCyclic(action, inner, truth)) continue
      const statements = walk.state.code.statements(candidate.path) ?? []
      const compiled = walk.compiler.compileStatements(statements, inner, action.part)
      const reached = allOf([truth, ...chosen.map(({ truth }) => truth)])
      showRoles(walk, walk.compiler.takeVisibleRoles(), reached)
      for (const statement of compiled) walk.visit(statement)
    }
  })
}

/** `include_role`: the same for a role, whose handlers are known from then on (rule 85). */
export function includeRole(action: Action): void {
  const { walk, task, frame } = action
  eachInvocation(action, (invocation, truth, conditions, items) => {
    const argument = (name: string): Value | undefined => {
      const given = invocation?.arguments.get(name)
      if (given !== undefined) return given
      const node = task.arguments.named.get(name)
      return node && evaluateNode(node, walk.scopes.ofTask(frame, task, items))
    }
    const nameValue = argument('name') ?? argument('role')
    const names =
      nameValue?.kind === 'one-of' ? nameValue.options : nameValue ? [{ value: nameValue, because: [] }] : []
    for (const option of names) {
      const name = textOf(option.value)
      if (name === undefined) {
        if (truth.kind !== 'false') addGap(action, 'include_role: which role it includes is not known', truth)
        continue
      }
      const chosen =
        option.because.length === 0 ? [] : [{ ...condition(action, `the role is ${name}`, option.because) }]
      const step = { kind: 'include', what: `include_role ${name}`, at: task.at } as const
      const inner: Frame = {
        parent: frame,
        kind: 'include',
        step,
        directives: task,
        role: frame.role,
        file: frame.file,
        playbookDirectory: frame.playbookDirectory,
        include: {
          conditions: [...conditions, ...chosen],
          parameters: parametersOf(task),
          items,
          apply: applyOf(action),
        },
      }
      const from = roleFiles(key => textOf(argument(key)))
      const compiled = walk.compiler.compileRole(entryFor(name, task), inner, from, action.part)
      if (compiled.kind === 'role') {
        const own = walk.compiler.compileHandlers(compiled.role, compiled.frame)
        walk.handlers.push(...handlersIn(own, walk.scopes.ofFrame))
        for (const gap of gapsIn(own)) walk.visit(gap)
      }
      const imported = walk.compiler.takeVisibleRoles()
      const own = compiled.kind === 'role' && isTrue(argument('public')) ? [compiled.role] : []
      showRoles(walk, [...imported, ...own], allOf([truth, ...chosen.map(({ truth }) => truth)]))
      walk.visit(compiled)
    }
  })
}

/** What an include brings in is loaded before its first task runs, and visible to the play from then on. */
function showRoles({ scopes }: Walk, roles: readonly Role[], truth: Truth): void {
  if (truth.kind !== 'false') for (const role of roles) scopes.show(role, truth)
}

/**
 * Calls back for each time an include happens: for each item of its loop, and once with nothing known where the task does
 * not run or its items are not known, so that what it would bring in is still listed.
 */
function eachInvocation(
  action: Action,
  visit: (
    invocation: Invocation | undefined,
    truth: Truth,
    conditions: readonly AppliedCondition[],
    items: ReadonlyMap<string, Value>,
  ) => void,
): void {
  const { run, task } = action
  if (action.invocations.length === 0 || run.excluded !== undefined) {
    const own = ownConditions(run.conditions)
    const isFalse = run.conditions.some(({ truth }) => truth.kind === 'false')
    const why = run.excluded ?? 'the loop has no items'
    const notRun: AppliedCondition = { text: why, at: task.at, from: 'include', truth: FALSE, remains: null, names: [] }
    if (action.walk.inPlay.kind === 'false' && action.walk.hosts.length > 0) {
      // Other hosts may get there, and what they delegate acts on this one.
      const says = 'the hosts of the play decide for themselves whether they include it'
      visit(undefined, FALSE, [condition(action, says, [{ says, at: task.at }])], new Map())
      return
    }
    visit(undefined, FALSE, isFalse ? own : [...own, notRun], new Map())
    return
  }
  const all = itemsOf(action)
  for (const [index, invocation] of action.invocations.entries()) {
    const { item } = invocation
    const items = item === undefined ? new Map<string, Value>() : bindItem(task, item, index, all)
    const own = ownConditions(action.applied[index] ?? [])
    const causes = invocation.item?.kind === 'unknown' ? invocation.item.causes : []
    const anyItem = action.itemsKnown ? [] : [condition(action, 'the loop has such an item', causes)]
    visit(invocation, effective(action, invocation), [...own, ...anyItem], items)
  }
}

/** The include's own conditions; those of the frames around it are evaluated again inside. */
function ownConditions(conditions: readonly AppliedCondition[]): readonly AppliedCondition[] {
  return conditions.flatMap(item => (item.from === 'task' ? [{ ...item, from: 'include' as const }] : []))
}

function condition(action: Action, text: string, causes: readonly Cause[]): AppliedCondition {
  return { text, at: action.task.at, from: 'include', truth: { kind: 'unknown', causes }, remains: text, names: [] }
}

function whichFile(action: Action, { path, because }: Candidate, several: boolean): readonly AppliedCondition[] {
  return several || because.length > 0 ? [condition(action, `the included file is ${path}`, because)] : []
}

/** Where the task does not run, its file is still named where that needs no item. */
function fileOf({ walk, task, frame }: Action, items: ReadonlyMap<string, Value>): Value | undefined {
  const node = task.arguments.named.get('file') ?? task.arguments.raw
  return node && evaluateNode(node, walk.scopes.ofTask(frame, task, items))
}

/** `vars:` of an include, and `k=v` words behind the file name, hold inside only and beat most others (rule 65). */
function parametersOf(task: Task): readonly Definition[] {
  const options = new Set([
    'file',
    'apply',
    'name',
    'role',
    'tasks_from',
    'vars_from',
    'defaults_from',
    'handlers_from',
    'public',
  ])
  const words = [...task.arguments.named].flatMap(([name, node]) =>
    options.has(name) || name === 'allow_duplicates' || name === 'rolespec_validate'
      ? []
      : [{ name, node, at: node.span }],
  )
  return [...words, ...task.vars]
}

function applyOf({ task }: Action): Directives | undefined {
  const node = task.arguments.named.get('apply')
  return node?.kind === 'map' ? readDirectives(node, taskKeywords) : undefined
}

/** How often one file may include itself before it is taken for an endless loop that only a value ends. */
const mostRepeats = 3

function isCyclic(action: Action, inner: Frame, truth: Truth): boolean {
  const cycle = cycleIn(inner)
  if (cycle === undefined || cycle.filter(file => file === inner.file).length <= mostRepeats) {
    return truth.kind === 'false' && cycle !== undefined
  }
  const says = `files include each other without end: ${cycle.slice(-4).join(' → ')}`
  if (truth.kind !== 'false') {
    action.walk.state.code.report({ code: 'import-cycle', severity: 'error', message: says, at: action.task.at })
    addGap(action, says, truth)
  }
  return true
}
