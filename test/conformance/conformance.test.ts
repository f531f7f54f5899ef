import assert from 'node:assert/strict'
import { type Ansible, type AnsibleAnswer, askAnsible, findAnsible } from './ansible.js'
import { lineOf, type Outcome } from './outcome.js'
import { answersFor, hostsOfTree, type PlacedTree, placeTrees, type Tree, themes } from './trees.js'
import { askWhofixes } from './whofixes.js'

/*
 * Three answers about each tree have to agree: the one written down beside it, ours, and that of the Ansible installed
 * here. The first two are compared everywhere; so is the third, in CI, where Ansible has to be there.
 */
describe('conformance with Ansible', () => {
  let placed: ReadonlyMap<Tree, PlacedTree>
  before(() => {
    placed = placeTrees()
  })
  const placeFor = (tree: Tree): PlacedTree => placed.get(tree) ?? assert.fail('every tree is placed')

  describe('whofixes says what is written down', () => {
    eachTree(tree => {
      const place = placeFor(tree)
      for (const host of hostsOfTree(tree)) {
        const own = askWhofixes(place, host)
        if (tree.refused) assert.ok(own.refused, 'reports no error where Ansible refuses to start')
        else assert.deepEqual(comparable(own.outcomes, tree, host), expectedLines(tree, host))
      }
    })
  })

  describe('ansible-core says what is written down, at the places and in the list whofixes has', () => {
    let ansible: Ansible
    let answers: ReadonlyMap<Tree, AnsibleAnswer>
    before(function () {
      // Some 200 runs of Ansible; each takes a good part of a second.
      this.timeout('15m')
      const found = findAnsible()
      if (found === undefined) {
        assert.ok(!process.env.CI, 'ansible-core is not installed, and CI is where it has to be')
        console.log('    skipped: ansible-core is not installed')
        return this.skip()
      }
      ansible = found
      answers = askAnsible(found, [...placed.values()])
    })

    eachTree(tree => {
      const answer = answers.get(tree) ?? assert.fail('every tree is asked about')
      const earlier =
        tree.before !== undefined && isOlder(ansible.version, tree.before.version) ? tree.before : undefined
      const { refused = false } = earlier ?? tree
      assert.equal(answer.refused, refused, answer.output)
      if (refused) return
      for (const host of hostsOfTree(tree)) {
        const outcomes = answer.outcomes.get(host) ?? []
        assert.deepEqual(outcomes.map(lineOf), earlier?.answers ?? answersFor(tree, host), answer.output)
        if (earlier !== undefined) continue
        const own = askWhofixes(placeFor(tree), host)
        const places = reached(own.outcomes, tree, host).map(({ place }) => place)
        assert.deepEqual(
          places,
          outcomes.map(({ place }) => place),
        )
        assert.equal(own.list, answer.list)
      }
    })
  })
})

function eachTree(judge: (tree: Tree) => void): void {
  for (const { name, trees } of themes) {
    describe(name, () => {
      for (const tree of trees) it(tree.name, () => judge(tree))
    })
  }
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number)
  return major < thanMajor || (major === thanMajor && minor < thanMinor)
}

/** What is written down, with one question mark for all that whofixes cannot know of a task. */
function expectedLines(tree: Tree, host: string): readonly string[] {
  const lines = answersFor(tree, host).map(line => {
    const name = tree.unknown?.find(unknown => line.startsWith(`${unknown} `))
    return name === undefined ? line : `${name} ?`
  })
  return lines.filter((line, index) => !line.endsWith(' ?') || line !== lines[index - 1])
}

/**
 * Our outcomes without those Ansible has none for: it says nothing of a task it never came to (behind a skipped include,
 * in a play for other hosts), we list it as one that does not run. Everything that may run has to be in its answer.
 */
function reached(outcomes: readonly Outcome[], tree: Tree, host: string): readonly Outcome[] {
  const expected = expectedLines(tree, host)
  const kept: Outcome[] = []
  for (const outcome of outcomes) {
    if (tree.unreached?.includes(outcome.name)) continue
    if (outcome.what === 'skipped' && expected[kept.length] !== lineOf(outcome)) continue
    kept.push(outcome)
  }
  return kept
}

/** A command that fails is, to us, one that runs: how it ends is the host's affair. */
function comparable(outcomes: readonly Outcome[], tree: Tree, host: string): readonly string[] {
  const expected = expectedLines(tree, host)
  return reached(outcomes, tree, host).map((outcome, index) => {
    const failed = lineOf({ ...outcome, what: 'failed' })
    return outcome.what === 'ran' && expected[index] === failed ? failed : lineOf(outcome)
  })
}
