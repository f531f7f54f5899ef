import { ansibleText } from './ansible-rules.js'
import type { CheckOutcome, ChecksReport, ReportedCheck } from './checks.js'
import { placeText } from './place.js'
import type { Question } from './questions.js'
import type { ReportedName } from './report.js'
import { sourceText } from './report-text.js'
import { shortCondition } from './stops.js'
import { plain, type Style, wrap } from './style.js'

/** Of what would decide a check, of its items and of the checks one condition switches off. */
const SHOWN = 4

/** The checks for a person who is about to run the playbook: what stops it first, then what is open, in run order. */
export function renderChecksText(report: ChecksReport, style: Style = plain): string {
  const { source, playbook, host, ansible, totals, checks, unread } = report
  const counts = `${totals.stops} stop, ${totals.unknown} unknown, ${totals.passes} pass, ${totals.skipped} skipped`
  const lines = [
    style.strong(`Checks on the way: ${sourceText(source)}, ${playbook}, host ${host}`),
    ...wrap(ansibleText(ansible), '', '  '),
    '',
    counts,
  ]
  const of = (outcome: CheckOutcome) => checks.filter(each => each.outcome === outcome)
  const section = (title: string, rows: readonly string[]): void => {
    if (rows.length > 0) lines.push('', title, ...rows)
  }
  section(
    style.bad('The run stops here'),
    of('stops').flatMap(check => stopLines(check, style)),
  )
  section(
    style.unsure('Not known before the run'),
    of('unknown').flatMap(check => unknownLines(check, style)),
  )
  section(
    style.good('Passes'),
    of('passes').flatMap(check => passLines(check, style)),
  )
  section('Skipped', skippedLines(of('skipped'), checks.length === of('skipped').length, style))
  section('ignore_assert_errors', ignorableLines(checks))
  section(
    'Not read, checks may be missing',
    unread.map(({ says, ...place }) => `  ${placeText(place)}: ${says}`),
  )
  return `${lines.join('\n')}\n`
}

function headLine(check: ReportedCheck, style: Style): string {
  return `  ${check.task === '' ? '(no name)' : check.task}  ${style.faint(placeText(check))}`
}

function stopLines(check: ReportedCheck, style: Style): readonly string[] {
  const { because, condition, message, hints, final } = check
  return [
    headLine(check, style),
    ...wrap(`because ${because}`, '    ', '      '),
    ...(condition === null ? [] : wrap(asked(check, condition), '    ', '      ')),
    ...valueLines(check, style),
    ...(message === null ? [] : wrap(oneLine(message), '    it says: ', '      ')),
    ...hints.flatMap(hint => wrap(hint, '    hint: ', '      ')),
    ...itemLines(check),
    ...(final ? ['    nothing behind it happens'] : []),
  ]
}

function unknownLines(check: ReportedCheck, style: Style): readonly string[] {
  const { because, condition, remains, decidedBy } = check
  return [
    headLine(check, style),
    ...wrap(because, '    ', '      '),
    ...(condition === null || check.kind === 'command' ? [] : wrap(asked(check, condition), '    ', '      ')),
    ...(remains === null || remains === condition || check.kind === 'command'
      ? []
      : wrap(`open: ${shortCondition(remains)}`, '    ', '      ')),
    ...decidedBy.slice(0, SHOWN).flatMap(each => wrap(questionText(each), '    ', '      ')),
    ...(decidedBy.length > SHOWN ? [`    and ${decidedBy.length - SHOWN} more (--format json)`] : []),
    ...itemLines(check),
  ]
}

function passLines(check: ReportedCheck, style: Style): readonly string[] {
  return [headLine(check, style), ...wrap(check.because, '    ', '      ')]
}

function asked({ kind }: ReportedCheck, condition: string): string {
  const words = { failed_when: 'fails when', fail: 'reached when' } as const
  const word = kind === 'failed_when' || kind === 'fail' ? words[kind] : 'asks'
  return `${word} ${shortCondition(condition)}`
}

/** Where the values that decide come from; facts are not repeated, they all come from the host. */
function valueLines({ values }: ReportedCheck, style: Style): readonly string[] {
  return values.flatMap(({ name, from }: ReportedName) => {
    const [first] = from
    return first === undefined || first.origin === 'host facts' || first.origin === 'magic variable'
      ? []
      : `    ${name}: ${first.origin}, ${style.faint(placeText(first))}`
  })
}

function itemLines({ items }: ReportedCheck): readonly string[] {
  const shown = items.filter(({ outcome }) => outcome !== 'passes' && outcome !== 'skipped')
  const lines = shown.slice(0, SHOWN).flatMap(({ item, outcome, because }) => {
    return wrap(`${outcome} for ${item}: ${because}`, '    ', '      ')
  })
  return shown.length > SHOWN ? [...lines, `    and for ${shown.length - SHOWN} more items`] : lines
}

/** How a person finds out what decides. */
export function questionText({ name, kind, says, command, option }: Question): string {
  const what = name ?? says
  if (kind === 'fact') return `to tell: ${what} is a fact: ${option}, of ${command ?? 'ansible -m setup'}`
  const run = command === null ? '' : `run \`${shortCondition(command)}\` on the host`
  const give = option === null ? '' : `give it by ${option}`
  const how = [run, give].filter(part => part !== '').join(', then ')
  return how === '' ? `open: ${says}` : `to tell: ${name === null ? '' : `${what}: `}${how}`
}

/** Checks that one thing switches off stand together; by name where nothing else is shown. */
function skippedLines(checks: readonly ReportedCheck[], isAll: boolean, style: Style): readonly string[] {
  const groups = new Map<string, ReportedCheck[]>()
  for (const check of checks) {
    const { because, condition } = check
    const why = condition === null ? because : `${shortCondition(condition)}: ${because}`
    const others = groups.get(why)
    if (others === undefined) groups.set(why, [check])
    else others.push(check)
  }
  return [...groups].flatMap(([why, members]) => {
    const [first, second] = members
    const named = isAll ? members : members.slice(0, 1)
    const more = isAll || second === undefined ? '' : ` and ${members.length - 1} more`
    return first === undefined
      ? []
      : [...wrap(why, '  ', '      '), ...named.map(each => `    ${each.task}  ${style.faint(placeText(each))}${more}`)]
  })
}

/** What `ignore_assert_errors` is good for in this run; nothing where no check of it knows that variable. */
function ignorableLines(checks: readonly ReportedCheck[]): readonly string[] {
  if (!checks.some(({ ignorable }) => ignorable)) return []
  const pressing = checks.filter(({ outcome }) => outcome === 'stops' || outcome === 'unknown')
  const names = (ignorable: boolean): string =>
    [...new Set(pressing.filter(each => each.ignorable === ignorable).map(({ task }) => task))].join('; ')
  const [skips, keeps] = [names(true), names(false)]
  return [
    ...wrap(skips === '' ? 'skips nothing that stops the run or is not known' : `skips: ${skips}`, '  ', '    '),
    ...(keeps === '' ? [] : wrap(`does not skip: ${keeps}`, '  ', '    ')),
  ]
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
