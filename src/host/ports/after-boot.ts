import type { HostFiles } from '../../evidence/host-files.js'
import type { Listener, Seen } from '../moment.js'
import { startsAtBoot } from '../units/boot-reach.js'

/**
 * Whether something that listens now listens again after the next boot: what a unit holds does as the unit starts; a process of
 * somebody's login does not. Of containers, units of users and processes without a unit it is not known what starts them.
 */
export function listensAfterBoot(files: HostFiles, { holder, port }: Listener): Seen<boolean> {
  const { kind, unit, uid, container } = holder
  const open = (because: string): Seen<boolean> => ({ kind: 'unknown', because, places: [] })
  if (kind === 'unit' && unit !== undefined && uid === undefined) {
    // A scope is made while the system runs.
    if (unit.endsWith('.scope')) return open(`what makes ${unit} is not known`)
    return startsAtBoot(files, unit)
  }
  if (kind === 'process' && unit?.startsWith('session-')) return { kind: 'known', value: false, places: [] }
  if (kind === 'container' && container?.pod === true) {
    const kubelet = startsAtBoot(files, 'kubelet.service')
    if (kubelet.kind === 'known' && !kubelet.value) return kubelet
    return open('kubelet starts at boot, or may, and starts the pods it finds')
  }
  if (kind === 'container')
    return open(`whether ${container?.runtime ?? 'the runtime'} starts the container again is not known`)
  if (kind === 'unit') return open(`whether the manager of user ${uid} starts without a login is not known`)
  return open(
    `what starts the holder of port ${port} is not known${holder.because === undefined ? '' : `: ${holder.because}`}`,
  )
}
