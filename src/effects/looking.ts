import type { TaskRun } from '../run/task-run.js'
import type { Effect } from './effect.js'
import type { RunEffects } from './run-effects.js'

/**
 * Whether a task of the run only looks at the host: it runs commands that are known and can change nothing, or does nothing
 * at all. What `changed_when: false` says of a command is not asked: it also stands on commands that do something.
 */
export function lookingTasks({ occurrences }: RunEffects): (task: TaskRun) => boolean {
  const acting = new Set(occurrences.filter(({ effect }) => !isLook(effect)).map(({ task }) => task))
  return task => !acting.has(task)
}

function isLook(effect: Effect): boolean {
  return effect.kind === 'command' && effect.powers.length === 0 && !effect.unfamiliar
}
