import assert from 'node:assert/strict'
import { analyzeRun, defaultRequest } from '../../src/analyze.js'
import { answerOf } from '../../src/host/answers/answers.js'
import type { HostView } from '../../src/run/host-view.js'
import type { TaskRun } from '../../src/run/task-run.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { evidenceOf, type Host, momentIn } from '../host/answers/memory.js'
import { describeWithClone } from './clone.js'

const kernel = '/lib/modules/6.1.0-9-amd64'

/** A fresh Debian 12. */
const debian: Host = {
  files: {
    '/etc/fstab': 'UUID=1 / ext4 errors=remount-ro 0 1\n/swapfile none swap sw 0 0\n',
    '/usr/bin': null,
    '/etc/sysctl.conf': '#\n',
    '/etc/sysctl.d/99-sysctl.conf': { link: '../sysctl.conf' },
    '/etc/resolv.conf': 'nameserver 192.0.2.1\n',
    '/etc/os-release': 'ID=debian\nVERSION_ID="12"\n',
    [`${kernel}/modules.dep`]: 'kernel/net/bridge/br_netfilter.ko: kernel/net/bridge/bridge.ko\n',
    [`${kernel}/modules.builtin`]: '',
    [`${kernel}/modules.alias`]: '',
  },
  sysctl: {
    'kernel.osrelease': '6.1.0-9-amd64',
    'fs.inotify.max_user_instances': '128',
    'fs.inotify.max_user_watches': '65536',
  },
  modules: {},
  swap: [{ device: '/swapfile' }],
  units: { 'systemd-resolved.service': { active: false, enabled: 'disabled' } },
}

/** The tasks of a release that have a condition on one of these results, with that condition's truth. */
function truths(revision: string, hostView: HostView | undefined): ReadonlyMap<string, ReadonlySet<string>> {
  const tree = openRevision(clonePath(), revision)
  const { run } = analyzeRun(tree, { ...defaultRequest, ...(hostView === undefined ? {} : { hostView }) })
  const found = new Map<string, Set<string>>()
  for (const { text, truth } of run.tasks.flatMap(({ conditions }: TaskRun) => conditions)) {
    const name = looked.find(each => text.includes(each))
    if (name !== undefined) found.set(name, (found.get(name) ?? new Set()).add(truth.kind))
  }
  return found
}

const looked = [
  'fstab_file.stat.exists',
  'modinfo_br_netfilter.rc == 0',
  'fs_may_detach_mounts.stat.exists',
  'sysctl_file_stat.stat.islnk',
  'systemd_resolved_enabled.rc == 0',
]

describeWithClone('releases: a host that answers', () => {
  const moment = momentIn(debian)
  const evidence = evidenceOf(debian)
  const view: HostView = {
    answer: (task, invocation) => answerOf(task, invocation, moment, evidence),
    ran: () => {},
  }
  for (const revision of ['v2.24.0', 'v2.31.0']) {
    it(`${revision}: what a task looks at on the host is decided`, () => {
      const open = truths(revision, undefined)
      const answered = truths(revision, view)
      const asked = looked.filter(name => open.has(name))
      assert.ok(asked.length >= 3, `it asks for ${asked.join(', ')}`)
      for (const name of asked) {
        assert.ok(open.get(name)?.has('unknown'), `${name} is not known without a host`)
        assert.ok(!answered.get(name)?.has('unknown'), `${name} is known on a host`)
      }
      const shown = Object.fromEntries([...answered].map(([name, kinds]) => [name, [...kinds].join(' ')]))
      assert.equal(shown['modinfo_br_netfilter.rc == 0'], 'true')
      assert.equal(shown['fs_may_detach_mounts.stat.exists'], 'false')
    })
  }
})
