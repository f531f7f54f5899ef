import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clonePath } from '../../src/source/clone.js'

/** The files of a revision in a directory of their own, as Ansible needs them, with an inventory of one node in all groups. */
export interface Checkout {
  readonly directory: string
  readonly inventory: string
  readonly remove: () => void
}

const groups = ['kube_control_plane', 'kube-master', 'etcd', 'kube_node', 'kube-node']

/** Writes the local clone's files of a revision to a temporary directory; throws where git refuses. */
export function checkOut(revision: string): Checkout {
  const directory = mkdtempSync(join(tmpdir(), 'whofixes-checkout-'))
  const role = join(directory, 'checkout')
  mkdirSync(role)
  const archive = execFileSync('git', ['-C', clonePath(), 'archive', '--format=tar', revision], { maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', role], { input: archive })
  const inventory = join(directory, 'hosts.ini')
  writeFileSync(inventory, groups.map(group => `[${group}]\nnode1\n`).join('\n'))
  return { directory: role, inventory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** What `ansible-playbook --list-tasks` prints, or its complaint. */
export function listTasks({ directory, inventory }: Checkout, playbook: string): { list?: string; complaint: string } {
  const environment = { ...process.env, ANSIBLE_LOCALHOST_WARNING: '0', ANSIBLE_NOCOLOR: '1' }
  const { status, stdout, stderr } = spawnSync('ansible-playbook', ['--list-tasks', '-i', inventory, playbook], {
    cwd: directory,
    encoding: 'utf8',
    env: environment,
    maxBuffer: 2 ** 28,
  })
  const complaint = stderr.split('\n').find(line => line.startsWith('ERROR')) ?? stderr.trim()
  return status === 0 ? { list: stdout, complaint } : { complaint }
}
