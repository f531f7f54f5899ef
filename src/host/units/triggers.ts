import type { HostFiles } from '../../evidence/host-files.js'
import { triggeredBy } from './boot-reach.js'
import { unitFilesOf, unitNames } from './unit-files.js'

/** The timers, paths and sockets that start a service again, those that are cut already and one that is named left out. */
export function triggersOf(files: HostFiles, service: string, but: string): readonly string[] {
  const all = unitFilesOf(files, 'now')
  return ['socket', 'timer', 'path'].flatMap(type =>
    unitNames(all, type).names.filter(name => {
      const loaded = name === but ? undefined : all.unit(name)
      if (loaded?.kind !== 'known' || loaded.value.masked || loaded.value.name !== name) return false
      return triggeredBy(name, loaded.value.settings)?.unit === service
    }),
  )
}
