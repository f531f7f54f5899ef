import type { HostFiles } from '../../evidence/host-files.js'
import type { Listener, Moment, Seen } from '../moment.js'
import { bootUnits } from './enabled.js'
import { moduleAtBoot } from './modules.js'
import { swapAreasOf, swapAtBoot } from './swap.js'
import { type SysctlDecision, sysctlAtBoot } from './sysctl.js'

/** What others know of the boot. */
export interface BootOptions {
  /** The ports that are held again: those of units that are started at boot. Absent: it is not known. */
  readonly listeners?: Seen<readonly Listener[]>
  /** What is known of a unit after the boot. Absent: as far as links and masks say it. */
  readonly unit?: Moment['unit']
}

/**
 * The host after its next boot: the files as they lie (without /run), modules as modules-load.d has them, settings as systemd-sysctl
 * applies them, swap as fstab, units and programs turn it on. `before` is the host when it is shut down.
 */
export function bootOf(files: HostFiles, before: Moment, options: BootOptions = {}): Moment {
  const decisions = new Map<string, SysctlDecision>()
  const sysctlDecision = (key: string): SysctlDecision => {
    const decision = decisions.get(key) ?? sysctlAtBoot(files, before, key)
    decisions.set(key, decision)
    return decision
  }
  const modules = new Map<string, Seen<'loaded' | 'built-in'>>()
  const units = bootUnits(files)
  const swap = swapAreasOf(swapAtBoot(files), files)
  return {
    files,
    sysctl: key => sysctlDecision(key).value,
    module: name => {
      const found = modules.get(name) ?? moduleAtBoot(files, before, name, 'later')
      modules.set(name, found)
      return found
    },
    swap,
    listeners: options.listeners ?? {
      kind: 'unknown',
      because: 'which ports are held after the boot was not worked out',
      places: [],
    },
    unit:
      options.unit ??
      (name => {
        const masked = units.masked(name)
        const place = masked ?? units.started.get(name)?.pulledBy
        const places = place === undefined ? [] : [place]
        const isStarted = units.started.has(name)
        if (!isStarted && masked === undefined && units.unknown.length > 0) {
          return { kind: 'unknown', because: [...new Set(units.unknown)].join('; '), places }
        }
        const atBoot = { kind: 'known', value: isStarted } as const
        return { kind: 'known', value: { active: atBoot, atBoot }, places }
      }),
  }
}
