import type { Run, TaskRun } from '../run/task-run.js'
import { reportedAnsible } from './ansible-rules.js'
import { placeOfSpan } from './place.js'

/** The task graph for machines: contract, "tasks". */
export function renderTasksJson(run: Run): string {
  const { playbook, host, ansible, tasks } = run
  const json = { playbook, host, ansible: reportedAnsible(ansible), tasks: tasks.map(taskJson) }
  return `${JSON.stringify(json, null, 2)}\n`
}

const answers = { true: 'yes', false: 'no', unknown: 'unknown' } as const

function taskJson(run: TaskRun): object {
  const { task, part } = run
  return {
    play: run.play,
    role: run.role ?? null,
    name: run.name,
    module: task.module,
    ...placeOfSpan(task.at),
    tags: run.tags,
    part: part.endsWith('tasks') ? 'block' : part,
    // Whether conditions hold once the run gets there; that it does not get there again is `excluded`.
    runs: answers[(run.alreadyRan ? run.holds : run.runs).kind],
    condition: run.remains,
    excluded: run.excluded ?? null,
    dependsOnSetFact: run.dependsOnSetFact,
    includedBy: run.includedBy === undefined ? null : placeOfSpan(run.includedBy),
    notifiedBy: run.notifiedBy.map(({ task: by }) => placeOfSpan(by.at)),
  }
}
