import { askText } from '../src/effects/argument.js'
import type { Truth, Value } from '../src/jinja/value.js'
import type { Problem } from '../src/verdicts/problem.js'
import { settingOnHost } from './on_host.js'
import { alternativeFiles, settingRules, unknownKeys } from './setting.js'

/** The kernel has these two as one variable (net/ipv4/devinet.c: forwarding of `all` is ip_forward). */
const KEYS = ['net.ipv4.ip_forward', 'net.ipv4.conf.all.forwarding']

/** kubeadm compares the first character of the file with 1, the kernel forwards for any number but 0. */
function isOn(value: Value | undefined): Truth {
  return askText(value, text => text.trim().startsWith('1'))
}

const rules = settingRules(KEYS, isOn)

export const ipForward: Problem = {
  id: 'ip_forward',
  title: 'IPv4 forwarding is off',
  asks: 'Who turns IPv4 forwarding on, and who has it on again after a reboot?',
  requirement: {
    says: 'A node forwards packets between its pods and the network; kubeadm refuses to start without it.',
    source: 'https://kubernetes.io/docs/setup/production-environment/container-runtimes/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  onHost: settingOnHost({ key: 'net.ipv4.ip_forward', holds: isOn, wanted: '1' }),
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'net.ipv4.ip_forward = 1' > /etc/sysctl.d/99-kubernetes.conf",
    'sysctl --system',
    'sysctl net.ipv4.ip_forward',
  ],
  claims: [
    {
      says: 'tells the operator to allow IPv4 forwarding',
      words: ['target servers', ['configured', 'allow'], 'IPv4 forwarding'],
      claims: { kind: 'fixed-by', who: 'operator' },
    },
  ],
  notes: occurrences => [...alternativeFiles(KEYS)(occurrences), ...unknownKeys(KEYS)(occurrences)],
}
