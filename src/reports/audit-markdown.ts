import { type Audit, type Change, type ChangedPlace, partOf, parts, summaryOf } from './audit.js'
import { countsText, sourceName } from './audit-text.js'
import { type Place, placeText } from './place.js'
import { type Permalink, permalinks } from './report.js'

const marks = { required: '**required**', advised: 'advised', none: '' } as const

/** A comment on GitHub takes 65,536 characters; some are left for what a pipeline writes around it. */
const longest = 60_000

/**
 * The audit as a comment of a pull request: what is asked for in tables, the rest behind a fold. Where that is longer than a
 * comment may be, tables are cut, those for information first, and say how much is left out.
 */
export function renderAuditMarkdown(audit: Audit): string {
  for (const rows of [Number.POSITIVE_INFINITY, 100, 40, 15, 5, 0]) {
    const text = rendered(audit, rows, Math.max(rows, 100))
    if (text.length <= longest) return text
  }
  return rendered(audit, 0, 15)
}

function rendered(audit: Audit, most: number, mostAsked: number): string {
  const { changes, notCompared } = audit
  const { required, advised, none } = summaryOf(changes)
  const links = { old: permalinks(audit.old), new: permalinks(audit.new) }
  const lines = [
    `## ${escaped(sourceName(audit.old))} → ${escaped(sourceName(audit.new))}`,
    '',
    `${code(audit.playbook)}, host ${code(audit.host)}: **${required} required**, ${advised} advised, ${none} for your information.`,
  ]
  for (const { id, title } of parts) {
    const ofPart = changes.filter(change => partOf(change) === id)
    const asked = ofPart.filter(({ action }) => action !== 'none')
    const others = ofPart.filter(({ action }) => action === 'none')
    if (ofPart.length === 0) continue
    lines.push('', `### ${title}`)
    if (asked.length > 0) lines.push('', ...tableOf(asked, links, mostAsked))
    if (others.length === 0) continue
    lines.push(
      '',
      `<details><summary>${countsText(others)}</summary>`,
      '',
      ...tableOf(others, links, most),
      '',
      '</details>',
    )
  }
  if (changes.length === 0) lines.push('', 'Nothing changes.')
  for (const each of notCompared) lines.push('', `> Not compared: ${escaped(each)}`)
  return `${lines.join('\n')}\n`
}

interface Links {
  readonly old: Permalink
  readonly new: Permalink
}

function tableOf(changes: readonly Change[], links: Links, most: number): readonly string[] {
  const left = changes.length - most
  return [
    '| action | kind | what changes | was | is | yours |',
    '|---|---|---|---|---|---|',
    ...changes.slice(0, most).map(change => {
      const { action, kind, says, inventory } = change
      const yours = inventory.map(place => code(placeText(place))).join('<br>')
      const cells = [
        marks[action],
        kind,
        escaped(says),
        link(change.old, links.old),
        link(change.new, links.new),
        yours,
      ]
      return `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
    }),
    ...(left > 0 ? ['', `… and ${left} more: too long for a comment, the text report has them.`] : []),
  ]
}

function link(place: ChangedPlace | null, permalink: Permalink): string {
  if (place === null) return ''
  const address = permalink(place)
  return address === null ? code(shortText(place)) : `[${code(shortText(place))}](${address})`
}

/** The last two parts of a path are enough where a link leads to the rest. */
function shortText(place: Place): string {
  const parts = place.file.split('/')
  return placeText({ file: parts.length <= 3 ? place.file : `…/${parts.slice(-2).join('/')}`, line: place.line })
}

function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`'
  return fence === '`' ? `\`${text}\`` : `\`\` ${text} \`\``
}

/** Words of a sentence that Markdown would take for markup; what stands between backticks is left alone. */
function escaped(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((piece, index) => (index % 2 === 1 ? piece : piece.replaceAll(/[\\*_<>[\]]/g, '\\$&')))
    .join('')
}
