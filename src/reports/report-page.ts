import type { FixedBy } from '../verdicts/judge.js'
import { ansibleText } from './ansible-rules.js'
import { mostTelling } from './deciding.js'
import {
  addressLink,
  type Block,
  code,
  heading,
  type Inline,
  type Line,
  linked,
  paragraph,
  sentence,
  strong,
} from './page.js'
import { renderHtmlPage } from './page-html.js'
import { renderFitting } from './page-markdown.js'
import { shortPlaceText } from './place.js'
import { byHandBlocks, type Detail, placed, proofBlocks, WHOLE } from './proof.js'
import { permalinks, type Report, type ReportedVerdict } from './report.js'
import { sourceText } from './report-text.js'
import { isNotKnown, valueText } from './value-text.js'

/** How much of a report is shown: the proofs that are there at all, and what of each. */
interface Shown extends Detail {
  readonly proofs: 'all' | 'unsettled' | 'none'
  /** Longest condition in the table. */
  readonly condition: number
  readonly values: boolean
}

const everything: Shown = { ...WHOLE, proofs: 'all', condition: Number.POSITIVE_INFINITY, values: true }

const compact: Shown = { ...everything, compact: true, excerpts: false, condition: 120 }

/** Less and less: lines of code go first, then all but a few near misses, then conditions, then the proofs of what is settled. */
const drafts: readonly Shown[] = [
  everything,
  { ...everything, condition: 200, near: 10, unread: 10 },
  { ...everything, condition: 200, evidence: 4, near: 5, unread: 5 },
  { ...compact, evidence: 3, near: 3, unread: 3 },
  { ...compact, evidence: 1, near: 2, unread: 2 },
  { ...compact, evidence: 1, near: 1, unread: 1 },
  { ...compact, evidence: 1, near: 1, unread: 0 },
  { ...compact, evidence: 1, near: 1, unread: 0, conditions: false },
  { ...compact, evidence: 1, near: 1, unread: 0, conditions: false, proofs: 'unsettled' },
  { ...compact, condition: 80, proofs: 'none', values: false },
]

/** The report as a comment of a pull request: a table, and each proof behind a fold. Never longer than such a comment may be. */
export function renderReportMarkdown(report: Report): string {
  return renderFitting(drafts.map(shown => () => reportBlocks(report, shown)))
}

/** The report as one HTML page that loads nothing. */
export function renderReportHtml(report: Report): string {
  return renderHtmlPage(titleOf(report), reportBlocks(report, everything))
}

function titleOf({ source }: Report): string {
  return `Who fixes what: ${sourceText(source)}`
}

function reportBlocks(report: Report, shown: Shown): readonly Block[] {
  return [
    heading(2, titleOf(report)),
    paragraph(code(report.playbook), ', host ', code(report.host), '. ', `${ansibleText(report.ansible)}.`),
    paragraph(...countsLine(report)),
    ...stopBlocks(report),
    tableOf(report, shown),
    ...proofsOf(report, shown),
    ...contradictionBlocks(report),
    ...(shown.values ? valueBlocks(report) : []),
    ...unreadBlocks(report, shown.compact ? 8 : 20),
    paragraph('This reads role code; it has not looked at your host.'),
  ]
}

const words: Readonly<Record<FixedBy, string>> = {
  kubespray: 'kubespray',
  operator: 'operator (you)',
  unknown: 'unknown',
}

function countsLine({ problems }: Report): Line {
  const counts = (['operator', 'unknown', 'kubespray'] as const).flatMap(who => {
    const count = problems.filter(({ fixedBy }) => fixedBy === who).length
    return count === 0 && who === 'unknown' ? [] : [`${count} ${words[who]}`]
  })
  const [first = '', ...others] = counts
  return [strong(first), ...others.map(each => `, ${each}`), '.']
}

/** Where the run ends before it is through, and what was most likely meant. */
function stopBlocks(report: Report): readonly Block[] {
  const { stops } = report
  if (stops.length === 0) return []
  const permalink = permalinks(report.source)
  const end = stops.find(({ final }) => final)
  return [
    heading(3, 'The run stops before it gets through'),
    {
      kind: 'list',
      items: stops.map(stop => ({
        line: [strong(stop.task), ' (', placed(stop, permalink(stop)), '): ', ...sentence(stop.because)],
        below: [
          ...(stop.message === null || stop.message === stop.task ? [] : [paragraph('It says: ', stop.message)]),
          ...stop.hints.map(hint => paragraph('Hint: ', ...sentence(hint))),
        ],
      })),
    },
    end === undefined
      ? paragraph('What follows is said as if its checks passed.')
      : paragraph('Nothing behind ', placed(end, permalink(end)), ' happens.'),
  ]
}

function tableOf({ problems }: Report, shown: Shown): Block {
  return {
    kind: 'table',
    head: ['problem', 'now', 'after a reboot', 'if', 'decided at'],
    rows: problems.map(problem => [
      [code(problem.id), ' ', problem.title],
      [who(problem.now.fixedBy)],
      [who(problem.afterReboot.fixedBy)],
      problem.condition === null ? [] : [code(shortened(problem.condition, shown.condition))],
      placeLine(problem),
    ]),
  }
}

function who(fixedBy: FixedBy): Inline {
  return fixedBy === 'kubespray' ? words[fixedBy] : strong(words[fixedBy])
}

/** The task that decides; where none does, the one that comes nearest. */
function placeLine(problem: ReportedVerdict): Line {
  const evidence = mostTelling(problem)
  if (evidence === undefined) return []
  const place = linked(code(shortPlaceText(evidence)), evidence.permalink)
  return problem.fixedBy === 'kubespray' ? [place] : [`${problem.fixedBy === 'operator' ? 'nearest' : 'open'}: `, place]
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

function proofsOf(report: Report, shown: Shown): readonly Block[] {
  if (shown.proofs === 'none') return []
  const proven = report.problems.filter(({ fixedBy }) => shown.proofs === 'all' || fixedBy !== 'kubespray')
  return [
    heading(3, 'Proofs'),
    ...proven.map(
      (problem): Block => ({
        kind: 'details',
        summary: [code(problem.id), ` ${problem.title}: `, strong(words[problem.fixedBy])],
        inside: [
          ...(shown.compact
            ? []
            : [
                paragraph(
                  ...sentence(problem.asks),
                  ' ',
                  ...sentence(problem.requirement.says),
                  ' (',
                  addressLink(problem.requirement.source),
                  ')',
                ),
              ]),
          ...byHandBlocks(problem, 4),
          ...proofBlocks(report, problem, 4, shown),
        ],
      }),
    ),
  ]
}

function contradictionBlocks({ contradictions, source }: Report): readonly Block[] {
  if (contradictions.length === 0) return []
  const permalink = permalinks(source)
  return [
    heading(3, "What kubespray's own documentation says otherwise"),
    {
      kind: 'list',
      items: contradictions.map(each => ({
        line: [placed(each, permalink(each)), ' ', ...sentence(`${each.says}.`), ' (', code(each.problem), ')'],
      })),
    },
  ]
}

function valueBlocks({ variables, source }: Report): readonly Block[] {
  if (variables.size === 0) return []
  const permalink = permalinks(source)
  return [
    heading(3, 'Values this rests on'),
    {
      kind: 'table',
      head: ['variable', 'value', 'from', 'place'],
      rows: [...variables].map(([name, { value, status, origin, file, line, because }]) => [
        [code(name)],
        status === 'undefined'
          ? ['not defined']
          : value === null && status === 'unknown'
            ? ['not known: ', ...sentence(because ?? '')]
            : isNotKnown(value)
              ? ['not known']
              : [code(valueText(value, 80))],
        [origin ?? ''],
        file === null || line === null ? [] : [placed({ file, line }, permalink({ file, line }))],
      ]),
    },
  ]
}

/** What only the host can tell, and what could not be read: so many lines of each. */
function unreadBlocks({ unknowns, diagnostics }: Report, most: number): readonly Block[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const folded = (title: string, lines: readonly Line[]): readonly Block[] =>
    lines.length === 0
      ? []
      : [
          {
            kind: 'details',
            summary: [`${title} (${lines.length})`],
            inside: [
              {
                kind: 'list',
                items: [
                  ...lines.slice(0, most).map(line => ({ line })),
                  ...(lines.length > most ? [{ line: [`and ${lines.length - most} more`] }] : []),
                ],
              },
            ],
          },
        ]
  return [
    ...folded(
      'What only the host can tell',
      unknowns.map(each => [
        ...(each.because === each.name ? [] : [code(each.name), ': ']),
        ...sentence(each.because),
        ' (',
        code(`${each.file}:${each.line}`),
        ')',
      ]),
    ),
    ...folded(
      'What could not be read',
      errors.map(each => [code(`${each.file}:${each.line}`), ': ', each.message]),
    ),
  ]
}
