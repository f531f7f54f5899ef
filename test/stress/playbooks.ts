import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readPlaybook } from '../../src/ansible/read-plays.js'
import type { SourceTree } from '../../src/source/tree.js'
import { entryOf, type Node } from '../../src/yaml/node.js'
import { readYamlFile } from '../../src/yaml/read.js'

/** A playbook of a repository, and the directory it is played from. */
export interface FoundPlaybook {
  /** The directory of the nearest ansible.cfg above it, else the root of the repository; a path in the repository. */
  readonly root: string
  /** The path below `root`. */
  readonly path: string
}

/** What there is to read in a repository. */
export interface Found {
  readonly yamlFiles: number
  readonly playbooks: readonly FoundPlaybook[]
  /** The words of all `hosts:`, by which an inventory can put a host into every group. */
  readonly groups: readonly string[]
}

/**
 * Reads every YAML file of a checkout and says which of them are playbooks: lists with a play or an import of one. Links are
 * not followed: what they lead to is found where it stands, and some lead back to themselves.
 */
export function findPlaybooks(tree: SourceTree): Found {
  let yamlFiles = 0
  const playbooks: FoundPlaybook[] = []
  const groups = new Set<string>()
  const look = (directory: string, configured: string): void => {
    const root = tree.entryKind(below(directory, 'ansible.cfg')) === 'file' ? directory : configured
    const entries = readdirSync(join(tree.origin.path, directory), { withFileTypes: true })
    const links = new Set(entries.filter(entry => entry.isSymbolicLink()).map(({ name }) => name))
    for (const name of tree.list(directory)) {
      if (name.startsWith('.') || links.has(name)) continue
      const path = below(directory, name)
      if (tree.entryKind(path) === 'directory') look(path, root)
      else if (/\.ya?ml$/.test(name)) {
        const file = tree.read(path)
        if (file === undefined) continue
        yamlFiles += 1
        const node = readYamlFile(file, () => {})
        if (!isPlaybook(node)) continue
        playbooks.push({ root, path: root === '' ? path : path.slice(root.length + 1) })
        for (const group of groupsIn(node)) groups.add(group)
      }
    }
  }
  look('', '')
  return { yamlFiles, playbooks, groups: [...groups].sort() }
}

function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

const importNames = ['import_playbook', 'ansible.builtin.import_playbook']

/** Ansible cannot tell a list of plays from one of tasks but by what it is played as; plays have hosts. */
function isPlaybook(node: Node): boolean {
  return (
    node.kind === 'list' &&
    node.items.some(
      item => item.kind === 'map' && ['hosts', ...importNames].some(name => entryOf(item, name) !== undefined),
    )
  )
}

function groupsIn(node: Node): readonly string[] {
  return readPlaybook(node, () => {}).flatMap(entry => {
    const hosts = entry.kind === 'play' ? entry.hosts : undefined
    const nodes = hosts?.kind === 'list' ? hosts.items : hosts === undefined ? [] : [hosts]
    return nodes
      .flatMap(each =>
        each.kind === 'scalar' && typeof each.data === 'string'
          ? each.data.replace(/\{\{.*?\}\}/g, '').split(/[:,!&\s]+/)
          : [],
      )
      .filter(word => /^[a-z_][\w.-]*$/i.test(word) && !reserved.has(word))
  })
}

const reserved = new Set(['all', 'localhost', 'ungrouped'])
