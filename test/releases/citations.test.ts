import assert from 'node:assert/strict'
import { findTask } from '../../src/citations/follow/find-task.js'
import { followLines } from '../../src/citations/follow/follow-lines.js'
import { type FollowedPath, followPath } from '../../src/citations/follow/paths.js'
import { removedPath } from '../../src/citations/follow/removed.js'
import { followTask } from '../../src/citations/follow/task-across.js'
import { fileLines, filesOf, openVersion, type Version } from '../../src/citations/follow/version.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { describeWithClone } from './clone.js'

const opened = new Map<string, Version>()

function version(revision: string): Version {
  const known = opened.get(revision) ?? openVersion(openRevision(clonePath(), revision))
  opened.set(revision, known)
  return known
}

/** Some lines of every file, the same at each run. */
function someRanges({ tree }: Version, path: string, count: number): readonly (readonly [number, number])[] {
  const length = tree.read(path)?.text.length ?? 0
  return [0, 1, 2].map(step => {
    const first = ((length * 7 + step * 31) % count) + 1
    return [first, Math.min(count, first + ((length + step) % 9))]
  })
}

describeWithClone('releases: citations', () => {
  after(() => opened.clear())

  it('finds lines of a release in the same place of that release', () => {
    const old = version('v2.31.0')
    let ranges = 0
    for (const path of filesOf(old)) {
      const count = fileLines(old, path)?.length ?? 0
      for (const [first, last] of count === 0 ? [] : someRanges(old, path, count)) {
        assert.deepEqual(followLines(old, old, path, first, last), { state: 'same', path, first, last })
        ranges += 1
      }
    }
    assert.ok(ranges > 5000, `${ranges} ranges`)
  })

  for (const [from, to] of [
    ['v2.20.0', 'v2.28.0'],
    ['v2.28.0', 'v2.31.0'],
    ['v2.31.0', 'master'],
  ] as const) {
    it(`answers with lines that are there, from ${from} to ${to}`, () => {
      const [old, now] = [version(from), version(to)]
      const states = new Map<string, number>()
      for (const path of filesOf(old)) {
        const count = fileLines(old, path)?.length ?? 0
        for (const [first, last] of count === 0 ? [] : someRanges(old, path, count).slice(0, 1)) {
          const followed = followLines(old, now, path, first, last)
          states.set(followed.state, (states.get(followed.state) ?? 0) + 1)
          if (followed.state !== 'same' && followed.state !== 'changed') continue
          const there = fileLines(now, followed.path)?.length ?? 0
          assert.ok(followed.first >= 1 && followed.first <= followed.last && followed.last <= there, path)
        }
      }
      assert.deepEqual([...states.keys()].sort(), ['changed', 'gone', 'same'])
    })

    it(`finds tasks of ${from} in ${to}, the same ones with and without ${from} at hand`, () => {
      const [old, now] = [version(from), version(to)]
      let [found, others] = [0, 0]
      for (const task of old.addresses.all()) {
        const alone = findTask(now.addresses, task.address)
        const across = followTask(old, now, task)
        if (alone.state !== 'same' && alone.state !== 'changed') continue
        found += 1
        if (across.state === 'gone' || across.state === 'ambiguous' || across.task !== alone.task) others += 1
      }
      assert.ok(found > 1000 && others / found < 0.01, `${others} of ${found} differ`)
    })
  }

  const lines: readonly (readonly [from: string, place: string, line: number, to: string, is: string])[] = [
    // A renumbered file, whose number another one has now.
    [
      'v2.21.0',
      'roles/kubernetes/preinstall/tasks/0020-verify-settings.yml',
      66,
      'v2.22.0',
      'same roles/kubernetes/preinstall/tasks/0040-verify-settings.yml:66',
    ],
    // What asks only for the inventory went to a role of its own.
    [
      'v2.22.0',
      'roles/kubernetes/preinstall/tasks/0040-verify-settings.yml',
      59,
      'v2.28.0',
      'same roles/validate_inventory/tasks/main.yml:97',
    ],
  ]
  for (const [from, path, line, to, is] of lines) {
    it(`follows ${path}:${line} of ${from} to ${to}`, () => {
      const followed = followLines(version(from), version(to), path, line, line)
      assert.ok(followed.state === 'same' || followed.state === 'changed')
      assert.equal(`${followed.state} ${followed.path}:${followed.first}`, is)
    })
  }

  const removed: readonly (readonly [path: string, release: string, at: string | undefined])[] = [
    // Documents put it under the new name of its role, where it never was.
    ['roles/kubespray_defaults/tasks/no_proxy.yml', 'v2.27.1', 'roles/network_facts/tasks/main.yaml:33'],
    [
      'roles/network_plugin/calico/defaults/main.yml',
      'v2.23.1',
      'roles/network_plugin/calico_defaults/defaults/main.yml',
    ],
    ['inventory/sample/group_vars/all.yml', 'v2.6.0', 'inventory/sample/group_vars/all/all.yml'],
  ]
  for (const [path, release, at] of removed) {
    it(`knows when ${path} was last there, and where it went`, () => {
      const found = removedPath(version('v2.31.0'), path)
      assert.equal(found?.lastRelease, release)
      assert.equal(found && placeIn(found.followed), at)
    })
  }

  it('follows documents that went to a directory of their own', () => {
    const followed = followPath(version('v2.20.0'), version('v2.31.0'), 'docs/calico.md')
    assert.equal(placeIn(followed), 'docs/CNI/calico.md')
    assert.equal(removedPath(version('v2.31.0'), 'docs/never-there.md'), undefined)
  })
})

function placeIn(followed: FollowedPath): string | undefined {
  const place = followed.state === 'gone' ? followed.nearest : followed.state === 'absent' ? undefined : followed
  const line = place !== undefined && 'line' in place ? place.line : undefined
  return place === undefined ? undefined : `${place.path}${line === undefined ? '' : `:${line}`}`
}
