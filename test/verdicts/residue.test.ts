import assert from 'node:assert/strict'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { type EffectQuery, effectKinds } from '../../src/effects/query.js'
import { openDirectory } from '../../src/source/directory.js'
import { placeOf } from '../../src/source/text.js'
import type { SourceTree } from '../../src/source/tree.js'
import { findEffects } from '../../src/verdicts/find.js'
import { residueOf } from '../../src/verdicts/residue.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'

function withTree(files: Files, test: (tree: SourceTree) => void): void {
  withTemporary(path => {
    writeFiles(path, files)
    test(openDirectory(path))
  })
}

const noQuestion: EffectQuery = {
  paths: [],
  units: [],
  sysctls: [],
  kernelModules: [],
  ports: [],
  packages: [],
  programs: [],
  kinds: [],
}

const cluster = `- hosts: all
  tasks:
    - copy: {dest: /etc/app/app.conf, content: "x = 1"}
    - copy: {dest: /etc/kept.conf, content: "y = 1"}
    - copy: {dest: "{{ ansible_local.wherever }}", content: z}
    - copy: {dest: /tmp/scratch, content: z}
    - systemd_service: {name: app, state: started, enabled: true}
    - systemd_service: {name: swap.target, masked: true}
    - package: {name: [app, tool]}
    - sysctl: {name: vm.swappiness, value: 1, sysctl_file: /etc/sysctl.d/50-app.conf}
    - sysctl: {name: kernel.panic, value: 10, sysctl_file: /etc/sysctl.d/60-app.conf}
    - modprobe: {name: dummy, persistent: present}
    - copy: {dest: /opt/half, content: z}
    - copy: {dest: /opt/once, content: z}
    - file: {path: /opt/once, state: absent}
    - shell: "fuser -k 8080/tcp"
      when: false
    - command: cat /proc/loadavg
`

const reset = `- hosts: all
  tasks:
    - file: {path: /etc/app, state: absent}
    - systemd_service: {name: app.service, state: stopped, enabled: false}
    - package: {name: app, state: absent}
    - sysctl: {name: vm.swappiness, state: absent, sysctl_file: /etc/sysctl.d/50-app.conf}
    - file: {path: /opt/half, state: absent}
      when: ansible_memtotal_mb > 1000
`

describe('what a run leaves behind', () => {
  it('is what nothing of the reset takes away', () => {
    withTree({ 'cluster.yml': cluster, 'reset.yml': reset }, tree => {
      const effects = analyze(tree, defaultRequest).effects
      const { left, taken, untold } = residueOf(
        effects,
        analyze(tree, { ...defaultRequest, playbook: 'reset.yml' }).effects,
      )
      assert.deepEqual(
        left.map(({ what, stays }) => [what, stays]),
        [
          ['/etc/kept.conf', 'yes'],
          ['unit swap.target masked', 'yes'],
          ['package tool', 'yes'],
          ['sysctl kernel.panic in /etc/sysctl.d/60-app.conf', 'yes'],
          ['kernel module dummy at boot', 'yes'],
          ['/opt/half', 'perhaps'],
        ],
      )
      assert.match(left.at(-1)?.why ?? '', /if ansible_memtotal_mb > 1000/)
      // app.conf, the unit, the package, the setting, and what the run itself removes again.
      assert.equal(taken, 5)
      assert.equal(untold.length, 1)
    })
  })
})

describe('what a run leaves behind, kind by kind', () => {
  const rows: readonly (readonly [tasks: string, left: readonly string[], untold: readonly string[]])[] = [
    ['command: grubby --update-kernel=ALL --args=quiet', ['boot parameters quiet'], []],
    ['mount: {path: /data, src: /dev/sdb, fstype: ext4, state: mounted}', ['a line for /data in /etc/fstab'], []],
    ['systemd: {name: "{{ odd }}", enabled: true}', [], ['unit …: enabled']],
    ['systemd: {name: "{{ odd }}", state: started}', [], []],
    ['package: {name: [tool, "{{ odd }}"]}', ['package tool'], ['packages tool, …: present']],
    [
      'sysctl: {name: "{{ odd }}", value: 1, sysctl_file: /etc/sysctl.d/z.conf}',
      [],
      ['sets … = 1 now and in /etc/sysctl.d/z.conf'],
    ],
    ['pip: {name: tool}', ['package tool of pip'], []],
  ]
  for (const [task, what, says] of rows) {
    it(task, () => {
      const play = `- hosts: all\n  vars: {odd: "{{ lookup('pipe', 'x') }}"}\n  tasks:\n    - ${task}\n`
      withTree({ 'cluster.yml': play, 'reset.yml': '- hosts: all\n' }, tree => {
        const other = analyze(tree, { ...defaultRequest, playbook: 'reset.yml' }).effects
        const { left, untold } = residueOf(analyze(tree, defaultRequest).effects, other)
        assert.deepEqual(
          left.map(each => each.what),
          what,
        )
        assert.deepEqual(
          untold.map(each => each.says),
          says,
        )
      })
    })
  }

  it('until the reset takes it away', () => {
    const play = '- hosts: all\n  tasks:\n    - command: grubby --update-kernel=ALL --args=quiet\n'
    const back = '- hosts: all\n  tasks:\n    - command: grubby --update-kernel=ALL --remove-args=quiet\n'
    withTree({ 'cluster.yml': play, 'reset.yml': back }, tree => {
      const other = analyze(tree, { ...defaultRequest, playbook: 'reset.yml' }).effects
      const { left, taken } = residueOf(analyze(tree, defaultRequest).effects, other)
      assert.deepEqual([left.length, taken], [0, 1])
    })
  })
})

describe('questions about effects', () => {
  const cases: readonly (readonly [Partial<EffectQuery>, readonly string[]])[] = [
    [{ paths: ['/etc/app/app.conf'] }, ['writes /etc/app/app.conf']],
    [{ paths: ['/opt/once'] }, ['writes /opt/once', 'removes /opt/once']],
    [{ paths: ['/etc/sysctl.d/60-app.conf'] }, ['sets kernel.panic = 10 now and in /etc/sysctl.d/60-app.conf']],
    [{ units: ['app'] }, ['unit app.service: started, enabled']],
    [{ sysctls: ['vm/swappiness'] }, ['sets vm.swappiness = 1 now and in /etc/sysctl.d/50-app.conf']],
    [
      { kernelModules: ['dummy'] },
      [
        'loads the kernel module dummy now',
        'loads the kernel module dummy at each boot (/etc/modules-load.d/dummy.conf)',
      ],
    ],
    [{ packages: ['tool'] }, ['packages app, tool: present']],
    [{ ports: ['8080'] }, ['signals the processes of port 8080']],
    [{ programs: ['cat'] }, ['runs `cat /proc/loadavg`']],
    [
      { kinds: ['package', 'command'] },
      ['packages app, tool: present', 'runs `cat /proc/loadavg`', 'runs `fuser -k 8080/tcp`'],
    ],
    [{ paths: ['/nowhere'] }, []],
  ]
  for (const [query, says] of cases) {
    it(JSON.stringify(query), () => {
      withTree({ 'cluster.yml': cluster }, tree => {
        const found = findEffects(analyze(tree, defaultRequest).effects, { ...noQuestion, ...query })
        assert.deepEqual(
          found.map(each => each.says),
          says,
        )
      })
    })
  }

  it('takes a file of settings that is not known for one that may be asked for, and for no other file', () => {
    const task = '{name: vm.max_map_count, value: 1, sysctl_file: "{{ ansible_local.where.file }}"}'
    withTree({ 'cluster.yml': `- hosts: all\n  tasks:\n    - sysctl: ${task}\n` }, tree => {
      const { effects } = analyze(tree, defaultRequest)
      const certain = (path: string): readonly boolean[] =>
        findEffects(effects, { ...noQuestion, paths: [path] }).map(each => each.certain)
      assert.deepEqual(certain('/etc/sysctl.conf'), [false])
      assert.deepEqual(certain('/etc/sysctl.d/10-a.conf'), [false])
      assert.deepEqual(certain('/etc/hosts'), [])
    })
  })

  it('tells what does not happen, and why, behind what does', () => {
    withTree({ 'cluster.yml': cluster }, tree => {
      const [found] = findEffects(analyze(tree, defaultRequest).effects, { ...noQuestion, ports: ['8080'] })
      assert.equal(found?.happens, false)
      assert.match(found?.why ?? '', /does not run/)
      assert.equal(placeOf(found?.effect.at ?? assert.fail()), 'cluster.yml:16')
    })
  })
})

describe('kinds of effects', () => {
  it('are told once each', () => {
    assert.deepEqual(effectKinds, [...new Set(effectKinds)].toSorted())
    for (const kind of ['boot-parameters', 'fstab-entry-written', 'swap']) assert.ok(effectKinds.includes(kind), kind)
  })
})
