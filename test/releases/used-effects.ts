import { readPlaybook } from '../../src/ansible/read-plays.js'
import { readStatements } from '../../src/ansible/read-tasks.js'
import type { Statement, Task } from '../../src/ansible/statement.js'
import { piecesOf } from '../../src/effects/argument.js'
import { invocationsAsWritten } from '../../src/effects/as-written.js'
import { effectsOfScriptText } from '../../src/effects/commands.js'
import type { Effect } from '../../src/effects/effect.js'
import { moduleEffects } from '../../src/effects/modules/table.js'
import { templateText } from '../../src/effects/role-text.js'
import { effectsOfInvocation } from '../../src/effects/run-effects.js'
import { FALSE } from '../../src/jinja/value.js'
import type { TaskRun } from '../../src/run/task-run.js'
import { type SourceFile, wholeFile } from '../../src/source/text.js'
import type { SourceTree } from '../../src/source/tree.js'
import { readYaml } from '../../src/yaml/read.js'

/** What the tasks and scripts of one file are made of, as the program reads them. */
export interface UsedEffects {
  /** Modules by full name. */
  readonly modules: readonly string[]
  readonly unmodelled: readonly string[]
  /** Programs of commands, shells and scripts by base name. */
  readonly programs: readonly string[]
  readonly unfamiliar: readonly string[]
  readonly unreadable: readonly string[]
  /** Names of the files its tasks write: a script may run under another name than its template has. */
  readonly writes: readonly string[]
}

const ignore = (): void => {}
const read = new Map<string, UsedEffects>()

/** Reads every task of a playbook or task file; the same text is read once, whatever release it stands in. */
export function effectsUsedIn(file: SourceFile): UsedEffects {
  const key = `tasks\0${file.text}`
  const used = read.get(key) ?? usedBy(tasksOf(file))
  read.set(key, used)
  return used
}

/** Reads a shell script, or the template of one. */
export function effectsOfScript(file: SourceFile): UsedEffects {
  const key = `script\0${file.text}`
  const at = wholeFile(file)
  const { content } = templateText(file.text, at)
  const used =
    read.get(key) ??
    summary(
      [],
      effectsOfScriptText(file.path, content, at, () => undefined),
    )
  read.set(key, used)
  return used
}

function tasksOf(file: SourceFile): readonly Task[] {
  return readYaml(file, ignore).flatMap(document => {
    const plays = readPlaybook(document, ignore).filter(entry => entry.kind === 'play')
    const isPlaybook = plays.some(({ hosts }) => hosts !== undefined)
    const statements = isPlaybook
      ? plays.flatMap(play => [...play.preTasks, ...play.tasks, ...play.postTasks, ...play.handlers])
      : readStatements(document, ignore)
    return statements.flatMap(tasksIn)
  })
}

function tasksIn(statement: Statement): readonly Task[] {
  if (statement.kind === 'task') return [statement]
  if (statement.kind === 'unreadable') return []
  return [...statement.block, ...statement.rescue, ...statement.always].flatMap(tasksIn)
}

function usedBy(tasks: readonly Task[]): UsedEffects {
  const effects = tasks.flatMap(task => {
    const run = asWritten(task)
    return invocationsAsWritten(run).flatMap(each =>
      effectsOfInvocation(
        run,
        each,
        () => undefined,
        () => undefined,
      ),
    )
  })
  return summary(
    tasks.map(({ module }) => module).filter(module => module !== '' && !module.includes('{{')),
    effects,
  )
}

function summary(modules: readonly string[], effects: readonly Effect[]): UsedEffects {
  const commands = effects.flatMap(effect => (effect.kind === 'command' ? [effect] : []))
  const named = commands.flatMap(({ program, unfamiliar }) => (program === undefined ? [] : [{ program, unfamiliar }]))
  return {
    modules,
    unmodelled: modules.filter(module => moduleEffects(module) === undefined),
    programs: named.map(({ program }) => program),
    unfamiliar: named.filter(({ unfamiliar }) => unfamiliar).map(({ program }) => program),
    writes: effects.flatMap(effect => {
      const last = effect.kind === 'file' && effect.change === 'written' ? piecesOf(effect.path)?.at(-1) : undefined
      return typeof last === 'string' ? [last.split('/').at(-1) ?? last] : []
    }),
    unreadable: effects.flatMap(effect => (effect.kind === 'unreadable-command' ? [effect.says] : [])),
  }
}

/** A task as if it did not run: its arguments are taken as they are written. */
function asWritten(task: Task): TaskRun {
  return {
    order: 0,
    task,
    name: task.name ?? task.action,
    play: 0,
    playName: '',
    role: undefined,
    roleName: undefined,
    part: 'tasks',
    tags: [],
    via: [],
    includedBy: undefined,
    onceOn: undefined,
    runs: FALSE,
    conditions: [],
    remains: null,
    excluded: undefined,
    holds: FALSE,
    alreadyRan: false,
    leftOutByTags: false,
    dependsOnSetFact: false,
    invocations: [],
    notifiedBy: [],
    failureIgnored: FALSE,
  }
}

const notRoleCode =
  /^(?:\.github|\.gitlab-ci|docs|scripts|contrib|test-infra|tests|extra_playbooks\/(?:roles|inventory))(?:\/|$)|\/molecule\//

/** Files of roles and playbooks below a directory, and the links and folders that are none left out. */
export function roleFiles(tree: SourceTree, directory = ''): readonly string[] {
  return tree.list(directory).flatMap(name => {
    const path = directory === '' ? name : `${directory}/${name}`
    if (notRoleCode.test(path)) return []
    if (tree.entryKind(path) === 'directory') return roleFiles(tree, path)
    return isRead(path) ? [path] : []
  })
}

function isRead(path: string): boolean {
  return isTaskFile(path) || /(^|\/)(files|templates)\/[^/]+/.test(path)
}

export function isTaskFile(path: string): boolean {
  return (
    /\.ya?ml$/.test(path) && (/\/(tasks|handlers)\//.test(path) || /^(playbooks\/|extra_playbooks\/)?[^/]+$/.test(path))
  )
}

/** Whether a file of a role is a script for a shell. */
export function isShellScript({ text }: SourceFile): boolean {
  return /^#!\s*\S*\/(?:env\s+)?(?:ba|da)?sh\b/.test(text)
}
