import type { Run, TaskRun } from '../run/task-run.js'

/**
 * What `ansible-playbook --list-tasks` prints for the playbook, character for character: static tasks only, a dynamic
 * include as the one line it is, no handlers and no rescue or always sections.
 */
export function renderTasksList(run: Run): string {
  const blocks = run.plays.map((play, number) => {
    const lines = run.tasks
      .filter(task => task.play === number && isListed(task))
      .map(task => `      ${listedName(task)}\tTAGS: [${task.tags.join(', ')}]\n`)
    const head = `  play #${number + 1} (${play.hosts.join(',')}): ${play.name}\tTAGS: [${play.tags.join(',')}]\n`
    return `\n${head}    tasks:\n${lines.join('')}`
  })
  return `\nplaybook: ${run.playbook}\n${blocks.join('')}`
}

function isListed(task: TaskRun): boolean {
  const { part, includedBy, leftOutByTags } = task
  return includedBy === undefined && !leftOutByTags && (part === 'block' || part.endsWith('tasks'))
}

/** The name untemplated, behind the role's; a task without a name is its module as written. */
function listedName({ task, roleName }: TaskRun): string {
  if (task.name === undefined || task.name === '') return task.action
  if (task.module === 'ansible.builtin.include_role') return task.name
  return roleName === undefined ? task.name : `${roleName} : ${task.name}`
}
