import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnalysisRequest, analyzeRun, defaultRequest, type RunAnalysis } from '../../src/analyze.js'
import { stopText } from '../../src/reports/stops.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { placeOf } from '../../src/source/text.js'
import { describeWithClone } from '../releases/clone.js'
import { withTemporary, writeFiles } from '../source/trees.js'

/** Where the playbook's own checks end the run; the numbers are those of the project's list of cases. */
interface Stop {
  readonly id: string
  readonly says: string
  readonly revision: string
  readonly extraVars?: readonly string[]
  readonly ansible?: string
  readonly stops: readonly string[]
  readonly hints?: readonly string[]
}

const cases: readonly Stop[] = JSON.parse(
  readFileSync(new URL('../../../test/cases/stops.json', import.meta.url), 'utf8'),
)

const runOn = (revision: string, request: Partial<AnalysisRequest> = {}): RunAnalysis =>
  analyzeRun(openRevision(clonePath(), revision), { ...defaultRequest, ...request })

describeWithClone('checks that end the run', () => {
  for (const { id, says, revision, extraVars = [], ansible, stops, hints = [] } of cases) {
    it(`${id} ${says}`, () => {
      const { run, diagnostics } = runOn(revision, { extraVars, ...(ansible && { ansible }) })
      const found = run.checks.filter(({ outcome }) => outcome === 'stops')
      assert.deepEqual(
        found.map(check => `${placeOf(check.task.task.at)} ${stopText(check)}`),
        stops,
      )
      assert.deepEqual(
        found.flatMap(check => check.hints),
        hints,
      )
      assert.equal(diagnostics.filter(({ code }) => code === 'run-stops').length, stops.length)
    })
  }

  it('C58 a text is true where only its name is the condition', () => {
    const { diagnostics } = runOn('v2.31.0', { extraVars: ['metrics_server_enabled=false kubelet_fail_swap_on=false'] })
    const told = diagnostics
      .filter(({ code }) => code === 'extra-vars-text')
      .map(({ at, message }) => [placeOf(at), message.split(';')[0]])
    assert.deepEqual(told, [
      [
        'roles/kubernetes-apps/meta/main.yml:24',
        "`when: metrics_server_enabled` takes 'false' for true, as it does any text",
      ],
      [
        'roles/kubernetes/preinstall/tasks/main.yml:7',
        "`when: kubelet_fail_swap_on` takes 'false' for true, as it does any text",
      ],
    ])
  })

  it('C71 the values come from the order of a mapping', () => {
    const { roles } = runOn('v2.31.0', { variables: () => ['kube_version', 'kube_version_min_required'] })
    const seen = roles.find(({ role }) => role.code.path === 'validate_inventory')?.variables
    const found = [...(seen?.values() ?? [])].map(({ value, winner }) => [
      value.kind === 'known' && value.data,
      winner && placeOf(winner.at),
    ])
    assert.deepEqual(found, [
      ['1.35.4', 'roles/kubespray_defaults/defaults/main/main.yml:28'],
      ['1.33.0', 'roles/kubespray_defaults/defaults/main/main.yml:31'],
    ])
  })

  for (const [group, value, likely] of [
    ['k8s-cluster', true, 'k8s_cluster'],
    ['k8s_cluster', false, undefined],
  ] as const) {
    it(`C68 variables of ${group}`, () => {
      withTemporary(root => {
        writeFiles(root, {
          'hosts.ini':
            '[kube_control_plane]\nnode1\n[etcd]\nnode1\n[kube_node]\nnode1\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n',
          [`group_vars/${group}/x.yml`]: 'enable_nodelocaldns: false\n',
          'host_vars/node-1.yml': 'ip: 192.0.2.1\n',
          'group_vars/all.yml': 'a: 1\n',
        })
        const { roles, diagnostics } = runOn('v2.31.0', {
          inventory: [join(root, 'hosts.ini')],
          variables: () => ['enable_nodelocaldns'],
        })
        const seen = roles
          .find(({ role }) => role.code.path === 'kubernetes/node')
          ?.variables.get('enable_nodelocaldns')
        assert.deepEqual(seen?.value, { kind: 'known', data: value })
        const told = diagnostics
          .filter(({ message }) => message.startsWith('Ansible does not read it'))
          .map(({ at, message }) => [at.file.path.slice(root.length + 1), message])
        const ofGroup = [
          `group_vars/${group}/x.yml`,
          `Ansible does not read it: no group is called ${group}; there is ${likely}`,
        ]
        const ofHost = ['host_vars/node-1.yml', 'Ansible does not read it: no host is called node-1; there is node1']
        assert.deepEqual(told, likely === undefined ? [ofHost] : [ofGroup, ofHost])
      })
    })
  }

  it('C68 a group that the run makes is one', () => {
    withTemporary(root => {
      writeFiles(root, {
        'hosts.ini':
          '[kube-master]\nnode1\n[etcd]\nnode1\n[kube-node]\nnode1\n[k8s-cluster:children]\nkube-master\nkube-node\n',
        'group_vars/k8s_cluster.yml': 'enable_nodelocaldns: false\n',
        'group_vars/kube_contol_plane.yml': 'a: 1\n',
      })
      const { diagnostics } = runOn('v2.16.0', { inventory: [join(root, 'hosts.ini')] })
      const told = diagnostics.filter(({ message }) => message.startsWith('Ansible does not read it'))
      assert.deepEqual(
        told.map(({ message }) => message),
        ['Ansible does not read it: no group is called kube_contol_plane; there is kube_control_plane'],
      )
    })
  })

  for (const [type, file] of [
    ['host', 'roles/etcd/tasks/install_host.yml'],
    ['docker', 'roles/etcd/tasks/install_docker.yml'],
    ['kubeadm', undefined],
  ] as const) {
    it(`C90 etcd as ${type} includes ${file ?? 'nothing, and misses nothing'}`, () => {
      const { run, diagnostics } = runOn('v2.31.0', { extraVars: [`etcd_deployment_type=${type}`] })
      const included = run.tasks.flatMap(({ includedBy, task: { at } }) =>
        includedBy !== undefined && /\/etcd\/tasks\/install_/.test(at.file.path) ? at.file.path : [],
      )
      assert.deepEqual([...new Set(included)], file === undefined ? [] : [file])
      assert.deepEqual(
        run.gaps.filter(({ at }) => at.file.path.startsWith('roles/etcd/')),
        [],
      )
      assert.deepEqual(
        diagnostics.filter(({ severity }) => severity === 'error'),
        [],
      )
    })
  }

  for (const [lines, file] of [
    ['[ID=debian]', 'debian.yml'],
    ['[ID=fedora, VARIANT_ID=coreos]', 'fedora-coreos.yml'],
    ['[ID=fedora]', 'fedora.yml'],
    ['[ID=anolis]', undefined],
  ] as const) {
    it(`C92 os-release with ${lines} brings in ${file ?? 'nothing, without an error'}`, () => {
      const { run, diagnostics } = runOn('v2.31.0', { assume: [`os_release.stdout_lines=${lines}`] })
      const here = 'roles/bootstrap_os/tasks'
      const included = run.tasks.flatMap(({ includedBy, task }) =>
        includedBy && placeOf(includedBy) === `${here}/main.yml:25` ? task.at.file.path : [],
      )
      assert.deepEqual([...new Set(included)], file === undefined ? [] : [`${here}/${file}`])
      assert.deepEqual(
        run.gaps.filter(({ at }) => at.file.path.startsWith(here)),
        [],
      )
      assert.deepEqual(
        diagnostics.filter(({ severity }) => severity === 'error'),
        [],
      )
    })
  }

  it('C94 a check is found by what it asks, wherever it stands', () => {
    const asks = /^ansible_memtotal_mb >= minimal_master_memory_mb$/
    const places = ['v2.21.0', 'v2.22.0', 'v2.28.0', 'v2.31.0'].map(revision => {
      const { run } = runOn(revision, { assume: ['ansible_memtotal_mb=1400'] })
      return run.checks.flatMap(({ outcome, conditions, task }) =>
        outcome === 'stops' && conditions.some(({ text }) => asks.test(text)) ? placeOf(task.task.at) : [],
      )
    })
    const now = ['roles/kubernetes/preinstall/tasks/0040-verify-settings.yml:27']
    assert.deepEqual(places, [
      ['roles/kubernetes/preinstall/tasks/0020-verify-settings.yml:66'],
      ['roles/kubernetes/preinstall/tasks/0040-verify-settings.yml:66'],
      now,
      now,
    ])
  })
})
