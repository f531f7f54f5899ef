import { Option } from 'commander'
import { type AnalysisRequest, analyze, ansibleOf } from '../analyze.js'
import { auditCode } from '../audit/audit.js'
import { indexRoles } from '../audit/role-index.js'
import type { Side } from '../audit/side.js'
import { eachVariableOnce } from '../audit/values.js'
import { type Audit, partOf, summaryOf } from '../reports/audit.js'
import { renderAuditJson } from '../reports/audit-json.js'
import { renderAuditMarkdown } from '../reports/audit-markdown.js'
import { renderAuditText } from '../reports/audit-text.js'
import type { Report } from '../reports/report.js'
import type { SourceTree } from '../source/tree.js'
import type { DefineCommand } from './command.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  addRulesOption,
  type OutputOptions,
  requestOf,
} from './options.js'
import { styleFor, writeReport } from './output.js'
import { openCodeOf, reportOfAnalysis, requireKubespray, tellDiagnostics } from './subject.js'

interface AuditOptions {
  readonly all?: boolean
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
    .addOption(
      new Option('--fail-on <action>', 'exit with 1 from this action on')
        .choices(['required', 'advised'])
        .default('required'),
    )
  addOutputOptions(addRulesOption(addAnalysisOptions(command)), ['text', 'json', 'markdown']).action(
    (old: string, fresh: string, options: AnalysisOptions & OutputOptions & AuditOptions) => {
      const request = requestOf(options)
      const { audit, reports } = auditOf(openCodeOf(old, 'audit'), openCodeOf(fresh, 'audit'), request)
      const all = options.all === true
      const shown: Audit = all
        ? audit
        : { ...audit, changes: audit.changes.filter(change => partOf(change) !== 'moved') }
      const text =
        options.format === 'json'
          ? renderAuditJson(shown)
          : options.format === 'markdown'
            ? renderAuditMarkdown(shown)
            : renderAuditText(shown, { all, style: styleFor(options, terminal) })
      writeReport(text, options, terminal)
      tellDiagnostics(reports.new.diagnostics, options, terminal)
      const { required, advised } = summaryOf(audit.changes)
      finish(required > 0 || (options.failOn === 'advised' && advised > 0) ? 1 : 0)
    },
  )
}

/** Compares the role code of two versions for one inventory. */
export function auditOf(
  oldTree: SourceTree,
  newTree: SourceTree,
  request: AnalysisRequest,
): { readonly audit: Audit; readonly reports: { readonly old: Report; readonly new: Report } } {
  requireKubespray(oldTree)
  requireKubespray(newTree)
  const old = sideOf(oldTree, request)
  const fresh = sideOf(newTree, request)
  const made = old.report.ansible.version
  const acceptsAnsible =
    made === null || request.ansible !== undefined
      ? undefined
      : ansibleOf(newTree, { ...request, ansible: made }).accepted
  const changes = auditCode(
    old.side,
    fresh.side,
    { old: old.report, new: fresh.report },
    {
      extraVars: request.extraVars,
      acceptsAnsible,
      beside: [],
    },
  )
  const { playbook, host } = fresh.report
  return {
    audit: { old: old.report.source, new: fresh.report.source, playbook, host, changes, notCompared: [] },
    reports: { old: old.report, new: fresh.report },
  }
}

function sideOf(tree: SourceTree, request: AnalysisRequest): { readonly side: Side; readonly report: Report } {
  const analysis = analyze(tree, { ...request, variables: eachVariableOnce() })
  // The report comes first: what the index reads besides is no input of the run.
  const report = reportOfAnalysis(analysis)
  return { side: { analysis, index: indexRoles(analysis.code) }, report }
}
