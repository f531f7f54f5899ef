import { askText } from '../src/effects/argument.js'
import type { Truth, Value } from '../src/jinja/value.js'
import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { settingOnHost } from './on_host.js'
import { alternativeFiles, isKey, settingRules } from './setting.js'

/** Writing it sets the forwarding of every interface and of those that come later (net/ipv6/addrconf.c). */
const KEYS = ['net.ipv6.conf.all.forwarding']
const FUTURE = ['net.ipv6.conf.default.forwarding']

function isOn(value: Value | undefined): Truth {
  return askText(value, text => text.trim().startsWith('1'))
}

const rules = settingRules(KEYS, isOn)

const onlyFuture: Rule = {
  says: 'turns IPv6 forwarding on for interfaces that come later',
  matches: effect =>
    effect.kind === 'sysctl' && isKey(effect, FUTURE).kind === 'true'
      ? { kind: 'near', why: 'is about interfaces that come later: those that are there keep what they have' }
      : NO_MATCH,
}

export const ipv6Forward: Problem = {
  id: 'ipv6_forward',
  title: 'IPv6 forwarding is off',
  asks: 'Who turns IPv6 forwarding on, and who has it on again after a reboot?',
  requirement: {
    says: 'A node of a cluster with IPv6 forwards IPv6 packets between its pods and the network. Without IPv6 it is not needed.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/dual-stack-support/',
  },
  now: [...rules.now, onlyFuture],
  afterReboot: rules.afterReboot,
  onHost: settingOnHost({
    key: 'net.ipv6.conf.all.forwarding',
    holds: isOn,
    wanted: '1',
    unneeded: 'it is needed only in a cluster with IPv6',
  }),
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'net.ipv6.conf.all.forwarding = 1' > /etc/sysctl.d/99-kubernetes-ipv6.conf",
    'sysctl --system',
    'sysctl net.ipv6.conf.all.forwarding',
  ],
  claims: [
    {
      says: 'tells the operator to allow IPv6 forwarding',
      words: ['target servers', ['configured', 'allow'], 'IPv6 forwarding'],
      claims: { kind: 'fixed-by', who: 'operator' },
    },
  ],
  notes: alternativeFiles(KEYS),
}
