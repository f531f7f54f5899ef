import type { FixedBy } from '../verdicts/judge.js'
import { ansibleText } from './ansible-rules.js'
import { placeText } from './place.js'
import type { Report, ReportedEvidence, ReportedPhase, ReportedSource, ReportedVerdict } from './report.js'
import { plain, type Style, wrap } from './style.js'
import { valueText } from './value-text.js'

const SHOWN = 3

/** The report for a person with a server to prepare: who fixes what, and the few places that decide it. */
export function renderReportText(report: Report, style: Style = plain): string {
  const lines = [style.strong(headline(report)), ...wrap(ansibleText(report.ansible), '', '  ')]
  lines.push(...stopLines(report, style), '')
  const width = Math.max(0, ...report.problems.map(problem => problem.id.length))
  for (const problem of report.problems) {
    const who = problem.fixedBy === 'operator' ? 'operator (you)' : problem.fixedBy
    const condition = problem.condition === null ? '' : `  if ${problem.condition}`
    const row = `${problem.id.padEnd(width)}  ${who.padEnd(14)}  ${problem.title}`
    lines.push(row.replace(who, inColour(problem.fixedBy, who, style)))
    if (condition !== '') lines.push(...wrap(condition.trim(), ' '.repeat(width + 2), ' '.repeat(width + 5)))
  }
  for (const problem of report.problems) lines.push('', ...problemLines(problem, style))
  lines.push(...variableLines(report), ...unreadLines(report, style))
  return `${lines.join('\n')}\n`
}

function headline({ source, playbook, host }: Report): string {
  return `Who fixes what: ${sourceText(source)}, ${playbook}, host ${host}`
}

/** Where the run ends before it is through, and what was most likely meant. */
export function stopLines({ stops }: Report, style: Style): readonly string[] {
  const [first] = stops
  if (first === undefined) return []
  const lines = ['', style.bad('The run stops before it gets through:')]
  for (const { because, message, hints, ...place } of stops.slice(0, SHOWN)) {
    lines.push(...wrap(because, '  ', '    '), `    "${place.task}" ${style.faint(placeText(place))}`)
    if (message !== null && message !== place.task) lines.push(...wrap(oneLine(message), '    it says: ', '      '))
    for (const hint of hints) lines.push(...wrap(hint, '    hint: ', '      '))
  }
  if (stops.length > SHOWN) lines.push(`  and at ${stops.length - SHOWN} more checks`)
  return lines
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Where the role code came from, in a few words. */
export function sourceText(source: ReportedSource): string {
  const commit = source.commit === null ? '' : ` (${source.commit.slice(0, 10)})`
  switch (source.kind) {
    case 'recorded':
      return `kubespray ${source.release ?? ''}${commit}, as recorded`
    case 'revision':
      return source.release === null ? `${source.path ?? 'revision'}${commit}` : `kubespray ${source.release}${commit}`
    case 'directory':
      return `${source.path ?? 'directory'}, as it lies there`
  }
}

/** A text in the colour of who fixes it. */
export function inColour(fixedBy: FixedBy, text: string, style: Style): string {
  if (fixedBy === 'kubespray') return style.good(text)
  return fixedBy === 'operator' ? style.bad(text) : style.unsure(text)
}

function problemLines(problem: ReportedVerdict, style: Style): readonly string[] {
  const lines = [style.strong(`${problem.id}: ${problem.title}`)]
  lines.push(...phaseLines('now', problem.now, style), ...phaseLines('after reboot', problem.afterReboot, style))
  for (const note of problem.notes) {
    const place = note.file === null ? '' : ` ${note.file}:${note.line}`
    lines.push(...wrap(`${note.says}${place}`, '  note: ', '    '))
  }
  if (problem.fixedBy === 'operator') {
    lines.push('  what you have to do:')
    for (const command of problem.byHand) lines.push(`    ${command}`)
  }
  lines.push(...searchLines(problem, style))
  return lines
}

function phaseLines(label: string, phase: ReportedPhase, style: Style): readonly string[] {
  const lines = wrap(
    phase.condition === null ? phase.fixedBy : `${phase.fixedBy}, if ${phase.condition}`,
    `  ${label.padEnd(13)} `,
    '    ',
  ).map((line, index) =>
    index === 0 ? line.replace(phase.fixedBy, inColour(phase.fixedBy, phase.fixedBy, style)) : line,
  )
  return [
    ...lines,
    ...evidenceLines(phase.evidence, style),
    ...evidenceLines(phase.fixedBy === 'unknown' ? phase.open : [], style),
  ]
}

function evidenceLines(evidence: readonly ReportedEvidence[], style: Style): readonly string[] {
  // What happens without a condition decides; it comes first.
  const ordered = [...evidence].sort(
    (left, right) => Number(left.condition !== null) - Number(right.condition !== null),
  )
  const lines = ordered
    .slice(0, SHOWN)
    .flatMap(each => [
      ...wrap(each.why === undefined ? each.effect : `${each.effect}: ${each.why}`, '    ', '      '),
      `      ${style.faint(placeText(each))}`,
    ])
  if (ordered.length > SHOWN) lines.push(`    and ${ordered.length - SHOWN} more`)
  return lines
}

function searchLines(problem: ReportedVerdict, style: Style): readonly string[] {
  const { tasks, commands, unresolved, near } = problem.searched
  const open = unresolved.filter(each => each.couldChange)
  if (problem.fixedBy === 'kubespray') return []
  const came = near === 0 ? 'nothing came near' : `${near} came near, none of them does it`
  const lines = wrap(`searched ${tasks} tasks and ${commands} commands: ${came}`, '  ', '    ')
  const seen = new Set<string>()
  const different = problem.nearMisses.filter(each => {
    const key = `${each.effect}\0${placeText(each)}`
    return seen.has(key) ? false : seen.add(key) !== undefined
  })
  const shown = different.slice(0, SHOWN)
  const misses = shown.flatMap(each => [
    ...wrap(`${each.effect}: ${each.why ?? ''}`, '    ', '      '),
    `      ${style.faint(placeText(each))}`,
  ])
  const more = near > shown.length ? [`    all of them: whofixes explain ${problem.id}`] : []
  const unread = open
    .slice(0, 5)
    .flatMap(each => wrap(`not read: ${each.says}, ${placeText(each)}: ${each.why}`, '  ', '    '))
  const rest = open.length > 5 ? [`  and ${open.length - 5} more that could not be read`] : []
  return [...lines, ...misses, ...more, ...unread, ...rest]
}

function variableLines(report: Report): readonly string[] {
  if (report.variables.size === 0) return []
  const lines = ['', 'Values this rests on']
  for (const [name, variable] of report.variables) {
    const place = variable.file === null ? '' : `  ${variable.file}:${variable.line}`
    const value = variable.status === 'undefined' ? 'not defined' : valueText(variable.value, 50)
    lines.push(`  ${name} = ${variable.status === 'unknown' && variable.value === null ? 'not known' : value}${place}`)
  }
  return lines
}

function unreadLines(report: Report, style: Style): readonly string[] {
  const lines: string[] = []
  if (report.unknowns.length > 0) {
    lines.push('', 'What only the host can tell')
    for (const each of report.unknowns.slice(0, 8)) {
      lines.push(...wrap(each.because === each.name ? each.name : `${each.name}: ${each.because}`, '  ', '    '))
      lines.push(`    ${style.faint(placeText(each))}`)
    }
    if (report.unknowns.length > 8) lines.push(`  and ${report.unknowns.length - 8} more`)
  }
  const errors = report.diagnostics.filter(each => each.severity === 'error')
  if (errors.length > 0) {
    lines.push('', 'What could not be read')
    for (const each of errors.slice(0, 8)) lines.push(...wrap(`${placeText(each)}: ${each.message}`, '  ', '    '))
    if (errors.length > 8) lines.push(`  and ${errors.length - 8} more`)
  }
  const unmodelled = report.diagnostics.filter(each => each.code === 'jinja-unmodelled')
  if (unmodelled.length > 0) {
    const names = [...new Set(unmodelled.map(each => each.message.replace(/ is not modelled$/, '')))].sort()
    const uses = unmodelled.length === 1 ? 'one place' : `${unmodelled.length} places`
    lines.push('', ...wrap(`Not modelled, so unknown at ${uses}: ${names.join(', ')}`, '', '  '))
  }
  lines.push('', ...wrap('This reads role code; it has not looked at your host.', '', ''))
  return lines
}
