import type { Scope } from '../variables/scope.js'
import type { Code } from './code.js'
import { playsOf, preparePlay } from './plays.js'
import type { Role } from './role.js'
import { createRunState, type RunOptions } from './state.js'
import type { Gap, PlayRun, Run, TaskRun } from './task-run.js'
import { flushHandlers, type Walk, walkCompiled, walkPlay } from './walk.js'

/** What may look on while the run goes on. */
export interface Observer {
  /** Each time a role begins, with the variables its tasks see. */
  readonly roleStarts: (role: Role, scope: Scope) => void
}

/**
 * Runs a playbook for one host on paper: plays in order with imports of playbooks put in place, each compiled and walked
 * as Ansible would. Nothing is executed; what only the host can tell stays unknown. What cannot be read becomes a gap.
 */
export function runPlaybook(code: Code, options: RunOptions, observer: Observer): Run {
  const state = createRunState(code, options)
  const tasks: TaskRun[] = []
  const gaps: Gap[] = []
  const plays: PlayRun[] = []
  for (const placed of playsOf(state, gaps)) {
    // Only now: hosts and imports of a play may rest on what the plays before it did.
    const { shown, hosts, compiler, compiled, scopes } = preparePlay(state, placed, gaps)
    const walk: Walk = {
      state,
      compiler,
      scopes,
      play: compiled,
      number: plays.length,
      hosts,
      inPlay: shown.inPlay,
      tasks,
      gaps,
      roleStarts: observer.roleStarts,
      visit: item => walkCompiled(walk, item),
      flush: () => flushHandlers(walk),
      handlers: [],
      rolesDone: new Set(),
      skipping: undefined,
      repeats: false,
      ended: false,
      open: [],
    }
    walkPlay(walk)
    plays.push(shown)
  }
  return { host: options.host, playbook: options.playbook, plays, tasks, gaps }
}
