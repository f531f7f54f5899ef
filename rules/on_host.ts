import { unitName } from '../src/effects/describe.js'
import { follow, textAt } from '../src/evidence/host-files.js'
import type { HostAnswer, HostContext, Look } from '../src/host/look.js'
import type { HostPlace, Listener, Moment, OperatorStep, Seen } from '../src/host/moment.js'
import { commandsToFree } from '../src/host/ports/free-port.js'
import { isKubernetesOwn } from '../src/host/ports/kubernetes-own.js'
import { known, type Truth, type Value } from '../src/jinja/value.js'
import { readsOneOf } from './check.js'

/** Where this stands among the files of /etc: a package's file is overridden there, not changed. */
const OWN = '/etc/'
const OWN_FILE = '/etc/sysctl.d/zz-kubernetes.conf'

function unknownAnswer(says: string, places: readonly HostPlace[] = []): HostAnswer {
  return { state: 'unknown', says, places, steps: [] }
}

/** The worst of several answers decides; what they say stands together. */
export function worstOf(answers: readonly HostAnswer[]): HostAnswer {
  const order = ['problem', 'unknown', 'unneeded', 'ok'] as const
  const state = order.find(each => answers.some(answer => answer.state === each)) ?? 'ok'
  const telling = answers.filter(answer => answer.state === state)
  return {
    state,
    says: [...new Set(telling.map(({ says }) => says))].join('; '),
    places: telling.flatMap(({ places }) => places),
    steps: uniqueSteps(telling.flatMap(({ steps }) => steps)),
  }
}

function uniqueSteps(steps: readonly OperatorStep[]): readonly OperatorStep[] {
  const seen = new Set<string>()
  return steps.filter(({ command }) => !seen.has(command) && seen.add(command))
}

interface SettingLook {
  /** Any of them, as the kernel has them for one variable. */
  readonly key: string
  readonly holds: (value: Value | undefined) => Truth
  /** The value to set. */
  readonly wanted: string
  /** Why a host may do without it; absent: it may not. */
  readonly unneeded?: string
  /** The module without which the kernel does not have the key. */
  readonly module?: string
}

/** Whether a kernel setting has a value that is asked, and which file says otherwise. */
export function settingOnHost(setting: SettingLook): Look {
  const { key, holds, wanted, unneeded, module } = setting
  return ({ moment, phase }) => {
    const seen = moment.sysctl(key)
    if (seen.kind === 'unknown') return unknownAnswer(`${key} is not known: ${seen.because}`, seen.places)
    const isRight = seen.kind === 'known' && holds(known(seen.value)).kind === 'true'
    const says = seen.kind === 'absent' ? `the kernel has no ${key}` : `${key} is ${seen.value}`
    if (isRight) return { state: 'ok', says, places: seen.places, steps: [] }
    if (unneeded !== undefined)
      return { state: 'unneeded', says: `${says}; ${unneeded}`, places: seen.places, steps: [] }
    return {
      state: 'problem',
      says,
      places: seen.places,
      steps: settingSteps(seen, moment, { key, wanted, phase, module }),
    }
  }
}

function settingSteps(
  seen: Seen<string>,
  { files }: Moment,
  {
    key,
    wanted,
    phase,
    module,
  }: { key: string; wanted: string; phase: HostContext['phase']; module: string | undefined },
): readonly OperatorStep[] {
  const load: readonly OperatorStep[] =
    seen.kind === 'absent' && module !== undefined
      ? [
          {
            says: `have ${module} loaded at each boot: without it the kernel has no ${key}`,
            command: `echo ${module} > /etc/modules-load.d/${module}.conf`,
          },
          { says: `load it now`, command: `modprobe ${module}` },
        ]
      : []
  const now: OperatorStep = { says: 'set it now', command: `sysctl -w ${key}=${wanted}` }
  if (phase !== 'afterReboot') return [...load, now]
  const [place] = seen.places
  if (place?.line === undefined) {
    const write = {
      says: `have it set at boot, in a file that is read last`,
      command: `echo '${key} = ${wanted}' > ${OWN_FILE}`,
    }
    return [...load, write]
  }
  const { line, says } = place
  // An editor would put a file in the place of a link.
  const led = follow(files, place.file)
  const file = led.kind === 'known' ? led.value.path : place.file
  if (file.startsWith(OWN) && !/[\s'\\]/.test(file)) {
    const what = says === undefined ? `line ${line}` : `line ${line} (${says})`
    return [
      ...load,
      { says: `take ${what} out of ${file}, which is read last at boot`, command: `sed -i '${line}s/^/# /' ${file}` },
    ]
  }
  return [
    ...load,
    {
      says: `override ${file}:${line} in a file that is read later`,
      command: `echo '${key} = ${wanted}' > ${OWN_FILE}`,
    },
  ]
}

/** Whether kernel modules are loaded; after a reboot: whether something loads them then. */
export function modulesOnHost(names: readonly string[], unneeded?: string): Look {
  return ({ moment }) =>
    worstOf(
      names.map(name => {
        const seen = moment.module(name)
        if (seen.kind === 'unknown')
          return unknownAnswer(`whether ${name} is loaded is not known: ${seen.because}`, seen.places)
        if (seen.kind === 'known') {
          const says = seen.value === 'built-in' ? `${name} is built into the kernel` : `${name} is loaded`
          return { state: 'ok', says, places: seen.places, steps: [] }
        }
        const says = `${name} is not loaded`
        if (unneeded !== undefined)
          return { state: 'unneeded', says: `${says}; ${unneeded}`, places: seen.places, steps: [] }
        return { state: 'problem', says, places: seen.places, steps: moduleSteps(name, seen.places) }
      }),
    )
}

function moduleSteps(name: string, places: readonly HostPlace[]): readonly OperatorStep[] {
  const refused = places.find(({ line }) => line !== undefined)
  const lift: readonly OperatorStep[] =
    refused === undefined
      ? []
      : [
          {
            says: `take ${refused.says === undefined ? `line ${refused.line}` : `"${refused.says}"`} out of ${refused.file}`,
            command: `sed -i '${refused.line}s/^/# /' ${refused.file}`,
          },
        ]
  return [
    ...lift,
    { says: `load ${name} now`, command: `modprobe ${name}` },
    { says: 'and at each boot', command: `echo ${name} > /etc/modules-load.d/${name}.conf` },
  ]
}

interface PortLook {
  readonly port: number
  /** Who listens there once the cluster runs. */
  readonly owner: string
  /** The groups of which a host has to be in one for this to matter; absent: every host. */
  readonly groups?: readonly string[]
  /** Which listeners are in the way; absent: every one, whatever address it is bound to (kubeadm binds them all). */
  readonly blocks?: (listener: Listener) => boolean
}

/** Files that a node of a running cluster has; where they are, the kubelet and its pods listen by right. */
const JOINED = ['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/admin.conf']

/** Whether a port is free for who is to listen there, and what holds it. */
export function portOnHost({ port, owner, groups, blocks = () => true }: PortLook): Look {
  return context => {
    const { moment, phase } = context
    if (groups !== undefined && context.groups.size > 0 && !groups.some(group => context.groups.has(group)))
      return {
        state: 'ok',
        says: `port ${port} is not needed here: the host is in none of ${groups.join(', ')}`,
        places: [],
        steps: [],
      }
    const { listeners } = moment
    if (listeners.kind === 'unknown')
      return unknownAnswer(`what listens on port ${port} is not known: ${listeners.because}`, listeners.places)
    const all = listeners.kind === 'known' ? listeners.value.filter(each => each.port === port && blocks(each)) : []
    if (all.length === 0) return { state: 'ok', says: `port ${port} is free`, places: [], steps: [] }
    return worstOf(all.map(listener => ofListener(listener, owner, context, phase)))
  }
}

function ofListener(
  listener: Listener,
  owner: string,
  { moment }: HostContext,
  phase: HostContext['phase'],
): HostAnswer {
  const { port, address, holder } = listener
  const who =
    holder.unit ?? (holder.kind === 'container' ? 'a container' : (holder.program ?? 'a process that is not known'))
  const pids = holder.pids.length === 0 ? '' : ` (process ${holder.pids.join(', ')})`
  const verb = phase === 'afterReboot' ? 'takes' : 'holds'
  const where = ['0.0.0.0', '::'].includes(address) ? '' : ` on ${address}`
  const says = `${who}${pids} ${verb} port ${port}${where}`
  if (listener.perhapsEnded !== undefined) return unknownAnswer(`${says}, unless ${listener.perhapsEnded}`)
  if (isKubernetesOwn(holder, port)) {
    const joined = JOINED.map(path => moment.files.entry(path).kind)
    if (joined.includes('known'))
      return { state: 'ok', says: `${says}: it is ${owner} of a node that has joined`, places: [], steps: [] }
    if (joined.includes('unknown')) return unknownAnswer(`${says}; whether this node has joined a cluster is not known`)
  }
  if (phase === 'afterReboot' && holder.kind !== 'unit')
    return unknownAnswer(`${says}, unless nothing starts it again at boot`)
  return { state: 'problem', says, places: [], steps: commandsToFree(holder, port, moment.files) }
}

/** Whether services are off: none runs; after a reboot: none is started. */
export function servicesOffOnHost(units: readonly string[]): Look {
  return context =>
    worstOf(
      units.map(unit => {
        const running = runsAt(unit, context)
        const name = unitName(unit)
        if (running.kind === 'unknown')
          return unknownAnswer(`whether ${name} runs is not known: ${running.because}`, running.places)
        if (running.kind === 'absent' || !running.value)
          return { state: 'ok', says: `${name} is off`, places: running.places, steps: [] }
        const says = context.phase === 'afterReboot' ? `${name} is started at boot` : `${name} runs`
        return {
          state: 'problem',
          says,
          places: running.places,
          steps: [{ says: `stop ${name} and keep it off`, command: `systemctl disable --now ${name}` }],
        }
      }),
    )
}

/** Whether at least one of several services runs; after a reboot: is started. */
export function anyServiceOnHost(units: readonly string[], what: string, steps: readonly OperatorStep[]): Look {
  return context => {
    const seen = units.map(unit => ({ unit, running: runsAt(unit, context) }))
    const on = seen.find(({ running }) => running.kind === 'known' && running.value)
    if (on !== undefined)
      return {
        state: 'ok',
        says: `${on.unit} ${context.phase === 'afterReboot' ? 'is started at boot' : 'runs'}`,
        places: on.running.places,
        steps: [],
      }
    for (const { unit, running } of seen)
      if (running.kind === 'unknown') return unknownAnswer(`whether ${unit} runs is not known: ${running.because}`)
    return {
      state: 'problem',
      says: `${what} ${context.phase === 'afterReboot' ? 'is started at boot' : 'runs'}`,
      places: [],
      steps,
    }
  }
}

function runsAt(unit: string, { moment, phase }: HostContext): Seen<boolean> {
  const seen = moment.unit(unit)
  if (seen.kind !== 'known') return seen
  return { ...(phase === 'afterReboot' ? seen.value.atBoot : seen.value.active), places: seen.places }
}

/** Whether the run's own checks of these names pass on this host; a problem they stop at is one of the host as it is. */
export function checkedOnHost(names: readonly string[], step: OperatorStep): Look {
  return ({ effects: { run, occurrences } }) => {
    const asking = new Set(
      occurrences.flatMap(({ effect, task }) =>
        effect.kind === 'stop-if' && readsOneOf(effect.reads, names) ? [task] : [],
      ),
    )
    const answers = run.checks
      .filter(({ task, outcome }) => asking.has(task) && outcome !== 'skipped')
      .map(({ outcome, task }): HostAnswer => {
        const { name } = task
        if (outcome === 'passes') return { state: 'ok', says: `the check "${name}" passes`, places: [], steps: [] }
        return outcome === 'stops'
          ? { state: 'problem', says: `the check "${name}" stops the run`, places: [], steps: [step] }
          : unknownAnswer(`what the check "${name}" comes to is not known`)
      })
    return answers.length === 0
      ? { state: 'unneeded', says: 'no check of the run asks for it', places: [], steps: [] }
      : worstOf(answers)
  }
}

/** Whether SELinux lets everything pass: it is off, or permissive; after a reboot as its configuration and the kernel's parameters say. */
export const selinuxOnHost: Look = ({ moment, phase }) => {
  const permissive = (says: string, places: readonly HostPlace[]): HostAnswer => ({
    state: 'ok',
    says,
    places,
    steps: [],
  })
  if (phase !== 'afterReboot') {
    const enforce = textAt(moment.files, '/sys/fs/selinux/enforce')
    if (enforce.kind === 'absent') return permissive('SELinux is not on', [])
    if (enforce.kind === 'unknown') return unknownAnswer(`the mode of SELinux is not known: ${enforce.because}`)
    const places = [{ file: '/sys/fs/selinux/enforce', line: 1 }]
    return enforce.value.text.trim() === '0'
      ? permissive('SELinux is permissive', places)
      : {
          state: 'problem',
          says: 'SELinux is enforcing',
          places,
          steps: [{ says: 'make it permissive now', command: 'setenforce 0' }],
        }
  }
  const config = textAt(moment.files, '/etc/selinux/config')
  if (config.kind === 'absent') return permissive('there is no /etc/selinux/config: SELinux is not set up', [])
  if (config.kind === 'unknown') return unknownAnswer(`the mode SELinux boots with is not known: ${config.because}`)
  const lines = config.value.text.split('\n')
  const at = lines.findLastIndex(line => /^\s*SELINUX\s*=/.test(line))
  const says = lines[at]?.trim() ?? 'SELINUX is not set'
  const places = at === -1 ? [{ file: '/etc/selinux/config' }] : [{ file: '/etc/selinux/config', line: at + 1, says }]
  return /=\s*(permissive|disabled)\b/i.test(says)
    ? permissive(says, places)
    : {
        state: 'problem',
        says: `SELinux boots enforcing (${says})`,
        places,
        steps: [
          {
            says: 'keep it permissive',
            command: "sed -i 's/^SELINUX=enforcing$/SELINUX=permissive/' /etc/selinux/config",
          },
        ],
      }
}

/** Whether swap is off; after a reboot: nothing turns it on. */
export const swapOnHost: Look = ({ moment, phase }) => {
  const { swap } = moment
  if (swap.kind === 'unknown') return unknownAnswer(`whether swap is on is not known: ${swap.because}`, swap.places)
  const areas = swap.kind === 'known' ? swap.value : []
  if (areas.length === 0) {
    return {
      state: 'ok',
      says: phase === 'afterReboot' ? 'nothing turns swap on at boot' : 'swap is off',
      places: swap.places,
      steps: [],
    }
  }
  const says = areas
    .map(({ device, because }) => (because === undefined ? `swap is on: ${device}` : `${because}: ${device}`))
    .join('; ')
  const off: OperatorStep = { says: 'turn swap off now', command: 'swapoff -a' }
  const steps = phase === 'afterReboot' ? areas.flatMap(({ stop }) => stop ?? []) : [off]
  return { state: 'problem', says, places: swap.places, steps }
}

/** Whether none of these paths is there. */
export function nothingLeftOnHost(paths: readonly string[], step: OperatorStep): Look {
  const at = (path: string, { files }: Moment): HostAnswer => {
    const entry = files.entry(path)
    if (entry.kind === 'unknown') return unknownAnswer(`whether ${path} is there is not known: ${entry.because}`)
    const listed = entry.kind === 'known' && entry.value.kind === 'directory' ? files.list(path) : undefined
    if (listed?.kind === 'unknown') return unknownAnswer(`what is in ${path} is not known: ${listed.because}`)
    const isThere =
      entry.kind === 'known' && (listed === undefined || (listed.kind === 'known' && listed.value.length > 0))
    return isThere
      ? { state: 'problem', says: `${path} is there`, places: [{ file: path }], steps: [step] }
      : { state: 'ok', says: `${path} holds nothing`, places: [], steps: [] }
  }
  return ({ moment, before }) =>
    worstOf(
      paths.map(path => {
        const first = at(path, before)
        // What the run itself puts there is no leftover.
        return first.state === 'ok' ? first : at(path, moment)
      }),
    )
}

/** Whether one of these programs is there. */
export function programOnHost(paths: readonly string[], what: string, step: OperatorStep): Look {
  return ({ moment: { files } }) => {
    const entries = paths.map(path => ({ path, found: follow(files, path) }))
    const there = entries.find(({ found }) => found.kind === 'known')
    if (there !== undefined)
      return { state: 'ok', says: `${there.path} is there`, places: [{ file: there.path }], steps: [] }
    for (const { path, found } of entries)
      if (found.kind === 'unknown') return unknownAnswer(`whether ${path} is there is not known: ${found.because}`)
    return { state: 'problem', says: `there is no ${what}`, places: [], steps: [step] }
  }
}
