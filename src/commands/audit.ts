import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Option } from 'commander'
import { addressText } from '../addresses/address.js'
import { type AnalysisRequest, analyze, ansibleOf } from '../analyze.js'
import { auditCode, ranked } from '../audit/audit.js'
import { stoppedNote } from '../audit/host/stopped.js'
import { outlineChanges, outlineOfSide, outlineOfSnapshot } from '../audit/outline.js'
import { renderInventoryPatch } from '../audit/patch.js'
import { indexRoles } from '../audit/role-index.js'
import type { Side } from '../audit/side.js'
import { eachVariableOnce } from '../audit/values.js'
import { type Audit, type Change, type ChangedPlace, partOf, summaryOf } from '../reports/audit.js'
import { findingsOfAudit } from '../reports/audit-findings.js'
import { renderAuditJson } from '../reports/audit-json.js'
import { renderAuditMarkdown } from '../reports/audit-markdown.js'
import { renderAuditText, sourceName } from '../reports/audit-text.js'
import { findingFormats, isFindingFormat, renderFindings } from '../reports/finding-formats.js'
import { placeOfSpan, placeText } from '../reports/place.js'
import type { Report } from '../reports/report.js'
import { UsageError } from '../source/diagnostic.js'
import { openDirectory } from '../source/directory.js'
import { askGit } from '../source/git.js'
import { placeOf } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { DefineCommand, ExitStatus } from './command.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  addReportOption,
  addRulesOption,
  type OutputOptions,
  type ReportFileOptions,
  requestOf,
} from './options.js'
import { styleFor, writeReports } from './output.js'
import { openSubject, reportOfAnalysis, requireKubespray, type Subject, tellDiagnostics } from './subject.js'
import { packageVersion } from './version.js'

interface AuditOptions {
  readonly all?: boolean
  readonly patch?: boolean
  readonly also?: string
  readonly failOn: 'required' | 'advised'
}

/** `whofixes audit`: what changes between two versions, for an inventory where there is one. */
export const defineAudit: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('audit')
    .description('what changes between two versions, for your inventory: what is required, what is advised')
    .argument('<old>', 'the version you run: a release, a directory or DIR@REV')
    .argument('<new>', 'the version you want')
    .option('--all', 'also what only moved, and each name that came or went')
    .option('--also <dir>', 'playbooks and roles of your own that use kubespray: what moved or vanished under them')
    .option('--patch', 'print the diff that gives your inventory the new names, instead of the report')
    .addOption(
      new Option('--fail-on <action>', 'exit with 1 from this action on')
        .choices(['required', 'advised'])
        .default('required'),
    )
  const formats = ['text', 'json', 'markdown', ...findingFormats]
  addReportOption(addOutputOptions(addRulesOption(addAnalysisOptions(command)), formats), formats).action(
    (old: string, fresh: string, options: AnalysisOptions & OutputOptions & ReportFileOptions & AuditOptions) => {
      const request = requestOf(options)
      if (options.patch && request.inventory.length === 0) {
        throw new UsageError('--patch changes an inventory: name it with -i')
      }
      const { audit, side } = auditOf(old, fresh, request, options.also)
      const { required, advised } = summaryOf(audit.changes)
      const status = required > 0 || (options.failOn === 'advised' && advised > 0) ? 1 : 0
      writeReports(
        chosen => rendered(audit, status, chosen, terminal),
        options,
        terminal,
        options.patch && side !== undefined
          ? renderInventoryPatch(audit.changes, side.analysis, repositoryOf(request.inventory))
          : undefined,
      )
      tellDiagnostics(audit.diagnostics, options, terminal)
      finish(status)
    },
  )
}

function rendered(
  audit: Audit,
  exitStatus: ExitStatus,
  options: OutputOptions & AuditOptions,
  terminal: Parameters<typeof styleFor>[1],
): string {
  const all = options.all === true
  const shown = shownChanges(audit, all)
  if (isFindingFormat(options.format)) {
    return renderFindings(
      options.format,
      findingsOfAudit(shown, audit.diagnostics),
      { version: packageVersion(), exitStatus, directory: process.cwd() },
      options.failOn === 'advised' ? ['error', 'warning'] : ['error'],
    )
  }
  switch (options.format) {
    case 'json':
      return renderAuditJson(shown)
    case 'markdown':
      return renderAuditMarkdown(shown)
    default:
      return renderAuditText(shown, { all, style: styleFor(options, terminal) })
  }
}

/** The audit as it is shown: what only moved is left out unless everything is asked for. */
export function shownChanges(audit: Audit, all: boolean): Audit {
  return all ? audit : { ...audit, changes: audit.changes.filter(change => partOf(change) !== 'moved') }
}

/** The top of the git work tree that an inventory stands in, if it does. */
function repositoryOf([first]: readonly string[]): string | undefined {
  const found = first === undefined ? undefined : statSync(first, { throwIfNoEntry: false })
  if (first === undefined || found === undefined) return undefined
  return askGit(found.isDirectory() ? first : dirname(first), ['rev-parse', '--show-toplevel'])
}

interface Audited {
  readonly audit: Audit
  /** The analysis of the version that runs now; undefined where only a snapshot of it is at hand. */
  readonly side?: Side
}

/** Compares two versions: their role code, or what is recorded of them where one of the two has no code. */
export function auditOf(old: string, fresh: string, request: AnalysisRequest, also: string | undefined): Audited {
  const wrapper = also === undefined ? undefined : openDirectory(also)
  const subjects = { old: openSubject(old, request), new: openSubject(fresh, request) }
  if (subjects.old.kind === 'code' && subjects.new.kind === 'code') {
    const [before, now] = [openVersion(subjects.old.tree, request), openVersion(subjects.new.tree, request)]
    const audit = auditVersions(before, now, request, wrapper)
    return { audit, side: before.side }
  }
  if (wrapper !== undefined) {
    throw new UsageError('--also needs the role code of both versions; make or update the clone with: whofixes fetch')
  }
  const [before, now] = [outlineOf(subjects.old, request), outlineOf(subjects.new, request)]
  const audit: Audit = {
    old: before.report.source,
    new: now.report.source,
    playbook: now.report.playbook,
    host: now.report.host,
    changes: ranked(outlineChanges(before, now)),
    notCompared: [
      'checks, effects, tags, groups and roles the run does not reach, since one of the two is only recorded; whofixes fetch gets the role code',
    ],
    diagnostics: now.report.diagnostics,
  }
  return { audit }
}

function outlineOf(subject: Subject, request: AnalysisRequest): ReturnType<typeof outlineOfSnapshot> {
  if (subject.kind === 'recorded') return outlineOfSnapshot(subject.snapshot)
  const { side, report } = openVersion(subject.tree, request)
  return outlineOfSide(side, report)
}

/** One version that is looked at, with its report. */
export interface Version {
  readonly tree: SourceTree
  readonly side: Side
  readonly report: Report
}

/** Reads one version of kubespray for an audit. Throws UsageError where the tree is none. */
export function openVersion(tree: SourceTree, request: AnalysisRequest): Version {
  requireKubespray(tree)
  const analysis = analyze(tree, { ...request, variables: eachVariableOnce() })
  // The report comes first: what the index reads besides is no input of the run.
  const report = reportOfAnalysis(analysis)
  return {
    tree,
    side: {
      analysis,
      index: indexRoles(
        analysis.code,
        analysis.run.tasks.map(({ task }) => task.at.file.path),
      ),
    },
    report,
  }
}

/** Compares the role code of two versions that were read with the same request. */
export function auditVersions(old: Version, fresh: Version, request: AnalysisRequest, wrapper?: SourceTree): Audit {
  const made = old.report.ansible.version
  const changes = auditCode(
    old.side,
    fresh.side,
    { old: old.report, new: fresh.report },
    {
      extraVars: request.extraVars,
      usedTags: [...request.tags, ...request.skipTags],
      acceptsAnsible:
        made === null || request.ansible !== undefined
          ? undefined
          : ansibleOf(fresh.tree, { ...request, ansible: made }).accepted,
      wrapper,
    },
  )
  const { playbook, host, diagnostics } = fresh.report
  const named = changes.map(withAddresses(taskPlaces(old.side), taskPlaces(fresh.side)))
  const notCompared = [stoppedNote(old.side, fresh.side) ?? [], ...[old, fresh].map(unreadIn)].flat()
  return {
    old: old.report.source,
    new: fresh.report.source,
    playbook,
    host,
    changes: named,
    notCompared,
    diagnostics,
  }
}

/** Addresses by the places at which tasks begin. */
function taskPlaces({ analysis: { addresses }, index }: Side): ReadonlyMap<string, string> {
  return new Map(
    index.statements.flatMap(({ statement }) => {
      const address = statement.kind === 'task' ? addresses.of(statement) : undefined
      return address === undefined ? [] : [[placeOf(statement.at), addressText(address)] as const]
    }),
  )
}

function withAddresses(
  old: ReadonlyMap<string, string>,
  fresh: ReadonlyMap<string, string>,
): (change: Change) => Change {
  const named = (place: ChangedPlace | null, places: ReadonlyMap<string, string>): ChangedPlace | null => {
    const address = place === null ? undefined : places.get(placeText(place))
    return place === null || address === undefined ? place : { ...place, address }
  }
  return change => ({ ...change, old: named(change.old, old), new: named(change.new, fresh) })
}

/** What of a version's role code could not be read: names in it count as read, and nothing else of it does. */
function unreadIn({ side: { index }, report: { source } }: Version): readonly string[] {
  const places = [...new Set(index.unread.map(({ at }) => placeText(placeOfSpan(at))))]
  if (places.length === 0) return []
  const some = places.slice(0, 3).join(', ') + (places.length > 3 ? ` and ${places.length - 3} more` : '')
  return [`templates of ${sourceName(source)} that cannot be read: ${some}`]
}
