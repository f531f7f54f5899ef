import type { HostPlace } from '../host/moment.js'
import { ownEntry } from '../source/own-entry.js'
import { visibleLine, visibleLines, visibleText } from '../source/visible.js'
import { ansibleText } from './ansible-rules.js'
import { inWordsOfAll, mapTexts } from './own-words.js'
import { placeText } from './place.js'
import type {
  HostCondition,
  PreflightReport,
  ReportedFileChange,
  ReportedHost,
  ReportedHostAnswer,
  ReportedHostProblem,
} from './preflight.js'
import { sourceText } from './report-text.js'
import { plain, type Style, wrap } from './style.js'

/** Hosts that are named where many have the same answers. */
const NAMED = 6

/** The report for the person who is about to run the playbook: what the operator has to do stands first. */
export function renderPreflightText(report: PreflightReport, style: Style = plain): string {
  const { source, playbook, ansible, hosts } = visibleReport(report)
  const lines = [
    style.strong(`Preflight: ${sourceText(source)}, ${playbook}`),
    ...wrap(ansibleText(ansible), '', '  '),
    ...(hosts.length > 1 ? ['', ...overview(hosts, style)] : []),
    ...hosts.flatMap(host => ['', ...hostLines(host, style)]),
  ]
  return `${lines.join('\n')}\n`
}

/** The report in the words of all its hosts, with nothing in it that a terminal obeys. */
function visibleReport({ hosts, ...head }: PreflightReport): PreflightReport {
  return {
    ...mapTexts(head, visible),
    hosts: hosts.map(inWordsOfAll).map(({ hosts: names, ...answers }) => ({
      hosts: names.map(({ host, evidence }) => mapTexts({ host, evidence }, visible)),
      ...mapTexts(answers, visible),
    })),
  }
}

/** Blanks count in a command and in a patch, which has lines of its own. */
function visible(text: string, key: string): string {
  return key === 'patch' ? visibleLines(text) : key === 'command' ? visibleLine(text) : visibleText(text)
}

/** One row for hosts that have the same answers. */
function overview(hosts: readonly ReportedHost[], style: Style): readonly string[] {
  const rows = hosts.map(host => {
    const operator = host.problems.filter(({ acts }) => acts.includes('operator')).map(({ id }) => id)
    return {
      count: String(host.hosts.length),
      names: namesText(host, 3),
      stops: String(host.stops.length),
      operator: operator.length === 0 ? 'nothing' : operator.join(', '),
    }
  })
  const width = (of: (row: (typeof rows)[number]) => string, head: string): number =>
    Math.max(head.length, ...rows.map(row => of(row).length))
  const [count, names, stops] = [
    width(row => row.count, 'HOSTS'),
    width(row => row.names, 'NAMES'),
    width(row => row.stops, 'STOPS'),
  ]
  const line = (row: (typeof rows)[number]): string =>
    `${row.count.padStart(count)}  ${row.names.padEnd(names)}  ${row.stops.padStart(stops)}  ${row.operator}`
  return [
    style.faint(line({ count: 'HOSTS', names: 'NAMES', stops: 'STOPS', operator: 'FOR THE OPERATOR' })),
    ...rows.map(line),
  ]
}

function namesText({ hosts }: ReportedHost, most: number): string {
  const names = hosts.slice(0, most).map(({ host }) => host)
  const more = hosts.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

function hostLines(host: ReportedHost, style: Style): readonly string[] {
  const { stops, open, problems, settings, changes, hosts } = host
  const from = hosts.length === 1 && hosts[0]?.evidence != null ? ` (${hosts[0].evidence})` : ''
  const operator = problems.filter(({ acts }) => acts.includes('operator'))
  const unsure = problems.filter(each => statesOf(each).includes('unknown'))
  const lines = [style.strong(`${hosts.length === 1 ? 'Host' : 'Hosts'} ${namesText(host, NAMED)}${from}`), '']
  lines.push(...table(problems, style))
  const section = (title: string, rows: readonly string[]): void => {
    if (rows.length > 0) lines.push('', title, ...rows)
  }
  section(
    style.bad('The run stops here'),
    stops.flatMap(check => [
      `  ${check.task}  ${style.faint(placeText(check))}`,
      ...wrap(`because ${check.because}`, '    ', '      '),
    ]),
  )
  section(style.bad('For the operator, before the run'), operatorLines(operator, style))
  section(
    'kubespray mends',
    problems.filter(({ acts }) => acts.includes('kubespray')).flatMap(problem => mendedLines(problem, style)),
  )
  section(style.unsure('Not known'), [
    ...unsure.flatMap(unsureLines),
    ...uniqueTexts(open.map(check => `${check.task} (${placeText(check)}): ${shortened(check.because)}`)).flatMap(
      text => wrap(text, '  ', '    '),
    ),
  ])
  section(
    'Kernel settings (now, after the run, after the next boot)',
    settings.map(({ key, now, afterRun, afterReboot, decidedBy }) => {
      const by = decidedBy === null ? '' : `  ${style.faint(hostPlaceText(decidedBy))}`
      return `  ${key}: ${[now, afterRun, afterReboot].map(valueWord).join(', ')}${by}`
    }),
  )
  section('Files kubespray changes', changes.flatMap(changeLines))
  return lines
}

function statesOf({ now, afterRun, afterReboot }: ReportedHostProblem): readonly HostCondition[] {
  return [now.state, afterRun.state, afterReboot.state]
}

const HEAD = ['PROBLEM', 'NOW', 'AFTER RUN', 'AFTER REBOOT', 'WHO ACTS'] as const

function table(problems: readonly ReportedHostProblem[], style: Style): readonly string[] {
  const rows = problems.map(problem => [
    problem.id,
    ...statesOf(problem),
    problem.acts.length === 0 ? '-' : problem.acts.join(', '),
  ])
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map(row => (row[column] ?? '').length)))
  const line = (row: readonly string[], colour: (text: string) => string = text => text): string =>
    row
      .map((cell, column) => {
        const padded = column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + 2)
        return colour(padded)
      })
      .join('')
  const shade: Readonly<Record<string, (text: string) => string>> = {
    ok: style.good,
    problem: style.bad,
    unknown: style.unsure,
  }
  return [
    line([...HEAD], style.faint),
    ...rows.map(row => line(row, cell => (ownEntry(shade, cell.trim()) ?? ((text: string) => text))(cell))),
  ]
}

/** A step that mends several problems is told with the first of them. */
function operatorLines(problems: readonly ReportedHostProblem[], style: Style): readonly string[] {
  const told = new Map<string, string>()
  return problems.flatMap(({ id, afterRun, afterReboot, steps }) => {
    const earlier = new Set(steps.flatMap(({ command }) => told.get(command) ?? []))
    const own = steps.filter(({ command }) => !told.has(command))
    for (const { command } of own) told.set(command, id)
    const isSame = afterRun.state === afterReboot.state && afterRun.says === afterReboot.says
    const lines = isSame
      ? tell(afterReboot, 'after the run, and after a reboot')
      : [...tell(afterRun, 'after the run'), ...tell(afterReboot, 'after a reboot')]
    return [
      `  ${style.strong(id)}`,
      ...lines.flatMap(says => wrap(says, '    ', '      ')),
      ...(earlier.size === 0 ? [] : wrap(`what is done for ${[...earlier].join(', ')}`, '    - ', '      ')),
      ...own.flatMap(({ says, command }) => [...wrap(says, '    - ', '      '), `      $ ${command}`]),
    ]
  })
}

function tell({ state, says, places }: ReportedHostAnswer, when: string): readonly string[] {
  if (state !== 'problem') return []
  const [place] = places
  const at = place === undefined ? '' : ` (${hostPlaceText(place)})`
  return [`${when}: ${says}${at}`]
}

function hostPlaceText({ file, line }: HostPlace): string {
  return line === undefined ? file : `${file}:${line}`
}

function mendedLines({ id, evidence }: ReportedHostProblem, style: Style): readonly string[] {
  return evidence.map(each => `  ${id}: ${each.effect}  ${style.faint(placeText(each))}`)
}

/** A role that comes several times asks the same each time. */
function uniqueTexts(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}

const LONGEST = 200

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

/** `-` where the kernel has no such setting. */
function valueWord(value: string | null | undefined): string {
  if (value === undefined) return '?'
  return value === null ? '-' : value === '' ? "''" : value
}

function unsureLines({ id, now, afterRun, afterReboot, acts, steps }: ReportedHostProblem): readonly string[] {
  const whys = new Set([now, afterRun, afterReboot].filter(({ state }) => state === 'unknown').map(({ says }) => says))
  const sure = acts.includes('operator') ? [] : steps
  return [
    ...[...whys].flatMap(why => wrap(`${id}: ${why}`, '  ', '    ')),
    ...sure.flatMap(({ says, command }) => [...wrap(`to be sure: ${says}`, '    - ', '      '), `      $ ${command}`]),
  ]
}

function changeLines({ path, patch, because }: ReportedFileChange): readonly string[] {
  if (patch === null) return wrap(`${path}: ${because ?? 'what becomes of it is not known'}`, '  ', '    ')
  const lines = patch.replace(/\n$/, '').split('\n')
  return [...lines.map(line => `  ${line}`), ...(because === null ? [] : wrap(because, '  ', '    '))]
}
