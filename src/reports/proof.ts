import { answers, fromText, lineCount, moreNear } from './explain-text.js'
import { type Block, code, heading, type Line, type ListItem, linked, paragraph, sentence, strong } from './page.js'
import { type Place, placeText, shortPlaceText } from './place.js'
import type { Report, ReportedCondition, ReportedEvidence, ReportedPhase, ReportedVerdict } from './report.js'
import { contradictionsAbout } from './report-text.js'
import { searchedText } from './searched.js'
import { isNotKnown, valueText } from './value-text.js'

/** How much of a proof is shown. */
export interface Detail {
  /** Pieces of evidence each time. */
  readonly evidence: number
  readonly near: number
  readonly unread: number
  readonly conditions: boolean
  readonly excerpts: boolean
  /** The chain on one line instead of lists within lists, conditions without the places of their values; nothing twice. */
  readonly compact: boolean
}

/** All of it. */
export const WHOLE: Detail = {
  evidence: Number.POSITIVE_INFINITY,
  near: Number.POSITIVE_INFINITY,
  unread: Number.POSITIVE_INFINITY,
  conditions: true,
  excerpts: true,
  compact: false,
}

/**
 * The proof of one verdict: the chain to each task that settles it or might, its conditions with their values and its lines;
 * what came near, and what was searched.
 */
export function proofBlocks(
  report: Report,
  verdict: ReportedVerdict,
  depth: 2 | 3 | 4,
  detail: Detail = WHOLE,
): readonly Block[] {
  return [
    ...phaseBlocks('Now', verdict.now, depth, detail),
    ...phaseBlocks('After a reboot', verdict.afterReboot, depth, detail, detail.compact ? verdict.now : undefined),
    ...(detail.compact && verdict.fixedBy === 'kubespray' ? [] : nearBlocks(verdict, depth, detail)),
    ...searchedBlocks(verdict, depth, detail),
    ...verdict.notes.map(
      (note): Block => ({
        kind: 'quote',
        line: [
          ...sentence(note.says),
          ...(note.file === null || note.line === null
            ? []
            : [' ', placed({ file: note.file, line: note.line }, note.permalink)]),
        ],
      }),
    ),
    ...contradictionsAbout(report, verdict).map(
      (each): Block => ({ kind: 'quote', line: [code(placeText(each)), ' ', ...sentence(`${each.says}.`)] }),
    ),
  ]
}

/** What the person has to do where kubespray does not. */
export function byHandBlocks({ fixedBy, byHand }: ReportedVerdict, depth: 2 | 3 | 4): readonly Block[] {
  if (fixedBy === 'kubespray' || byHand.length === 0) return []
  return [heading(depth, 'By hand'), { kind: 'listing', language: 'sh', lines: byHand }]
}

function phaseBlocks(
  label: string,
  phase: ReportedPhase,
  depth: 2 | 3 | 4,
  detail: Detail,
  before?: ReportedPhase,
): readonly Block[] {
  const condition: Line = phase.condition === null ? [] : [', if ', code(phase.condition)]
  const all = [...phase.evidence, ...phase.open]
  const left = all.length - detail.evidence
  const title = heading(depth, `${label}: ${phase.fixedBy}`, ...condition)
  if (before !== undefined && all.length > 0 && isSame([...before.evidence, ...before.open], all)) {
    return [title, paragraph('By the same as now.')]
  }
  return [
    title,
    ...(all.length === 0
      ? []
      : [{ kind: 'list', items: all.slice(0, detail.evidence).map(each => evidenceItem(each, detail)) } as const]),
    ...(left > 0 ? [paragraph(`… and ${left} more.`)] : []),
  ]
}

function isSame(left: readonly ReportedEvidence[], right: readonly ReportedEvidence[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ file, line, effect }, at) => {
      const other = right[at]
      return other?.file === file && other.line === line && other.effect === effect
    })
  )
}

function evidenceItem(evidence: ReportedEvidence, detail: Detail): ListItem {
  const why = evidence.why === undefined ? [] : [': ', ...sentence(evidence.why)]
  if (detail.compact) {
    const chain = evidence.via.flatMap(
      (step, at): Line => [at === 0 ? '; by ' : ', ', step.what, ' ', code(placeText(step))],
    )
    return {
      line: [...sentence(evidence.effect), ...why, ': ', ...taskLine(evidence, shortPlaceText), ...chain],
      below: conditionBlocks(evidence, detail),
    }
  }
  return { line: [...sentence(evidence.effect), ...why], below: [{ kind: 'list', items: [chain(evidence, detail)] }] }
}

/** The chain as lists within lists: playbook, play, role, import, task. */
function chain(evidence: ReportedEvidence, detail: Detail): ListItem {
  const task: ListItem = {
    line: taskLine(evidence),
    below: [...conditionBlocks(evidence, detail), ...(detail.excerpts ? excerptBlocks(evidence) : [])],
  }
  return evidence.via.toReversed().reduce<ListItem>(
    (inner, step) => ({
      line: [step.what, ' (', code(placeText(step)), ')'],
      below: [{ kind: 'list', items: [inner] }],
    }),
    task,
  )
}

function taskLine(evidence: ReportedEvidence, written = placeText): Line {
  return [
    'task ',
    strong(evidence.task),
    ' (',
    // Where no link leads to the rest of it, the place is written out.
    linked(code((evidence.permalink === null ? placeText : written)(evidence)), evidence.permalink),
    `), runs: ${evidence.runs}`,
    ...(evidence.condition === null ? [] : [', if ', code(evidence.condition)]),
  ]
}

function conditionBlocks({ conditions = [] }: ReportedEvidence, detail: Detail): readonly Block[] {
  if (!detail.conditions || conditions.length === 0) return []
  return [
    { kind: 'list', items: conditions.map(each => (detail.compact ? shortCondition(each) : conditionItem(each))) },
  ]
}

/** A condition and the values of its names on one line. */
function shortCondition({ text, runs, names }: ReportedCondition): ListItem {
  const values = names.flatMap(
    ({ name, value }): Line => ['; ', code(name), ' = ', isNotKnown(value) ? 'not known' : code(valueText(value, 40))],
  )
  return { line: ['when ', code(text), `: ${answers[runs]}`, ...values] }
}

function conditionItem(condition: ReportedCondition): ListItem {
  const { text, runs, names } = condition
  return {
    line: ['when ', code(text), `: ${answers[runs]} (`, code(placeText(condition)), ')'],
    below:
      names.length === 0
        ? []
        : [
            {
              kind: 'list',
              items: names.map(looked => {
                const { name, value, because } = looked
                const shown: Line = isNotKnown(value)
                  ? ['not known: ', ...sentence(because ?? '')]
                  : [code(valueText(value, 60))]
                const from = fromText(looked).flatMap((place, index) => [index === 0 ? ' (' : ', ', code(place)])
                return { line: [code(name), ' = ', ...shown, ...from, ...(from.length === 0 ? [] : [')'])] }
              }),
            },
          ],
  }
}

function excerptBlocks({ excerpt }: ReportedEvidence): readonly Block[] {
  if (excerpt === undefined) return []
  const { first, lines, more } = excerpt
  const last = first + lines.length - 1
  return [
    paragraph(`lines ${first} to ${last}${more === 0 ? '' : `, ${lineCount(more)} more`}:`),
    { kind: 'listing', language: 'yaml', lines },
  ]
}

function nearBlocks(verdict: ReportedVerdict, depth: 2 | 3 | 4, detail: Detail): readonly Block[] {
  const { nearMisses, searched } = verdict
  if (nearMisses.length === 0) return []
  const shown = nearMisses.slice(0, detail.near)
  const left = shown.length < nearMisses.length ? `and ${searched.near - shown.length} more` : moreNear(verdict)
  return [
    heading(depth, 'What came near'),
    {
      kind: 'list',
      items: [
        ...shown.map(each => ({
          line: [
            ...sentence(each.effect),
            ': ',
            ...sentence(each.why ?? ''),
            ' (',
            detail.compact ? linked(code(shortPlaceText(each)), each.permalink) : placed(each, each.permalink),
            ')',
          ] as const,
        })),
        ...(left === undefined ? [] : [{ line: [left] }]),
      ],
    },
  ]
}

function searchedBlocks(verdict: ReportedVerdict, depth: 2 | 3 | 4, detail: Detail): readonly Block[] {
  const { unresolved } = verdict.searched
  const left = unresolved.length - detail.unread
  return [
    ...(detail.compact ? [] : [heading(depth, 'What was searched')]),
    paragraph(`${searchedText(verdict)}.`),
    ...(unresolved.length === 0
      ? []
      : [
          {
            kind: 'list',
            items: [
              ...unresolved.slice(0, detail.unread).map(each => ({
                line: [
                  'not read: ',
                  ...sentence(each.says),
                  ' (',
                  code(placeText(each)),
                  '): ',
                  ...sentence(each.why),
                  ...(each.couldChange ? ['; ', strong('could change this answer')] : []),
                ],
              })),
              ...(left > 0 ? [{ line: [`and ${left} more`] }] : []),
            ],
          } as const,
        ]),
  ]
}

/** A place, leading to the line on the web where that is known. */
export function placed(place: Place, permalink: string | null): ReturnType<typeof linked> {
  return linked(code(placeText(place)), permalink)
}
