import { joinedPieces, optionsOf, piecesOf, textOf } from '../src/effects/argument.js'
import { unitName } from '../src/effects/describe.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import { follow, type HostFiles, textAt } from '../src/evidence/host-files.js'
import { hasModule, liftForNow, type Mending, mendModule, mendSetting, mendSwap } from '../src/host/boot/mending.js'
import { type Mend, replaceLine, stepOf } from '../src/host/boot/mends.js'
import { moduleName } from '../src/host/boot/modprobe-d.js'
import type { HostAnswer, HostContext, Look } from '../src/host/look.js'
import type { Holder, HostPlace, Listener, Moment, OperatorStep, Seen } from '../src/host/moment.js'
import { commandsToFree } from '../src/host/ports/free-port.js'
import { isKubernetesOwn } from '../src/host/ports/kubernetes-own.js'
import { quoted } from '../src/host/quoted.js'
import { selinuxAtBoot } from '../src/host/selinux.js'
import { known, type Truth, type Value } from '../src/jinja/value.js'
import { readsOneOf } from './check.js'

/** Nothing is known, for a reason that stands in `says`. */
export function unknownAnswer(says: string, places: readonly HostPlace[] = []): HostAnswer {
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
  const { key, holds, unneeded, module } = setting
  return context => {
    const seen = context.moment.sysctl(key)
    if (seen.kind === 'unknown') {
      const open = `${key} is not known`
      if (unneeded !== undefined)
        return { state: 'unneeded', says: `${open}; ${unneeded}`, places: seen.places, steps: [] }
      return { ...unknownAnswer(`${open}: ${seen.because}`, seen.places), steps: stepsToBeSure(setting, context) }
    }
    const isRight = seen.kind === 'known' && holds(known(seen.value)).kind === 'true'
    const says = seen.kind === 'absent' ? `the kernel has no ${key}` : `${key} is ${seen.value}`
    if (isRight) return { state: 'ok', says, places: seen.places, steps: [] }
    if (unneeded !== undefined)
      return { state: 'unneeded', says: `${says}; ${unneeded}`, places: seen.places, steps: [] }
    const isWithoutModule = seen.kind === 'absent' && module !== undefined
    return {
      state: 'problem',
      says,
      places: seen.places,
      steps:
        isWithoutModule && (context.phase !== 'afterReboot' || !hasModule(module, context.moment.files, context.before))
          ? moduleSteps(module, context)
          : settingSteps(setting, context),
    }
  }
}

function mendingOf({ key, wanted, holds }: SettingLook, { moment, before }: HostContext): Mending {
  const isRight = (value: string): boolean => holds(known(value)).kind === 'true'
  return mendSetting({ key, wanted, isRight }, moment.files, before)
}

function settingSteps(setting: SettingLook, context: HostContext): readonly OperatorStep[] {
  const { key, wanted } = setting
  if (context.phase !== 'afterReboot')
    return [{ says: 'set it now', command: `sysctl -w ${quoted(`${key}=${wanted}`)}` }]
  return stepsOf(mendingOf(setting, context).mends, context)
}

/** What leaves no doubt; nothing where some would remain. */
function stepsToBeSure(setting: SettingLook, context: HostContext): readonly OperatorStep[] {
  if (context.phase !== 'afterReboot') return []
  const { mends, isEnough } = mendingOf(setting, context)
  return isEnough ? stepsOf(mends, context) : []
}

/** What is done by hand is done before the run: lines are counted as they are then. */
function stepsOf(mends: readonly Mend[], { before }: HostContext): readonly OperatorStep[] {
  return mends.map(mend => stepOf(mend, before.files))
}

/** Whether a module that a host may do without is asked for all the same. */
type Asked = 'never' | 'where the run loads it'

/** Whether kernel modules are loaded; after a reboot: whether something loads them then. */
export function modulesOnHost(names: readonly string[], unneeded?: string, asked: Asked = 'never'): Look {
  return context => {
    const isNeeded = unneeded === undefined || (asked === 'where the run loads it' && runLoads(names, context.effects))
    // Names that have the same to be said of them are told together.
    const groups = new Map<string, { readonly seen: Seen<'loaded' | 'built-in'>; readonly names: string[] }>()
    for (const name of names) {
      const seen = withoutName(context.moment.module(name), name)
      const key = seen.kind === 'unknown' ? seen.because : seen.kind === 'known' ? seen.value : seen.kind
      const group = groups.get(key) ?? { seen, names: [] }
      group.names.push(name)
      groups.set(key, group)
    }
    return worstOf(
      [...groups.values()].map(({ seen, names: alike }): HostAnswer => {
        const { places } = seen
        const [verb, all] = [alike.length > 1 ? 'are' : 'is', alike.join(', ')]
        const unneededAnswer = (says: string): HostAnswer => ({
          state: 'unneeded',
          says: `${says}; ${unneeded}`,
          places,
          steps: [],
        })
        if (seen.kind === 'unknown') {
          const open = `whether ${all} ${verb} loaded is not known`
          return isNeeded ? unknownAnswer(`${open}: ${seen.because}`, places) : unneededAnswer(open)
        }
        if (seen.kind === 'known') {
          const how = seen.value === 'built-in' ? 'built into the kernel' : 'loaded'
          return { state: 'ok', says: `${all} ${verb} ${how}`, places, steps: [] }
        }
        const says = `${all} ${verb} not loaded`
        if (!isNeeded) return unneededAnswer(says)
        return { state: 'problem', says, places, steps: alike.flatMap(name => moduleSteps(name, context)) }
      }),
    )
  }
}

/** Why it is not known, where that is so for others too. */
function withoutName(seen: Seen<'loaded' | 'built-in'>, name: string): Seen<'loaded' | 'built-in'> {
  const start = `whether the kernel has a module ${name} is not known: `
  if (seen.kind !== 'unknown' || !seen.because.startsWith(start)) return seen
  return { ...seen, because: seen.because.slice(start.length) }
}

/** Whether a run loads a module itself, and fails without it. */
function runLoads(names: readonly string[], { occurrences }: RunEffects): boolean {
  return occurrences.some(occurrence => {
    const { effect, task, asWritten } = occurrence
    if (asWritten || effect.kind !== 'kernel-module' || effect.when !== 'now' || effect.state !== 'loaded') return false
    const name = textOf(effect.module)
    if (name === undefined || !names.includes(moduleName(name)) || task.failureIgnored.kind === 'true') return false
    return standingOf(occurrence).kind !== 'never'
  })
}

/** Whether the run writes such a text to some file of the host; parts that are not known are NUL. */
export function runWrites({ occurrences }: RunEffects, pattern: RegExp): boolean {
  return occurrences.some(occurrence => {
    const { effect, asWritten } = occurrence
    if (asWritten || effect.kind !== 'file' || effect.change !== 'written' || effect.content === undefined) return false
    if (effect.contentUnsure !== undefined || standingOf(occurrence).kind === 'never') return false
    // A text that cannot be made is not written.
    const options = optionsOf(effect.content).filter(({ value }) => value.kind !== 'failure')
    if (options.length === 0) return false
    return options.every(({ value }) => {
      const pieces = piecesOf(value)
      return pieces !== undefined && pattern.test(joinedPieces(pieces))
    })
  })
}

/** What has to be done for a module to be there: what keeps it out goes, and something loads it, now or at each boot. */
function moduleSteps(name: string, context: HostContext): readonly OperatorStep[] {
  const { moment, phase, before } = context
  const { files } = moment
  if (!hasModule(name, files, before)) return [missingModule(name, files)]
  if (phase === 'afterReboot') return stepsOf(mendModule(name, files, before).mends, context)
  const lifts = stepsOf(liftForNow(name, files, before), context)
  return [...lifts, { says: `load ${name} now`, command: `modprobe ${quoted(name)}` }]
}

/** The words by which a distribution names itself and those it is like; empty where they are not known. */
export function distributionIds(files: HostFiles): string {
  const text = textAt(files, '/etc/os-release')
  return text.kind === 'known' ? [...text.value.text.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].join(' ') : ''
}

/** Distributions put modules that few need into a package of their own. */
function missingModule(name: string, files: HostFiles): OperatorStep {
  const ids = distributionIds(files)
  const says = `this kernel has no module ${name}: install the rest of its modules, or boot one that has it`
  if (/\bubuntu\b/.test(ids)) return { says, command: 'apt-get install linux-modules-extra-$(uname -r)' }
  if (/\b(fedora|rhel|centos)\b/.test(ids)) return { says, command: 'dnf install kernel-modules-extra-$(uname -r)' }
  return { says, command: `modinfo ${quoted(name)}` }
}

interface PortLook {
  readonly port: number
  /** Who listens there once the cluster runs. */
  readonly owner: string
  /** The groups of which a host has to be in one for this to matter; absent: every host. */
  readonly groups?: readonly string[]
  /** Those of them that matter under the run that is looked at; absent: all. */
  readonly groupsOf?: (effects: RunEffects) => readonly string[]
  /** Which listeners are in the way; absent: every one, whatever address it is bound to (kubeadm binds them all). */
  readonly blocks?: (listener: Listener) => boolean
}

/** Files that a node of a running cluster has; where they are, the kubelet and its pods listen by right. */
const JOINED = ['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/admin.conf']

/** Whether a port is free for who is to listen there, and what holds it. */
export function portOnHost({ port, owner, groups: all, groupsOf, blocks = () => true }: PortLook): Look {
  return context => {
    const { moment, phase } = context
    const groups = groupsOf?.(context.effects) ?? all
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
    const found = listeners.kind === 'known' ? listeners.value.filter(each => each.port === port && blocks(each)) : []
    if (found.length === 0) return { state: 'ok', says: `port ${port} is free`, places: [], steps: [] }
    return worstOf(found.map(listener => ofListener(listener, owner, context, phase)))
  }
}

function ofListener(
  listener: Listener,
  owner: string,
  { before }: HostContext,
  phase: HostContext['phase'],
): HostAnswer {
  const { port, address, holder } = listener
  const who = nameOfHolder(holder)
  // A process of before the boot is another one then.
  const isOther = phase === 'afterReboot' || holder.pids.length === 0
  const pids = isOther ? '' : ` (process ${holder.pids.join(', ')})`
  const verb = phase === 'afterReboot' ? 'takes' : 'holds'
  const where = ['0.0.0.0', '::'].includes(address) ? '' : ` on ${address}`
  const says = `${who}${pids} ${verb} port ${port}${where}`
  const steps = commandsToFree(holder, port, before.files)
  if (isKubernetesOwn(holder, port)) {
    // What the run puts there is no sign of a cluster of before.
    const joined = JOINED.map(path => before.files.entry(path).kind)
    if (joined.includes('known'))
      return { state: 'ok', says: `${says}: it is ${owner} of a node that has joined`, places: [], steps: [] }
    if (joined.includes('unknown')) return unknownAnswer(`${says}; whether this node has joined a cluster is not known`)
    // A run that stops the unit of an earlier cluster starts it again under the same name.
    if (holder.kind === 'unit' && phase !== 'afterReboot') return { state: 'problem', says, places: [], steps }
  }
  if (listener.perhapsEnded !== undefined)
    return { ...unknownAnswer(`${says}, unless ${listener.perhapsEnded}`), steps }
  if (phase === 'afterReboot' && holder.kind !== 'unit')
    return { ...unknownAnswer(`${says}, unless nothing starts it again at boot`), steps }
  return { state: 'problem', says, places: [], steps }
}

const SHOWN_OF_ID = 12

function nameOfHolder({ kind, unit, program, container }: Holder): string {
  if (unit !== undefined) return unit
  if (kind !== 'container') return program ?? 'a process that is not known'
  const of = container === undefined ? '' : ` of ${container.pod ? 'a pod' : container.runtime}`
  const id = container?.id === undefined ? '' : ` ${container.id.slice(0, SHOWN_OF_ID)}`
  return `${program === undefined ? '' : `${program} in `}a container${of}${id}`
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
          steps: [{ says: `stop ${name} and keep it off`, command: `systemctl disable --now ${quoted(name)}` }],
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

/** Whether a unit runs; after a reboot: whether something starts it. */
export function runsAt(unit: string, { moment, phase }: HostContext): Seen<boolean> {
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
export const selinuxOnHost: Look = ({ moment, phase, before }) => {
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
  const boots = selinuxAtBoot(moment.files)
  if (boots.kind === 'absent') return permissive('there is no /etc/selinux/config: SELinux is not set up', [])
  if (boots.kind === 'unknown') return unknownAnswer(`the mode SELinux boots with is not known: ${boots.because}`)
  const { mode, place } = boots.value
  const says = place.says ?? mode
  if (mode !== 'enforcing') return permissive(says, [place])
  const keep = 'keep it permissive'
  const mend: Mend =
    place.line === undefined
      ? {
          kind: 'off-command-line',
          word: says,
          says: `take ${says} off the kernel command line, in the settings of the boot loader`,
        }
      : (replaceLine(moment.files, place, 'SELINUX=permissive', keep) ?? {
          kind: 'by-hand',
          says: keep,
          command: `grep -n SELINUX= ${place.file}`,
        })
  return {
    state: 'problem',
    says: `SELinux boots enforcing (${says})`,
    places: [place],
    steps: [stepOf(mend, before.files)],
  }
}

/** In the kubelet's configuration, or among its options. */
const RUNS_WITH_SWAP = /^failSwapOn:\s*false\b|--fail-swap-on=false\b/im

/** Whether swap is off; after a reboot: nothing turns it on. */
export const swapOnHost: Look = context => {
  const { moment, phase, effects } = context
  const { swap } = moment
  if (swap.kind === 'unknown') return unknownAnswer(`whether swap is on is not known: ${swap.because}`, swap.places)
  const areas = swap.kind === 'known' ? swap.value : []
  if (areas.length > 0 && runWrites(effects, RUNS_WITH_SWAP)) {
    const devices = areas.map(({ device }) => device).join(', ')
    const when = phase === 'afterReboot' ? 'comes back at boot' : 'is on'
    return {
      state: 'unneeded',
      says: `swap ${when} (${devices}), and the kubelet is told to run with it`,
      places: swap.places,
      steps: [],
    }
  }
  if (areas.length === 0) {
    return {
      state: 'ok',
      says: phase === 'afterReboot' ? 'nothing turns swap on at boot' : 'swap is off',
      places: swap.places,
      steps: [],
    }
  }
  const says = areas
    .map(({ device, because }) =>
      because === undefined ? `swap is on: ${device}` : `${device} comes back: ${because}`,
    )
    .join('; ')
  const off: OperatorStep = { says: 'turn swap off now', command: 'swapoff -a' }
  const steps = phase === 'afterReboot' ? stepsOf(mendSwap(moment.files).mends, context) : [off]
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
    // A link of that name whose target was not captured is there for somebody to run.
    const entries = paths.map(path => {
      const led = follow(files, path)
      return { path, found: led.kind === 'unknown' ? files.entry(path) : led }
    })
    const there = entries.find(({ found }) => found.kind === 'known')
    if (there !== undefined)
      return { state: 'ok', says: `${there.path} is there`, places: [{ file: there.path }], steps: [] }
    for (const { path, found } of entries)
      if (found.kind === 'unknown') return unknownAnswer(`whether ${path} is there is not known: ${found.because}`)
    return { state: 'problem', says: `there is no ${what}`, places: [], steps: [step] }
  }
}
