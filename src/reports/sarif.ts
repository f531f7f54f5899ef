import type {
  ArtifactLocation,
  CodeFlow,
  Location,
  Log,
  Message,
  Notification,
  ReportingDescriptor,
  Result,
  Run,
  VersionControlDetails,
} from 'sarif'
import { visibleText } from '../source/visible.js'
import {
  abridged,
  type Finding,
  type FindingFlow,
  type FindingLevel,
  type FindingPlace,
  type FindingRule,
  type Findings,
  type Owner,
  pathBelow,
  type RelatedPlace,
} from './findings.js'
import { jsonText } from './json-text.js'
import { encodedPath } from './place.js'
import { KUBESPRAY_REPOSITORY, type ReportedDiagnostic, type ReportedSource } from './report.js'
import { sourceText } from './report-text.js'

/** How a run of the program went, for formats that say so. */
export interface Invocation {
  readonly version: string
  readonly exitStatus: number
  /** Where the program was called: what lies below is the repository of the pipeline. */
  readonly directory: string
}

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** What GitHub's code scanning takes: a file with more is refused, or cut where nobody chose. */
const limits = { results: 25_000, related: 100, flowSteps: 1_000, description: 1_024, linked: 5 } as const

/**
 * Findings as SARIF 2.1.0 (OASIS, errata 01). Files of the repository that the program was called in stand under `%SRCROOT%`;
 * role code from elsewhere under `KUBESPRAY`, OLD of an audit under `KUBESPRAY_OLD`, whose revisions `versionControlProvenance`
 * names. The chains are in `codeFlows`, what else matters in `relatedLocations`.
 */
export function renderSarif(findings: Findings, invocation: Invocation): string {
  const rules = [...new Map(findings.findings.map(({ rule }) => [rule.id, rule])).values()]
  const index = new Map(rules.map(({ id }, at) => [id, at]))
  const results = mostSevere(findings.findings).map(finding =>
    resultOf(finding, index.get(finding.rule.id) ?? -1, findings, invocation.directory),
  )
  const provenance = [
    ...provenanceOf(findings.source, bases.kubespray),
    ...(findings.old === undefined ? [] : provenanceOf(findings.old, bases.old)),
  ]
  const notifications = [
    ...findings.diagnostics.map(notificationOf),
    ...findings.notLookedAt.map((says): Notification => ({ level: 'note', message: message(says) })),
  ]
  const run: Run = {
    tool: { driver: { name: 'whofixes', semanticVersion: invocation.version, rules: rules.map(descriptorOf) } },
    // The last part is left empty: what stands before it is the category in which later runs replace earlier ones.
    automationDetails: {
      id: `${encodedPath(['whofixes', findings.command, ...findings.subject].join('/'))}/`,
    },
    invocations: [
      {
        executionSuccessful: true,
        exitCode: invocation.exitStatus,
        ...(notifications.length === 0 ? {} : { toolExecutionNotifications: notifications }),
      },
    ],
    originalUriBaseIds: {
      [bases.own]: { description: { text: 'The directory the program was called in' } },
      [bases.kubespray]: { description: { text: sourceText(findings.source) } },
      ...(findings.old === undefined
        ? {}
        : { [bases.old]: { description: { text: `${sourceText(findings.old)}, before the upgrade` } } }),
    },
    ...(provenance.length === 0 ? {} : { versionControlProvenance: provenance }),
    columnKind: 'utf16CodeUnits',
    results,
  }
  const log: Log = { $schema: SCHEMA, version: '2.1.0', runs: [run] }
  return jsonText(log)
}

const bases: Readonly<Record<Owner, string>> = { own: '%SRCROOT%', kubespray: 'KUBESPRAY', old: 'KUBESPRAY_OLD' }

const severity: readonly FindingLevel[] = ['error', 'warning', 'note', 'none']

/** As many as are taken, in their order; where there are more, the least severe are left out. */
function mostSevere(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= limits.results) return findings
  const ranked = findings.toSorted((left, right) => severity.indexOf(left.level) - severity.indexOf(right.level))
  const kept = new Set(ranked.slice(0, limits.results))
  return findings.filter(finding => kept.has(finding))
}

function descriptorOf({ id, title, help, page }: FindingRule): ReportingDescriptor {
  return {
    id,
    shortDescription: { text: braced(abridged(title, limits.description)) },
    fullDescription: { text: braced(abridged(help, limits.description)) },
    ...(page === null ? {} : { helpUri: page }),
    help: { text: braced(help) },
  }
}

function resultOf(finding: Finding, ruleIndex: number, findings: Findings, directory: string): Result {
  const { rule, kind, level, place, fingerprint } = finding
  const locate = (at: FindingPlace, id?: number): Location => ({
    ...(id === undefined ? {} : { id }),
    physicalLocation: {
      artifactLocation: artifactOf(at, findings, directory),
      region: { startLine: Math.max(at.line, 1), ...(at.endLine === undefined ? {} : { endLine: at.endLine }) },
    },
  })
  const step = (at: RelatedPlace, id?: number): Location => ({ ...locate(at, id), message: message(at.says) })
  const related = finding.related.slice(0, limits.related)
  const flows = codeFlowsOf(finding.flows, step)
  return {
    ruleId: rule.id,
    ruleIndex,
    // A result that asks for nothing keeps its level: viewers leave out what has none, and a level needs the kind `fail`.
    ...(kind === 'informational' ? { level } : { kind, level }),
    message: resultMessage(finding, related),
    locations: [locate(place)],
    ...(related.length === 0 ? {} : { relatedLocations: related.map((each, at) => step(each, at + 1)) }),
    ...(flows.length === 0 ? {} : { codeFlows: flows }),
    partialFingerprints: { 'whofixes/v1': fingerprint },
  }
}

/** Each way as a flow of one thread, as long as there is room. */
function codeFlowsOf(flows: readonly FindingFlow[], locate: (step: RelatedPlace) => Location): CodeFlow[] {
  const shown: CodeFlow[] = []
  let steps = 0
  for (const flow of flows) {
    steps += flow.steps.length
    if (flow.steps.length === 0 || steps > limits.flowSteps) break
    shown.push({
      message: message(flow.says),
      threadFlows: [
        {
          locations: flow.steps.map((step, at) => ({
            location: locate(step),
            nestingLevel: at,
            executionOrder: at + 1,
          })),
        },
      ],
    })
  }
  return shown
}

/** What a result says: the message, what to do, and links to the first places, which code scanning shows only if they are linked. */
function resultMessage({ message: says, commands }: Finding, related: readonly RelatedPlace[]): Message {
  const links = related.slice(0, limits.linked).map((each, at) => `[${linkText(abridged(each.says, 100))}](${at + 1})`)
  const toDo =
    commands.length === 0 ? '' : `\nWhat you have to do:\n${commands.map(line => `  ${plain(line)}`).join('\n')}`
  const see = links.length === 0 ? '' : `\nSee ${links.join(', ')}.`
  return { text: `${plain(visibleText(says))}${toDo}${see}` }
}

function message(says: string): { text: string } {
  return { text: plain(visibleText(says)) }
}

/** Text that is neither a placeholder (3.11.5) nor an embedded link (3.11.6) of a SARIF message. */
function plain(text: string): string {
  return braced(text).replaceAll('](', '] (')
}

function braced(text: string): string {
  return text.replaceAll('{', '{{').replaceAll('}', '}}')
}

function linkText(text: string): string {
  return braced(visibleText(text)).replaceAll(/[\\[\]]/g, '\\$&')
}

function artifactOf(place: FindingPlace, findings: Findings, directory: string): ArtifactLocation {
  const path = pathBelow(place, findings, directory)
  if (path !== undefined) return { uri: encodedPath(path), uriBaseId: bases.own }
  if (place.file.startsWith('/')) return { uri: `file://${encodedPath(place.file)}` }
  return { uri: encodedPath(place.file), uriBaseId: bases[place.owner] }
}

function provenanceOf(source: ReportedSource, base: string): readonly VersionControlDetails[] {
  // A directory may hold changes, and a commit be anybody's.
  if (source.commit === null || source.published === null) return []
  return [
    {
      repositoryUri: KUBESPRAY_REPOSITORY,
      revisionId: source.commit,
      ...(source.published === source.release ? { revisionTag: source.published } : {}),
      mappedTo: { uriBaseId: base },
    },
  ]
}

function notificationOf({ code, severity, message: says, file, line }: ReportedDiagnostic): Notification {
  return {
    descriptor: { id: code },
    level: severity,
    message: message(`${file}:${line}: ${says}`),
    ...(file.startsWith('-')
      ? {}
      : {
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: file.startsWith('/') ? `file://${encodedPath(file)}` : encodedPath(file) },
                region: { startLine: Math.max(line, 1) },
              },
            },
          ],
        }),
  }
}
