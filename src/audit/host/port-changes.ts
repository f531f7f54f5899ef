import { textOf } from '../../effects/argument.js'
import type { Change } from '../../reports/audit.js'
import { type Happening, likelihoodOf, placeOfHappening, underCondition } from './happenings.js'
import { ANY_PORT, mayHavePorts, portsIn } from './ports.js'
import { writtenTexts } from './written-text.js'

interface Listening {
  readonly who: Set<string>
  readonly path: string
  readonly happenings: Happening[]
}

interface Seen {
  readonly ports: ReadonlyMap<string, Listening>
  /** What listens on a port that is not known. */
  readonly open: ReadonlySet<string>
  /** Files that are written and whose text is not known. */
  readonly unread: ReadonlySet<string>
}

/** Ports that something on the host listens on by the files that are written, and that nothing did by those before. */
export function portChanges(old: readonly Happening[], now: readonly Happening[]): readonly Change[] {
  const [ours, theirs] = [filesWritten(old), filesWritten(now)]
  const isChanged = (file: WrittenFile): boolean => !isSameFile(ours.get(file.path), file)
  const changed = [...theirs.values()].filter(isChanged)
  if (changed.length === 0) return []
  const after = portsWritten(changed, false)
  if (after.ports.size === 0) return []
  // Parts that may not be written count as written before: a port is new only where it certainly was not there.
  const before = portsWritten([...ours.values()], true)
  return [...after.ports].flatMap(([port, { who, path, happenings }]): readonly Change[] => {
    if (before.ports.has(port) || before.unread.has(path) || [...who].some(each => before.open.has(each))) return []
    return [
      {
        kind: 'port-added',
        name: port,
        action: 'advised',
        says: `${[...who].join(' and ')} listens on port ${port} of the host (${path})${underCondition(likelihoodOf(happenings))}`,
        old: null,
        new: placeOfHappening(happenings),
        inventory: [],
      },
    ]
  })
}

/** A file that is written, with every text that it may have. */
interface WrittenFile {
  readonly path: string
  readonly texts: { readonly text: string; readonly happening: Happening; readonly isSure: boolean }[]
  /** Whether one of the tasks that write it writes what is not known. */
  isUnread: boolean
}

function filesWritten(happenings: readonly Happening[]): ReadonlyMap<string, WrittenFile> {
  const files = new Map<string, WrittenFile>()
  for (const happening of happenings) {
    const { effect } = happening.occurrence
    const path = effect.kind === 'file' && effect.change === 'written' ? textOf(effect.path) : undefined
    if (effect.kind !== 'file' || path === undefined || !mayHavePorts(path)) continue
    const file = files.get(path) ?? { path, texts: [], isUnread: false }
    files.set(path, file)
    const texts = writtenTexts(effect.content)
    if (texts.length === 0) file.isUnread = true
    for (const text of texts) file.texts.push({ text, happening, isSure: effect.contentUnsure === undefined })
  }
  return files
}

/** Whether what says something of ports is the same: then there is no need to read all of it. */
function isSameFile(former: WrittenFile | undefined, file: WrittenFile): boolean {
  const lines = ({ texts }: WrittenFile): string =>
    texts
      .map(({ text }) =>
        text
          .split('\n')
          .filter(line => saysPort.test(line))
          .join('\n'),
      )
      .join('\n---\n')
  return former !== undefined && lines(former) === lines(file)
}

const saysPort = /port|listen|bind|address|hostnetwork|kind:/i

function portsWritten(files: readonly WrittenFile[], alsoUnsure: boolean): Seen {
  const ports = new Map<string, Listening>()
  const open = new Set<string>()
  const unread = new Set<string>()
  for (const { path, texts, isUnread } of files) {
    if (isUnread) unread.add(path)
    for (const { text, happening, isSure } of texts) {
      if (!isSure && !alsoUnsure) continue
      for (const { port, who } of portsIn(path, text)) {
        if (port === ANY_PORT) {
          open.add(who)
          continue
        }
        const known = ports.get(port) ?? { who: new Set(), path, happenings: [] }
        ports.set(port, known)
        known.who.add(who)
        if (!known.happenings.includes(happening)) known.happenings.push(happening)
      }
    }
  }
  return { ports, open, unread }
}
