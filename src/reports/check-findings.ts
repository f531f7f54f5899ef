import { addressText, parseAddress } from '../addresses/address.js'
import type { ChecksReport, ReportedCheck } from './checks.js'
import { questionText } from './checks-text.js'
import { type Draft, type FindingRule, type Findings, fingerprinted } from './findings.js'
import type { ReportedDiagnostic } from './report.js'

const rules = {
  stops: {
    id: 'run-stops',
    title: 'The run stops before it gets through',
    help: "One of the playbook's own checks ends the run for this host. Meet what it asks for, or change the inventory.",
    page: null,
  },
  unknown: {
    id: 'check-open',
    title: 'Whether a check passes is not known',
    help: 'What decides it is known on the host only. Give facts with --facts, or a single value with --assume.',
    page: null,
  },
  passes: {
    id: 'check-passes',
    title: 'A check passes',
    help: "One of the playbook's own checks, which this host and this inventory meet.",
    page: null,
  },
} as const satisfies Readonly<Record<string, FindingRule>>

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
    rule: rules[outcome],
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
