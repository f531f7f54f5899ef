import assert from 'node:assert/strict'
import { isMethod } from '../../src/jinja/attributes.js'
import { filterNamed } from '../../src/jinja/filters.js'
import { isGlobal } from '../../src/jinja/globals.js'
import { isLookup } from '../../src/jinja/lookups.js'
import { testNamed } from '../../src/jinja/tests.js'
import { hostLookupNames } from '../../src/run/lookups.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { describeWithClone, isFrom, revisions } from './clone.js'
import { filesBelow, readUses, type UseKind } from './used-names.js'

/** Text that is no role code: other programs' templates, and links to what stands elsewhere in the tree. */
const notRoleCode = /^(?:\.github|\.gitlab-ci|docs|scripts|tests\/scripts|extra_playbooks\/(?:roles|inventory))(?:\/|$)/

/** What no value is worked out for, and why that is right. Everything else is modelled. */
const unmodelled: ReadonlyMap<string, string> = new Map([
  ['filter ansible.utils.fact_diff', 'a difference of two texts for people to read, in a message of an assertion'],
  ['filter community.crypto.x509_certificate_info', 'reads a certificate, which only the host has'],
  ['filter to_datetime', 'a point in time, compared with that of the run: in a clean-up of test machines'],
  ['method total_seconds', 'how long ago that was'],
])

const isModelled: Readonly<Record<UseKind, (name: string) => boolean>> = {
  filter: name => filterNamed(name) !== undefined,
  test: name => testNamed(name) !== undefined,
  lookup: name => isLookup(name) || hostLookupNames().includes(name.replace(/^ansible\.(?:builtin|legacy)\./, '')),
  function: isGlobal,
  method: isMethod,
  statement: name => !['include', 'import', 'from', 'extends'].includes(name),
}

describeWithClone('the language of every release from v2.20.0 on', () => {
  const seen = new Set<string>()
  let texts = 0

  for (const revision of revisions().filter(each => isFrom(each, 'v2.20.0'))) {
    it(`${revision}: every template and condition parses, and what it uses is modelled or listed`, () => {
      const tree = openRevision(clonePath(), revision)
      const refused: string[] = []
      for (const path of filesBelow(tree, '', /\.(?:ya?ml|j2)$/, notRoleCode)) {
        const file = tree.read(path)
        if (file === undefined) continue
        const reading = readUses(file)
        texts += reading.texts
        refused.push(...reading.refused.map(says => `${path}: ${says}`))
        for (const { kind, name } of reading.uses) if (!isModelled[kind](name)) seen.add(`${kind} ${name}`)
      }
      assert.deepEqual(refused, [])
      assert.deepEqual(
        [...seen].filter(each => !unmodelled.has(each)),
        [],
      )
    })
  }

  it('uses all that is listed as not modelled', () => {
    assert.deepEqual([...seen].sort(), [...unmodelled.keys()].sort())
    assert.ok(texts > 100_000, `${texts} texts`)
  })
})
