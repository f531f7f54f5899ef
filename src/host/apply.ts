import { causeText, membersOf, piecesOf, textOf } from '../effects/argument.js'
import type { Effect } from '../effects/effect.js'
import type { TaskEffect } from '../effects/run-effects.js'
import { type Standing, standingOf } from '../effects/standing.js'
import { placeOf } from '../source/text.js'
import type { Applied } from './changes/applied.js'
import { changeBootParameters } from './changes/boot-parameters.js'
import { changeFile, removeFstabEntries, writeFstabEntry } from './changes/files.js'
import { changeHostname } from './changes/hostname.js'
import { changeModule, changeSysctl } from './changes/kernel.js'
import { changeSelinux } from './changes/selinux.js'
import { changeUnit, endListeners, endProcesses } from './changes/units.js'
import type { HostState } from './host-state.js'
import type { Holder } from './moment.js'

/**
 * Applies an effect to a host as the module or command would. Where it is not known whether it happens, or what exactly it
 * does, what it touches becomes unknown, unless that makes no difference.
 */
export function applyEffect(state: HostState, occurrence: TaskEffect): void {
  const standing = standingOf(occurrence)
  if (standing.kind === 'never' || state.broken.has(occurrence.invocation)) return
  const { effect } = occurrence
  const applied = { state, occurrence, sure: standing.kind === 'happens', because: becauseOf(occurrence, standing) }
  const change = changes[effect.kind] as ((effect: Effect, applied: Applied) => void) | undefined
  change?.(effect, applied)
}

function becauseOf({ task, effect }: TaskEffect, standing: Standing): string {
  const what = `"${task.name === '' ? task.task.action : task.name}" (${placeOf(effect.at)})`
  switch (standing.kind) {
    case 'host-decides':
      return `${what} changes it only if ${standing.condition}`
    case 'unread': {
      const [cause] = standing.causes
      return `${what} may change it${cause === undefined ? '' : `: ${causeText(cause)}`}`
    }
    default:
      return `${what} changes it`
  }
}

/** The runtimes whose containers a program can stop; `crictl` those of pods, whatever runs them. */
const REACHED: Readonly<Record<string, readonly string[]>> = {
  crictl: ['containerd', 'cri', 'cri-o'],
  ctr: ['containerd', 'cri', 'nerdctl'],
  docker: ['docker'],
  nerdctl: ['containerd', 'nerdctl'],
  podman: ['podman'],
}

function reaches(program: string, { container }: Holder): boolean {
  const runtimes = REACHED[program]
  if (container === undefined || runtimes === undefined) return true
  return runtimes.includes(container.runtime) || (program === 'crictl' && container.pod)
}

/** What each kind of effect does to the files of a host and to what runs there. Kinds that change nothing of it are not here. */
const changes: {
  readonly [Kind in Effect['kind']]?: (effect: Extract<Effect, { kind: Kind }>, applied: Applied) => void
} = {
  file: changeFile,
  'fstab-entries-removed': removeFstabEntries,
  'fstab-entry-written': writeFstabEntry,
  sysctl: changeSysctl,
  'kernel-module': changeModule,
  swap: (effect, { state, sure, because }) => {
    const isOff = state.swap.kind === 'known' && state.swap.value.length === 0
    if (effect.state === 'off' && isOff) return
    state.swap =
      effect.state === 'off' && effect.which === 'all' && sure
        ? { kind: 'known', value: [], places: [] }
        : { kind: 'unknown', because, places: [] }
  },
  unit: changeUnit,
  hostname: changeHostname,
  'boot-parameters': changeBootParameters,
  selinux: changeSelinux,
  'processes-signalled': endProcesses,
  kubeadm: (effect, { state, because }) => {
    if (!/^(init|join|reset)\b/.test(effect.subcommand)) return
    for (const directory of ['/etc/kubernetes/', '/var/lib/kubelet/', '/var/lib/etcd/'])
      state.files.blur([directory, null], because)
  },
  container: ({ action, runtime }, applied) => {
    if (action !== 'stopped' && action !== 'removed') return
    endListeners(applied, false, ({ holder }) => holder.kind === 'container' && reaches(runtime, holder))
  },
  package: ({ names, state: wanted }, { state, because }) => {
    state.packagesChanged.push(because)
    if (['absent', 'removed', 'held', 'hold'].includes(textOf(wanted) ?? '')) return
    const named = membersOf(names).flatMap(name => textOf(name) ?? [])
    state.brought.push(named.length === 0 ? because : `${because} (${named.join(', ')})`)
  },
  // What a program that is not modelled does to the files it is given is not known.
  command: ({ powers, arguments: words }, { state, because }) => {
    if (!powers.includes('writes-files')) return
    for (const word of words) {
      const pieces = piecesOf(word)
      const [first] = pieces ?? []
      if (pieces !== undefined && typeof first === 'string' && first.startsWith('/')) state.files.blur(pieces, because)
    }
  },
}
