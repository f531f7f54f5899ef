import type { Measured, Unread } from './measure.js'

/** A repository's figures. */
export interface Figures {
  readonly repository: string
  readonly revision: string
  readonly yamlFiles: number
  readonly measured: readonly Measured[]
  /** How many lists Ansible made, and how many of them are ours. */
  readonly lists: { readonly equal: number; readonly made: number } | undefined
}

const heads = ['repository', 'revision', 'YAML files', 'playbooks', 'plays', 'tasks', 'time', 'tasks/s', 'lists equal']

/** Two Markdown tables: how much there is and how long it took; what could not be read, by kind, with the first place. */
export function renderFigures(all: readonly Figures[]): string {
  const rows = all.map(({ repository, revision, yamlFiles, measured, lists }) => {
    const sum = (of: (each: Measured) => number): number => measured.reduce((total, each) => total + of(each), 0)
    const tasks = sum(each => each.tasks)
    const seconds = sum(each => each.milliseconds) / 1000
    return [
      repository,
      revision,
      yamlFiles,
      measured.length,
      sum(each => each.plays),
      tasks,
      `${seconds.toFixed(1)} s`,
      Math.round(tasks / seconds || 0),
      lists === undefined ? '' : `${lists.equal} of ${lists.made}`,
    ]
  })
  const unread = all.flatMap(({ repository, measured }) =>
    countUnread(measured).map(([kind, count, first]) => [repository, kind, count, first]),
  )
  return `${markdown(heads, rows)}\n${markdown(['repository', 'not read', 'places', 'the first'], unread)}`
}

/** Per kind: in how many places, and the first of them. What was found from several playbooks counts once. */
export function countUnread(measured: readonly Measured[]): readonly (readonly [string, number, string])[] {
  const kinds = new Map<string, Map<string, Unread>>()
  const note = (kind: string, unread: Unread): void => {
    const places = kinds.get(kind) ?? new Map<string, Unread>()
    places.set(`${unread.place} ${unread.says}`, unread)
    kinds.set(kind, places)
  }
  for (const { unread, refused, thrown } of measured) {
    for (const each of unread) {
      if (each.place === '') note('without a place', each)
      note(each.isError || each.code === 'gap' ? each.code : `${each.code} (warning)`, each)
    }
    const whole = { code: 'gap', isError: true, place: '' } as const
    if (refused !== undefined) note('refused', { ...whole, says: refused })
    if (thrown !== undefined) note('THROWN', { ...whole, says: thrown.split('\n', 1)[0] ?? '' })
  }
  return [...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, places]) => {
      const [first] = places.values()
      return [
        kind,
        places.size,
        first === undefined ? '' : first.place === '' ? first.says : `\`${first.place}\``,
      ] as const
    })
}

function markdown(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |\n`
  return line(heads) + line(heads.map(() => '---')) + rows.map(line).join('')
}
