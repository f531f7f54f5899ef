import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { problems } from '../../rules/index.js'
import { parseAddress } from '../../src/addresses/address.js'
import { recordedBase, recordingOf } from '../../src/commands/record.js'
import { renderSnapshot } from '../../src/recorded/record.js'
import {
  newestRelease,
  parseRecorded,
  readRecorded,
  readSnapshot,
  recordedReleases,
  snapshotOf,
  snapshotsDirectory,
} from '../../src/recorded/snapshot.js'
import { effectFact, moduleFact, withoutQuotes } from '../../src/recorded/without-code.js'
import { renderAnswerJson } from '../../src/reports/answer-json.js'
import type { ReportedEvidence, ReportedPhase, ReportedVerdict } from '../../src/reports/report.js'
import { renderReportText } from '../../src/reports/report-text.js'
import { clonePath } from '../../src/source/clone.js'
import { UsageError } from '../../src/source/diagnostic.js'
import { openSource } from '../../src/source/open.js'
import { releaseTags } from '../../src/source/revision.js'
import { parseOutput } from '../schemas/valid.js'

const releases = recordedReleases()

describe('recorded snapshots', () => {
  it('cover v2.10.0 to v2.31.0, every release', () => {
    assert.equal(releases[0], 'v2.10.0')
    assert.equal(releases.at(-1), 'v2.31.0')
    assert.equal(newestRelease(), 'v2.31.0')
    assert.equal(releases.length, 60)
    if (!existsSync(clonePath())) return
    const tags = releaseTags(clonePath()).map(({ tag }) => tag)
    assert.deepEqual(releases.slice(), tags.slice(tags.indexOf('v2.10.0'), tags.indexOf('v2.31.0') + 1))
  })

  it('are at most 6 MB together', () => {
    const sizes = releases.map(release => statSync(new URL(`${release}.json`, snapshotsDirectory)).size)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(total <= 6_000_000, `${total} bytes`)
  })

  it('are those of the commits that the tags name', function () {
    if (!existsSync(clonePath())) {
      console.log('skipped: no clone of kubespray (whofixes fetch)')
      this.skip()
    }
    for (const { tag, commit } of releaseTags(clonePath())) {
      if (releases.includes(tag)) assert.equal(readRecorded(tag)?.commit, commit, tag)
    }
  })

  for (const release of releases) {
    describe(release, () => {
      const path = new URL(`${release}.json`, snapshotsDirectory)

      it('is at most 230 KB', () => assert.ok(statSync(path).size <= 230_000, `${statSync(path).size} bytes`))

      it('answers the whole catalogue, with at most 8 near misses of a problem and the number of all', () => {
        const report = readSnapshot(release)?.report
        assert.deepEqual(
          report?.problems.map(({ id }) => id),
          problems.map(({ id }) => id),
        )
        for (const { id, nearMisses, searched } of report?.problems ?? []) {
          assert.ok(nearMisses.length <= 8 && nearMisses.length <= searched.near, id)
          assert.ok(nearMisses.length > 0 || searched.near === 0, id)
          assert.ok(searched.tasks > 500 && searched.commands > 50, id)
        }
      })

      it('answers as the role code does', () => {
        const report = readSnapshot(release)?.report
        assert.ok(report)
        assert.deepEqual(parseOutput(renderAnswerJson(report)), {
          swap: 'kubespray',
          br_netfilter: 'kubespray',
          ip_forward: 'kubespray',
          port_10250: 'operator',
          sysctl_file: '/etc/sysctl.d/99-sysctl.conf',
        })
        assert.match(renderReportText(report), /as recorded/)
      })

      it('holds no templates and no conditions in its sentences', () => {
        const { texts, considered } = readRecorded(release) ?? {}
        const sentences = JSON.stringify([texts, considered])
        assert.ok(sentences.length > 10_000)
        assert.doesNotMatch(sentences, /\{\{|\{%|==|!=| is defined| not in | is (?:version|match)\W|\| default/)
      })

      it('gives evidence a reader can open', () => {
        const report = readSnapshot(release)?.report
        for (const { now, afterReboot, nearMisses } of report?.problems ?? []) {
          for (const each of [...now.evidence, ...afterReboot.evidence, ...nearMisses]) {
            assert.match(each.file, /^(?:roles|playbooks|extra_playbooks)\//)
            assert.ok(each.line > 0)
            assert.ok(each.address !== null && parseAddress(each.address) !== undefined, each.task)
            assert.ok(each.permalink?.endsWith(`/blob/${release}/${each.file}#L${each.line}`), each.permalink ?? 'none')
          }
        }
      })
    })
  }

  it('resolve variables by role, with what they win over', () => {
    const variables = readSnapshot('v2.31.0')?.variables(['sysctl_file_path', 'minimal_master_memory_mb'])
    const preinstall = variables?.get('kubernetes/preinstall')
    assert.equal(preinstall?.get('minimal_master_memory_mb')?.value, 1500)
    const path = preinstall?.get('sysctl_file_path')
    assert.equal(path?.value, '/etc/sysctl.d/99-sysctl.conf')
    assert.equal(path?.file, 'roles/kubernetes/preinstall/defaults/main.yml')
    assert.equal(path?.overridden.length, 1)
  })

  it('of another form are refused', () => {
    assert.throws(() => parseRecorded('{"schema":"something else"}', 'v9.9.9', () => undefined), UsageError)
  })
})

/** With the order of roles and variables. */
function inOrder(variables: ReadonlyMap<string, ReadonlyMap<string, unknown>>): string {
  return JSON.stringify([...variables].map(([role, each]) => [role, [...each]]))
}

/** What a snapshot keeps of a verdict, from a fresh report and from a snapshot. */
function facts({ id, fixedBy, condition, now, afterReboot, nearMisses, searched, notes }: ReportedVerdict): unknown {
  const told = (text: string | null | undefined): string | null => (text == null ? null : withoutQuotes(text))
  const evidence = (each: ReportedEvidence): unknown => [
    ...[
      each.play,
      each.role,
      each.task,
      moduleFact(each.module),
      effectFact(each.effect),
      each.condition,
      each.why,
    ].map(told),
    ...[each.file, each.line, each.runs, each.permalink, each.address],
  ]
  const proof = (each: ReportedEvidence): unknown => [evidence(each), each.via]
  const phase = (each: ReportedPhase): unknown => [
    ...[each.fixedBy, told(each.condition), each.evidence.map(proof)],
    each.fixedBy === 'unknown' ? each.open.slice(0, 1).map(proof) : [],
  ]
  return [
    ...[id, fixedBy, told(condition), phase(now), phase(afterReboot), nearMisses.slice(0, 1).map(evidence)],
    ...[searched.near, searched.tasks, searched.commands, searched.unresolved.map(each => told(each.why))],
    ...[searched.considered.map(({ program, calls }) => [program, calls]), notes.map(({ says }) => told(says))],
  ]
}

describe('recording', () => {
  // The newest, the oldest, one between and a patch release: all of them would take minutes.
  for (const release of ['v2.31.0', 'v2.10.0', 'v2.24.0', 'v2.24.2']) {
    it(`${release} gives the committed snapshot`, function () {
      const tree = openSource(release)
      if (tree === undefined) {
        console.log('skipped: no clone of kubespray (whofixes fetch)')
        this.skip()
        return
      }
      const recording = recordingOf(tree, release)
      const text = renderSnapshot(recording, recordedBase(release))
      assert.equal(text, readFileSync(new URL(`${release}.json`, snapshotsDirectory), 'utf8'))

      // The very same comes out of what differs and of the whole.
      const whole = renderSnapshot(recording)
      const differing = readSnapshot(release)
      const alone = snapshotOf(parseRecorded(whole, release, () => undefined))
      assert.deepEqual(differing?.report, alone.report)
      assert.equal(inOrder(differing?.variables([])), inOrder(alone.variables([])))
      // And every sentence of the report is the one that the role code gives.
      assert.deepEqual(differing?.report.problems.map(facts), recording.report.problems.map(facts))
    })
  }
})
