import { isSet, isText, optionsOf, piecesCanBe, piecesOf, textOf } from '../../effects/argument.js'
import { describeEffect, unitName } from '../../effects/describe.js'
import type { ProcessesSignalled, Unit } from '../../effects/effect.js'
import { endsProcesses } from '../../effects/signals.js'
import { type HostState, isHeldBy } from '../host-state.js'
import type { Listener } from '../moment.js'
import { linksOfEnabling, linksThatEnable } from '../units/install-links.js'
import type { Applied } from './applied.js'

/** A unit is started or stopped, enabled or disabled, masked or unmasked. */
export function changeUnit(effect: Unit, applied: Applied): void {
  const text = textOf(effect.unit)
  if (text === undefined) {
    changeUnknownUnit(effect, applied)
    return
  }
  const unit = unitName(text)
  changeState(unit, effect, applied)
  if (effect.masked !== undefined) changeMask(unit, effect.masked, applied)
  if (effect.enabled !== undefined) changeLinks(unit, effect.enabled, applied)
}

/** Which unit it is only the host knows, or one of a few: any that fits may be the one that is stopped or kept off. */
function changeUnknownUnit(effect: Unit, applied: Applied): void {
  const fits = (unit: string): boolean =>
    optionsOf(effect.unit).some(({ value }) => {
      const pieces = piecesOf(value)
      return pieces === undefined || piecesCanBe(pieces, unit) || piecesCanBe(pieces, unit.replace(/\.service$/, ''))
    })
  if (isText(effect.state, 'stopped').kind !== 'false' && effect.state !== undefined)
    endListeners(applied, false, ({ holder }) => holder.unit !== undefined && fits(holder.unit))
  const { state, because } = applied
  if (effect.enabled === undefined && effect.masked === undefined) return
  for (const { value } of optionsOf(effect.unit)) {
    const pieces = piecesOf(value)
    if (pieces?.some(piece => piece !== null))
      state.files.blur(['/etc/systemd/system/', null, ...pieces, null], because)
  }
}

function changeState(unit: string, effect: Unit, applied: Applied): void {
  if (effect.state === undefined) return
  const { state, sure, because } = applied
  const stops = isText(effect.state, 'stopped')
  const starts = ['started', 'restarted'].some(each => isText(effect.state, each).kind === 'true')
  const isClear = stops.kind === 'true' || starts
  const isDecided = sure && isClear
  // What may happen makes no difference where it is so already: a service that runs and perhaps is restarted runs.
  if (isDecided || !isClear || !isKnownToRun(unit, starts, state))
    state.active.set(unit, isDecided ? { kind: 'known', value: starts } : { kind: 'unknown', because })
  if (stops.kind !== 'false') endListeners(applied, stops.kind === 'true', listener => isHeldBy(listener, unit))
}

function isKnownToRun(unit: string, runs: boolean, { active, captured }: HostState): boolean {
  const changed = active.get(unit)
  if (changed !== undefined) return changed.kind === 'known' && changed.value === runs
  const seen = captured.unit(unit)
  return seen.kind === 'known' && seen.value.active.kind === 'known' && seen.value.active.value === runs
}

function changeMask(unit: string, wanted: NonNullable<Unit['masked']>, { state, sure, because }: Applied): void {
  const link = `/etc/systemd/system/${unit}`
  const masked = isSet(wanted, false)
  const current = state.files.entry(link)
  const isMasked = current.kind === 'known' && current.value.kind === 'link' && current.value.target === '/dev/null'
  if (current.kind !== 'unknown' && masked.kind !== 'unknown' && isMasked === (masked.kind === 'true')) return
  if (!sure || masked.kind === 'unknown') state.files.put(link, { kind: 'unknown', because })
  else if (masked.kind === 'true')
    state.files.put(link, { kind: 'known', value: { kind: 'link', path: link, target: '/dev/null' } })
  else state.files.remove(link)
}

function changeLinks(unit: string, wanted: NonNullable<Unit['enabled']>, { state, sure, because }: Applied): void {
  const enabled = isSet(wanted, false)
  const files = state.files.copy()
  const links = enabled.kind === 'false' ? linksThatEnable(files, unit) : linksOfEnabling(files, unit)
  for (const { path, target } of links) {
    if (!sure || enabled.kind === 'unknown') state.files.put(path, { kind: 'unknown', because })
    else if (enabled.kind === 'true') state.files.put(path, { kind: 'known', value: { kind: 'link', path, target } })
    else state.files.remove(path)
  }
}

/** Processes are ended, and what they listened on is free. */
export function endProcesses(effect: ProcessesSignalled, applied: Applied): void {
  const ends = endsProcesses(effect.signal)
  if (ends.kind === 'false') return
  const target = textOf(effect.target)
  const isMeant = (listener: Listener): boolean => {
    if (target === undefined) return true
    switch (effect.by) {
      case 'port':
        return String(listener.port) === target
      case 'pid':
        return listener.holder.pids.some(pid => String(pid) === target)
      case 'name':
        return listener.holder.program === target
      case 'unit':
        return isHeldBy(listener, unitName(target))
      default:
        return true
    }
  }
  endListeners(applied, ends.kind === 'true' && target !== undefined && effect.by !== 'file', isMeant)
}

/** Listeners go; where that is not certain they stay, with what may have ended them. */
export function endListeners(
  { state, sure, because, occurrence }: Applied,
  certain: boolean,
  isMeant: (listener: Listener) => boolean,
): void {
  const { listeners } = state
  if (listeners.kind !== 'known' || !listeners.value.some(isMeant)) return
  const { places } = listeners
  if (sure && certain) {
    state.listeners = { kind: 'known', value: listeners.value.filter(each => !isMeant(each)), places }
    return
  }
  const perhapsEnded = `${because} (${describeEffect(occurrence.effect)})`
  const value = listeners.value.map(each => (isMeant(each) ? { ...each, perhapsEnded } : each))
  state.listeners = { kind: 'known', value, places }
}
