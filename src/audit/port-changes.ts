import { textOf } from '../effects/argument.js'
import type { Change } from '../reports/audit.js'
import { type Happening, likelihoodOf, placeOfHappening, underCondition } from './happenings.js'
import { ANY_PORT, portsIn } from './ports.js'
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
  // Parts that may not be written count as written before: a port is new only where it certainly was not there.
  const before = portsWritten(old, true)
  const after = portsWritten(now, false)
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

function portsWritten(happenings: readonly Happening[], alsoUnsure: boolean): Seen {
  const ports = new Map<string, Listening>()
  const open = new Set<string>()
  const unread = new Set<string>()
  for (const happening of happenings) {
    const { effect } = happening.occurrence
    if (effect.kind !== 'file' || effect.change !== 'written') continue
    const path = textOf(effect.path)
    if (path === undefined) continue
    const texts = alsoUnsure || effect.contentUnsure === undefined ? writtenTexts(effect.content) : []
    if (texts.length === 0) unread.add(path)
    for (const { port, who } of texts.flatMap(text => portsIn(path, text))) {
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
  return { ports, open, unread }
}
