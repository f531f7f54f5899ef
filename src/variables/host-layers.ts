import { ANY_NAME } from '../ansible/statement.js'
import type { VariableFile } from '../inventory/group-vars.js'
import { groupsOf, type Inventory } from '../inventory/inventory.js'
import { layerOf } from './layers.js'
import type { Origin } from './resolved.js'
import type { Layer } from './scope.js'

/**
 * What the inventory says of a host, strongest first: host_vars, what `add_host` gave it, host lines, group_vars of its groups, group_vars/all,
 * and only then the groups' variables in the inventory file itself (rule 65, levels 12 to 16).
 */
export function hostLayers(
  inventory: Inventory,
  host: string,
  files: readonly VariableFile[],
  added: Layer,
): readonly Layer[] {
  const groups = groupsOf(inventory, host).filter(name => name !== 'all')
  const inFile = (origin: Origin, names: readonly string[]): readonly Layer[] =>
    names.toReversed().flatMap(name => {
      const { variables = [] } = inventory.groups.get(name) ?? {}
      return variables.length === 0 ? [] : layerOf(origin, variables)
    })
  const fromFiles = (origin: Origin, of: (file: VariableFile) => boolean): readonly Layer[] => {
    const chosen = files.filter(of)
    // A file that cannot be read may say anything: it stands before what the readable ones of its level say. Each file is
    // a layer of its own, made once: scopes ask for these at every include.
    return [
      ...chosen.flatMap(file => (file.unreadable ? unreadableLayer(origin, file) : [])),
      ...chosen.toReversed().map(({ definitions }) => layerOf(origin, definitions)),
    ]
  }
  const ofHost = (beside: VariableFile['beside']) => (file: VariableFile) =>
    file.host === host && file.beside === beside
  const ofAll = (beside: VariableFile['beside']) => (file: VariableFile) =>
    file.group === 'all' && file.beside === beside
  // Of several inventories the groups of one are merged before those of the next, whichever groups they are.
  const ofGroups = (beside: VariableFile['beside']): readonly Layer[] => {
    const sources = [...new Set(files.flatMap(file => (file.beside === beside ? file.source : [])))]
    return sources
      .toReversed()
      .flatMap(source =>
        groups
          .toReversed()
          .flatMap(name =>
            fromFiles(
              `${beside} group_vars`,
              file => file.group === name && file.beside === beside && file.source === source,
            ),
          ),
      )
  }
  return [
    ...fromFiles('playbook host_vars', ofHost('playbook')),
    ...fromFiles('inventory host_vars', ofHost('inventory')),
    added,
    layerOf('inventory file host vars', inventory.hosts.get(host)?.variables ?? []),
    ...ofGroups('playbook'),
    ...ofGroups('inventory'),
    ...fromFiles('playbook group_vars/all', ofAll('playbook')),
    ...fromFiles('inventory group_vars/all', ofAll('inventory')),
    ...inFile('inventory file group vars', groups),
    ...inFile('inventory file all:vars', ['all']),
  ]
}

function unreadableLayer(origin: Origin, { file, unreadable }: VariableFile): Layer {
  if (unreadable === undefined) return layerOf(origin, [])
  return layerOf(origin, [{ name: ANY_NAME, node: unreadable, at: { file, start: 0, end: 0 } }])
}
