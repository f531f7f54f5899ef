import { textOf } from '../../effects/argument.js'
import type { BootParameters } from '../../effects/effect.js'
import { textAt } from '../../evidence/host-files.js'
import { type Applied, fileEntry } from './applied.js'

/** What the running kernel was started with; in a host that a run changes, what the next one is started with. */
const FILE = '/proc/cmdline'

/** Parameters come to the kernel's command line or leave it, for the next boot: with a value that one alone, else all of the name. */
export function changeBootParameters(effect: BootParameters, { state, sure, because }: Applied): void {
  const before = textAt(state.files, FILE)
  const given = textOf(effect.parameters)?.replaceAll(/["']/g, '').split(/\s+/)
  if (before.kind !== 'known' || given === undefined || !sure) {
    if (before.kind !== 'unknown') state.files.put(FILE, { kind: 'unknown', because })
    return
  }
  const parameters = given.filter(each => each !== '')
  const words = before.value.text.trim().split(/\s+/)
  const names = new Set(parameters.map(nameOf))
  // As grubby does it, what is added takes the place of other values of its name.
  const left = words.filter(word =>
    effect.change === 'added'
      ? !names.has(nameOf(word))
      : !parameters.some(each => each === word || each === nameOf(word)),
  )
  const after = effect.change === 'added' ? [...left, ...parameters] : left
  state.files.put(FILE, fileEntry(FILE, `${after.join(' ')}\n`))
}

function nameOf(parameter: string): string {
  return parameter.replace(/=.*/s, '')
}
