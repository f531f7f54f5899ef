import type { HostFiles } from '../evidence/host-files.js'
import { booleanParameter, valuesOfParameter } from './boot/kernel-command-line.js'
import type { HostPlace, Seen } from './moment.js'

export type CgroupVersion = 'v1' | 'v2'

const ROOT = '/sys/fs/cgroup'
const UNIFIED = `${ROOT}/cgroup.controllers`
const PARAMETER = 'systemd.unified_cgroup_hierarchy'

/** Which version the host runs on: of the unified tree the root has `cgroup.controllers`; where both are mounted (hybrid) it is v1. */
export function cgroupsNow(files: HostFiles): Seen<CgroupVersion> {
  const controllers = files.entry(UNIFIED)
  if (controllers.kind === 'known') return { kind: 'known', value: 'v2', places: [{ file: UNIFIED }] }
  if (controllers.kind === 'unknown') return { ...controllers, places: [] }
  // Files that were put together by hand have no such directory; every host has.
  if (files.entry(ROOT).kind !== 'known') return { kind: 'unknown', because: `${ROOT} was not captured`, places: [] }
  return { kind: 'known', value: 'v1', places: [{ file: ROOT, says: 'there is no cgroup.controllers' }] }
}

/**
 * What the kernel's command line asks for; undefined where it asks for neither, and systemd takes what it was built with.
 * Source: systemd src/basic/cgroup-util.c cg_is_unified_wanted.
 */
export function cgroupsAskedFor(
  files: HostFiles,
): { readonly version: CgroupVersion; readonly place: HostPlace } | undefined {
  const at = (says: string): HostPlace => ({ file: '/proc/cmdline', line: 1, says })
  const asked = booleanParameter(files, PARAMETER)
  if (asked !== undefined) return { version: asked ? 'v2' : 'v1', place: at(`${PARAMETER}=${asked ? 1 : 0}`) }
  return valuesOfParameter(files, 'cgroup_no_v1').at(-1) === 'all'
    ? { version: 'v2', place: at('cgroup_no_v1=all') }
    : undefined
}
