import type { Code } from './code.js'

/** What an entry of a playbook has and a task has not. */
const marksOfPlays = /^(?:hosts|(?:ansible\.builtin\.)?(?:import_playbook|include))$/

/** Files at the top and in the directories of playbooks that hold plays. */
export function playbooksIn({ tree, document }: Code): readonly string[] {
  return ['', 'playbooks', 'extra_playbooks'].flatMap(directory =>
    tree.list(directory).flatMap(name => {
      const path = directory === '' ? name : `${directory}/${name}`
      if (!/\.ya?ml$/.test(name) || tree.entryKind(path) !== 'file') return []
      const node = document(path)
      const isPlaybook =
        node?.kind === 'list' &&
        node.items.length > 0 &&
        node.items.every(
          item => item.kind === 'map' && item.entries.some(({ key }) => marksOfPlays.test(String(key.data))),
        )
      return isPlaybook ? [path] : []
    }),
  )
}
