import type { Truth, Value } from '../jinja/value.js'
import type { Invocation, Run, TaskRun } from '../run/task-run.js'
import { causesOf, textOf } from './argument.js'
import { invocationsAsWritten } from './as-written.js'
import type { ScriptOnHost, ScriptText } from './commands.js'
import type { Effect } from './effect.js'
import type { ModuleCall } from './modules/call.js'
import { moduleEffects } from './modules/table.js'
import type { ReadRoleText } from './role-text.js'

/** An effect at its place in the run: the task, and the invocation that has it. */
export interface Occurrence {
  readonly effect: Effect
  readonly task: TaskRun
  readonly invocation: Invocation
  /** True for a task that does not run: its arguments are taken as written. */
  readonly asWritten: boolean
}

/** Everything the run does to the host, in order, with what was looked at. */
export interface RunEffects {
  readonly run: Run
  readonly occurrences: readonly Occurrence[]
  /** Simple commands that were read in tasks that may run. */
  readonly commands: number
}

/** Nothing of the role's files can be read: contents are unknown. */
export const NO_ROLE_TEXT: ReadRoleText = () => undefined

/**
 * The effects of every task of a run, also of those that do not run (they are what came near). A script that an earlier
 * task wrote to the host is read where a later one runs it.
 */
export function effectsOfRun(run: Run, readRoleText: ReadRoleText): RunEffects {
  const written = new Map<string, ScriptText>()
  const occurrences: Occurrence[] = []
  let commands = 0
  for (const task of run.tasks) {
    const asWritten = task.invocations.length === 0
    for (const invocation of asWritten ? invocationsAsWritten(task) : task.invocations) {
      const effects = effectsOfInvocation(task, invocation, readRoleText, path => scriptAt(written, path))
      for (const effect of effects) {
        occurrences.push({ effect, task, invocation, asWritten })
        if (asWritten) continue
        if (effect.kind === 'command') commands++
        remember(written, effect)
      }
    }
  }
  return { run, occurrences, commands }
}

/** What one invocation of a task's module does. */
export function effectsOfInvocation(
  task: TaskRun,
  invocation: Invocation,
  readRoleText: ReadRoleText,
  script: ScriptOnHost,
): readonly Effect[] {
  const at = task.task.at
  const module = invocation.module ?? task.task.module
  const model = moduleEffects(module)
  if (model === undefined) return [{ kind: 'unmodelled-module', module, at }]
  let unsure: string | undefined
  const call: ModuleCall = {
    task,
    invocation,
    at,
    argument: (...names) => {
      for (const name of names) {
        const value = invocation.arguments.get(name)
        if (value !== undefined && value.kind !== 'undefined') return value
      }
      return undefined
    },
    roleText: (kind, name) => {
      if (invocation.content !== undefined) return invocation.content
      const read = readRoleText(task, kind, name)
      if (read === undefined) {
        const causes = causesOf(name)
        const says = `the ${kind} ${textOf(name) ?? 'named there'} could not be read`
        return { kind: 'unknown', causes: causes.length > 0 ? causes : [{ says, at, unread: true }] }
      }
      unsure = read.unsure
      return read.content
    },
    script,
  }
  const effects = model(call)
  if (unsure === undefined) return effects
  // The file itself is written all the same; what its text means is what is not sure.
  const because = unsure
  return effects.map(effect => {
    if (effect.kind === 'file') return { ...effect, contentUnsure: because }
    return effect.kind === 'command' && effect === effects[0] ? effect : { ...effect, unread: because }
  })
}

function remember(written: Map<string, ScriptText>, effect: Effect): void {
  if (effect.kind !== 'file') return
  const path = textOf(effect.path)
  if (path === undefined) return
  if (effect.change === 'written' && effect.content !== undefined)
    written.set(path, { content: effect.content, unsure: effect.contentUnsure })
  else if (effect.change !== 'attributes') written.delete(path)
}

function scriptAt(written: Map<string, ScriptText>, path: Value): ScriptText | undefined {
  const text = textOf(path)
  return text === undefined ? undefined : written.get(text)
}

/** Whether the effect happens as far as its own conditions inside the task go: true unless something is left open. */
export function isUnconditional(effect: Effect): boolean {
  return effect.onlyIf === undefined && effect.unread === undefined
}

/** The truth of an invocation, together with that of its task. */
export function runsOf(occurrence: Occurrence): Truth {
  return occurrence.asWritten ? occurrence.task.runs : occurrence.invocation.runs
}
