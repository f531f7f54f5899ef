import type { Occurrence } from '../src/effects/run-effects.js'
import { type Match, NO_MATCH, type Note, type Problem, type Rule } from '../src/verdicts/problem.js'
import { isModule, moduleRules } from './module.js'
import { modulesOnHost } from './on_host.js'
import type { PhaseRules } from './together.js'

/** Its name up to Linux 4.18: there it brings nf_conntrack with it; later kernels do not have it. */
const OLD = 'nf_conntrack_ipv4'
const rules = moduleRules('nf_conntrack')
const oldRules = moduleRules(OLD)

function underOldName(phase: keyof PhaseRules): readonly Rule[] {
  return oldRules[phase].map(rule => ({
    ...rule,
    says: `${rule.says}, which brings nf_conntrack with it`,
    matches: (effect, occurrence, effects): Match => {
      const match = rule.matches(effect, occurrence, effects)
      if (match.kind !== 'settles') return match
      const condition = `the kernel has ${OLD} (before Linux 4.19)`
      return { ...match, condition: match.condition === undefined ? condition : `${match.condition} and ${condition}` }
    },
  }))
}

/** ip_vs is linked with it where the kernel was built so, which role code cannot tell. */
const needsIt: Rule = {
  says: 'loads ip_vs',
  matches: effect =>
    effect.kind === 'kernel-module' && effect.state === 'loaded' && isModule(effect.module, 'ip_vs').kind === 'true'
      ? { kind: 'near', why: 'brings nf_conntrack with it only where the kernel was built with CONFIG_IP_VS_NFCT' }
      : NO_MATCH,
}

/** Where a failure is ignored, a kernel without the module does not stop the run. */
function ignoredFailures(occurrences: readonly Occurrence[]): readonly Note[] {
  return occurrences.flatMap(occurrence => {
    const { effect, task } = occurrence
    const loads =
      effect.kind === 'kernel-module' &&
      effect.when === 'now' &&
      effect.state === 'loaded' &&
      ['nf_conntrack', OLD].some(name => isModule(effect.module, name).kind === 'true')
    return loads && task.failureIgnored.kind !== 'false'
      ? [{ says: 'A failure here is ignored: the run goes on where the kernel has no such module.', about: occurrence }]
      : []
  })
}

export const conntrackModule: Problem = {
  id: 'conntrack_module',
  title: 'The kernel module nf_conntrack is not loaded',
  asks: 'Who loads nf_conntrack, and who has it loaded again at each boot?',
  requirement: {
    says: 'kube-proxy in mode ipvs needs connection tracking in the kernel; in other modes the packet filter loads it itself.',
    source: 'https://github.com/kubernetes/kubernetes/blob/master/pkg/proxy/ipvs/README.md',
  },
  now: [...rules.now, ...underOldName('now'), needsIt],
  afterReboot: [...rules.afterReboot, ...underOldName('afterReboot')],
  onHost: modulesOnHost(['nf_conntrack'], 'the packet filter loads it itself but in mode ipvs'),
  powers: ['changes-modules'],
  byHand: ['modprobe nf_conntrack', 'echo nf_conntrack > /etc/modules-load.d/nf_conntrack.conf'],
  notes: ignoredFailures,
}
