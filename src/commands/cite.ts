import type { AnalysisRequest } from '../analyze.js'
import { citeDocument, type Writing } from '../citations/cite.js'
import { plainWording, type Wording } from '../citations/template.js'
import { findingsOfCitations } from '../reports/citation-findings.js'
import { type CitationsReport, countStates } from '../reports/citations.js'
import { renderCitationsJson } from '../reports/citations-json.js'
import { renderCitationsText } from '../reports/citations-text.js'
import { findingFormats, isFindingFormat, renderFindings } from '../reports/finding-formats.js'
import type { ReportedSource } from '../reports/report.js'
import { UsageError } from '../source/diagnostic.js'
import type { SourceFile } from '../source/text.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import { readDocuments, surroundingsOf, wordingIn } from './documents.js'
import { openEditions } from './editions.js'
import {
  type AnalysisOptions,
  addAnalysisOptions,
  addOutputOptions,
  addReportOption,
  type OutputOptions,
  type ReportFileOptions,
  requestOf,
} from './options.js'
import { replaceFile, styleFor, writeReports } from './output.js'
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
    .argument('<file...>', 'Markdown or MDX, or a pattern; of any other text links and paths are checked')
    .option('--check', 'only say what became of each citation (default)')
    .option('--write', 'write what only moved or is not written yet, between its markers')
    .option('--accept', 'with --write: write also what changed')
    .option('--links', 'with --write: put right plain links to a tag or commit that only moved, too; not in code')
    .option('--source <source>', 'check everything against this version, as when a text moves to another release')
    .option('--templates <file>', 'a YAML or JSON file with templates and words for the wording')
    .option('--all', 'list also the citations that are true')
  const formats = ['text', 'json', ...findingFormats]
  addReportOption(addOutputOptions(addAnalysisOptions(command), formats), formats).action(
    (files: readonly string[], options: AnalysisOptions & OutputOptions & ReportFileOptions & CiteOptions) => {
      if (options.check && options.write) throw new UsageError('--check and --write exclude each other')
      if (!options.write && (options.accept || options.links))
        throw new UsageError(`${options.accept ? '--accept' : '--links'} goes with --write`)
      const documents = readDocuments(files)
      const { write = false, accept = false, links = false } = options
      const { report, newest, texts } = citeTexts(documents, requestOf(options), {
        source: options.source,
        wording: options.templates === undefined ? plainWording : wordingIn(options.templates),
        writing: { write, accept, links },
      })
      for (const { path, text } of texts) replaceFile(path, text)
      const status = statusOf(report)
      writeReports(chosen => rendered(report, newest, status, chosen, terminal), options, terminal)
      finish(status)
    },
  )
}

/** What became of the citations of some documents, and the texts that are to be written. */
export interface CitedTexts {
  readonly report: CitationsReport
  /** Documents with another text than before. */
  readonly texts: readonly SourceFile[]
  /** The newest version there is. */
  readonly newest: () => ReportedSource
}

/** Checks the citations of documents, and makes the texts that `writing` allows; nothing is written here. */
export function citeTexts(
  documents: readonly SourceFile[],
  request: AnalysisRequest,
  options: { readonly source: string | undefined; readonly wording: Wording; readonly writing: Writing },
): CitedTexts {
  const { source, wording, writing } = options
  const editions = openEditions(source, request, documents)
  const cited = documents.map(file =>
    citeDocument(file, editions, wording, surroundingsOf(file.path, editions), writing),
  )
  const texts = documents.map(({ path }, index) => ({ path, text: cited[index]?.text ?? '' }))
  return {
    report: { source: editions.target?.source ?? null, documents: cited.map(({ document }) => document) },
    texts: texts.filter(({ text }, index) => text !== documents[index]?.text),
    newest: () => editions.newest().source,
  }
}

function rendered(
  report: CitationsReport,
  newest: () => ReportedSource,
  exitStatus: ExitStatus,
  options: OutputOptions & CiteOptions,
  terminal: Terminal,
): string {
  if (isFindingFormat(options.format)) {
    const findings = findingsOfCitations(report, report.source ?? newest())
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
