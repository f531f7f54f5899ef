import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { onceRebooted } from './boot.js'
import { stopsUnless } from './check.js'
import { checkedOnHost } from './on_host.js'

/** Programs that move a host to another release or distribution; each with its own package manager's help. */
const MOVERS = new Set(['do-release-upgrade', 'leapp', 'convert2rhel'])

const moves: Rule = {
  says: 'moves the host to another distribution or release',
  matches: effect =>
    effect.kind === 'command' && effect.program !== undefined && MOVERS.has(effect.program)
      ? { kind: 'settles', condition: 'it moves the host to a distribution on the list' }
      : NO_MATCH,
}

const checks = stopsUnless('the distribution is one it knows', [
  'supported_os_distributions',
  'ansible_facts.distribution',
  'ansible_facts.os_family',
])

export const supportedOs: Problem = {
  id: 'supported_os',
  title: 'The distribution is not one kubespray supports',
  asks: 'Who puts a supported distribution on the host?',
  requirement: {
    says: 'kubespray knows packages, paths and services of some distributions only.',
    source: 'https://github.com/kubernetes-sigs/kubespray#supported-linux-distributions',
  },
  now: [onceRebooted(moves), checks],
  afterReboot: [moves, checks],
  // An operating system is its packages; what is booted is another one only with them.
  onHost: checkedOnHost(['supported_os_distributions', 'ansible_facts.distribution'], {
    says: 'put a supported distribution on the host',
    command: 'cat /etc/os-release',
  }),
  powers: ['changes-packages'],
  byHand: ['cat /etc/os-release', 'ansible -m setup -a filter=ansible_distribution HOST'],
}
