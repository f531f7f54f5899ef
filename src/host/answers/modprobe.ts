import { known } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import { kernelModules } from '../boot/kernel-modules.js'
import { modprobeConf } from '../boot/modprobe-d.js'
import { lookUp } from '../boot/modules.js'
import type { Moment } from '../moment.js'
import { givenIn } from './arguments.js'

/**
 * `community.general.modprobe`: whether it fails, which other tasks ask about. It does where the kernel has no such module, or
 * a line of modprobe.d runs something else instead; a deny list does not hold for a name that is given to modprobe itself.
 */
export function modprobeOf(invocation: Invocation, moment: Moment): Answered | undefined {
  const given = givenIn(invocation)
  const name = given.text('name')
  const state = given.text('state')
  if (typeof name !== 'string' || (state !== null && state !== 'present')) return undefined
  const outcome = (failed: boolean, changed: boolean): Answered => ({
    kind: 'fields',
    fields: new Map([
      ['failed', known(failed)],
      ['changed', known(changed)],
    ]),
  })
  // With `persistent` files decide too whether something changes.
  const now = moment.module(name)
  if (now.kind === 'known') return given.lacks('persistent') ? outcome(false, false) : undefined
  const { files } = moment
  const place = { file: '/sbin/modprobe' }
  switch (lookUp(files, name, place, modprobeConf(files), kernelModules(files, moment), moment).outcome) {
    case 'loads':
    case 'denied':
      return outcome(false, true)
    case 'not-found':
    case 'refused':
    case 'install':
      return outcome(true, false)
    default:
      return undefined
  }
}
