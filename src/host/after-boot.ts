import type { Evidence } from '../evidence/evidence.js'
import type { Found, HostFiles } from '../evidence/host-files.js'
import { bootOf } from './boot/boot.js'
import { sysctlPath } from './boot/sysctl-d.js'
import { influencesOn, variableOf, writtenTo } from './boot/sysctl-keys.js'
import { isHeldBy } from './host-state.js'
import type { Listener, Moment, PerhapsSet, Seen, UnitState } from './moment.js'
import { listensAfterBoot } from './ports/after-boot.js'
import { portsOfSocketUnits } from './ports/socket-units.js'
import { startsAtBoot } from './units/boot-reach.js'
import { unitFilesOf } from './units/unit-files.js'
import { unitState } from './units/unit-state.js'

/**
 * The host after its next boot, with the files it has at this moment. Ports are held again by what held them when the evidence
 * was taken, as far as the boot starts it: what a run ended is back unless it is also kept from starting.
 */
export function afterBoot(moment: Moment, captured: Moment, evidence: Evidence): Moment {
  const { files, perhapsSet = [] } = moment
  const booted = bootOf(files, moment, {
    listeners: withSockets(heldAgain(files, captured.listeners), files),
    unit: name => unitAfterBoot(files, evidence, name),
  })
  return { ...booted, sysctl: key => withPerhaps(booted.sysctl(key), key, perhapsSet) }
}

/** A setting that may also be written for the boot is known only where that makes no difference. */
function withPerhaps(seen: Seen<string>, key: string, perhapsSet: readonly PerhapsSet[]): Seen<string> {
  if (seen.kind === 'unknown' || perhapsSet.length === 0) return seen
  const variable = variableOf(sysctlPath(key))
  const touching = new Set([variable, ...influencesOn(variable)])
  for (const { key: name, value, because, file } of perhapsSet) {
    if (!touching.has(variableOf(sysctlPath(name)))) continue
    // Without the module that brings the key no line sets it.
    if (seen.kind === 'absent') continue
    const taken = value === undefined ? undefined : writtenTo(variable, value)
    if (taken?.kind === 'takes' && taken.value === seen.value) continue
    return { kind: 'unknown', because, places: [{ file }, ...seen.places] }
  }
  return seen
}

function heldAgain(files: HostFiles, listeners: Seen<readonly Listener[]>): Seen<readonly Listener[]> {
  if (listeners.kind !== 'known') return listeners
  return { ...listeners, value: listeners.value.flatMap(listener => listenerAgain(files, listener)) }
}

/** Socket units that the boot starts listen, whether or not they did when the evidence was taken. */
function withSockets(listeners: Seen<readonly Listener[]>, files: HostFiles): Seen<readonly Listener[]> {
  if (listeners.kind !== 'known') return listeners
  const more = portsOfSocketUnits(unitFilesOf(files, 'boot')).flatMap(
    ({ unit, starts, port, address }): readonly Listener[] => {
      const isThere = listeners.value.some(each => each.port === port && isHeldBy(each, unit))
      if (isThere) return []
      const boot = startsAtBoot(files, unit)
      return boot.kind === 'known' && boot.value
        ? [{ port, address, holder: { kind: 'unit', unit, starts, pids: [] } }]
        : []
    },
  )
  return { ...listeners, value: [...listeners.value, ...more] }
}

/** A listener after the boot: there, gone, or (`perhapsEnded`) there unless something that is not known keeps it off. */
function listenerAgain(files: HostFiles, listener: Listener): readonly Listener[] {
  const { port, address, holder } = listener
  const starts = listensAfterBoot(files, listener)
  // Whether the run ended it does not matter any more.
  const again: Listener = { port, address, holder }
  if (starts.kind === 'unknown') return [{ ...again, perhapsEnded: starts.because }]
  return starts.kind === 'known' && starts.value ? [again] : []
}

function unitAfterBoot(files: HostFiles, evidence: Evidence, name: string): Seen<UnitState> {
  const seen = unitState({ ...evidence, files }, name)
  if (seen.kind !== 'known') return seen
  const active: Found<boolean> = seen.value.atBoot
  return { ...seen, value: { ...seen.value, active } }
}
