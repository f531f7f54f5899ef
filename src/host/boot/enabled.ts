import { type Found, type HostFiles, textAt } from '../../evidence/host-files.js'
import type { SourceFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'
import { reachedAtBoot } from '../units/boot-reach.js'
import { isMask, PERSISTENT, type Unit, unitFilesOf } from '../units/unit-files.js'

/** A unit that is started at boot. */
export interface BootUnit {
  readonly name: string
  /** What starts it: a link in `*.wants`, a line of another unit. Absent for units systemd itself brings. */
  readonly pulledBy?: HostPlace
  /** Its file and drop-ins, as far as they were captured, in the order in which they count. */
  readonly files: readonly SourceFile[]
}

/** What is started at boot, for what looks at all of it. */
export interface BootUnits {
  readonly started: ReadonlyMap<string, BootUnit>
  /** Where a unit is masked for good: by a link to /dev/null or an empty file in its place. */
  readonly masked: (name: string) => HostPlace | undefined
  /** Why it is not known whether a unit is masked in /etc. */
  readonly maskUnknown: (name: string) => string | undefined
  /** Whether the host has a unit of this name. */
  readonly has: (name: string) => Found<HostPlace>
  /** Its file and drop-ins. */
  readonly textOf: (name: string) => readonly SourceFile[]
  /** Why there may be more: directories that were not captured. */
  readonly unknown: readonly string[]
}

const read = new WeakMap<HostFiles, BootUnits>()

/** The units that the next boot starts by itself; what a socket or path unit starts when it is asked for is not among them. */
export function bootUnits(files: HostFiles): BootUnits {
  const known = read.get(files)
  if (known !== undefined) return known
  const units = readBootUnits(files)
  read.set(files, units)
  return units
}

function readBootUnits(files: HostFiles): BootUnits {
  const all = unitFilesOf(files, 'boot')
  const reach = reachedAtBoot(files)
  const textOf = (name: string): readonly SourceFile[] => {
    const loaded = all.unit(name)
    return loaded.kind === 'known' ? textsOf(files, loaded.value) : []
  }
  const started = new Map<string, BootUnit>()
  for (const [name, { way, places }] of reach.units) {
    if (way !== 'starts') continue
    const [pulledBy] = places
    started.set(name, { name, files: textOf(name), ...(pulledBy === undefined ? {} : { pulledBy }) })
  }
  return {
    started,
    masked: name => {
      const loaded = all.unit(name)
      // Stronger directories are those of generators, which make no masks.
      const path = loaded.kind === 'known' ? loaded.value.path : `${PERSISTENT}/${name}`
      const isMasked = loaded.kind === 'known' ? loaded.value.masked : loaded.kind === 'unknown' && isMask(files, path)
      if (!isMasked) return undefined
      const entry = files.entry(path)
      const says =
        entry.kind === 'known' && entry.value.kind === 'link' ? `${path} -> ${entry.value.target}` : 'an empty file'
      return { file: path, says }
    },
    // Whoever masks a unit writes to /etc; a file there that is no mask says that it is none.
    maskUnknown: name => {
      const found = files.entry(`/etc/systemd/system/${name}`)
      return found.kind === 'unknown' ? found.because : undefined
    },
    has: name => {
      const loaded = all.unit(name)
      return loaded.kind === 'known' ? { kind: 'known', value: { file: loaded.value.path } } : loaded
    },
    textOf,
    unknown: [...new Set(reach.open)],
  }
}

function textsOf(files: HostFiles, { path, settings }: Unit): readonly SourceFile[] {
  const paths = new Set([path, ...settings.map(({ place }) => place.file)])
  return [...paths].flatMap(each => {
    const text = textAt(files, each)
    return text.kind === 'known' ? [text.value] : []
  })
}
