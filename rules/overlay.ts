import { isOneOfUnits } from '../src/effects/describe.js'
import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { moduleRules } from './module.js'
import { modulesOnHost } from './on_host.js'
import { isStarted, unitText } from './unit.js'

const rules = moduleRules('overlay')

const ENGINES = ['docker.service', 'containerd.service', 'crio.service']

/** The kernel loads the module when something mounts with it; no effect of role code says that an engine does. */
const startsEngine: Rule = {
  says: 'starts a container engine',
  matches: effect =>
    effect.kind === 'unit' && isOneOfUnits(effect.unit, ENGINES).kind === 'true' && isStarted(effect).kind === 'true'
      ? {
          kind: 'near',
          why: `${unitText(effect.unit)} has it loaded only when it mounts its first layers, if its storage driver is overlay`,
        }
      : NO_MATCH,
}

export const overlay: Problem = {
  id: 'overlay',
  title: 'The kernel module overlay is not loaded',
  asks: 'Who loads overlay, and who has it loaded again at each boot?',
  requirement: {
    says: 'Container engines stack the layers of images with overlayfs, which takes the module overlay in the kernel.',
    source: 'https://v1-28.docs.kubernetes.io/docs/setup/production-environment/container-runtimes/',
  },
  now: [...rules.now, startsEngine],
  afterReboot: [...rules.afterReboot],
  onHost: modulesOnHost(['overlay'], 'the container engine has it loaded when it mounts its first layers'),
  powers: ['changes-modules'],
  byHand: ['modprobe overlay', 'echo overlay > /etc/modules-load.d/overlay.conf'],
}
