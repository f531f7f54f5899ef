import type { ReportedVerdict } from './report.js'

/** What a verdict rests on, counted: `1589 task runs searched in this playbook, 464 commands parsed, 0 unreadable`. */
export function searchedText({ searched }: ReportedVerdict): string {
  const { tasks, commands, unresolved } = searched
  const parts = [
    `${tasks} task ${tasks === 1 ? 'run' : 'runs'} searched in this playbook`,
    `${commands} ${commands === 1 ? 'command' : 'commands'} parsed`,
    `${unresolved.length} unreadable`,
  ]
  return parts.join(', ')
}
