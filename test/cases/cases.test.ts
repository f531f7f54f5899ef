import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemById, problems } from '../../rules/index.js'
import { type Analysis, type AnalysisRequest, analyze, defaultRequest } from '../../src/analyze.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { lineOf, placeOf } from '../../src/source/text.js'
import type { Evidence, Verdict } from '../../src/verdicts/judge.js'
import { describeWithClone } from '../releases/clone.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** What people ran into, and what is right about it; the numbers are those of the project's list of cases. */
interface Case {
  readonly id: string
  readonly says: string
  readonly revision: string
  readonly facts?: object
  readonly assume?: readonly string[]
  /** Variables of all hosts in the inventory. */
  readonly variables?: string
  readonly problem: string
  readonly fixedBy: 'kubespray' | 'operator'
  readonly condition?: string | null
  /** `file:line effect` of what settles it on the running host and after a reboot. */
  readonly now?: readonly string[]
  readonly afterReboot?: readonly string[]
  /** The host joins the control plane of another one. */
  readonly joins?: true
  /** `file:line` of each note, with a piece of what it says. */
  readonly notes?: readonly (readonly [place: string, says: string])[]
  /** What came near, with a piece of why it does not count. */
  readonly near?: readonly (readonly [place: string, why: string])[]
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../test/cases/cases.json', import.meta.url), 'utf8'),
)

function analysisOf(
  revision: string,
  { facts, assume, variables, joins }: Pick<Case, 'facts' | 'assume' | 'variables' | 'joins'> = {},
  request: Partial<AnalysisRequest> = {},
): Analysis {
  return withTemporary(root => {
    writeFiles(root, {
      'facts.json': JSON.stringify(facts ?? {}),
      'hosts.yml': `all:
  hosts: {node1: {}}
  vars: {${variables ?? ''}}
  children:
    kube_control_plane: {hosts: {${joins ? 'node0: {}, ' : ''}node1: {}}}
    kube_node: {hosts: {node1: {}}}
    etcd: {hosts: {node1: {}}}
    k8s_cluster: {children: {kube_control_plane: {}, kube_node: {}}}
`,
    })
    return analyze(openRevision(clonePath(), revision), {
      ...defaultRequest,
      assume: assume ?? [],
      ...(facts === undefined ? {} : { facts: join(root, 'facts.json') }),
      ...(variables === undefined && !joins ? {} : { inventory: [join(root, 'hosts.yml')], host: 'node1' }),
      ...request,
    })
  })
}

function verdictOn({ verdicts }: Analysis, problem: string): Verdict {
  const verdict = verdicts.find(each => each.problem.id === problem)
  assert.ok(verdict)
  return verdict
}

const inWords = ({ task, says }: Evidence): string => `${placeOf(task.task.at)} ${says}`

describeWithClone('cases', () => {
  for (const each of cases) {
    it(`${each.id} ${each.says}`, () => {
      const asked = problems.some(({ id }) => id === each.problem) ? undefined : problemById(each.problem)
      const request = asked === undefined ? {} : { beside: [asked] }
      const verdict = verdictOn(analysisOf(each.revision, each, request), each.problem)
      assert.equal(verdict.fixedBy, each.fixedBy)
      if (each.condition !== undefined) assert.equal(verdict.condition, each.condition)
      if (each.now !== undefined) assert.deepEqual(verdict.now.evidence.map(inWords).sort(), [...each.now].sort())
      if (each.afterReboot !== undefined) {
        assert.deepEqual(verdict.afterReboot.evidence.map(inWords).sort(), [...each.afterReboot].sort())
      }
      if (each.notes !== undefined) {
        const notes = verdict.notes.map(
          ({ says, about }) => `${about === undefined ? '' : placeOf(about.effect.at)} ${says}`,
        )
        assert.equal(notes.length, each.notes.length, notes.join('\n'))
        for (const [index, [place, says]] of each.notes.entries()) {
          assert.ok(notes[index]?.startsWith(`${place} `) && notes[index]?.includes(says), notes[index])
        }
      }
      for (const [place, why] of each.near ?? []) {
        const near = verdict.nearMisses.filter(({ task }) => placeOf(task.task.at) === place)
        assert.ok(
          near.some(miss => miss.why?.includes(why)),
          `${place}: ${near.map(miss => miss.why).join('; ') || 'did not come near'}`,
        )
      }
    })
  }

  it('C08 before v2.24.0 the entry leaves fstab without a look whether there is one', () => {
    for (const [revision, conditions] of [
      ['v2.23.3', ['not dns_late', 'kubelet_fail_swap_on']],
      ['v2.24.0', ['not dns_late', 'kubelet_fail_swap_on', 'fstab_file.stat.exists']],
    ] as const) {
      const { run } = analysisOf(revision)
      const [removal] = run.tasks.filter(({ name }) => name === 'Remove swapfile from /etc/fstab')
      assert.deepEqual(
        removal?.conditions.map(({ text }) => text),
        conditions,
      )
    }
  })

  it('C09 the kubelet is told to live with swap', () => {
    // What the template asks of the host, so that the text can be told.
    const facts = {
      distribution: 'Debian',
      distribution_version: '12',
      distribution_major_version: '12',
      distribution_release: 'bookworm',
      os_family: 'Debian',
      architecture: 'x86_64',
      default_ipv4: { address: '192.0.2.10' },
    }
    const { run } = analysisOf('v2.31.0', { facts, variables: 'kubelet_fail_swap_on: false' })
    const swapTasks = run.tasks.filter(({ task }) => task.at.file.path.endsWith('/0010-swapoff.yml'))
    assert.equal(swapTasks.length, 8)
    for (const { runs } of swapTasks) assert.equal(runs.kind, 'false')
    const content = run.tasks
      .flatMap(({ invocations }) => invocations)
      .filter(({ arguments: named }) => {
        const source = named.get('src')
        return source?.kind === 'known' && String(source.data).startsWith('kubelet-config')
      })
      .map(invocation => invocation.content)
    assert.equal(content.length, 1)
    const [text] = content
    const pieces = text?.kind === 'known' ? [text.data] : text?.kind === 'unknown' ? (text.text ?? []) : []
    const whole = pieces.map(piece => piece ?? '…').join('')
    assert.match(whole, /^failSwapOn: False$/m)
    assert.match(whole, /^memorySwap:\n {2}swapBehavior: LimitedSwap$/m)
  })

  it('C13 where the module is built in, the settings of bridges are made without it', () => {
    for (const [code, kind] of [
      ['0', 'true'],
      ['255', 'false'],
    ] as const) {
      const { run } = analysisOf('v2.31.0', {
        assume: ['modinfo_br_netfilter.rc=1', `sysctl_bridge_nf_call_iptables.rc=${code}`],
      })
      const at = (line: number): string | undefined =>
        run.tasks.find(({ task }) => placeOf(task.at) === `roles/kubernetes/node/tasks/main.yml:${line}`)?.runs.kind
      assert.deepEqual([at(76), at(82), at(97)], ['false', 'false', kind])
    }
  })

  it('C22 the path follows the link for the rest of the run, whatever the inventory says', () => {
    const assume = ['sysctl_file_stat.stat.islnk=true', 'sysctl_file_stat.stat.lnk_source=/etc/sysctl.conf']
    const names = { variables: () => ['sysctl_file_path'] }
    const { roles } = analysisOf(
      'v2.31.0',
      { assume, variables: 'sysctl_file_path: /etc/sysctl.d/50-mine.conf' },
      names,
    )
    const inNode = roles.find(({ role }) => role.code.path === 'kubernetes/node')?.variables.get('sysctl_file_path')
    assert.ok(inNode?.winner)
    assert.deepEqual(inNode.value, { kind: 'known', data: '/etc/sysctl.conf' })
    assert.equal(placeOf(inNode.winner.at), 'roles/kubernetes/preinstall/tasks/0080-system-configurations.yml:59')
    const over = analysisOf(
      'v2.31.0',
      { assume },
      { ...names, extraVars: ['sysctl_file_path=/etc/sysctl.d/50-mine.conf'] },
    )
    const still = over.roles.find(({ role }) => role.code.path === 'kubernetes/node')?.variables.get('sysctl_file_path')
    assert.deepEqual(
      [still?.value.kind === 'known' && still.value.data, still?.winner?.origin],
      ['/etc/sysctl.d/50-mine.conf', 'extra vars'],
    )
  })

  it('C70 the same name in several roles: the role itself wins inside it', () => {
    const { roles } = analysisOf('v2.31.0', {}, { variables: () => ['kube_apiserver_port', 'sysctl_file_path'] })
    const inside = (path: string, name: string): unknown => {
      const found = roles.find(({ role }) => role.code.path === path)?.variables.get(name)
      return (
        found && [
          found.value.kind === 'known' ? found.value.data : found.value.kind,
          found.winner && placeOf(found.winner.at),
        ]
      )
    }
    assert.deepEqual(inside('kubernetes/preinstall', 'kube_apiserver_port'), [
      6443n,
      'roles/kubespray_defaults/defaults/main/main.yml:303',
    ])
    assert.deepEqual(inside('kubernetes/client', 'kube_apiserver_port'), [
      '6443',
      'roles/kubernetes/client/defaults/main.yml:8',
    ])
    assert.deepEqual(inside('kubernetes/preinstall', 'sysctl_file_path'), [
      '/etc/sysctl.d/99-sysctl.conf',
      'roles/kubernetes/preinstall/defaults/main.yml:32',
    ])
  })

  it('C89 the role stands twice in the playbook, and the second time leaves swap alone', () => {
    const { run } = analysisOf('v2.31.0')
    const swapOff = run.tasks.filter(({ task }) => placeOf(task.at).endsWith('/0010-swapoff.yml:25'))
    assert.deepEqual(
      swapOff.map(({ via, runs, conditions }) => [
        via
          .filter(({ kind, at }) => kind === 'role' && at.file.path === 'playbooks/cluster.yml')
          .map(({ at }) => lineOf(at)),
        runs.kind,
        conditions.at(-1)?.text,
      ]),
      [
        [[15], 'true', 'kubelet_fail_swap_on'],
        [[96], 'false', 'not dns_late'],
      ],
    )
  })

  it('C97 a role under its old name complains, and runs the one under the new name', () => {
    const inner = openRevision(clonePath(), 'v2.31.0')
    const text = '- hosts: all\n  gather_facts: false\n  roles: [bootstrap-os, remove-node/pre-remove]\n'
    const file = { path: 'mine.yml', text }
    const tree = {
      ...inner,
      entryKind: (path: string) => (path === file.path ? ('file' as const) : inner.entryKind(path)),
      read: (path: string) => (path === file.path ? file : inner.read(path)),
    }
    const { run, diagnostics } = analyze(tree, { ...defaultRequest, playbook: 'mine.yml' })
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 'error'),
      [],
    )
    const complaints = run.tasks.filter(
      ({ task }) => task.module === 'ansible.builtin.fail' && task.name?.startsWith('Warn for usage'),
    )
    assert.deepEqual(
      complaints.map(({ role, failureIgnored }) => [role, failureIgnored.kind]),
      [
        ['bootstrap-os', 'true'],
        ['remove-node/pre-remove', 'true'],
      ],
    )
    const roles = new Set(run.tasks.map(({ role }) => role))
    assert.ok(roles.has('bootstrap_os') && roles.has('remove_node/pre_remove'))
  })

  it('C97 two roles of the removal are real under their old names', () => {
    const { run, roles } = analysisOf(
      'v2.31.0',
      {},
      { playbook: 'playbooks/remove_node.yml', extraVars: ['node=node1'] },
    )
    const used = roles.map(({ role }) => role.code.path)
    for (const path of ['remove-node/post-remove', 'remove-node/remove-etcd-node', 'remove_node/pre_remove']) {
      assert.ok(used.includes(path), path)
    }
    assert.ok(!run.tasks.some(({ task }) => task.name?.startsWith('Warn for usage')))
  })

  it('C99 a file of variables that is a link is read from git', () => {
    const tree = openRevision(clonePath(), 'v2.31.0')
    const directory = 'roles/container-engine/docker/vars'
    assert.equal(tree.read(`${directory}/openeuler.yml`)?.text, tree.read(`${directory}/kylin.yml`)?.text)
    assert.ok((tree.read(`${directory}/openeuler.yml`)?.text ?? '').length > 100)
    assert.deepEqual(tree.list('extra_playbooks/roles'), tree.list('roles'))
    const facts = {
      distribution: 'openEuler',
      distribution_version: '22.03',
      distribution_major_version: '22',
      distribution_release: 'LTS',
      os_family: 'RedHat',
      architecture: 'x86_64',
    }
    const { roles } = analysisOf(
      'v2.31.0',
      { facts, variables: 'container_manager: docker' },
      { variables: () => ['docker_package_info'] },
    )
    const later = roles.find(({ role }) => role.code.path === 'kubernetes/node')?.variables.get('docker_package_info')
    assert.equal(later?.winner?.origin, 'include_vars')
    assert.equal(later.winner.at.file.path, `${directory}/openeuler.yml`)
  })

  it('C100 a condition on an import is shown at the import, not where the task stands', () => {
    const { verdicts } = analysisOf('v2.31.0', { variables: 'kubelet_fail_swap_on: false' })
    const swap = verdicts.find(({ problem }) => problem.id === 'swap')
    const masked = swap?.nearMisses.find(({ task }) => task.name.startsWith('Mask swap.target'))
    assert.ok(masked)
    assert.equal(placeOf(masked.task.task.at), 'roles/kubernetes/preinstall/tasks/0010-swapoff.yml:20')
    assert.deepEqual(
      masked.task.conditions.map(({ text, truth, from, at }) => [text, truth.kind, from, placeOf(at)]),
      [
        ['not dns_late', 'true', 'import', 'roles/kubernetes/preinstall/tasks/main.yml:6'],
        ['kubelet_fail_swap_on', 'false', 'import', 'roles/kubernetes/preinstall/tasks/main.yml:7'],
      ],
    )
    assert.equal(
      placeOf(masked.task.via.at(-1)?.at ?? masked.task.task.at),
      'roles/kubernetes/preinstall/tasks/main.yml:3',
    )
  })
})
