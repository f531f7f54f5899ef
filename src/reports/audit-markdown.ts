import { type Audit, type Change, type ChangedPlace, partOf, parts, summaryOf } from './audit.js'
import { countsText, sourceName } from './audit-text.js'
import { type Block, code, heading, type Inline, type Line, linked, paragraph, sentence, strong } from './page.js'
import { renderFitting } from './page-markdown.js'
import { placeText, shortPlaceText } from './place.js'
import { type Permalink, permalinks } from './report.js'

/** How many rows a table for information has, and one of what is asked for; less and less where it is too long. */
const drafts = [
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [100, 100],
  [40, 100],
  [15, 100],
  [5, 100],
  [0, 100],
  [0, 15],
] as const

/**
 * The audit as a comment of a pull request: what is asked for in tables, the rest behind a fold. Where that is longer than a
 * comment may be, tables are cut, those for information first, and say how much is left out.
 */
export function renderAuditMarkdown(audit: Audit): string {
  return renderFitting(
    drafts.map(
      ([rows, asked]) =>
        () =>
          auditBlocks(audit, rows, asked),
    ),
  )
}

function auditBlocks(audit: Audit, most: number, mostAsked: number): readonly Block[] {
  const { changes, notCompared } = audit
  const { required, advised, none } = summaryOf(changes)
  const links = { old: permalinks(audit.old), new: permalinks(audit.new) }
  return [
    heading(2, `${sourceName(audit.old)} → ${sourceName(audit.new)}`),
    paragraph(
      code(audit.playbook),
      ', host ',
      code(audit.host),
      ': ',
      strong(`${required} required`),
      `, ${advised} advised, ${none} for your information.`,
    ),
    ...parts.flatMap(({ id, title }) => {
      const ofPart = changes.filter(change => partOf(change) === id)
      const asked = ofPart.filter(({ action }) => action !== 'none')
      const others = ofPart.filter(({ action }) => action === 'none')
      if (ofPart.length === 0) return []
      return [
        heading(3, title),
        ...(asked.length > 0 ? tableOf(asked, links, mostAsked) : []),
        ...(others.length > 0
          ? [{ kind: 'details', summary: [countsText(others)], inside: tableOf(others, links, most) } as const]
          : []),
      ]
    }),
    ...(changes.length === 0 ? [paragraph('Nothing changes.')] : []),
    ...notCompared.map((each): Block => ({ kind: 'quote', line: ['Not compared: ', ...sentence(each)] })),
  ]
}

interface Links {
  readonly old: Permalink
  readonly new: Permalink
}

function tableOf(changes: readonly Change[], links: Links, most: number): readonly Block[] {
  const left = changes.length - most
  return [
    {
      kind: 'table',
      head: ['action', 'kind', 'what changes', 'was', 'is', 'yours'],
      rows: changes.slice(0, most).map(change => {
        const { action, kind, says, inventory } = change
        const yours = inventory.flatMap((place, index): readonly Inline[] => [
          ...(index === 0 ? [] : [{ kind: 'break' } as const]),
          code(placeText(place)),
        ])
        return [marks[action], [kind], sentence(says), link(change.old, links.old), link(change.new, links.new), yours]
      }),
    },
    ...(left > 0 ? [paragraph(`… and ${left} more: too long for a comment, the text report has them.`)] : []),
  ]
}

const marks: Readonly<Record<Change['action'], Line>> = {
  required: [strong('required')],
  advised: ['advised'],
  none: [],
}

function link(place: ChangedPlace | null, permalink: Permalink): Line {
  return place === null ? [] : [linked(code(shortPlaceText(place)), permalink(place))]
}
