import { type Analysis, type AnalysisRequest, analyze } from '../analyze.js'
import { newestRelease } from '../recorded/snapshots.js'
import { type Diagnostic, UsageError } from '../source/diagnostic.js'
import { openSource } from '../source/open.js'
import { placeOf } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Terminal } from './command.js'

/** Analyses role code; a command that only code can answer says so where there is only a recorded snapshot. */
export function analyzeCode(source: string | undefined, request: AnalysisRequest, command: string): Analysis {
  const name = source ?? newestRelease()
  const tree = openSource(name)
  if (tree === undefined) throw new UsageError(needsCode(name, command))
  return analyze(tree, request)
}

export function needsCode(release: string, what: string): string {
  return `${what} needs the role code of ${release}, and the local clone does not have it; make or update it with: whofixes fetch`
}

/** What the answers of answer, audit, record and history are about is kubespray; any other tree is refused. */
export function requireKubespray(tree: SourceTree, name: string): void {
  const marks = ['roles/kubernetes/preinstall', 'roles/kubernetes/node', 'cluster.yml']
  const missing = marks.filter(path => tree.entryKind(path) === undefined)
  if (missing.length === 0) return
  throw new UsageError(
    `${name} is no kubespray checkout: looked for ${marks.join(', ')}; missing: ${missing.join(', ')}`,
  )
}

/** What was wrong with the input, a line each, on standard error. */
export function tellDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: { readonly quiet?: boolean },
  terminal: Terminal,
): void {
  for (const { severity, message, at } of diagnostics) {
    if (options.quiet && severity === 'warning') continue
    terminal.err(`${placeOf(at)}: ${severity}: ${message}`)
  }
}
