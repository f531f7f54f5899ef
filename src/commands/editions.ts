import { type AnalysisRequest, analyze, shownVariables } from '../analyze.js'
import { parseCitation } from '../citations/citation.js'
import type { Editions } from '../citations/cite.js'
import { readDocument } from '../citations/document/document.js'
import { type Edition, editionOfCode, editionOfSnapshot } from '../citations/edition.js'
import { openVersion } from '../citations/follow/version.js'
import { newestRelease, readSnapshot } from '../recorded/snapshot.js'
import { reportedSource, reportedVariable } from '../reports/report.js'
import { clonePath, hasClone } from '../source/clone.js'
import { UsageError } from '../source/diagnostic.js'
import { commitOf } from '../source/git.js'
import { once } from '../source/once.js'
import { isRelease } from '../source/open.js'
import { openRevision } from '../source/revision.js'
import type { SourceFile } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import { asItsRoleSees, openSubject, reportOfAnalysis, requireKubespray } from './subject.js'

/** The names of the variables that the documents cite. */
function variablesIn(documents: readonly SourceFile[]): readonly string[] {
  const citations = documents.flatMap(file => readDocument(file).markers.map(({ says }) => parseCitation(says)))
  return citations.flatMap(each => (!('invalid' in each) && each.kind === 'variable' ? [each.name] : []))
}

/**
 * The versions that documents may name: `source` is the one everything is checked against, others come from its repository,
 * the local clone or the snapshots. Each is opened when it is first asked for. Throws UsageError where `source` is none.
 */
export function openEditions(
  source: string | undefined,
  request: AnalysisRequest,
  documents: readonly SourceFile[],
): Editions {
  const variables = variablesIn(documents)
  const known = new Map<string, Edition | undefined>()
  const remembered = (name: string, open: () => Edition | undefined): Edition | undefined => {
    if (!known.has(name)) known.set(name, open())
    return known.get(name)
  }
  const ofTree = (tree: SourceTree, name?: string): Edition => editionOf(tree, name, request, variables)
  const target = once(() => (source === undefined ? undefined : openNamed(source)))
  const repositories = (): readonly string[] => [
    ...(target()?.source.kind === 'revision' ? [target()?.source.path ?? ''] : []),
    ...(hasClone() ? [clonePath()] : []),
  ]
  const openNamed = (name: string): Edition => {
    const subject = openSubject(name, request)
    if (subject.kind === 'recorded') return editionOfSnapshot(subject.snapshot)
    requireKubespray(subject.tree)
    return ofTree(subject.tree)
  }
  const openReference = (name: string): Edition | undefined => {
    const repository = repositories().find(each => commitOf(each, name) !== undefined)
    if (repository !== undefined) return ofTree(openRevision(repository, name), name)
    const snapshot = isRelease(name) ? readSnapshot(name) : undefined
    return snapshot && editionOfSnapshot(snapshot)
  }
  return {
    get target() {
      return target()
    },
    newest: () => {
      const edition = remembered(newestRelease(), () => openReference(newestRelease()))
      if (edition === undefined) throw new UsageError(`${newestRelease()}: cannot be opened`)
      return edition
    },
    named: name => remembered(name, () => openReference(name)),
  }
}

function editionOf(
  tree: SourceTree,
  name: string | undefined,
  request: AnalysisRequest,
  variables: readonly string[],
): Edition {
  const source = reportedSource(tree.origin)
  const version = openVersion(tree, name ?? source.release ?? source.commit ?? tree.origin.path)
  const analysed = once(() => {
    const analysis = analyze(tree, { ...request, variables: () => [...new Set([...shownVariables, ...variables])] })
    return { analysis, report: reportOfAnalysis(analysis) }
  })
  return editionOfCode(version, source, source.kind === 'revision', analysed, (analysis, asked, role) => {
    const found =
      role === undefined
        ? asItsRoleSees(analysis, asked)
        : analysis.roles.find(({ role: { code } }) => code.path === role)?.variables.get(asked)
    return found && { role: role ?? null, variable: reportedVariable(found) }
  })
}
