import assert from 'node:assert/strict'
import { defaultInventory } from '../../src/inventory/default-inventory.js'
import { hostsOf, type Inventory } from '../../src/inventory/inventory.js'
import { collector, treeOf } from './places.js'

function shapeOf(inventory: Inventory): Record<string, readonly string[]> {
  return Object.fromEntries([...inventory.groups.keys()].map(group => [group, hostsOf(inventory, group)]))
}

describe('the default inventory', () => {
  it("has the old names where the release's sample has them, and leaves the rest empty", () => {
    const text =
      '[all]\n# a\n[kube-master]\n[etcd]\n[kube-node]\nsome ip=1\n[calico-rr]\n[k8s-cluster:children]\nkube-master\nkube-node\ncalico-rr\n'
    const inventory = defaultInventory(treeOf({ 'inventory/sample/inventory.ini': text }), () => assert.fail())
    assert.deepEqual(shapeOf(inventory), {
      all: ['node1'],
      ungrouped: [],
      'kube-master': ['node1'],
      etcd: ['node1'],
      'kube-node': ['node1'],
      'calico-rr': [],
      'k8s-cluster': ['node1'],
    })
  })

  it('keeps membership through children, and adds no group the sample leaves to the run', () => {
    const text = '[kube_control_plane]\n[etcd:children]\nkube_control_plane\n[kube_node]\n'
    const inventory = defaultInventory(treeOf({ 'inventory/sample/hosts.ini': text }), () => assert.fail())
    assert.deepEqual(inventory.groups.get('etcd')?.hosts, [])
    assert.deepEqual(hostsOf(inventory, 'etcd'), ['node1'])
    assert.equal(inventory.groups.has('k8s_cluster'), false)
  })

  it("has today's names without a sample, or with one that cannot be read", () => {
    const today = {
      all: ['node1'],
      ungrouped: [],
      kube_control_plane: ['node1'],
      k8s_cluster: ['node1'],
      kube_node: ['node1'],
      etcd: ['node1'],
      calico_rr: [],
    }
    assert.deepEqual(shapeOf(defaultInventory(treeOf({}), () => assert.fail())), today)
    const { report, told } = collector()
    assert.deepEqual(shapeOf(defaultInventory(treeOf({ 'inventory/sample/inventory.ini': '[a b]\n' }), report)), today)
    assert.match(told[0] ?? '', /^inventory\/sample\/inventory\.ini:1 inventory-syntax: .*taken from no sample$/)
  })
})
