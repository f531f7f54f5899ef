import { posix } from 'node:path'
import type { LanguageRules } from '../ansible/language.js'
import { isKnownModule } from '../ansible/modules.js'
import type { Play, RoleEntry, Statement, Task, Unreadable } from '../ansible/statement.js'
import { hasTemplate } from '../jinja/parser.js'
import type { Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import { type Code, directoryOf, joinPath } from './code.js'
import type { Effort } from './effort.js'
import { chainOf, type Frame, inheritedKeyword } from './frame.js'
import { findRole, type Role, type RoleFiles, readRole, roleKey } from './role.js'
import { fileNamed, pathInCheckout } from './search.js'
import type { TaskRun } from './task-run.js'

/** A play's statements with all static reuse (roles, dependencies, `import_*`) put in place, as Ansible does before it runs. */
export type Compiled =
  | { readonly kind: 'task'; readonly task: Task; readonly frame: Frame; readonly part: TaskRun['part'] }
  | {
      readonly kind: 'block'
      readonly frame: Frame
      readonly block: readonly Compiled[]
      readonly rescue: readonly Compiled[]
      readonly always: readonly Compiled[]
    }
  | { readonly kind: 'role'; readonly role: Role; readonly frame: Frame; readonly body: readonly Compiled[] }
  | { readonly kind: 'gap'; readonly says: string; readonly at: Span; readonly frame: Frame }

export interface CompiledPlay {
  readonly play: Play
  readonly frame: Frame
  readonly preTasks: readonly Compiled[]
  readonly roles: readonly Compiled[]
  readonly tasks: readonly Compiled[]
  readonly postTasks: readonly Compiled[]
  readonly handlers: readonly Compiled[]
  /** Every role whose defaults and vars the whole play sees, in Ansible's order (rules 82 and 84). */
  readonly visibleRoles: readonly Role[]
}

/** How templated names of imports are evaluated: without the host, as Ansible has none yet at that point (rule 94). */
export type EvaluateStatic = (node: Node, frame: Frame, visibleRoles: readonly Role[]) => Value

export interface Compiler {
  readonly compilePlay: (play: Play, frame: Frame) => CompiledPlay
  /** Statements of a file or list that stand in a frame (also what a dynamic include brings in). */
  readonly compileStatements: (
    statements: readonly Statement[],
    frame: Frame,
    part: TaskRun['part'],
  ) => readonly Compiled[]
  /** The role `entry` names with its dependencies, in a frame of its own below `parent`. */
  readonly compileRole: (entry: RoleEntry, parent: Frame, from: RoleFiles, part: TaskRun['part']) => Compiled
  readonly compileHandlers: (role: Role, frame: Frame) => readonly Compiled[]
  /** The roles that imports brought in since this was last asked: the whole play sees their variables (rule 84). */
  readonly takeVisibleRoles: () => readonly Role[]
}

/** Import chains longer than this are taken for a cycle that file names do not show. */
const deepest = 60

/** Puts static reuse in place as Ansible does when it loads a playbook (rules 90 and 94); what is missing becomes a gap. */
export function createCompiler(
  code: Code,
  evaluateStatic: EvaluateStatic,
  effort: Effort,
  rules: LanguageRules,
): Compiler {
  // The roles that imports bring in become visible to the play.
  let visibleRoles: Role[] = []

  const compileStatements = (
    statements: readonly Statement[],
    frame: Frame,
    part: TaskRun['part'],
  ): readonly Compiled[] => {
    const compiled: Compiled[] = []
    for (const statement of statements) {
      const says = effort.exhausted(statement.at)
      if (says !== undefined) return [...compiled, { kind: 'gap', says, at: statement.at, frame }]
      effort.spend(1)
      compiled.push(compileStatement(statement, frame, part))
    }
    return compiled
  }

  const compileStatement = (statement: Statement, frame: Frame, part: TaskRun['part']): Compiled => {
    if (statement.kind === 'unreadable') return { kind: 'gap', says: statement.says, at: statement.at, frame }
    if (statement.kind === 'block') {
      const step = {
        kind: 'block',
        what: statement.name ? `block "${statement.name}"` : 'block',
        at: statement.at,
      } as const
      const inner: Frame = { ...below(frame), kind: 'block', step, directives: statement }
      const inBlock = part === 'handler' ? 'handler' : 'block'
      return {
        kind: 'block',
        frame: inner,
        block: compileStatements(statement.block, inner, part === 'rescue' || part === 'always' ? part : inBlock),
        rescue: compileStatements(statement.rescue, inner, 'rescue'),
        always: compileStatements(statement.always, inner, part === 'rescue' ? part : 'always'),
      }
    }
    if (statement.module === 'ansible.builtin.include' && !rules.includeModule)
      refused('include', '2.16', 'from', statement)
    if (statement.module === 'ansible.builtin.import_tasks' || isStaticInclude(statement)) {
      return importTasks(statement, frame, part)
    }
    if (statement.module === 'ansible.builtin.import_role') return importRole(statement, frame, part)
    if (!isKnownModule(statement.action)) missModule(statement, frame)
    return { kind: 'task', task: statement, frame, part }
  }

  /** Ansible refuses a module that it finds nowhere (rule 107). */
  const missModule = ({ action, keywords, at }: Task, frame: Frame): void => {
    if (hasTemplate(action) || inheritedKeyword(frame, { keywords }, 'collections') !== undefined) return
    const around = [frame.playbookDirectory, ...code.rolesRead]
    const directories = [
      ...code.modulePaths,
      ...around.flatMap(each => ['library', 'action_plugins'].map(folder => posix.join(each, folder))),
    ]
    const name = action.replace(/^ansible\.legacy\./, '')
    const found = directories.some(directory =>
      code.tree.list(joinPath('', directory) ?? '').some(file => file === name || file.startsWith(`${name}.`)),
    )
    if (!found)
      code.report({
        code: 'module-unknown',
        severity: 'error',
        message: `no module '${action}' is known or in a library/`,
        at,
      })
  }

  /** Ansible of this version does not start with such a task; it is read all the same. */
  const refused = (what: string, version: string, side: 'from' | 'before', { at }: Task): void => {
    const message = `ansible-core ${side} ${version}${side === 'from' ? ' on' : ''} refuses '${what}' here (read by the rules of ${rules.name})`
    code.report({ code: 'task-malformed', severity: 'error', message, at })
  }

  const importTasks = (task: Task, frame: Frame, part: TaskRun['part']): Compiled => {
    if (task.loop !== undefined) return looped(task, frame)
    const node = task.arguments.named.get('file') ?? task.arguments.raw
    const value = node && evaluateStatic(node, frame, visibleRoles)
    const name = value && (textOf(value) ?? pathInCheckout(value))
    if (value === undefined || name === undefined) {
      const says = `the file name of import_tasks cannot be told before the run`
      code.report({ code: 'import-templated', severity: 'error', message: says, at: task.at })
      return { kind: 'gap', says, at: task.at, frame }
    }
    const path = fileNamed(code, value, taskDirectories(frame))
    if (path === undefined) return missing(`import_tasks: no file '${name}'`, task.at, frame)
    const step = { kind: 'import', what: `import_tasks ${name}`, at: task.at } as const
    const inner: Frame = { ...below(frame), kind: 'import', step, directives: task, file: path }
    const cycle = cycleIn(inner)
    if (cycle !== undefined) return cyclic(cycle, task.at, frame, 'import-cycle')
    const body = compileStatements(code.statements(path) ?? [], inner, part)
    return { kind: 'block', frame: inner, block: body, rescue: [], always: [] }
  }

  const importRole = (task: Task, frame: Frame, part: TaskRun['part']): Compiled => {
    if (task.loop !== undefined) return looped(task, frame)
    const argument = (name: string): string | undefined => {
      const node = task.arguments.named.get(name)
      return node && textOf(evaluateStatic(node, frame, visibleRoles))
    }
    const name = argument('name') ?? argument('role')
    if (name === undefined) {
      const says = 'the role of import_role cannot be told before the run'
      code.report({ code: 'import-templated', severity: 'error', message: says, at: task.at })
      return { kind: 'gap', says, at: task.at, frame }
    }
    if (task.arguments.named.has('public') && !rules.importRolePublic) refused('public', '2.17', 'before', task)
    const step = { kind: 'import', what: `import_role ${name}`, at: task.at } as const
    const inner: Frame = { ...below(frame), kind: 'import', step, directives: task }
    const compiled = compileRole(entryFor(name, task), inner, roleFiles(argument), part)
    if (compiled.kind === 'role' && argument('public')?.toLowerCase() !== 'false') visibleRoles.push(compiled.role)
    return compiled
  }

  const compileRole = (entry: RoleEntry, parent: Frame, from: RoleFiles, part: TaskRun['part']): Compiled => {
    const tooMuch = effort.exhausted(entry.at)
    if (tooMuch !== undefined) return { kind: 'gap', says: tooMuch, at: entry.at, frame: parent }
    effort.spend(1)
    const directory = findRole(code, entry.role, parent.playbookDirectory, parent.role?.code)
    if (directory === undefined) {
      const says = `no role '${entry.role}'`
      code.report({ code: 'role-missing', severity: 'error', message: says, at: entry.at })
      return { kind: 'gap', says, at: entry.at, frame: parent }
    }
    const roleCode = readRole(code, directory, from)
    if (roleCode.missing !== undefined)
      return missing(`role ${entry.role}: no file '${roleCode.missing}'`, entry.at, parent)
    const parents = parent.role === undefined ? [] : [...parent.role.parents, parent.role]
    if (parents.filter(role => role.code.directory === directory).length > 1 || parents.length > deepest) {
      return cyclic([...parents.map(role => role.name), entry.role], entry.at, parent, 'role-cycle')
    }
    const step = { kind: 'role', what: `role ${roleCode.path}`, at: entry.at } as const
    const { role: name, parameters, at } = entry
    const key = roleKey(directory, from, entry)
    const bare: Role = { code: roleCode, name, parameters, dependencies: [], parents, key, at }
    const frame: Frame = {
      ...below(parent),
      kind: 'role',
      step,
      directives: entry,
      role: bare,
      file: roleCode.tasksFile ?? directory,
    }
    const dependencies = roleCode.dependencies.map(dependency => compileEntry(dependency, frame, part))
    const role: Role = { ...bare, dependencies: dependencies.flatMap(item => (item.kind === 'role' ? item.role : [])) }
    const own: Frame = { ...frame, role }
    const validation = roleCode.validation === undefined ? [] : [validationTask(roleCode.validation, own)]
    const body = [...dependencies, ...compileStatements([...validation, ...roleCode.tasks], own, part)]
    return { kind: 'role', role, frame: own, body }
  }

  const compileEntry = (entry: RoleEntry | Unreadable, parent: Frame, part: TaskRun['part']): Compiled =>
    'role' in entry
      ? compileRole(entry, parent, {}, part)
      : { kind: 'gap', says: entry.says, at: entry.at, frame: parent }

  const compileHandlers = (role: Role, frame: Frame): readonly Compiled[] => {
    const dependencies = role.dependencies.flatMap(dependency =>
      compileHandlers(dependency, { ...frame, role: dependency }),
    )
    const inner: Frame = { ...frame, role, file: role.code.handlersFile ?? frame.file }
    return [...dependencies, ...compileStatements(role.code.handlers, inner, 'handler')]
  }

  const missing = (says: string, at: Span, frame: Frame): Compiled => {
    code.report({ code: 'import-missing', severity: 'error', message: says, at })
    return { kind: 'gap', says, at, frame }
  }

  /** An import is put in place before there are items to loop over (rule 94). */
  const looped = ({ action, at }: Task, frame: Frame): Compiled => {
    const says = `${action} cannot have a loop`
    code.report({ code: 'task-malformed', severity: 'error', message: says, at })
    return { kind: 'gap', says, at, frame }
  }

  const cyclic = (names: readonly string[], at: Span, frame: Frame, kind: 'import-cycle' | 'role-cycle'): Compiled => {
    const says = `${kind === 'role-cycle' ? 'roles pull in' : 'files import'} each other without end: ${names.slice(-4).join(' → ')}`
    code.report({ code: kind, severity: 'error', message: says, at })
    return { kind: 'gap', says, at, frame }
  }

  const compilePlay = (play: Play, frame: Frame): CompiledPlay => {
    visibleRoles = []
    const roles = play.roles.map(entry => compileEntry(entry, frame, 'tasks'))
    // Roles imported from tasks come after the play's own ones, whichever was read first.
    visibleRoles = [...roles.flatMap(item => (item.kind === 'role' ? item.role : [])), ...visibleRoles]
    const preTasks = compileStatements(play.preTasks, frame, 'pre_tasks')
    const tasks = compileStatements(play.tasks, frame, 'tasks')
    const postTasks = compileStatements(play.postTasks, frame, 'post_tasks')
    const handlers = [
      ...roles.flatMap(item => (item.kind === 'role' ? compileHandlers(item.role, item.frame) : [])),
      ...compileStatements(play.handlers, frame, 'handler'),
    ]
    return { play, frame, preTasks, roles, tasks, postTasks, handlers, visibleRoles: takeVisibleRoles() }
  }

  const takeVisibleRoles = (): readonly Role[] => {
    const taken = visibleRoles
    visibleRoles = []
    return taken
  }

  return { compilePlay, compileStatements, compileRole, compileHandlers, takeVisibleRoles }
}

/** The old `include:` was static unless it has a loop or a templated name (removed in 2.16). */
function isStaticInclude(task: Task): boolean {
  if (task.module !== 'ansible.builtin.include' || task.loop) return false
  const file = task.arguments.raw
  return !(file?.kind === 'scalar' && typeof file.data === 'string' && file.data.includes('{{'))
}

/** What a frame hands on to one inside it; the include decisions stay where they were taken. */
function below(frame: Frame): Omit<Frame, 'kind' | 'step' | 'directives' | 'include'> {
  const { role, file, playbookDirectory } = frame
  return { parent: frame, role, file, playbookDirectory }
}

/** The files of `tasks_from` and its like, by a role import's or include's arguments. */
export function roleFiles(argument: (name: string) => string | undefined): RoleFiles {
  const files: { -readonly [K in keyof RoleFiles]: RoleFiles[K] } = {}
  for (const kind of ['tasks', 'vars', 'defaults', 'handlers'] as const) {
    const from = argument(`${kind}_from`)
    if (from !== undefined) files[kind] = from
  }
  return files
}

/** The task Ansible adds for a role's argument specification; no file holds it, so it has the play's place, as in Ansible. */
function validationTask(name: string, frame: Frame): Task {
  const at = chainOf(frame).find(({ kind }) => kind === 'play')?.step.at ?? frame.step.at
  const module = 'ansible.builtin.validate_argument_spec'
  const always: Node = { kind: 'scalar', data: 'always', span: at }
  return {
    ...{ kind: 'task', name, when: [], tags: [always], vars: [], keywords: new Map(), at, action: module, module },
    arguments: { named: new Map(), raw: undefined, template: undefined },
    loop: undefined,
  }
}

/** A role entry that carries nothing of its own: the import's keywords stand in the frame around it. */
export function entryFor(role: string, task: Task): RoleEntry {
  return { name: undefined, when: [], tags: [], vars: [], keywords: new Map(), at: task.at, role, parameters: [] }
}

/** Rule 95: beside the file the statement stands in, then in the role's tasks/, then beside the playbook. */
export function taskDirectories(frame: Frame): readonly string[] {
  const role = frame.role === undefined ? [] : [`${frame.role.code.directory}/tasks`, frame.role.code.directory]
  return [directoryOf(frame.file), ...role, frame.playbookDirectory]
}

/** The files of a chain from one that comes a second time, or undefined when none does. */
export function cycleIn(frame: Frame): readonly string[] | undefined {
  const files = chainOf(frame)
    .filter(({ kind }) => kind === 'import' || kind === 'include')
    .map(({ file }) => file)
  if (files.length > deepest) return files
  const first = files.indexOf(frame.file)
  return first === files.length - 1 ? undefined : files.slice(first)
}

function textOf(value: Value): string | undefined {
  return value.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}
