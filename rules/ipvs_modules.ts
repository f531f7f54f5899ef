import type { Problem } from '../src/verdicts/problem.js'
import { moduleRules } from './module.js'
import { modulesOnHost } from './on_host.js'
import { together } from './together.js'

/** What kube-proxy names as needed in this mode; nf_conntrack is a problem of its own. */
const MODULES = ['ip_vs', 'ip_vs_rr', 'ip_vs_wrr', 'ip_vs_sh']

const rules = together(Object.fromEntries(MODULES.map(name => [name, moduleRules(name)])))

export const ipvsModules: Problem = {
  id: 'ipvs_modules',
  title: 'The kernel modules of IPVS are not loaded',
  asks: `Who loads ${MODULES.join(', ')}, and who has them loaded again at each boot?`,
  requirement: {
    says: 'In mode ipvs kube-proxy needs ip_vs and its schedulers in the kernel. In another mode they are not needed.',
    source: 'https://github.com/kubernetes/kubernetes/blob/master/pkg/proxy/ipvs/README.md',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  onHost: modulesOnHost(MODULES, 'they are needed only where kube-proxy runs in mode ipvs', 'where the run loads it'),
  powers: ['changes-modules'],
  byHand: [`modprobe -a ${MODULES.join(' ')}`, `printf '%s\\n' ${MODULES.join(' ')} > /etc/modules-load.d/ipvs.conf`],
}
