import type { ListedTask, Listing } from '../run/listing.js'

/** What `ansible-playbook --list-tasks` prints for the playbook, character for character. */
export function renderTasksList({ playbook, plays }: Listing): string {
  const blocks = plays.map((play, number) => {
    const lines = play.tasks.map(task => `      ${nameOf(task)}\tTAGS: [${task.tags.join(', ')}]\n`)
    const head = `  play #${number + 1} (${play.hosts.join(',')}): ${play.name}\tTAGS: [${play.tags.join(',')}]\n`
    return `\n${head}    tasks:\n${lines.join('')}`
  })
  return `\nplaybook: ${playbook}\n${blocks.join('')}`
}

/** The name untemplated, behind the role's; a task without a name is its module as written. */
function nameOf({ task, roleName }: ListedTask): string {
  if (task.name === undefined || task.name === '') return task.action
  if (task.module === 'ansible.builtin.include_role') return task.name
  return roleName === undefined ? task.name : `${roleName} : ${task.name}`
}
