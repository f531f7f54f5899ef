import type { FixedBy } from '../verdicts/judge.js'
import { ansibleText } from './ansible-rules.js'
import { inOrder } from './deciding.js'
import { placeText } from './place.js'
import type {
  Report,
  ReportedContradiction,
  ReportedEvidence,
  ReportedPhase,
  ReportedSource,
  ReportedVerdict,
} from './report.js'
import { searchedText } from './searched.js'
import { plain, type Style, WIDTH, wrap } from './style.js'
import { valueText } from './value-text.js'

const SHOWN = 3

/** Of what came near; `explain` has all of it. */
const NEAR = 2

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
  lines.push(...documentationLines(report))
  const noted = new Set<string>()
  for (const problem of report.problems) {
    const isPlain = problem.fixedBy === 'kubespray' && problem.condition === null
    lines.push('', ...(isPlain ? settledLines(problem, style) : problemLines(problem, style)))
    // Settings that go to one file have one note: once is enough.
    lines.push(...noteLines(problem, noted))
    if (!isPlain) lines.push(...remedyLines(problem, style))
  }
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
  const end = stops.find(({ final }) => final)
  const taken = 'what follows is said as if its checks passed'
  lines.push(...wrap(end === undefined ? taken : `nothing behind ${placeText(end)} happens`, '  ', '  '))
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

/** The contradictions that are about one problem. */
export function contradictionsAbout(
  { contradictions }: Report,
  { id }: ReportedVerdict,
): readonly ReportedContradiction[] {
  return contradictions.filter(({ problem }) => problem === id)
}

/** `README.md:155 tells the operator to …, but role code does it.` */
export function contradictionLines(each: ReportedContradiction, first: string, rest: string): readonly string[] {
  return wrap(`${placeText(each)} ${each.says}.`, first, rest)
}

function documentationLines({ contradictions }: Report): readonly string[] {
  if (contradictions.length === 0) return []
  return [
    '',
    "What kubespray's own documentation says otherwise",
    ...contradictions.flatMap(each => contradictionLines(each, '  ', '    ')),
  ]
}

/** What kubespray settles whatever the host is like: the first effect that does, at each time. */
function settledLines(problem: ReportedVerdict, style: Style): readonly string[] {
  const { now, afterReboot } = problem
  const [first] = inOrder(now.evidence)
  const [kept] = inOrder(afterReboot.evidence)
  const isOne = first?.effect === kept?.effect && first?.file === kept?.file && first?.line === kept?.line
  const lines = [style.strong(`${problem.id}: ${problem.title}`)]
  const tell = (label: string, evidence: ReportedEvidence | undefined, all: number): void => {
    if (evidence === undefined) return
    const more = all > 1 ? ` (and ${all - 1} more)` : ''
    const place = placeText(evidence)
    const [line = '', ...others] = wrap(`${evidence.effect}${more}`, `  ${label.padEnd(13)} `, '    ')
    const last = others.at(-1) ?? line
    const whole = [line, ...others]
    if (last.length + 2 + place.length > WIDTH) lines.push(...whole, `      ${style.faint(place)}`)
    else lines.push(...whole.slice(0, -1), `${last}  ${style.faint(place)}`)
  }
  tell(isOne ? 'both times' : 'now', first, now.evidence.length)
  if (!isOne) tell('after reboot', kept, afterReboot.evidence.length)
  return lines
}

function problemLines(problem: ReportedVerdict, style: Style): readonly string[] {
  const lines = [style.strong(`${problem.id}: ${problem.title}`)]
  lines.push(...phaseLines('now', problem.now, style), ...phaseLines('after reboot', problem.afterReboot, style))
  return lines
}

function noteLines({ notes }: ReportedVerdict, noted: Set<string>): readonly string[] {
  return notes.flatMap(note => {
    if (noted.has(note.says)) return []
    noted.add(note.says)
    const place = note.file === null ? '' : ` ${note.file}:${note.line}`
    return wrap(`${note.says}${place}`, '  note: ', '    ')
  })
}

/** What is left to the operator, and the proof that it is. */
function remedyLines(problem: ReportedVerdict, style: Style): readonly string[] {
  const lines: string[] = []
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
  const ordered = inOrder(evidence)
  const lines = ordered
    .slice(0, SHOWN)
    .flatMap(each => [
      ...wrap(each.why === undefined ? each.effect : `${each.effect}: ${each.why}`, '    ', '      '),
      `      ${style.faint(placeText(each))}`,
    ])
  if (ordered.length > SHOWN) lines.push(`    and ${ordered.length - SHOWN} more`)
  return lines
}

/** The proof that nothing does it: what was searched, what came near, and everything that could not be read. */
function searchLines(problem: ReportedVerdict, style: Style): readonly string[] {
  if (problem.fixedBy === 'kubespray') return []
  const { unresolved, near } = problem.searched
  const came = near === 0 ? 'nothing came near' : `${near} came near, none of them does it`
  const lines = wrap(`${searchedText(problem)}: ${came}`, '  ', '    ')
  const different = distinct(problem.nearMisses, each => `${each.effect}\0${each.why}`)
  const shown = different.slice(0, NEAR)
  const misses = shown.flatMap(each => [
    ...wrap(`${each.effect}: ${each.why ?? ''}`, '    ', '      '),
    `      ${style.faint(placeText(each))}`,
  ])
  const more = different.length > shown.length ? [`    all of them: whofixes explain ${problem.id}`] : []
  const unread = unresolved.flatMap(each => {
    const changes = each.couldChange ? 'it could change this answer' : 'it could not change this answer'
    return wrap(`unreadable: ${each.says}, ${placeText(each)}: ${each.why}; ${changes}`, '    ', '      ')
  })
  return [...lines, ...misses, ...more, ...unread]
}

function distinct<T>(all: readonly T[], keyOf: (each: T) => string): readonly T[] {
  return [...new Map(all.toReversed().map(each => [keyOf(each), each])).values()].toReversed()
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
