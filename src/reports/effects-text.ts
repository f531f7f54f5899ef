import type { EffectsReport, ReportedEffect, ResidueReport } from './effects-report.js'
import { placeText } from './place.js'
import type { ReportedEvidence } from './report.js'
import { sourceText } from './report-text.js'
import { plain, type Style, wrap } from './style.js'

/** The effects of a run for people: what happens, under which condition, and where it stands. */
export function renderEffectsText(report: EffectsReport, style: Style = plain): string {
  const { source, playbook, host, tasks, effects } = report
  const happening = effects.filter(({ happens }) => happens)
  const others = effects.filter(({ happens }) => !happens)
  const lines = [
    style.strong(`${sourceText(source)}, ${playbook}, host ${host}: ${happening.length} effects of ${tasks} tasks`),
    ...happening.flatMap(each => effectLines(each, style)),
  ]
  if (others.length > 0) {
    lines.push('', `${others.length} that do not happen in this run`)
    lines.push(...others.flatMap(each => effectLines(each, style)))
  }
  return `${lines.join('\n')}\n`
}

function effectLines(effect: ReportedEffect, style: Style): readonly string[] {
  const certain = effect.certain ? '' : ' (perhaps: what it acts on is not known)'
  const condition = effect.condition === null ? '' : `, if ${effect.condition}`
  const why = effect.why === undefined ? '' : `: ${effect.why}`
  return [...wrap(`${effect.effect}${certain}${condition}${why}`, '  ', '    '), taskLine(effect, style)]
}

function taskLine(evidence: ReportedEvidence, style: Style): string {
  return `    ${style.faint(`${placeText(evidence)}  ${evidence.task}`)}`
}

/** What a run leaves on a host that the resetting playbook does not take away. */
export function renderResidueText(report: ResidueReport, style: Style = plain): string {
  const { source, playbook, resetBy, host, left, taken, untold } = report
  const certain = left.filter(({ stays }) => stays === 'yes')
  const perhaps = left.filter(({ stays }) => stays === 'perhaps')
  const lines = [
    style.strong(`${sourceText(source)}, host ${host}: what ${playbook} leaves and ${resetBy} does not take away`),
    `${certain.length} stay, ${perhaps.length} may stay, ${taken} are taken away`,
  ]
  for (const [title, members] of [
    ['stays', certain],
    ['may stay', perhaps],
  ] as const) {
    if (members.length === 0) continue
    lines.push('', title)
    for (const each of members) {
      const condition = each.left.condition === null ? '' : ` (left if ${each.left.condition})`
      lines.push(...wrap(`${each.what}${condition}`, '  ', '    '))
      if (each.why !== null) lines.push(...wrap(`taken away by: ${each.why}`, '    ', '      '))
      lines.push(taskLine(each.left, style))
    }
  }
  if (untold.length > 0) {
    lines.push('', `${untold.length} effects whose path or name is not known before the run are not followed`)
    lines.push(...untold.slice(0, 10).flatMap(each => [`  ${each.effect}`, taskLine(each, style)]))
    if (untold.length > 10) lines.push(`  and ${untold.length - 10} more`)
  }
  return `${lines.join('\n')}\n`
}
