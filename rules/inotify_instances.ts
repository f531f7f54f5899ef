import type { Problem } from '../src/verdicts/problem.js'
import { settingOnHost } from './on_host.js'
import { alternativeFiles, isAtLeast, settingRules } from './setting.js'

const KEYS = ['fs.inotify.max_user_instances']

/** The least that is advised for nodes; the kernel's own value is 128. */
const LEAST = 512

const rules = settingRules(KEYS, isAtLeast(LEAST))

export const inotifyInstances: Problem = {
  id: 'inotify_instances',
  title: 'Too few inotify instances',
  asks: 'Who raises fs.inotify.max_user_instances, and who has it raised again after a reboot?',
  requirement: {
    says: `The kubelet, container runtimes and many pods watch files, all as root: 128 instances, the kernel's own value, are soon used up; at least ${LEAST} are advised.`,
    source: 'https://kind.sigs.k8s.io/docs/user/known-issues/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  onHost: settingOnHost({ key: 'fs.inotify.max_user_instances', holds: isAtLeast(LEAST), wanted: '8192' }),
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'fs.inotify.max_user_instances = 8192' > /etc/sysctl.d/99-kubernetes-inotify.conf",
    'sysctl --system',
    'sysctl fs.inotify.max_user_instances',
  ],
  notes: alternativeFiles(KEYS),
}
