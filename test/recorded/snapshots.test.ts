import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { recordRelease } from '../../src/commands/record.js'
import { parseRecorded, readSnapshot, recordedReleases, snapshotsDirectory } from '../../src/recorded/snapshot.js'
import { renderAnswerJson } from '../../src/reports/answer-json.js'
import { renderReportText } from '../../src/reports/report-text.js'
import { UsageError } from '../../src/source/diagnostic.js'
import { openSource } from '../../src/source/open.js'

const releases = recordedReleases()

describe('recorded snapshots', () => {
  it('cover v2.24.0 to v2.31.0', () => {
    assert.equal(releases[0], 'v2.24.0')
    assert.equal(releases.at(-1), 'v2.31.0')
    assert.ok(releases.length >= 14)
  })

  for (const release of releases) {
    describe(release, () => {
      const path = new URL(`${release}.json`, snapshotsDirectory)

      it('is at most 150 KB', () => assert.ok(statSync(path).size <= 150_000, `${statSync(path).size} bytes`))

      it('answers as the role code does', () => {
        const report = readSnapshot(release)?.report
        assert.ok(report)
        assert.deepEqual(JSON.parse(renderAnswerJson(report)), {
          swap: 'kubespray',
          br_netfilter: 'kubespray',
          ip_forward: 'kubespray',
          port_10250: 'operator',
          sysctl_file: '/etc/sysctl.d/99-sysctl.conf',
        })
        assert.match(renderReportText(report), /as recorded/)
      })

      it('holds no templates and no conditions in its sentences', () => {
        const { texts, problems, unknowns, considered } = JSON.parse(readFileSync(path, 'utf8'))
        const sentences = JSON.stringify([texts, problems, unknowns, considered])
        assert.doesNotMatch(sentences, /\{\{|\{%|==|!=| is defined| not in /)
      })

      it('gives evidence a reader can open', () => {
        const report = readSnapshot(release)?.report
        for (const { now, afterReboot, nearMisses } of report?.problems ?? []) {
          for (const each of [...now.evidence, ...afterReboot.evidence, ...nearMisses]) {
            assert.match(each.file, /^(?:roles|playbooks|extra_playbooks)\//)
            assert.ok(each.line > 0)
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

describe('recording', () => {
  // The newest, the oldest and one between: all of them would take a minute.
  for (const release of [releases.at(-1), releases[0], 'v2.27.0'].flatMap(name => name ?? [])) {
    it(`${release} gives the committed snapshot`, function () {
      const tree = openSource(release)
      if (tree === undefined) {
        console.log('skipped: no clone of kubespray (whofixes fetch)')
        this.skip()
        return
      }
      const text = recordRelease(tree, release)
      assert.equal(text, readFileSync(new URL(`${release}.json`, snapshotsDirectory), 'utf8'))
    })
  }
})
