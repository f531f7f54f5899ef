import type { Evidence } from '../evidence/evidence.js'
import type { Found, HostFiles } from '../evidence/host-files.js'
import { bootOf } from './boot/boot.js'
import type { Listener, Moment, Seen, UnitState } from './moment.js'
import { startsAtBoot } from './units/boot-reach.js'
import { unitState } from './units/unit-state.js'

/**
 * The host after its next boot, with the files it has at this moment. Ports are held again by what held them when the evidence
 * was taken, as far as the boot starts it: what a run ended is back unless it is also kept from starting.
 */
export function afterBoot(moment: Moment, captured: Moment, evidence: Evidence): Moment {
  const { files } = moment
  return bootOf(files, moment, {
    listeners: heldAgain(files, captured.listeners),
    unit: name => unitAfterBoot(files, evidence, name),
  })
}

function heldAgain(files: HostFiles, listeners: Seen<readonly Listener[]>): Seen<readonly Listener[]> {
  if (listeners.kind !== 'known') return listeners
  return { ...listeners, value: listeners.value.flatMap(listener => listenerAgain(files, listener)) }
}

/** A listener after the boot: there, gone, or (`perhapsEnded`) there unless something that is not known does not happen. */
function listenerAgain(files: HostFiles, listener: Listener): readonly Listener[] {
  const { holder } = listener
  if (holder.kind === 'process') return []
  if (holder.kind !== 'unit' || holder.unit === undefined) {
    const says = holder.kind === 'container' ? 'its runtime does not start it again' : 'nothing starts it again'
    return [{ ...listener, perhapsEnded: says }]
  }
  const starts = [holder.unit, ...(holder.starts === undefined ? [] : [holder.starts])].map(unit =>
    startsAtBoot(files, unit),
  )
  if (starts.some(each => each.kind === 'known' && each.value)) return [started(listener)]
  const open = starts.find(each => each.kind === 'unknown')
  return open?.kind === 'unknown' ? [{ ...listener, perhapsEnded: open.because }] : []
}

/** Whether the run ended it does not matter any more. */
function started({ port, address, holder }: Listener): Listener {
  return { port, address, holder }
}

function unitAfterBoot(files: HostFiles, evidence: Evidence, name: string): Seen<UnitState> {
  const seen = unitState({ ...evidence, files }, name)
  if (seen.kind !== 'known') return seen
  const active: Found<boolean> = seen.value.atBoot
  return { ...seen, value: { ...seen.value, active } }
}
