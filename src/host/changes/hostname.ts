import { textOf } from '../../effects/argument.js'
import type { Hostname } from '../../effects/effect.js'
import { textAt } from '../../evidence/host-files.js'
import { liveSetting } from '../host-state.js'
import { type Applied, fileEntry } from './applied.js'

const KEY = 'kernel.hostname'
const FILE = '/etc/hostname'

/** The host gets a name: the running kernel, /etc/hostname, or both. One it has already changes nothing. */
export function changeHostname(effect: Hostname, { state, sure, because }: Applied): void {
  const name = textOf(effect.name)
  const open = { kind: 'unknown', because } as const
  if (effect.now) {
    const before = liveSetting(state, KEY)
    if (before.kind !== 'known' || before.value !== name)
      state.sysctl.set(
        KEY,
        name !== undefined && sure ? { kind: 'known', value: name, places: [] } : { ...open, places: [] },
      )
  }
  if (!effect.persisted) return
  const before = textAt(state.files, FILE)
  if (before.kind === 'known' && before.value.text.trim() === name) return
  state.files.put(FILE, name !== undefined && sure ? fileEntry(FILE, `${name}\n`) : open)
}
