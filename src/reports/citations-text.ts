import { sourceName } from './audit-text.js'
import {
  type CitationState,
  type CitationsReport,
  citationStates,
  countStates,
  type ReportedCitation,
  type ReportedDocument,
} from './citations.js'
import { placeText } from './place.js'
import { plain, type Style, wrap } from './style.js'

/** What became of the citations, for people: those that ask for something, and with `all` the others too. */
export function renderCitationsText(
  report: CitationsReport,
  { all = false, style = plain }: { all?: boolean; style?: Style } = {},
): string {
  const lines = report.documents.flatMap(document => documentLines(document, all, style))
  const counts = countStates(report)
  const counted = citationStates.flatMap(state => (counts[state] === 0 ? [] : [`${counts[state]} ${state}`]))
  const written = report.documents.flatMap(({ citations }) => citations).filter(each => each.written).length
  const against = report.source === null ? '' : ` against ${sourceName(report.source)}`
  const summary = counted.length === 0 && written === 0 ? 'no citations' : counted.join(', ') || 'nothing is left to do'
  const put = written === 0 ? '' : `; ${written} written`
  const files = report.documents.length === 1 ? '1 file' : `${report.documents.length} files`
  return `${[...lines, `${files}${against}: ${summary}${put}`].join('\n')}\n`
}

function documentLines({ path, citations, problems }: ReportedDocument, all: boolean, style: Style): readonly string[] {
  const shown = citations.filter(each => all || each.written || each.state !== 'true')
  const lines = [
    ...problems.flatMap(({ line, says }) => wrap(`${path}:${line}: ${says}`, '', '  ')),
    ...shown.flatMap(each => citationLines(path, each, style)),
  ]
  return lines.length === 0 ? [] : [...lines, '']
}

const colours: Readonly<Record<CitationState, keyof Style>> = {
  true: 'good',
  moved: 'unsure',
  changed: 'bad',
  gone: 'bad',
  unwritten: 'unsure',
  unchecked: 'unsure',
  invalid: 'bad',
}

function citationLines(path: string, citation: ReportedCitation, style: Style): readonly string[] {
  const { state, says, nearest, diff, replacement, written } = citation
  const mark = style[colours[state]](written ? `${state}, written` : state)
  const lines = [
    `${style.strong(`${path}:${citation.line}`)}: ${mark}: ${citation.citation}`,
    ...wrap(says, '    ', '    '),
  ]
  if (nearest !== null) {
    const where = nearest.line === null ? nearest.file : placeText({ file: nearest.file, line: nearest.line })
    lines.push(...wrap(`nearest: ${where}, not taken: ${nearest.why}`, '    ', '      '))
  }
  if (replacement !== null && !written && state !== 'true') lines.push(`    write instead: ${replacement}`)
  if (diff !== null)
    lines.push(
      ...diff
        .trimEnd()
        .split('\n')
        .map(line => `    ${diffLine(line, style)}`),
    )
  return lines
}

function diffLine(line: string, style: Style): string {
  if (line.startsWith('+')) return style.good(line)
  return line.startsWith('-') ? style.bad(line) : style.faint(line)
}
