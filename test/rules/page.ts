import { readFileSync } from 'node:fs'
import { blocksOf } from '../docs/examples.js'

/** What a page says a release answers, and the place that shows it. */
export interface StatedAnswer {
  readonly revision: string
  readonly fixedBy: string
  readonly now: string
  readonly afterReboot: string
  /** `path:line` of evidence, of what came near or of what is open; undefined where nothing speaks of the problem. */
  readonly place: string | undefined
}

/** A small tree of role code a page shows, by path, and what it answers. */
export interface PageExample {
  readonly fixedBy: string
  /** What the page says of both times; of an example for `kubespray` it goes without saying. */
  readonly now: string | undefined
  readonly afterReboot: string | undefined
  readonly files: ReadonlyMap<string, string>
}

const root = new URL('../../../', import.meta.url)

export function pageOf(id: string): string {
  return readFileSync(new URL(`rules/${id}.md`, root), 'utf8')
}

/** The text under a heading of a page, up to the next of the same level or above. */
export function sectionOf(page: string, heading: string): string {
  const [level] = heading.split(' ')
  const lines = page.split('\n')
  const start = lines.indexOf(heading)
  if (start === -1) return ''
  const rest = lines.slice(start + 1)
  let fenced = false
  const end = rest.findIndex(line => {
    if (line.startsWith('```')) fenced = !fenced
    const [marks] = line.split(' ')
    return !fenced && marks !== undefined && /^#+$/.test(marks) && marks.length <= (level?.length ?? 0)
  })
  return rest.slice(0, end === -1 ? undefined : end).join('\n')
}

/** The table under `## Answers`. */
export function answersOf(page: string): readonly StatedAnswer[] {
  return sectionOf(page, '## Answers')
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| release') && !line.startsWith('| -'))
    .map(line => {
      const [revision = '', fixedBy = '', now = '', afterReboot = '', place = ''] = line
        .split('|')
        .slice(1)
        .map(cell => cell.trim())
      const cited = /^`(.+)`$/.exec(place)?.[1]
      return { revision, fixedBy, now, afterReboot, place: cited }
    })
}

/** The examples under `## Examples`: the first `yaml` block is `cluster.yml`, others begin with their path as a comment. */
export function examplesOfPage(page: string): readonly PageExample[] {
  const section = sectionOf(page, '## Examples')
  return ['kubespray', 'operator', 'unknown'].map(fixedBy => {
    const example = sectionOf(section, `### ${fixedBy}`)
    const [, now, afterReboot] = /^Now `(\w+)`, after a reboot `(\w+)`\.$/m.exec(example) ?? []
    const both = fixedBy === 'kubespray' ? fixedBy : undefined
    const blocks = blocksOf(example).filter(({ language }) => language !== 'sh')
    const files = blocks.map(({ text }, index): readonly [string, string] => {
      const path = /^# (\S+)\n/.exec(text)?.[1]
      return [path ?? (index === 0 ? 'cluster.yml' : `block-${index}`), `${text}\n`]
    })
    return { fixedBy, now: now ?? both, afterReboot: afterReboot ?? both, files: new Map(files) }
  })
}
