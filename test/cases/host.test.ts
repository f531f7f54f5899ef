import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemById, problems } from '../../rules/index.js'
import { defaultRequest } from '../../src/analyze.js'
import { analyzeHost, type HostAnalysis, reportedHost } from '../../src/commands/hosts.js'
import { textAt } from '../../src/evidence/host-files.js'
import type { ReportedHost } from '../../src/reports/preflight.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import type { SourceTree } from '../../src/source/tree.js'
import { evidenceOf, type Printed } from '../host/evidence-of.js'
import { filesOf, type Written } from '../host/files.js'
import { debian12, enabledService, type HostRecord, listening, type SampleListener } from '../host/sample-hosts.js'
import { describeWithClone } from '../releases/clone.js'
import { withTemporary, writeFiles } from '../source/trees.js'

type Acts = readonly ('kubespray' | 'operator')[]

/** What becomes of a used host under a real release; the numbers are those of the project's list of cases. */
interface Case {
  readonly case: string
  readonly says: string
  readonly release: string
  /** One of several of its kind, which the tests of the boot and of ports hold as well: run only where WHOFIXES_CASES is set. */
  readonly seldom?: true
  /**
   * What is otherwise than on the sample host (Debian 12, nothing in the way), by path: a text, text that is added, a link, null
   * for an empty directory, false for what is not there (with everything below it).
   */
  readonly host?: Readonly<Record<string, Written | { readonly append: string } | false>>
  readonly listening?: readonly SampleListener[]
  readonly commands?: readonly Printed[]
  /** The text of an inventory in INI; `node1` is the host. */
  readonly inventory?: string
  /** The host's name there, where it is another one. */
  readonly name?: string
  readonly extraVars?: readonly string[]
  readonly facts?: object
  /** Problems to look for beside those of the catalogue. */
  readonly beside?: readonly string[]
  readonly expect: {
    /** Now, after the run, after the next boot, and who acts. */
    readonly problems?: Readonly<Record<string, readonly [now: string, afterRun: string, afterReboot: string, Acts]>>
    /** All places where the run ends, in order: a piece of `TASK: BECAUSE` each. */
    readonly stops?: readonly string[]
    /** Tasks of which it is open whether they end the run: a piece of `TASK: BECAUSE` each. */
    readonly open?: readonly string[]
    /** Now, after the run, after the next boot; null where there is no such key, '?' where it is not known. */
    readonly sysctl?: Readonly<Record<string, readonly (string | null)[]>>
    /** `FILE:LINE` that decides a setting at boot. */
    readonly decidedBy?: Readonly<Record<string, string | null>>
    /** Whether a kernel module is there now, after the run and after the next boot. */
    readonly modules?: Readonly<Record<string, readonly boolean[]>>
    /** Texts of files after the run; null where there is none. */
    readonly files?: Readonly<Record<string, string | null>>
    /** The commands for the operator, all of them, by problem. */
    readonly commands?: Readonly<Record<string, readonly string[]>>
    /** Pieces of what is told of a problem, whenever. */
    readonly told?: Readonly<Record<string, readonly string[]>>
  }
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/cases/host.json', import.meta.url), 'utf8'),
)

/** The sample host with changes. */
function hostWith(changes: NonNullable<Case['host']>, listeners: readonly SampleListener[] | undefined): HostRecord {
  const files = new Map<string, Written>(Object.entries(debian12))
  if (listeners !== undefined) for (const [path, text] of Object.entries(listening(listeners))) files.set(path, text)
  for (const [path, change] of Object.entries(changes)) {
    if (change === false) {
      for (const each of [...files.keys()]) if (each === path || each.startsWith(`${path}/`)) files.delete(each)
    } else if (change !== null && typeof change === 'object' && 'append' in change) {
      const before = files.get(path)
      assert.equal(typeof before, 'string', `${path} of the sample host is no text to add to`)
      files.set(path, `${String(before)}${change.append}`)
    } else files.set(path, change)
  }
  return Object.fromEntries(files)
}

const trees = new Map<string, SourceTree>()

function treeOf(release: string): SourceTree {
  const tree = trees.get(release) ?? openRevision(clonePath(), release)
  trees.set(release, tree)
  return tree
}

function analysisOf({ release, host = {}, commands, inventory, name, facts, beside, ...row }: Case): HostAnalysis {
  const hostEvidence = evidenceOf(filesOf(hostWith(host, row.listening)), commands)
  return withTemporary(root => {
    writeFiles(root, { 'hosts.ini': inventory ?? '', 'facts.json': JSON.stringify(facts ?? {}) })
    return analyzeHost(treeOf(release), {
      ...defaultRequest,
      hostEvidence,
      extraVars: row.extraVars ?? [],
      beside: (beside ?? []).flatMap(id =>
        problems.some(each => each.id === id) ? [] : [problemById(id) ?? []].flat(),
      ),
      ...(inventory === undefined ? {} : { inventory: [join(root, 'hosts.ini')], host: name ?? 'node1' }),
      ...(facts === undefined ? {} : { facts: join(root, 'facts.json') }),
    })
  })
}

/** What was found, in the form of what is expected and as far as that is asked. */
function foundOf({ expect }: Case, analysis: HostAnalysis, report: ReportedHost): Case['expect'] {
  const { moments } = analysis.onHost
  const all = [moments.now, moments.afterRun, moments.afterReboot]
  const problemOf = (id: string) => {
    const problem = report.problems.find(each => each.id === id)
    assert.ok(problem, `${id} is not looked for`)
    return problem
  }
  const each = <Expected, Found>(
    asked: Readonly<Record<string, Expected>> | undefined,
    find: (name: string, expected: Expected) => Found,
  ): Readonly<Record<string, Found>> =>
    Object.fromEntries(Object.entries(asked ?? {}).map(([name, expected]) => [name, find(name, expected)]))
  const pieces = (expected: readonly string[], found: readonly string[]): readonly string[] =>
    found.map((text, index) => (text.includes(expected[index] ?? '\0') ? (expected[index] ?? '') : text))
  const among = (expected: readonly string[], found: readonly string[]): readonly string[] =>
    expected.map(piece => (found.some(text => text.includes(piece)) ? piece : `not told: ${found.join(' | ')}`))
  const stopText = ({ task, because }: { task: string; because: string }): string => `${task}: ${because}`
  const found: Record<keyof Case['expect'], unknown> = {
    problems: each(expect.problems, id => {
      const { now, afterRun, afterReboot, acts } = problemOf(id)
      return [now.state, afterRun.state, afterReboot.state, acts]
    }),
    stops: pieces(expect.stops ?? [], report.stops.map(stopText)),
    open: among(expect.open ?? [], report.open.map(stopText)),
    sysctl: each(expect.sysctl, key =>
      all.map(moment => {
        const seen = moment.sysctl(key)
        return seen.kind === 'known' ? seen.value : seen.kind === 'absent' ? null : '?'
      }),
    ),
    decidedBy: each(expect.decidedBy, key => {
      const place = moments.afterReboot.sysctl(key).decidedBy
      return place === undefined ? null : `${place.file}:${place.line}`
    }),
    modules: each(expect.modules, name => all.map(moment => moment.module(name).kind === 'known')),
    files: each(expect.files, path => {
      const text = textAt(moments.afterRun.files, path)
      return text.kind === 'known' ? text.value.text : text.kind === 'absent' ? null : `unknown: ${text.because}`
    }),
    commands: each(expect.commands, id => problemOf(id).steps.map(({ command }) => command)),
    told: each(expect.told, (id, expected) => {
      const { now, afterRun, afterReboot, steps } = problemOf(id)
      return among(expected, [
        ...[now, afterRun, afterReboot].map(({ says }) => says),
        ...steps.map(({ says }) => says),
      ])
    }),
  }
  return Object.fromEntries(Object.keys(expect).map(name => [name, found[name as keyof Case['expect']]]))
}

describeWithClone('cases of a captured host', () => {
  for (const row of cases.filter(({ seldom }) => seldom === undefined || process.env.WHOFIXES_CASES !== undefined)) {
    it(`${row.case} ${row.says} (${row.release})`, () => {
      const analysis = analysisOf(row)
      assert.deepEqual(foundOf(row, analysis, reportedHost(analysis, undefined)), row.expect)
    })
  }
})

/** The three leftovers of one used host: a swap file in fstab, an agent that systemd starts again, a file that is read last. */
const traces: HostRecord = {
  ...debian12,
  ...listening([{ port: 10250, inode: 41812, pid: 812, program: 'agent', cgroup: '/system.slice/node-agent.service' }]),
  ...enabledService('node-agent.service', '/opt/agent/run --listen :10250'),
  '/etc/fstab': '/dev/sda1 / ext4 errors=remount-ro 0 1\n/swapfile none swap sw 0 0\n',
  '/proc/swaps': 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/swapfile\t\tfile\t\t1048572\t0\t-2\n',
  '/etc/sysctl.d/zz-baseline.conf': 'net.ipv4.ip_forward = 0\n',
}

describeWithClone('the three traces of a used host', () => {
  for (const release of ['v2.20.0', 'v2.23.3', 'v2.26.0', 'v2.28.0', 'v2.29.1', 'v2.31.0', 'master']) {
    it(release, () => {
      const analysis = analyzeHost(treeOf(release), { ...defaultRequest, hostEvidence: evidenceOf(filesOf(traces)) })
      const { problems: found } = reportedHost(analysis, ['swap', 'port_10250', 'ip_forward'])
      assert.deepEqual(
        found.map(({ id, now, afterRun, afterReboot, acts, steps }) => [
          [id, now.state, afterRun.state, afterReboot.state, acts.join('+')].join(' '),
          ...steps.map(({ command }) => command),
        ]),
        [
          ['swap problem ok ok kubespray'],
          ['ip_forward problem ok problem kubespray+operator', "sed -i '1s/^/# /' /etc/sysctl.d/zz-baseline.conf"],
          ['port_10250 problem problem problem operator', 'systemctl disable --now node-agent.service'],
        ],
      )
    })
  }

  it('on files that were put together by hand, with nothing else', () => {
    const files = Object.fromEntries(
      Object.entries(traces).filter(
        ([path]) =>
          !(path in debian12) ||
          ['/etc/fstab', '/proc/swaps', '/proc/net/tcp', '/proc/sys/net/ipv4/ip_forward'].includes(path),
      ),
    )
    const analysis = analyzeHost(treeOf('v2.31.0'), { ...defaultRequest, hostEvidence: evidenceOf(filesOf(files)) })
    const { problems: found, stops } = reportedHost(analysis, ['swap', 'port_10250', 'ip_forward'])
    assert.deepEqual(
      found.map(({ id, afterRun, afterReboot, acts }) => [id, afterRun.state, afterReboot.state, acts.join('+')]),
      [
        ['swap', 'ok', 'ok', 'kubespray'],
        ['ip_forward', 'ok', 'problem', 'kubespray+operator'],
        ['port_10250', 'problem', 'problem', 'operator'],
      ],
    )
    // What every host has is not missing because nobody put it there.
    assert.deepEqual(stops, [])
  })
})
