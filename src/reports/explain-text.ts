import { ansibleText } from './ansible-rules.js'
import { placeText } from './place.js'
import type {
  Report,
  ReportedCondition,
  ReportedEvidence,
  ReportedName,
  ReportedPhase,
  ReportedVerdict,
} from './report.js'
import { contradictionLines, contradictionsAbout, inColour, sourceText, stopLines } from './report-text.js'
import { searchedText } from './searched.js'
import { plain, type Style, wrap } from './style.js'
import { isNotKnown, valueText } from './value-text.js'

/** The proof for one problem, for people: chains as trees, each condition with its values, what came near, what was searched. */
export function renderExplainText(report: Report, verdict: ReportedVerdict, style: Style = plain): string {
  const lines = [
    style.strong(`${verdict.id}: ${verdict.title}`),
    `${sourceText(report.source)}, ${report.playbook}, host ${report.host}`,
    ...wrap(ansibleText(report.ansible), '', '  '),
    ...stopLines(report, style),
    '',
    ...wrap(`${verdict.requirement.says} ${verdict.requirement.source}`, '', ''),
    '',
    ...wrap(verdict.asks, '', ''),
    inColour(verdict.fixedBy, verdict.fixedBy, style) + (verdict.condition === null ? '' : `, if ${verdict.condition}`),
    ...phaseText('Now', verdict.now, style),
    ...phaseText('After a reboot', verdict.afterReboot, style),
  ]
  if (verdict.nearMisses.length > 0) {
    lines.push('', style.strong(`What came near (${verdict.searched.near})`))
    for (const each of verdict.nearMisses) {
      lines.push(...wrap(each.effect, '  ', '    '), ...wrap(`why not: ${each.why ?? ''}`, '    ', '      '))
      lines.push(`    "${each.task}" ${style.faint(placeText(each))}`)
    }
    const more = moreNear(verdict)
    if (more !== undefined) lines.push(`  ${more}`)
  }
  lines.push('', ...searchedLines(verdict, style))
  for (const note of verdict.notes) {
    lines.push('', ...wrap(note.says, 'Note: ', '  '))
    if (note.file !== null) lines.push(`  ${style.faint(`${note.file}:${note.line}`)}`)
  }
  for (const each of contradictionsAbout(report, verdict))
    lines.push('', ...contradictionLines(each, 'Documentation: ', '  '))
  if (verdict.fixedBy !== 'kubespray') {
    lines.push('', style.strong('By hand'), ...verdict.byHand.map(command => `  ${command}`))
  }
  return `${lines.join('\n')}\n`
}

/** That a recorded release keeps only the closest of what came near; nothing where all of it is there. */
export function moreNear({ nearMisses, searched }: ReportedVerdict): string | undefined {
  const more = searched.near - nearMisses.length
  return more === 0 ? undefined : `and ${more} more; the closest are recorded`
}

function phaseText(label: string, phase: ReportedPhase, style: Style): readonly string[] {
  const condition = phase.condition === null ? '' : `, if ${phase.condition}`
  const lines = ['', ...wrap(`${phase.fixedBy}${condition}`, `${label}: `, '  ')]
  for (const each of phase.evidence) lines.push('', ...chainText(each, style))
  if (phase.open.length > 0) {
    lines.push('', '  Might, but it is not known:')
    for (const each of phase.open) lines.push('', ...chainText(each, style))
  }
  return lines
}

/** The chain as a tree: play → role → import → task, and below the task each of its conditions. */
function chainText(evidence: ReportedEvidence, style: Style): readonly string[] {
  const lines = [...wrap(evidence.effect, '  ', '    ')]
  if (evidence.why !== undefined) lines.push(...wrap(evidence.why, '    ', '      '))
  let depth = 0
  for (const step of evidence.via) {
    lines.push(`  ${branch(depth)}${step.what}  ${style.faint(placeText(step))}`)
    depth++
  }
  lines.push(
    `  ${branch(depth)}${style.strong(`task "${evidence.task}"`)} (${evidence.module})  ${style.faint(placeText(evidence))}`,
  )
  const indent = ' '.repeat(depth * 2 + 4)
  if (evidence.address !== null) lines.push(`${indent}address: ${style.faint(evidence.address)}`)
  lines.push(`${indent}runs: ${evidence.runs}${evidence.condition === null ? '' : `, if ${evidence.condition}`}`)
  for (const condition of evidence.conditions ?? []) lines.push(...conditionText(condition, indent, style))
  lines.push(...excerptLines(evidence, indent, style))
  return lines
}

/** The places that give a name its value: `role defaults, roles/x/defaults/main.yml:3`. */
export function fromText({ from, because }: ReportedName): readonly string[] {
  // Why it is not known often names the place already.
  return from.flatMap(place =>
    because?.includes(`(${placeText(place)})`) === true ? [] : `${place.origin}, ${placeText(place)}`,
  )
}

function excerptLines({ excerpt }: ReportedEvidence, indent: string, style: Style): readonly string[] {
  if (excerpt === undefined) return []
  const { first, lines, more } = excerpt
  const width = String(first + lines.length - 1).length
  const numbered = lines.map(
    (line, index) => `${indent}${style.faint(String(first + index).padStart(width))} | ${line}`,
  )
  return more === 0 ? numbered : [...numbered, `${indent}${' '.repeat(width)} | and ${lineCount(more)} more`]
}

/** `1 line`, `4 lines`. */
export function lineCount(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`
}

function branch(depth: number): string {
  return depth === 0 ? '  ' : `${'  '.repeat(depth)}└ `
}

/** How a condition came out, in words. */
export const answers = { yes: 'true', no: 'false', unknown: 'not decided' } as const

function conditionText(condition: ReportedCondition, indent: string, style: Style): readonly string[] {
  const from = condition.from === 'task' ? '' : ` (from the ${condition.from})`
  const lines = [
    `${indent}when ${condition.text}: ${answers[condition.runs]}${from}  ${style.faint(placeText(condition))}`,
  ]
  for (const looked of condition.names) {
    const { name, value, because } = looked
    const shown = because === null || value !== null ? valueText(value, 60) : 'not defined'
    const from = fromText(looked)
    if (from.length === 1 && !isNotKnown(value)) {
      lines.push(`${indent}  ${name} = ${shown}  ${style.faint(from[0] ?? '')}`)
      continue
    }
    lines.push(
      ...wrap(`${name} = ${isNotKnown(value) ? `not known: ${because ?? ''}` : shown}`, `${indent}  `, `${indent}    `),
      ...from.map(place => `${indent}    ${style.faint(place)}`),
    )
  }
  return lines
}

function searchedLines(verdict: ReportedVerdict, style: Style): readonly string[] {
  const { unresolved, considered } = verdict.searched
  const lines = [style.strong('What was searched'), `  ${searchedText(verdict)}`]
  for (const each of unresolved) {
    const effect = each.couldChange ? 'it could change this answer' : 'it could not change this answer'
    lines.push(
      ...wrap(`not read: ${each.says}: ${each.why}; ${effect}`, '  ', '    '),
      `    ${style.faint(placeText(each))}`,
    )
  }
  if (unresolved.length === 0) lines.push('  nothing was left unread that could change this answer')
  if (considered.length > 0) {
    lines.push('  programs that are known only by what they may do:')
    for (const each of considered) lines.push(...wrap(`${each.program} (${each.calls}): ${each.why}`, '    ', '      '))
  }
  return lines
}
