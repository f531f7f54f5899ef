import type { Value } from '../../jinja/value.js'
import type { Invocation, TaskRun } from '../../run/task-run.js'
import type { Span } from '../../source/text.js'
import { causesOf, plainPath } from '../argument.js'
import type { ScriptOnHost } from '../commands.js'
import type { Effect, FileChange } from '../effect.js'
import type { RoleFile } from '../role-text.js'

/** One invocation of a module, as its table entry sees it. */
export interface ModuleCall {
  readonly task: TaskRun
  readonly invocation: Invocation
  /** The task. */
  readonly at: Span
  /** The free-form text of the task. */
  readonly raw: Value | undefined
  /** An argument under the first of these names that is given. */
  readonly argument: (...names: readonly string[]) => Value | undefined
  /** The text of a file or template of the role; unknown where it cannot be read. */
  readonly roleText: (kind: 'file' | 'template', name: Value) => Value
  /** The files of a directory of the role's files; undefined where it is none, or cannot be listed. */
  readonly roleFiles: (name: Value) => readonly RoleFile[] | undefined
  /** The text of a script an earlier task put on the host. */
  readonly script: ScriptOnHost
}

/** What a module does, given its arguments. Defaults are the module's own. */
export type ModuleEffects = (call: ModuleCall) => readonly Effect[]

/** The argument, or an unknown that says it is missing (a required one that a template may give at run time). */
export function required(call: ModuleCall, ...names: readonly string[]): Value {
  const value = call.argument(...names)
  if (value !== undefined && value.kind !== 'failure') return value
  if (value !== undefined) return { kind: 'unknown', causes: causesOf(value) }
  return {
    kind: 'unknown',
    causes: [{ says: `${call.task.task.action} has no argument ${names[0] ?? ''}`, at: call.at, unread: true }],
  }
}

/** The change of a file by a module, at the place of its task. */
export function fileChange(
  call: ModuleCall,
  path: Value,
  change: FileChange['change'],
  content?: Value,
  target?: Value,
): FileChange {
  return { kind: 'file', path: plainPath(path), change, content, target, at: call.at }
}
