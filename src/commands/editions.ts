import { resolve } from 'node:path'
import { type Analysis, type AnalysisRequest, analyze, shownVariables } from '../analyze.js'
import { type Citation, parseCitation } from '../citations/citation.js'
import { readDocument } from '../citations/document/document.js'
import { type Edition, type Editions, editionOfCode, editionOfSnapshot } from '../citations/edition.js'
import { openVersion, type Version } from '../citations/follow/version.js'
import { sourceOf } from '../recorded/published.js'
import { newestRelease, readSnapshot } from '../recorded/snapshot.js'
import { type Report, reportedVariable } from '../reports/report.js'
import { clonePath, hasClone } from '../source/clone.js'
import { dateOf } from '../source/commits.js'
import { UsageError } from '../source/diagnostic.js'
import { openDirectory } from '../source/directory.js'
import { askGit, commitOf } from '../source/git.js'
import { once } from '../source/once.js'
import { isRelease, looksLikeSource } from '../source/open.js'
import { newestReleaseOf, openRevision } from '../source/revision.js'
import type { SourceFile } from '../source/text.js'
import type { SourceTree, TreeOrigin } from '../source/tree.js'
import { beyondSnapshot } from './options.js'
import { asItsRoleSees, openSubject, reportOfAnalysis, requireKubespray, withPorts } from './subject.js'

/** What the markers of the documents cite. */
function citationsIn(documents: readonly SourceFile[]): readonly Citation[] {
  const citations = documents.flatMap(file => readDocument(file).markers.map(({ says }) => parseCitation(says)))
  return citations.flatMap(each => ('invalid' in each ? [] : [each]))
}

function variableIn(citation: Citation): readonly string[] {
  return citation.kind === 'variable' ? [citation.name] : []
}

function problemIn(citation: Citation): readonly string[] {
  return citation.kind === 'verdict' || citation.kind === 'deciding' ? [citation.problem] : []
}

/** What a tag, commit or branch can be called; nothing that git would take for a search. */
const referenceName = /^[\w][\w./+-]*$/

/**
 * The versions that documents may name: `source` is the one everything is checked against; others come from its repository, the
 * local clone, the checkouts that documents stand in, or the snapshots. Each is opened when it is first asked for. Throws
 * UsageError where `source` is none.
 */
export function openEditions(
  source: string | undefined,
  request: AnalysisRequest,
  documents: readonly SourceFile[],
): OpenEditions {
  const citations = citationsIn(documents)
  const cited = { problems: citations.flatMap(problemIn), variables: citations.flatMap(variableIn) }
  const known = new Map<string, Edition | undefined>()
  const remembered = (name: string, open: () => Edition | undefined): Edition | undefined => {
    if (!known.has(name)) known.set(name, open())
    return known.get(name)
  }
  // A commit is opened once, whatever names it has: what it says and what became of it are worked out once.
  const cores = new Map<string, Core>()
  const coreOf = (path: string, commit: string | undefined, open: () => SourceTree): Core => {
    const key = commit === undefined ? path : `${path}\0${commit}`
    const core = cores.get(key) ?? openCore(open(), request, cited)
    cores.set(key, core)
    return core
  }
  const ofTree = (tree: SourceTree): Edition => {
    const { path, commit, kind } = tree.origin
    const core = coreOf(path, kind === 'directory' ? undefined : commit, () => tree)
    return editionOf(core, tree.origin)
  }
  const ofReference = (repository: string, name: string, commit: string): Edition => {
    const { tree, ...core } = coreOf(repository, commit, () => openRevision(repository, name))
    return editionOf({ tree, ...core }, { ...tree.origin, revision: name })
  }
  const target = once(() => (source === undefined ? undefined : openNamed(source)))
  const checkouts = new Set<string>()
  const repositories = (): readonly string[] => {
    const { kind, path = null } = target()?.source ?? {}
    const isRepository = path !== null && (kind === 'revision' || topOf(path) === resolve(path))
    return [...(isRepository ? [path] : []), ...(hasClone() ? [clonePath()] : []), ...checkouts]
  }
  const openNamed = (name: string): Edition => {
    // A branch or commit of the clone, as links name them.
    const commit =
      hasClone() && !looksLikeSource(name) && referenceName.test(name) ? commitOf(clonePath(), name) : undefined
    if (commit !== undefined) return ofReference(clonePath(), name, commit)
    const subject = openSubject(name, request)
    if (subject.kind === 'recorded') return editionOfSnapshot(subject.snapshot)
    requireKubespray(subject.tree)
    return ofTree(subject.tree)
  }
  const openReference = (name: string): Edition | undefined => {
    for (const repository of referenceName.test(name) ? repositories() : []) {
      const commit = commitOf(repository, name)
      if (commit !== undefined) return ofReference(repository, name, commit)
    }
    // The clone has no such branches; a link to one means what was released from it.
    for (const repository of repositories()) {
      const release = newestReleaseOf(repository, name)
      const commit = release && commitOf(repository, release)
      if (release === undefined || commit === undefined) continue
      return { ...ofReference(repository, release, commit), name: `${release} (newest of ${name})` }
    }
    // It knows the default inventory only.
    const snapshot = isRelease(name) && beyondSnapshot(request).length === 0 ? readSnapshot(name) : undefined
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
    newer: (first, second) => {
      if (isRelease(first) && isRelease(second)) {
        return first.localeCompare(second, 'en', { numeric: true }) < 0 ? second : first
      }
      const [one, other] = [first, second].map(name => committed(name, repositories()))
      return one !== undefined && other !== undefined && one < other ? second : first
    },
    checkout: top => {
      checkouts.add(top)
      return ofTree(openDirectory(top))
    },
  }
}

/** When a version was committed, in seconds; undefined where no repository has it. */
function committed(name: string, repositories: readonly string[]): number | undefined {
  for (const repository of referenceName.test(name) ? repositories : []) {
    const commit = commitOf(repository, name)
    const date = commit === undefined ? undefined : dateOf(repository, commit)
    if (date !== undefined) return date
  }
  return undefined
}

/** What an analysis has to tell beside the usual. */
interface CitedNames {
  readonly problems: readonly string[]
  readonly variables: readonly string[]
}

/** Versions, and the checkouts of kubespray in which documents stand. */
export interface OpenEditions extends Editions {
  /** A kubespray checkout in which documents stand, as it lies on disk. */
  readonly checkout: (top: string) => Edition
}

/** What a commit or directory says, whatever it is called. */
interface Core {
  readonly tree: SourceTree
  readonly version: Version
  readonly analysed: () => { readonly analysis: Analysis; readonly report: Report }
}

function openCore(tree: SourceTree, request: AnalysisRequest, { problems, variables }: CitedNames): Core {
  const { revision, commit, path } = tree.origin
  const version = openVersion(tree, revision ?? (tree.origin.kind === 'directory' ? path : (commit ?? path)))
  const analysed = once(() => {
    const asked = withPorts(request, problems)
    const analysis = analyze(tree, { ...asked, variables: () => [...new Set([...shownVariables, ...variables])] })
    return { analysis, report: reportOfAnalysis(analysis) }
  })
  return { tree, version, analysed }
}

function editionOf({ version, analysed }: Core, origin: TreeOrigin): Edition {
  const source = sourceOf(origin)
  const name = (origin.revision ?? version.name).replace(/^([0-9a-f]{10})[0-9a-f]{30}$/, '$1')
  return editionOfCode({ version, name, source }, analysed, (analysis, asked, role) => {
    const found =
      role === undefined
        ? asItsRoleSees(analysis, asked)
        : analysis.roles.find(({ role: { code } }) => code.path === role)?.variables.get(asked)
    return found && { role: role ?? null, variable: reportedVariable(found) }
  })
}

/** The top of the repository a directory stands in. */
export function topOf(directory: string): string | undefined {
  return askGit(directory, ['rev-parse', '--show-toplevel'])
}
