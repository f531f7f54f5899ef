import { type HostFiles, resolveLink } from '../../evidence/host-files.js'
import { PERSISTENT, unitFilesOf } from './unit-files.js'
import { listed, wordsOf } from './unit-syntax.js'

/** A link below /etc/systemd/system, and what it points to. */
export interface InstallLink {
  readonly path: string
  readonly target: string
}

const KINDS = { WantedBy: 'wants', RequiredBy: 'requires', UpheldBy: 'upholds' } as const

/** The links `systemctl enable` makes for a unit, as its `[Install]` says; none where its file is not known. */
export function linksOfEnabling(files: HostFiles, name: string): readonly InstallLink[] {
  const loaded = unitFilesOf(files, 'now').unit(name)
  if (loaded.kind !== 'known' || loaded.value.masked) return []
  const { settings, path } = loaded.value
  const pulls = Object.entries(KINDS).flatMap(([setting, kind]) =>
    listed(settings, 'Install', setting)
      .flatMap(wordsOf)
      .map(by => ({ path: `${PERSISTENT}/${by}.${kind}/${name}`, target: path })),
  )
  const aliases = listed(settings, 'Install', 'Alias')
    .flatMap(wordsOf)
    .map(alias => ({ path: `${PERSISTENT}/${alias}`, target: path }))
  return [...pulls, ...aliases]
}

/** The links below /etc/systemd/system that enable a unit now: `systemctl disable` takes them away, whatever `[Install]` says. */
export function linksThatEnable(files: HostFiles, name: string): readonly InstallLink[] {
  const all = unitFilesOf(files, 'now')
  const names = all.names(PERSISTENT)
  const found: InstallLink[] = []
  for (const entry of names.kind === 'known' ? names.value : []) {
    const places = /\.(wants|requires|upholds)$/.test(entry)
      ? [`${PERSISTENT}/${entry}/${name}`]
      : [`${PERSISTENT}/${entry}`]
    for (const path of places) {
      const link = files.entry(path)
      if (link.kind !== 'known' || link.value.kind !== 'link') continue
      const target = resolveLink(link.value)
      const isIts = path.endsWith(`/${name}`) ? path !== `${PERSISTENT}/${name}` : target.endsWith(`/${name}`)
      if (isIts) found.push({ path, target })
    }
  }
  return found
}
