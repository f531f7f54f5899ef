import { type AnswerJson, answerJson } from './reports/answer-json.js'
import type { AuditJson } from './reports/audit-json.js'
import type { CiteJson } from './reports/citations-json.js'
import type { ReportJson } from './reports/report-json.js'
import type { Json } from './reports/value-text.js'
import { UsageError } from './source/diagnostic.js'

// What is imported above this line is all that `import 'whofixes'` loads: two small files and types. The pipeline itself is
// loaded by the first call, so that a program pays for it only where it asks something.

export type { AnswerJson, AuditJson, CiteJson, Json, ReportJson }
export { UsageError }

/** What an analysis is asked for; every option means what it means on the command line, paths are read as given there. */
export interface AnalyzeOptions {
  /** A release (`v2.31.0`), a checkout's directory, or `DIR@REV`; the newest recorded release where absent. */
  readonly source?: string | undefined
  /** The playbook of the run, relative to the checkout; `cluster.yml` where absent. */
  readonly playbook?: string | undefined
  /** INI or YAML inventories, or directories of them. Without one: a single host that is control plane, etcd and node. */
  readonly inventory?: string | readonly string[] | undefined
  /** The host the answer is about; the first of the control plane where absent. */
  readonly host?: string | undefined
  /** Extra variables: `k=v …`, JSON or `@FILE` as texts, or an object whose values keep their types; the last wins. */
  readonly extraVars?: Variables | undefined
  /** A file or directory of facts: what `ansible -m setup` prints or writes. */
  readonly facts?: string | undefined
  /** Facts, variables and registered results taken as given: `NAME=VALUE` texts, or an object by dotted name. */
  readonly assume?: Variables | undefined
  /** Only tasks with these tags. */
  readonly tags?: string | readonly string[] | undefined
  /** Without tasks with these tags. */
  readonly skipTags?: string | readonly string[] | undefined
  /** The version of ansible-core; what the role code pins and checks where absent. */
  readonly ansible?: string | undefined
  /** A directory of problems of your own, besides those of the catalogue. Its files are run. */
  readonly rules?: string | undefined
}

/** What two versions are compared for. */
export interface AuditOptions extends Omit<AnalyzeOptions, 'source'> {
  /** The version that runs now: a release, a directory or `DIR@REV`. */
  readonly old: string
  /** The version that is wanted. */
  readonly new: string
  /** A directory of playbooks and roles of your own that use kubespray's. */
  readonly also?: string | undefined
  /** Also what only moved, and each name that came or went. */
  readonly all?: boolean | undefined
}

/** Which documents are checked, and what may be written into them. */
export interface CiteOptions extends Omit<AnalyzeOptions, 'source' | 'rules'> {
  /** Paths of documents, or documents with their text: then `path` says what they are (`lab.md`) and where they stand. */
  readonly documents: readonly (string | CitedText)[]
  /** The version everything is checked against; where absent each citation has its own. */
  readonly source?: string | undefined
  /** Write what only moved or is not written yet. */
  readonly write?: boolean | undefined
  /** With `write`: write also what changed. */
  readonly accept?: boolean | undefined
  /** With `write`: put right plain links that only moved, too. */
  readonly links?: boolean | undefined
  /** A file of templates and words. */
  readonly templates?: string | undefined
}

/** A document and its text. */
export interface CitedText {
  readonly path: string
  readonly text: string
}

/** What became of the citations, and the documents whose text is another one now; no file has been written. */
export interface CiteResult {
  readonly report: CiteJson
  readonly texts: readonly CitedText[]
}

/** Variables as texts of the command line, as an object, or as a list of either. */
export type Variables = string | VariableObject | readonly (string | VariableObject)[]

/** Variables by name; values are JSON, and templates in texts stay templates. */
export type VariableObject = { readonly [name: string]: Json }

/**
 * Who fixes each problem of a host: what `whofixes report --format json` prints, as an object that shares nothing with other
 * results. Faults of the input are in `diagnostics`. Rejects with UsageError for wrong options and input that cannot be
 * read. The first call loads the pipeline; from then on the analysis runs through without giving way to other work.
 */
export async function analyze(options: AnalyzeOptions = {}): Promise<ReportJson> {
  checkOptions('analyze', options, analyzeOptions)
  const [{ reportFor }, { reportJson }, request] = await Promise.all([
    import('./commands/subject.js'),
    import('./reports/report-json.js'),
    requestFor(options),
  ])
  return detached(reportJson(reportFor(options.source, request)))
}

/**
 * What changes between two versions of kubespray, for an inventory where one is given: what `whofixes audit --format json`
 * prints, with the faults of the input of the new version in `diagnostics`. Rejects with UsageError as `analyze` does, and
 * where one of the two is no kubespray.
 */
export async function audit(options: AuditOptions): Promise<AuditJson> {
  checkOptions('audit', options, auditOptions)
  const [{ auditOf, shownChanges }, { auditJson }, request] = await Promise.all([
    import('./commands/audit.js'),
    import('./reports/audit-json.js'),
    requestFor(options),
  ])
  const { audit } = auditOf(options.old, options.new, request, options.also)
  return detached(auditJson(shownChanges(audit, options.all === true)))
}

/**
 * What became of the citations in documents: what `whofixes cite --format json` prints, and the texts that `cite --write` would
 * write; no file is changed. Rejects with UsageError as `analyze` does, and for a document that cannot be read.
 */
export async function cite(options: CiteOptions): Promise<CiteResult> {
  checkOptions('cite', options, citeOptions)
  const [{ citeTexts }, { citationsJson }, { readText, wordingIn }, { plainWording }, request] = await Promise.all([
    import('./commands/cite.js'),
    import('./reports/citations-json.js'),
    import('./commands/documents.js'),
    import('./citations/template.js'),
    requestFor(options),
  ])
  const { write = false, accept = false, links = false, templates } = options
  const { report, texts } = citeTexts(
    options.documents.map(document => (typeof document === 'string' ? readText(document) : document)),
    request,
    {
      source: options.source,
      wording: templates === undefined ? plainWording : wordingIn(templates),
      writing: { write, accept, links },
    },
  )
  return detached({ report: citationsJson(report), texts })
}

/**
 * The lab's who-fixes.json for a report: what `whofixes answer` prints, key by key in that order. `unknown` where it could
 * not be told. Only a report on kubespray's role code makes sense of it.
 */
export function whoFixes(report: Pick<ReportJson, 'problems' | 'variables'>): AnswerJson {
  return answerJson(report.problems, report.variables.sysctl_file_path)
}

/** The releases whose answers the package carries, oldest first. */
export async function recordedReleases(): Promise<readonly string[]> {
  const snapshots = await import('./recorded/snapshot.js')
  return snapshots.recordedReleases()
}

/** The request of the command line with these options. */
async function requestFor(options: Omit<AnalyzeOptions, 'source'>) {
  const { requestOf, splitTags } = await import('./commands/options.js')
  const { host, facts, ansible, rules } = options
  return requestOf({
    playbook: options.playbook ?? 'cluster.yml',
    inventory: listOf(options.inventory),
    extraVars: listOf(options.extraVars).map(each => (typeof each === 'string' ? each : jsonText('extraVars', each))),
    assume: listOf(options.assume).flatMap(each =>
      typeof each === 'string'
        ? [each]
        : Object.entries(each).map(([name, value]) => `${checkedName(name)}=${jsonText(`assume.${name}`, value)}`),
    ),
    tags: listOf(options.tags).flatMap(splitTags),
    skipTags: listOf(options.skipTags).flatMap(splitTags),
    ...(host === undefined ? {} : { host }),
    ...(facts === undefined ? {} : { facts }),
    ...(ansible === undefined ? {} : { ansible }),
    ...(rules === undefined ? {} : { rules }),
  })
}

function listOf<Each>(given: Each | readonly Each[] | undefined): readonly Each[] {
  if (given === undefined) return []
  return Array.isArray(given) ? given : [given as Each]
}

/** The text of an assumption ends its name at the first `=`. */
function checkedName(name: string): string {
  if (name.includes('=')) throw new UsageError(`assume.${name}: expected a dotted name without =`)
  return name
}

/** A value as JSON text; UsageError for what JSON cannot hold, such as a cycle. */
function jsonText(option: string, value: unknown): string {
  try {
    const text = JSON.stringify(value)
    if (text !== undefined) return text
  } catch (error) {
    const [why] = String(error instanceof Error ? error.message : error).split('\n')
    throw new UsageError(`${option}: cannot be written as JSON: ${why}`)
  }
  throw new UsageError(`${option}: expected a JSON value, got ${nameOf(value)}`)
}

/** What is printed, as data of its own: a change made to it changes no later result. */
function detached<Result>(result: Result): Result {
  return JSON.parse(JSON.stringify(result))
}

/** What an option may hold, in words and as a test. */
type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const isText = (value: unknown): boolean => typeof value === 'string'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const oneOrMore = (holds: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) ? value.every(holds) : holds(value)

const text: Check = ['a text', isText]
const texts: Check = ['a text or a list of texts', oneOrMore(isText)]
const variables: Check = ['a text, an object, or a list of these', oneOrMore(value => isText(value) || isObject(value))]
const flag: Check = ['true or false', value => typeof value === 'boolean']

const sharedOptions = {
  playbook: text,
  inventory: texts,
  host: text,
  extraVars: variables,
  facts: text,
  assume: variables,
  tags: texts,
  skipTags: texts,
  ansible: text,
  rules: text,
}

const analyzeOptions: Readonly<Record<keyof AnalyzeOptions, Check>> = { source: text, ...sharedOptions }
const auditOptions: Readonly<Record<keyof AuditOptions, Check>> = {
  old: text,
  new: text,
  ...sharedOptions,
  also: text,
  all: flag,
}
const { rules: _, ...citeShared } = sharedOptions
const citeOptions: Readonly<Record<keyof CiteOptions, Check>> = {
  documents: [
    'a list of paths, or of objects with path and text',
    value => Array.isArray(value) && value.every(each => isText(each) || isCitedText(each)),
  ],
  source: text,
  ...citeShared,
  write: flag,
  accept: flag,
  links: flag,
  templates: text,
}
const required: ReadonlySet<string> = new Set(['old', 'new', 'documents'])

function isCitedText(value: unknown): boolean {
  const { path, text: written } = Object(value)
  return isText(path) && isText(written)
}

/** Callers in plain JavaScript have no compiler that tells them of a misspelt option, or of one of another type. */
function checkOptions(called: string, options: unknown, checks: Readonly<Record<string, Check>>): void {
  if (!isObject(options)) throw new UsageError(`${called}: expected an object of options, got ${nameOf(options)}`)
  const given = new Map(Object.entries(options as object))
  for (const name of given.keys()) {
    if (Object.hasOwn(checks, name)) continue
    throw new UsageError(`${called}: no option ${name}; there are ${Object.keys(checks).join(', ')}`)
  }
  for (const [name, [expected, holds]] of Object.entries(checks)) {
    const value = given.get(name)
    if (value === undefined && !required.has(name)) continue
    if (!holds(value)) throw new UsageError(`${called}: ${name}: expected ${expected}, got ${nameOf(value)}`)
  }
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  return `a ${typeof value === 'object' ? 'object' : typeof value}`.replace('a object', 'an object')
}
