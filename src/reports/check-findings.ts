import { addressText, parseAddress } from '../addresses/address.js'
import type { ChecksReport, ReportedCheck } from './checks.js'
import { questionText } from './checks-text.js'
import { type Draft, type FindingRule, type Findings, fingerprinted } from './findings.js'
import type { ReportedDiagnostic } from './report.js'

/** One rule for all outcomes: a check keeps its name in a list of tests when it comes to another end. */
const rule: FindingRule = {
  id: 'check',
  title: "One of the playbook's own checks",
  help: 'Where it stops the run, meet what it asks for, or change the inventory. What decides an open one is known on the host only: give facts with --facts, or a single value with --assume.',
  page: null,
}

/** Checks as findings: a stop is a failure, an open check is open, one that passes a pass; what is skipped is none. */
export function findingsOfChecks(report: ChecksReport, diagnostics: readonly ReportedDiagnostic[]): Findings {
  const { source, playbook, host, checks, unread } = report
  return {
    command: 'checks',
    subject: [playbook, host],
    source,
    findings: fingerprinted(checks.flatMap(check => checkFinding(check) ?? [])),
    diagnostics,
    notLookedAt: unread.map(({ says, file, line }) => `${file}:${line}: ${says}`),
  }
}

function checkFinding(check: ReportedCheck): Draft | undefined {
  const { outcome, task, because, message, hints, final, decidedBy, values, file, line } = check
  if (outcome === 'skipped') return undefined
  const says = {
    stops: `The run stops at '${task}': ${because}.`,
    unknown: `Whether '${task}' passes is not known: ${because}.`,
    passes: `'${task}' passes: ${because}.`,
  }[outcome]
  return {
    rule,
    level: outcome === 'stops' ? 'error' : 'none',
    kind: outcome === 'stops' ? 'fail' : outcome === 'unknown' ? 'open' : 'pass',
    about: task,
    message: [
      says,
      ...(message === null || outcome === 'passes' ? [] : [`It says: ${message}.`]),
      ...hints.map(hint => `Hint: ${hint}.`),
      ...(final && outcome === 'stops' ? ['Nothing behind it happens.'] : []),
      ...decidedBy.slice(0, 4).map(each => `${questionText(each)}.`),
    ].join(' '),
    commands: [],
    place: { file, line, owner: 'kubespray' },
    related: values.flatMap(({ name, from }) =>
      from
        .filter(each => each.origin !== 'host facts' && each.origin !== 'magic variable')
        .map(each => ({
          file: each.file,
          line: each.line,
          owner: ownerOf(each.origin),
          says: `${name}: ${each.origin}`,
        })),
    ),
    flows: [],
    identity: identityOf(check),
  }
}

/** Values of the inventory and the command line stand in files of the user's. */
function ownerOf(origin: string): 'kubespray' | 'own' {
  return origin === 'extra vars' || origin.startsWith('inventory') ? 'own' : 'kubespray'
}

/** What makes a check the same one in another revision: its task's address, but for what it says. */
function identityOf({ address, role, task }: ReportedCheck): readonly string[] {
  const read = address === null ? undefined : parseAddress(address)
  if (read === undefined) return [role ?? '', task]
  const { content: _, ...named } = read
  return [addressText({ ...named, owner: named.owner.replaceAll('-', '_') })]
}
