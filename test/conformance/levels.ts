import { readFileSync } from 'node:fs'
import type { Theme, Tree } from './trees.js'

/** The levels a variable may be defined at, as one version of Ansible ranks them. */
export interface Ranking {
  /** The row of the facts about Ansible. */
  readonly row: number
  readonly version: string
  readonly strongestFirst: readonly string[]
}

export const rankings: readonly Ranking[] = JSON.parse(
  readFileSync(new URL('../../../test/conformance/levels.json', import.meta.url), 'utf8'),
)

/** Trees that define one name at every level, then at every level but the strongest, and so on. */
export function levelsTheme(): Theme {
  const [old, now] = rankings
  if (old === undefined || now === undefined)
    throw new Error('levels.json ranks the levels before 2.16 and from then on')
  return {
    name: 'levels',
    trees: now.strongestFirst.map((winner, index) => {
      const levels = now.strongestFirst.slice(index)
      const winnerBefore = old.strongestFirst.find(level => levels.includes(level)) ?? winner
      const answers = answersOf(levels, winner)
      return {
        name: `${winner} over ${levels[1] ?? 'nothing'}`,
        ...treeOf(levels),
        answers,
        ...(winnerBefore === winner ? {} : { before: { version: '2.16', answers: answersOf(levels, winnerBefore) } }),
      }
    }),
  }
}

function answersOf(levels: readonly string[], winner: string): readonly string[] {
  const setting = ['set_fact', 'include_vars'].filter(level => levels.includes(level))
  return [...setting.map(level => `${level} ran`), `see = "${winner}"`]
}

/** Where each level is defined: a file that is there only for it, or a part of one that is there always. */
function treeOf(levels: readonly string[]): Pick<Tree, 'files' | 'inventory' | 'extraVars'> {
  const has = (level: string, text: string): string => (levels.includes(level) ? text : '')
  const files: Record<string, string> = {
    'inventory/hosts.ini': [
      `[g]\nh ${has('inv_host', 'v=inv_host')}`,
      has('inv_group_vars', '[g:vars]\nv=inv_group_vars'),
      has('inv_all_vars', '[all:vars]\nv=inv_all_vars'),
    ].join('\n'),
    'site.yml': [
      '- hosts: h',
      has('play_vars', '  vars: {v: play_vars}'),
      has('vars_files', '  vars_files: [files.yml]'),
      '  roles:',
      '    - role: r',
      has('role_entry_vars', '      vars: {v: role_entry_vars}'),
      has('role_params', '      v: role_params'),
      '',
    ].join('\n'),
    'roles/r/tasks/main.yml': [
      has('set_fact', '- set_fact: {v: set_fact}'),
      has('include_vars', '- include_vars: included.yml'),
      '- block:',
      `    - include_tasks: {file: see.yml}\n      ${has('include_params', 'vars: {v: include_params}')}`,
      has('block_vars', '  vars: {v: block_vars}'),
      '',
    ].join('\n'),
    'roles/r/tasks/see.yml': `- {name: see, debug: {msg: "{{ v }}"}${has('task_vars', ', vars: {v: task_vars}')}}\n`,
  }
  for (const [level, path] of Object.entries(filesOfLevels)) if (levels.includes(level)) files[path] = `v: ${level}\n`
  return {
    files,
    inventory: ['inventory/hosts.ini'],
    ...(levels.includes('extra_vars') ? { extraVars: ['v=extra_vars'] } : {}),
  }
}

const filesOfLevels: Readonly<Record<string, string>> = {
  vars_files: 'files.yml',
  include_vars: 'included.yml',
  role_vars: 'roles/r/vars/main.yml',
  role_defaults: 'roles/r/defaults/main.yml',
  pb_hv: 'host_vars/h.yml',
  inv_hv: 'inventory/host_vars/h.yml',
  pb_gv_g: 'group_vars/g.yml',
  inv_gv_g: 'inventory/group_vars/g.yml',
  pb_gv_all: 'group_vars/all.yml',
  inv_gv_all: 'inventory/group_vars/all.yml',
}
