import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Ansible } from '../conformance/ansible.js'

/** What `ansible-playbook --list-tasks` says of one playbook. */
export interface AnsibleList {
  readonly status: number
  readonly output: string
  readonly errors: string
}

/** Ansible's lists of the playbooks of one root, with the ansible.cfg that stands there. */
export function listWithAnsible(
  { python }: Ansible,
  root: string,
  playbooks: readonly string[],
  inventory: string,
): readonly AnsibleList[] {
  const program = fileURLToPath(new URL('../../../test/conformance/ansible/ask.py', import.meta.url))
  const own = join(root, 'ansible.cfg')
  const config = existsSync(own) ? own : fileURLToPath(new URL('../../../test/stress/ansible.cfg', import.meta.url))
  const questions = playbooks.map(playbook => ({
    directory: root,
    arguments: ['--list-tasks', '-i', inventory, playbook],
  }))
  const options = { input: JSON.stringify(questions), encoding: 'utf8', maxBuffer: 2 ** 28, cwd: root } as const
  return JSON.parse(execFileSync(python, [program, config], options))
}

/** A list with the tags of each play in one order: Ansible prints them in that of a Python set, another one in each run. */
export function comparableList(list: string): string {
  return list.replace(/^( {2}play #.*\tTAGS: \[)(.*)\]$/gm, (_line, before: string, tags: string) => {
    return `${before}${tags.split(',').sort().join(',')}]`
  })
}
