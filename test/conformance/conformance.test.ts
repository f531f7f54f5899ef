import assert from 'node:assert/strict'
import { type Ansible, type AnsibleAnswer, askAnsible, findAnsible } from './ansible.js'
import { lineOf, type Outcome } from './outcome.js'
import { answersFor, hostsOfTree, type PlacedTree, placeTrees, type Tree, themes, treeFor } from './trees.js'
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
    for (const { name, trees } of themes) {
      describe(name, () => {
        for (const tree of trees) {
          it(tree.name, () => judgeOwnAnswer(placeFor(tree)))
          for (const other of [tree.before, tree.from]) {
            const version = other?.followedAs
            if (other === undefined || version === undefined) continue
            it(`${tree.name}: by the rules of ${version}`, () => {
              judgeOwnAnswer({ ...placeFor(tree), tree: treeFor(tree, other) }, version)
            })
          }
        }
      })
    }
  })

  describe('ansible-core says what is written down, at the places and in the list whofixes has', () => {
    let ansible: Ansible
    before(function () {
      const found = findAnsible()
      if (found === undefined) {
        assert.ok(!process.env.CI, 'ansible-core is not installed, and CI is where it has to be')
        console.log('    skipped: ansible-core is not installed')
        return this.skip()
      }
      ansible = found
    })

    for (const { name, trees } of themes) {
      describe(name, () => {
        let answers: ReadonlyMap<Tree, AnsibleAnswer>
        before(function () {
          // Each tree is run and listed; that takes Ansible a good part of a second.
          this.timeout('10m')
          answers = askAnsible(ansible, trees.map(placeFor))
        })
        for (const tree of trees) {
          it(tree.name, () => judgeAgainstAnsible(placeFor(tree), ansible, answers.get(tree)))
        }
      })
    }
  })
})

function judgeOwnAnswer(placed: PlacedTree, version?: string): void {
  const { tree } = placed
  for (const host of hostsOfTree(tree)) {
    const own = askWhofixes(placed, host, version)
    if (tree.refused) assert.ok(own.refused, 'reports no error where Ansible refuses to start')
    else {
      assert.deepEqual(own.errors, [], 'reports an error where Ansible finds none')
      assert.deepEqual(comparable(own.outcomes, tree, host), expectedLines(tree, host))
    }
  }
}

function judgeAgainstAnsible(placed: PlacedTree, { version }: Ansible, answer: AnsibleAnswer | undefined): void {
  const { tree } = placed
  assert.ok(answer, 'every tree is asked about')
  const otherwise =
    tree.before !== undefined && isOlder(version, tree.before.version)
      ? tree.before
      : tree.from !== undefined && !isOlder(version, tree.from.version)
        ? tree.from
        : undefined
  const { refused = false } = otherwise ?? tree
  assert.equal(answer.refused, refused, answer.errors)
  if (refused) return
  for (const host of hostsOfTree(tree)) {
    const outcomes: readonly Outcome[] = answer.outcomes.get(host) ?? []
    assert.deepEqual(outcomes.map(lineOf), otherwise?.answers ?? answersFor(tree, host), answer.errors)
    if (otherwise !== undefined) continue
    const own = askWhofixes(placed, host)
    assert.deepEqual(placesOf(reached(own.outcomes, tree, host)), placesOf(outcomes))
    assert.equal(own.list, answer.list)
  }
}

function placesOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.map(({ place }) => place)
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
    const perhapsUnreached = outcome.what === 'skipped' || tree.unreached?.includes(outcome.name)
    if (perhapsUnreached && expected[kept.length] !== lineOf(outcome)) continue
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
