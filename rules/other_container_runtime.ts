import type { RunEffects } from '../src/effects/run-effects.js'
import { stepOf } from '../src/host/boot/mends.js'
import type { HostAnswer, HostContext, Look } from '../src/host/look.js'
import { type Match, NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { runsAt, unknownAnswer, worstOf } from './on_host.js'
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

/** Where a runtime listens: its socket is there while it runs, and may be left behind. */
const SOCKETS: Readonly<Record<string, string>> = {
  'docker.service': '/run/docker.sock',
  'containerd.service': '/run/containerd/containerd.sock',
  'crio.service': '/run/crio/crio.sock',
}

/** Whether another runtime runs, or is started at boot, than the one the run starts. */
const othersOnHost: Look = context => {
  const { effects } = context
  const own = RUNTIMES.filter(runtime => isUsed(runtime, effects))
  if (own.length === 0) return unknownAnswer('which container runtime the node uses is not known: the run starts none')
  // Docker runs its containers by containerd.
  const isOwn = (runtime: Runtime): boolean =>
    own.includes(runtime) || (runtime.name === 'containerd' && own.some(({ name }) => name === 'Docker'))
  const answer = worstOf(RUNTIMES.filter(each => !isOwn(each)).map(each => ofRuntime(each, context)))
  if (answer.state !== 'ok') return answer
  return {
    ...answer,
    says: `no other container runtime than ${own.map(({ name }) => name).join(', ')} ${phrase(context)}`,
  }
}

const phrase = ({ phase }: HostContext): string => (phase === 'afterReboot' ? 'is started at boot' : 'runs')

function ofRuntime({ name, unit, socket }: Runtime, context: HostContext): HostAnswer {
  const { moment, before } = context
  const seen = runsAt(unit, context)
  const listens = socket === undefined ? undefined : runsAt(socket, context)
  const isOn = seen.kind === 'known' && seen.value
  const wakes = listens?.kind === 'known' && listens.value
  if (isOn || wakes) {
    const places = isOn ? seen.places : (listens?.places ?? [])
    const open = places.map(({ file }) => moment.files.entry(file)).find(({ kind }) => kind === 'unknown')
    if (context.phase === 'afterReboot' && open?.kind === 'unknown')
      return unknownAnswer(`whether ${name} is started at boot is not known: ${open.because}`, places)
    const on = isOn || socket === undefined ? unit : socket
    const file = SOCKETS[unit]
    const isThere = context.phase === 'now' && file !== undefined && moment.files.entry(file).kind === 'known'
    const mend = {
      kind: 'keep-off',
      unit,
      says: `stop ${name}, which this node does not use, and keep it off`,
    } as const
    const sockets =
      socket === undefined || !wakes
        ? []
        : [
            stepOf(
              { kind: 'keep-off', unit: socket, says: `stop ${socket}, which starts ${name} when it is used` },
              before.files,
            ),
          ]
    return {
      state: 'problem',
      says: isOn
        ? `${name} ${phrase(context)} (${on})`
        : `${on} ${phrase(context)}, and starts ${name} when it is used`,
      places: [...places, ...(isThere ? [{ file }] : [])],
      // The socket first: it would start the service again.
      steps: [...sockets, stepOf(mend, before.files)],
    }
  }
  if (seen.kind === 'unknown')
    return unknownAnswer(`whether ${name} ${phrase(context)} is not known: ${seen.because}`, seen.places)
  if (listens?.kind === 'unknown')
    return unknownAnswer(`whether ${socket} ${phrase(context)} is not known: ${listens.because}`, listens.places)
  return { state: 'ok', says: `${name} is off`, places: seen.places, steps: [] }
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
  onHost: othersOnHost,
  powers: ['stops-units', 'changes-packages'],
  byHand: [
    'systemctl disable --now docker.socket docker.service   # or: crio.service, containerd.service',
    'systemctl list-units docker.service containerd.service crio.service',
  ],
}
