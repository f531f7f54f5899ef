import type { RunEffects } from '../src/effects/run-effects.js'
import { type Match, NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { serviceOff } from './service_off.js'
import { whenStarts } from './unit.js'

interface Runtime {
  readonly name: string
  readonly unit: string
  readonly socket?: string
  readonly packages: readonly string[]
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: 'Docker',
    unit: 'docker.service',
    socket: 'docker.socket',
    packages: ['docker-ce', 'docker.io', 'moby-engine', 'docker-engine', 'docker'],
  },
  { name: 'containerd', unit: 'containerd.service', packages: ['containerd', 'containerd.io'] },
  { name: 'CRI-O', unit: 'crio.service', packages: ['cri-o', 'crio'] },
]

/** The runtimes a run uses, worked out once: each rule asks for each effect. */
const used = new WeakMap<RunEffects, ReadonlySet<Runtime>>()

/** Whether the run uses this runtime itself: then it is not the other one. */
function isUsed(runtime: Runtime, effects: RunEffects): boolean {
  const before = used.get(effects)
  if (before !== undefined) return before.has(runtime)
  const started = new Set(RUNTIMES.filter(({ unit }) => whenStarts(unit, 'now', effects) !== undefined))
  used.set(effects, started)
  return started.has(runtime)
}

const rules = RUNTIMES.map(runtime =>
  serviceOff({
    ...runtime,
    condition: `the other runtime is ${runtime.name}`,
    applies: effects => !isUsed(runtime, effects),
  }),
)

/** Commands of runtimes that stop containers, and leave the runtime on. */
const PROGRAMS: Readonly<Record<string, string>> = { docker: 'Docker', podman: 'podman' }

const stopsContainers: Rule = {
  says: 'stops containers of another runtime',
  matches: (effect, _, effects): Match => {
    if (effect.kind !== 'container' || (effect.action !== 'stopped' && effect.action !== 'removed')) return NO_MATCH
    const name = PROGRAMS[effect.runtime]
    const runtime = RUNTIMES.find(each => each.name === name)
    if (name === undefined || (runtime !== undefined && isUsed(runtime, effects))) return NO_MATCH
    return { kind: 'near', why: `ends containers of ${name}, which itself runs on` }
  },
}

export const otherContainerRuntime: Problem = {
  id: 'other_container_runtime',
  title: 'A container runtime that the node does not use is running',
  asks: 'Who stops the other container runtime, and who keeps it off after a reboot?',
  requirement: {
    says: 'A node uses one container runtime; where several run, kubeadm asks which is meant, and Docker sets the policy of forwarded packets to drop.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/#installing-runtime',
  },
  now: [...rules.flatMap(({ now }) => now), stopsContainers],
  afterReboot: rules.flatMap(({ afterReboot }) => afterReboot),
  powers: ['stops-units', 'changes-packages'],
  byHand: [
    'systemctl disable --now docker.socket docker.service   # or: crio.service, containerd.service',
    'systemctl list-units docker.service containerd.service crio.service',
  ],
}
