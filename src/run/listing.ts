import type { Task } from '../ansible/statement.js'
import { hasTemplate } from '../jinja/parser.js'
import type { Code } from './code.js'
import type { Compiled } from './compile.js'
import { chainOf, type Frame } from './frame.js'
import { openPlaybook, preparePlay } from './plays.js'
import type { RunOptions } from './state.js'
import { leftOutByTags, sortedTags, tagsAsWritten, tagsOf } from './tags.js'
import type { PlayRun } from './task-run.js'

/** A task as it stands in a play before the run, with all static reuse put in place. */
export interface ListedTask {
  readonly task: Task
  /** The role's name as its entry wrote it; undefined outside roles. */
  readonly roleName: string | undefined
  readonly tags: readonly string[]
}

/** A playbook as Ansible has it before it runs: its plays with their static tasks. */
export interface Listing {
  readonly playbook: string
  readonly plays: readonly (PlayRun & { readonly tasks: readonly ListedTask[] })[]
}

/**
 * What `ansible-playbook --list-tasks` is about: static tasks that the tags select, a dynamic include as the one task it
 * is, no handlers, no rescue or always sections. Nothing is evaluated but names of files, roles, plays and tags.
 */
export function listPlaybook(code: Code, options: RunOptions): Listing {
  const { state, placedPlays } = openPlaybook(code, options, [])
  const plays = placedPlays.map(placed => {
    const { shown, compiled, scopes } = preparePlay(state, placed, [])
    const { preTasks, roles, tasks, postTasks } = compiled
    const placedTasks = [...preTasks, ...roles, ...tasks, ...postTasks].flatMap(tasksIn)
    const listed = placedTasks.map(({ task, frame }) => ({
      task,
      roleName: frame.role?.name,
      tags: tagsOf(frame, task, scopes.ofTask(frame, task, new Map())),
    }))
    const selected = listed.filter(({ tags }) => leftOutByTags(tags, options.tags, options.skipTags) === undefined)
    // Ansible lists the tags of a play as they are written; those of its tasks are what they come to.
    const written = chainOf(placed.parent).flatMap(({ directives }) => directives.tags)
    const asWritten = [...placed.play.tags, ...written].flatMap(tagsAsWritten)
    if (!asWritten.some(hasTemplate)) return { ...shown, tasks: selected }
    const retagged = selected.map(task => ({ ...task, tags: sortedTags([...task.tags, ...asWritten]) }))
    return { ...shown, tags: sortedTags(asWritten), tasks: retagged }
  })
  return { playbook: options.playbook, plays }
}

function tasksIn(compiled: Compiled): readonly { readonly task: Task; readonly frame: Frame }[] {
  switch (compiled.kind) {
    case 'task':
      return [compiled]
    case 'block':
      return compiled.block.flatMap(tasksIn)
    case 'role':
      return compiled.body.flatMap(tasksIn)
    case 'gap':
      return []
  }
}
