import { textOf } from '../../effects/argument.js'
import type { Selinux } from '../../effects/effect.js'
import { known } from '../../jinja/value.js'
import { type Applied, editFile, fileEntry } from './applied.js'

const ENFORCE = '/sys/fs/selinux/enforce'
const CONFIG = '/etc/selinux/config'

/**
 * The mode of SELinux, now and in its configuration. A policy that is loaded stays until the next boot: `disabled` is permissive
 * before. Source: ansible.posix plugins/modules/selinux.py; setenforce(8).
 */
export function changeSelinux(effect: Selinux, applied: Applied): void {
  if (effect.sets !== 'mode') return
  const { state, sure, because } = applied
  const mode = textOf(effect.state)?.toLowerCase()
  if (state.files.entry(ENFORCE).kind === 'known') {
    const now = mode === undefined ? undefined : mode === 'enforcing' || mode === '1' ? '1' : '0'
    state.files.put(ENFORCE, now === undefined || !sure ? { kind: 'unknown', because } : fileEntry(ENFORCE, now))
  }
  if (!effect.persisted) return
  editFile(applied, known(CONFIG), text =>
    mode === undefined ? undefined : text?.replaceAll(/^SELINUX=.*$/gm, `SELINUX=${mode}`),
  )
}
