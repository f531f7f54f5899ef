import type { CitationState, CitationsReport, CitedPlace, ReportedCitation, ReportedDocument } from './citations.js'
import { type Draft, type FindingLevel, type Findings, fingerprinted } from './findings.js'
import type { ReportedSource } from './report.js'

/** Citations as findings: each stands in the document that cites, and points to what it cites. */
export function findingsOfCitations(report: CitationsReport, source: ReportedSource): Findings {
  return {
    command: 'cite',
    // Not the documents: what a later run is compared by must not change when one is added.
    subject: [],
    source,
    findings: fingerprinted(report.documents.flatMap(document => documentFindings(document, report))),
    diagnostics: [],
    notLookedAt: [],
  }
}

function documentFindings({ path, citations, problems }: ReportedDocument, report: CitationsReport): readonly Draft[] {
  return [
    ...problems.map(({ line, says }) => ({
      ...bare,
      rule: ruleOf('invalid'),
      level: levels.invalid,
      kind: 'fail' as const,
      about: 'a marker',
      message: `${says}.`,
      place: { file: path, line, owner: 'own' as const },
      identity: [path, says],
    })),
    ...citations.map(citation => citationFinding(path, citation, report)),
  ]
}

const bare = { commands: [], related: [], flows: [] } as const

function citationFinding(path: string, citation: ReportedCitation, { source }: CitationsReport): Draft {
  const state = citation.written ? 'true' : citation.state
  const { nearest, now, replacement } = citation
  const related =
    source === null || now === null ? [] : [{ ...placeOf(now), owner: 'kubespray' as const, says: 'what it cites' }]
  const instead = replacement === null || state === 'true' ? '' : ` Write instead: ${replacement}.`
  const near =
    nearest === null
      ? ''
      : ` Nearest: ${nearest.file}${nearest.line === null ? '' : `:${nearest.line}`} (${nearest.why}).`
  return {
    ...bare,
    related,
    rule: ruleOf(state),
    level: levels[state],
    kind: state === 'true' ? 'pass' : state === 'unchecked' ? 'open' : 'fail',
    about: citation.citation,
    message: `${citation.citation}: ${citation.says}.${near}${instead}`,
    place: { file: path, line: citation.line, owner: 'own' },
    identity: [path, citation.citation],
  }
}

function placeOf({ file, first, last }: CitedPlace): {
  readonly file: string
  readonly line: number
  readonly endLine?: number
} {
  return { file, line: first ?? 1, ...(last === null ? {} : { endLine: last }) }
}

const levels: Readonly<Record<CitationState, FindingLevel>> = {
  true: 'none',
  moved: 'warning',
  changed: 'error',
  gone: 'error',
  unwritten: 'warning',
  unchecked: 'warning',
  invalid: 'error',
}

const titles: Readonly<Record<CitationState, string>> = {
  true: 'A citation is true',
  moved: 'What is cited stands elsewhere',
  changed: 'What is cited says something else',
  gone: 'What is cited is gone',
  unwritten: 'A citation is not written yet',
  unchecked: 'A citation could not be checked',
  invalid: 'A marker cannot be read, or names what there is not',
}

const helps: Readonly<Record<CitationState, string>> = {
  true: 'Nothing is to be done.',
  moved: '`whofixes cite --write` puts it right.',
  changed: 'Read what stands there now; `whofixes cite --write --accept` writes it.',
  gone: 'The text has to say something else, or cite something else.',
  unwritten: '`whofixes cite --write` writes it.',
  unchecked: 'Its version is not at hand: `whofixes fetch` gets it.',
  invalid: 'The message says what was expected.',
}

function ruleOf(state: CitationState): Draft['rule'] {
  return { id: `citation-${state}`, title: titles[state], help: helps[state], page: null }
}
