import type { Report } from '../source/diagnostic.js'
import type { SourceTree } from '../source/tree.js'
import { copyOf, type Draft, draftGroup, draftHost, emptyDraft } from './draft.js'
import { readIni } from './ini.js'
import { hostsOf, type Inventory, settle } from './inventory.js'

/** Where the releases keep the inventory a user starts from. */
const SAMPLES = ['inventory/sample/inventory.ini', 'inventory/sample/hosts.ini']

/** What node1 has to be, and the names the releases gave to it: the first is today's. */
const ROLES: readonly (readonly string[])[] = [
  ['kube_control_plane', 'kube-master'],
  ['etcd'],
  ['kube_node', 'kube-node'],
]

const HOST = 'node1'

/**
 * The inventory used where the user gives none: one host, `node1`, that is control plane, etcd and node. Its groups are
 * those of the release's own sample (inventory/sample/inventory.ini), whichever names they have there (`kube-master`,
 * `kube-node`, `k8s-cluster` up to v2.15, `kube_control_plane`, `kube_node`, `k8s_cluster` since), with their
 * `:children`; node1 joins the group of each of its three roles unless it belongs there through a child. All other
 * groups of the sample stay, empty, and hosts of the sample are left out. A release whose sample leaves `k8s_cluster`
 * to a `group_by` of its playbooks (since v2.27) has no such group here either. Without a readable sample the groups are
 * today's names and `k8s_cluster` of both. It has no sources, so no group_vars: whose sample values apply is for the
 * caller to say.
 */
export function defaultInventory(tree: SourceTree, report: Report): Inventory {
  const draft = readSample(tree, report) ?? todaysGroups()
  for (const names of ROLES) {
    const present = names.filter(name => draft.groups.has(name))
    for (const group of present.length > 0 ? present : names.slice(0, 1)) {
      // Through a child it may be a member already: `[etcd:children] kube_control_plane`.
      if (hostsOf(settle(copyOf(draft), [], []), group).includes(HOST)) continue
      draftHost(draft, HOST, group, undefined, undefined)
    }
  }
  return settle(draft, [], [])
}

/** The groups of the release's sample, without its hosts. */
function readSample(tree: SourceTree, report: Report): Draft | undefined {
  const file = SAMPLES.flatMap(path => tree.read(path) ?? [])[0]
  if (file === undefined) return undefined
  const draft = emptyDraft()
  const problem = readIni(draft, file, file.path)
  if (problem) {
    const message = `${problem.says}; the groups of the default inventory are taken from no sample`
    report({ code: 'inventory-syntax', severity: 'warning', message, at: problem.at })
    return undefined
  }
  draft.hosts.clear()
  for (const group of draft.groups.values()) group.hosts.clear()
  return draft
}

function todaysGroups(): Draft {
  const draft = emptyDraft()
  const groups = { kube_control_plane: 'k8s_cluster', kube_node: 'k8s_cluster', etcd: undefined, calico_rr: undefined }
  for (const [group, cluster] of Object.entries(groups)) {
    const below = draftGroup(draft, group)
    if (cluster === undefined) continue
    draftGroup(draft, cluster).children.push(group)
    below.parents.push(cluster)
  }
  return draft
}
