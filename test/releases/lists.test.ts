import assert from 'node:assert/strict'
import { findAnsible } from '../conformance/ansible.js'
import { checkOut } from '../measure/checkout.js'
import { compareLists } from '../measure/lists.js'
import { describeWithClone } from './clone.js'

/** A few of many: `npm run lists` compares every playbook of every release. */
const compared: readonly (readonly [revision: string, playbook: string])[] = [
  ['v2.18.2', 'cluster.yml'],
  ['v2.22.1', 'upgrade-cluster.yml'],
  ['v2.26.0', 'reset.yml'],
  ['v2.29.1', 'scale.yml'],
]

describeWithClone('releases: task lists', () => {
  before(function () {
    if (findAnsible() !== undefined) return
    assert.equal(process.env.CI, undefined, 'ansible-core is not installed')
    console.log('    skipped: no ansible-playbook')
    this.skip()
  })
  for (const [revision, playbook] of compared) {
    it(`${playbook} of ${revision} lists what ansible-playbook lists`, () => {
      const checkout = checkOut(revision)
      try {
        const { differs, refused, lines } = compareLists(checkout, playbook)
        assert.deepEqual({ differs, refused }, { differs: undefined, refused: undefined })
        assert.ok(lines > 20, `${lines} lines`)
      } finally {
        checkout.remove()
      }
    })
  }
})
