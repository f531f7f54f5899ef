import { abridged, type Finding, type FindingLevel, type Findings } from './findings.js'
import { placeText } from './place.js'
import { sourceText } from './report-text.js'

/** What happened to one test case. */
type Outcome = 'passed' | 'failure' | 'error' | 'skipped'

/**
 * Findings as JUnit XML, as Jenkins, GitLab and the like read it: one suite, one case a finding. A pass is a passing case, what
 * could not be told an error. What asks for something is a failure from the level on that fails the pipeline, below it
 * skipped, so that it is seen; what is for information has no case. Where nothing is left, one case says so.
 */
export function renderJunit(findings: Findings, failing: readonly FindingLevel[] = ['error', 'warning']): string {
  const cases = findings.findings
    .filter(({ kind }) => kind !== 'informational')
    .map(finding => ({ finding, outcome: outcomeOf(finding, failing) }))
  const count = (outcome: Outcome): number => cases.filter(each => each.outcome === outcome).length
  const name = ['whofixes', findings.command, ...findings.subject].join(' ')
  const totals = {
    tests: String(Math.max(cases.length, 1)),
    failures: String(count('failure')),
    errors: String(count('error')),
  }
  const suite = `whofixes.${findings.command}`
  const names = distinctNames(cases.map(({ finding }) => finding))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name, time: '0', ...totals })}>`,
    `  <testsuite${attributes({ name: sourcesText(findings), ...totals, skipped: String(count('skipped')), time: '0' })}>`,
    ...cases.flatMap(({ finding, outcome }, at) => caseLines(suite, names[at] ?? finding.rule.id, finding, outcome)),
    ...(cases.length === 0
      ? [`    <testcase${attributes({ classname: suite, name: 'nothing asks for anything', time: '0' })}/>`]
      : []),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function sourcesText({ source, old }: Findings): string {
  return old === undefined ? sourceText(source) : `${sourceText(old)} to ${sourceText(source)}`
}

function outcomeOf({ kind, level }: Finding, failing: readonly FindingLevel[]): Outcome {
  switch (kind) {
    case 'pass':
    case 'informational':
      return 'passed'
    case 'open':
      return 'error'
    case 'fail':
      return failing.includes(level) ? 'failure' : 'skipped'
  }
}

/** What a case is called: of two with one name, GitLab shows only the first, so the others are numbered. */
function distinctNames(findings: readonly Finding[]): readonly string[] {
  const seen = new Map<string, number>()
  return findings.map(({ rule, about }) => {
    const name = `${rule.id}: ${abridged(about, 200)}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  })
}

function caseLines(suite: string, name: string, finding: Finding, outcome: Outcome): readonly string[] {
  const open = `    <testcase${attributes({ classname: suite, name, time: '0' })}>`
  const text = textOf(finding)
  if (outcome === 'passed') return [open, `      <system-out>${escapeXml(text)}</system-out>`, '    </testcase>']
  return [
    open,
    `      <${outcome}${attributes({ ...(outcome === 'skipped' ? {} : { type: finding.rule.id }), message: finding.message })}>${escapeXml(text)}</${outcome}>`,
    '    </testcase>',
  ]
}

/** Of the places beside the first. */
const PLACES = 6

/** The message, what to do, and the proof in short. */
function textOf({ message, commands, place, related }: Finding): string {
  return [
    message,
    ...(commands.length === 0 ? [] : ['What you have to do:', ...commands.map(command => `  ${command}`)]),
    `at ${placeText(place)}`,
    ...related.slice(0, PLACES).map(each => `${placeText(each)}: ${each.says}`),
    ...(related.length > PLACES ? [`and ${related.length - PLACES} more`] : []),
  ].join('\n')
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`)
    .join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text as XML 1.0 has it: characters that it forbids, even as references, become U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu, '\uFFFD')
    .replaceAll(/[&<>"']/g, char => entities[char] ?? char)
    .replaceAll('\r', '&#13;')
}
