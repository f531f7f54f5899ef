import type { Problem } from '../src/verdicts/problem.js'
import { moduleRules } from './module.js'
import { modulesOnHost } from './on_host.js'

const rules = moduleRules('br_netfilter')

export const brNetfilter: Problem = {
  id: 'br_netfilter',
  title: 'The kernel module br_netfilter is not loaded',
  asks: 'Who loads br_netfilter, and who has it loaded again at each boot?',
  requirement: {
    says: 'Bridged traffic of pods has to pass the packet filter, which takes br_netfilter in the kernel.',
    source: 'https://kubernetes.io/docs/setup/production-environment/container-runtimes/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  onHost: modulesOnHost(['br_netfilter']),
  powers: ['changes-modules'],
  byHand: ['modprobe br_netfilter', 'echo br_netfilter > /etc/modules-load.d/br_netfilter.conf'],
}
