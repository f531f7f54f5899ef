import { readdirSync } from 'node:fs'
import { analyzeListing, defaultRequest } from '../../src/analyze.js'
import { renderTasksList } from '../../src/reports/tasks-list.js'
import { openDirectory } from '../../src/source/directory.js'
import { type Checkout, listTasks } from './checkout.js'

export interface ListComparison {
  readonly playbook: string
  /** Lines that are equal, of how many. */
  readonly equal: number
  readonly lines: number
  /** The first line that differs; absent where all agree. */
  readonly differs?: { readonly line: number; readonly ansible: string; readonly ours: string }
  /** Why Ansible refuses the playbook; nothing is compared then. */
  readonly refused?: string
}

/** Our task list of a playbook beside Ansible's, character for character. */
export function compareLists(checkout: Checkout, playbook: string): ListComparison {
  const { list, complaint } = listTasks(checkout, playbook)
  if (list === undefined) return { playbook, equal: 0, lines: 0, refused: complaint }
  const request = { ...defaultRequest, playbook, inventory: [checkout.inventory] }
  const theirs = list.split('\n')
  const ours = renderTasksList(analyzeListing(openDirectory(checkout.directory), request).listing).split('\n')
  const lines = Math.max(theirs.length, ours.length)
  const differing = Array.from({ length: lines }, (_, index) => index).filter(index => theirs[index] !== ours[index])
  const [first] = differing
  const comparison = { playbook, equal: lines - differing.length, lines }
  if (first === undefined) return comparison
  return {
    ...comparison,
    differs: { line: first + 1, ansible: theirs[first] ?? '(no line)', ours: ours[first] ?? '(no line)' },
  }
}

/** Playbooks that can be started: those at the top and in `playbooks/` and `extra_playbooks/`, as they are there. */
export function entryPlaybooks({ directory }: Checkout): readonly string[] {
  return ['', 'playbooks/', 'extra_playbooks/'].flatMap(folder => {
    const names =
      folder === '' || readdirSync(directory).includes(folder.slice(0, -1)) ? readdirSync(`${directory}/${folder}`) : []
    return names
      .filter(name => name.endsWith('.yml') && !name.startsWith('.') && !notPlaybooks.has(name))
      .map(name => `${folder}${name}`)
  })
}

const notPlaybooks = new Set(['galaxy.yml', '_config.yml', 'mkdocs.yml'])
