import { addressText, parseAddress } from '../addresses/address.js'
import { inOrder, mostTelling } from './deciding.js'
import {
  type Draft,
  type FindingFlow,
  type FindingPlace,
  type Findings,
  fingerprinted,
  type RelatedPlace,
} from './findings.js'
import { webAddress } from './page.js'
import type { Place } from './place.js'
import type { Report, ReportedContradiction, ReportedEvidence, ReportedVerdict } from './report.js'
import { searchedText } from './searched.js'
import type { ReportedStop } from './stops.js'

/** Of the near misses of one problem; `explain` has all of them. */
const NEAR = 20

/**
 * A report as findings: where the run stops, then each problem, then what documentation says otherwise. A problem that kubespray
 * fixes is a pass at the task that decides; one of the operator's is a failure at the nearest miss; an unknown one is open.
 */
export function findingsOfReport(report: Report): Findings {
  const { source, playbook, host, stops, problems, contradictions, diagnostics } = report
  return {
    command: 'report',
    subject: [playbook, host],
    source,
    findings: fingerprinted([
      ...stops.map(stopFinding),
      ...problems.map(problem => problemFinding(report, problem)),
      ...contradictions.map(contradictionFinding),
    ]),
    diagnostics,
    notLookedAt: [],
  }
}

function stopFinding(stop: ReportedStop): Draft {
  const { task, role, because, message, final, hints } = stop
  return {
    rule: {
      id: 'run-stops',
      title: 'The run stops before it gets through',
      help: "One of the playbook's own checks ends the run for this host. Meet what it asks for, or change the inventory.",
      page: null,
    },
    level: 'error',
    kind: 'fail',
    about: task,
    message: [
      `The run stops at '${task}': ${because}.`,
      ...(message === null || message === task ? [] : [`It says: ${message}.`]),
      ...hints.map(hint => `Hint: ${hint}.`),
      ...(final ? ['Nothing behind it happens.'] : []),
    ].join(' '),
    commands: [],
    place: inRoleCode(stop),
    related: [],
    flows: [],
    identity: [role ?? '', task],
  }
}

function problemFinding(report: Report, problem: ReportedVerdict): Draft {
  const { id, title, asks, requirement, now, afterReboot, fixedBy, byHand, nearMisses, searched } = problem
  const settling = distinctTasks([...inOrder(now.evidence), ...inOrder(afterReboot.evidence)])
  const open = distinctTasks([...now.open, ...afterReboot.open])
  const unread = searched.unresolved.filter(({ couldChange }) => couldChange)
  const telling = mostTelling(problem)
  const mightBe = fixedBy === 'unknown' ? (unread[0] ?? undefined) : undefined
  const first: Place = telling ?? mightBe ?? { file: report.playbook, line: 1 }
  const near = nearMisses.slice(0, NEAR)
  return {
    rule: {
      id,
      title,
      help: [
        asks,
        requirement.says,
        ...(byHand.length === 0 ? [] : ['Where kubespray does not do it, by hand:', ...byHand]),
      ].join('\n'),
      page: webAddress(requirement.source) ?? null,
    },
    ...(fixedBy === 'kubespray'
      ? ({ level: 'none', kind: 'pass' } as const)
      : fixedBy === 'operator'
        ? ({ level: 'warning', kind: 'fail' } as const)
        : ({ level: 'none', kind: 'open' } as const)),
    about: title,
    message: messageOf(problem),
    commands: fixedBy === 'kubespray' ? [] : byHand,
    place: inRoleCode(first),
    related: [
      ...settling.map(each => related(each, each.effect)),
      ...open.map(each => related(each, `might settle it: ${each.effect}${reason(each)}`)),
      ...near.map(each => related(each, `not it: ${each.effect}${reason(each)}`)),
      ...unread.map(each => related(each, `not read: ${each.says}: ${each.why}`)),
    ],
    flows: [...settling, ...open, ...(settling.length === 0 ? near.slice(0, 5) : [])].map(flowOf),
    identity: [now.fixedBy, afterReboot.fixedBy, ...(settling[0] === undefined ? [] : taskIdentity(settling[0]))],
  }
}

/** What makes a task the same one in another revision: its address, but for what it says. */
function taskIdentity({ role, task, module, address }: ReportedEvidence): readonly string[] {
  const read = address === null ? undefined : parseAddress(address)
  if (read === undefined) return [role ?? '', task, module]
  const { content: _, ...named } = read
  // Roles were renamed by exchanging hyphens for underscores.
  return [addressText({ ...named, owner: named.owner.replaceAll('-', '_') })]
}

function messageOf(problem: ReportedVerdict): string {
  const { title, fixedBy, now, afterReboot, condition, searched, nearMisses } = problem
  switch (fixedBy) {
    case 'kubespray': {
      const [first, kept] = [inOrder(now.evidence)[0], inOrder(afterReboot.evidence)[0]]
      const isOne = first?.effect === kept?.effect && first?.line === kept?.line && first?.file === kept?.file
      const says = isOne
        ? `kubespray does it, now and for after a reboot: ${first?.effect ?? ''}`
        : `kubespray does it now: ${first?.effect ?? ''}; and for after a reboot: ${kept?.effect ?? ''}`
      return `${title}: ${says}${condition === null ? '' : `, if ${condition}`}.`
    }
    case 'operator': {
      const which =
        now.fixedBy === afterReboot.fixedBy
          ? 'nothing in the run does it'
          : now.fixedBy === 'operator'
            ? 'nothing in the run does it now'
            : 'nothing in the run keeps it so after a reboot'
      const near = nearMisses.length === 0 ? 'nothing came near' : `${searched.near} came near, none of them does it`
      return `${title}: this is up to you, before the run: ${which} (${searchedText(problem)}; ${near}).`
    }
    case 'unknown': {
      const why =
        [...now.open, ...afterReboot.open].find(each => each.why !== undefined)?.why ??
        searched.unresolved.find(({ couldChange }) => couldChange)?.why
      return `${title}: who takes care of it could not be told${why === undefined ? '' : `: ${why}`}.`
    }
  }
}

function contradictionFinding(each: ReportedContradiction): Draft {
  return {
    rule: {
      id: 'documentation-differs',
      title: 'Documentation says otherwise than role code',
      help: "A sentence of kubespray's own documentation is not what its role code does. The run follows the code.",
      page: null,
    },
    level: 'note',
    kind: 'informational',
    about: each.problem,
    message: `This ${each.says} (${each.problem}).`,
    commands: [],
    place: inRoleCode(each),
    related: [],
    flows: [],
    identity: [each.problem, each.says],
  }
}

function reason({ why }: ReportedEvidence): string {
  return why === undefined ? '' : `: ${why}`
}

/** Each task once, however many effects of it count. */
function distinctTasks(evidence: readonly ReportedEvidence[]): readonly ReportedEvidence[] {
  return [...new Map(evidence.map(each => [`${each.file}\0${each.line}\0${each.effect}`, each])).values()]
}

function flowOf(evidence: ReportedEvidence): FindingFlow {
  return {
    says: evidence.effect,
    steps: [
      ...evidence.via.map(step => related(step, step.what)),
      related(evidence, `task "${evidence.task}" (${evidence.module}): ${evidence.effect}`),
    ],
  }
}

function related(place: Place, says: string): RelatedPlace {
  return { ...inRoleCode(place), says }
}

function inRoleCode({ file, line }: Place): FindingPlace {
  return { file, line, owner: 'kubespray' }
}
