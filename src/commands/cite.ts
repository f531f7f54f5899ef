import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type Analysis, type AnalysisRequest, analyze, shownVariables } from '../analyze.js'
import { type Citation, parseCitation } from '../citations/citation.js'
import { citeDocument, type Editions, type Surroundings, type Writing } from '../citations/cite.js'
import { readDocument } from '../citations/document/document.js'
import { type Edition, editionOfCode, editionOfSnapshot } from '../citations/edition.js'
import { openVersion, type Version } from '../citations/follow/version.js'
import { plainWording, type Wording } from '../citations/template.js'
import { readWording } from '../citations/wording.js'
import { newestRelease, readSnapshot } from '../recorded/snapshot.js'
import { findingsOfCitations } from '../reports/citation-findings.js'
import { type CitationsReport, countStates } from '../reports/citations.js'
import { renderCitationsJson } from '../reports/citations-json.js'
import { renderCitationsText } from '../reports/citations-text.js'
import { findingFormats, isFindingFormat, renderFindings } from '../reports/finding-formats.js'
import { type Report, reportedSource, reportedVariable } from '../reports/report.js'
import { clonePath, hasClone } from '../source/clone.js'
import { UsageError } from '../source/diagnostic.js'
import { openDirectory } from '../source/directory.js'
import { askGit, commitOf } from '../source/git.js'
import { once } from '../source/once.js'
import { isRelease } from '../source/open.js'
import { newestReleaseOf, openRevision } from '../source/revision.js'
import type { SourceFile } from '../source/text.js'
import type { SourceTree, TreeOrigin } from '../source/tree.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  beyondSnapshot,
  type OutputOptions,
  requestOf,
} from './options.js'
import { replaceFile, styleFor, writeReport } from './output.js'
import { asItsRoleSees, isKubespray, openSubject, reportOfAnalysis, requireKubespray, withPorts } from './subject.js'
import { packageVersion } from './version.js'

interface CiteOptions extends Partial<Writing> {
  readonly check?: boolean
  readonly source?: string
  readonly templates?: string
  readonly all?: boolean
}

/** `whofixes cite`: checks the citations in documents, and writes what only moved. */
export const defineCite: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('cite')
    .description('keep citations in Markdown true: what moved, changed or is gone')
    .argument('<file...>', 'Markdown or MDX; of any other text links and paths are checked')
    .option('--check', 'only say what became of each citation (default)')
    .option('--write', 'write what only moved or is not written yet, between its markers')
    .option('--accept', 'with --write: write also what changed')
    .option('--links', 'with --write: put right plain links that only moved, too')
    .option('--source <source>', 'check everything against this version, as when a text moves to another release')
    .option('--templates <file>', 'a YAML or JSON file with templates and words for the wording')
    .option('--all', 'list also the citations that are true')
  addOutputOptions(addAnalysisOptions(command), ['text', 'json', ...findingFormats]).action(
    (files: readonly string[], options: AnalysisOptions & OutputOptions & CiteOptions) => {
      if (options.check && options.write) throw new UsageError('--check and --write exclude each other')
      if (!options.write && (options.accept || options.links))
        throw new UsageError(`${options.accept ? '--accept' : '--links'} goes with --write`)
      const documents = files.map(readText)
      const wording = options.templates === undefined ? plainWording : wordingIn(options.templates)
      const citations = citationsIn(documents)
      const editions = openEditions(options.source, requestOf(options), {
        problems: citations.flatMap(problemIn),
        variables: citations.flatMap(variableIn),
      })
      const writing = {
        write: options.write === true,
        accept: options.accept === true,
        links: options.links === true,
      }
      const cited = documents.map(file => ({
        ...citeDocument(file, editions, wording, surroundingsOf(file.path, editions), writing),
        file,
      }))
      for (const { file, text } of cited) if (text !== file.text) replaceFile(file.path, text)
      const report: CitationsReport = {
        source: editions.target?.source ?? null,
        documents: cited.map(({ document }) => document),
      }
      const status = statusOf(report)
      writeReport(rendered(report, editions, status, options, terminal), options, terminal)
      finish(status)
    },
  )
}

function rendered(
  report: CitationsReport,
  editions: Editions,
  exitStatus: ExitStatus,
  options: OutputOptions & CiteOptions,
  terminal: Terminal,
): string {
  if (isFindingFormat(options.format)) {
    const findings = findingsOfCitations(report, report.source ?? editions.newest().source)
    const invocation = { version: packageVersion(), exitStatus, directory: process.cwd() }
    return renderFindings(options.format, findings, invocation, ['error', 'warning'])
  }
  return options.format === 'json'
    ? renderCitationsJson(report)
    : renderCitationsText(report, { all: options.all === true, style: styleFor(options, terminal) })
}

/** 2 for markers that cannot be read, 3 for what cannot be told, 1 for what is not true. */
function statusOf(report: CitationsReport): ExitStatus {
  const { invalid, unchecked, moved, changed, gone, unwritten } = countStates(report)
  if (invalid > 0 || report.documents.some(({ problems }) => problems.length > 0)) return 2
  if (unchecked > 0) return 3
  return moved + changed + gone + unwritten > 0 ? 1 : 0
}

/** Larger than any text somebody wrote. */
const maxDocument = 8 * 1024 * 1024

/** A document as it lies on disk. Throws UsageError where it is none that can be read. */
function readText(path: string): SourceFile {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new UsageError(`${path}: no such file`)
  if (!found.isFile()) throw new UsageError(`${path}: not a file; name the documents themselves, as in docs/*.md`)
  if (found.size > maxDocument)
    throw new UsageError(`${path}: ${found.size} bytes; documents above ${maxDocument} are not read`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
    return { path, text }
  } catch (error) {
    const why =
      error instanceof TypeError ? 'not UTF-8' : error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`${path}: cannot be read (${String(why)})`)
  }
}

/** The templates and words of a file. Throws UsageError where it holds something else. */
function wordingIn(path: string): Wording {
  const wording = readWording(readText(path))
  if ('unread' in wording) throw new UsageError(wording.unread)
  return wording
}

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

function openEditions(source: string | undefined, request: AnalysisRequest, cited: CitedNames): OpenEditions {
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
    checkout: top => {
      checkouts.add(top)
      return ofTree(openDirectory(top))
    },
  }
}

/** What an analysis has to tell beside the usual. */
interface CitedNames {
  readonly problems: readonly string[]
  readonly variables: readonly string[]
}

interface OpenEditions extends Editions {
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
  const source = reportedSource(origin)
  const name = origin.revision ?? version.name
  return editionOfCode({ version, name, source }, analysed, (analysis, asked, role) => {
    const found =
      role === undefined
        ? asItsRoleSees(analysis, asked)
        : analysis.roles.find(({ role: { code } }) => code.path === role)?.variables.get(asked)
    return found && { role: role ?? null, variable: reportedVariable(found) }
  })
}

/** What lies around a document: its own repository, and whether that is a kubespray checkout. */
function surroundingsOf(document: string, editions: OpenEditions): Surroundings {
  const directory = dirname(realpathSync(document))
  const top = topOf(directory)
  const inKubespray = top !== undefined && isKubespray(openDirectory(top))
  const edition = once(() => editions.checkout(top ?? directory))
  return {
    isOwn: path => !inKubespray && above(directory, top).some(each => existsSync(join(each, path))),
    checkout:
      top === undefined || !inKubespray
        ? undefined
        : { edition, path: relative(top, realpathSync(document)).split(sep).join('/') },
  }
}

/** The top of the repository a directory stands in. */
function topOf(directory: string): string | undefined {
  return askGit(directory, ['rev-parse', '--show-toplevel'])
}

/** A directory and those above it, up to the top of its repository. */
function above(directory: string, top: string | undefined): readonly string[] {
  if (top === undefined || directory === top) return [directory]
  const parent = dirname(directory)
  return parent === directory ? [directory] : [directory, ...above(parent, top)]
}
