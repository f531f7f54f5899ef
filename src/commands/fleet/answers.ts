import { lookAtAnother } from '../../analyze.js'
import { collectGuards, type Guards, guardsHold } from '../../host/alike/guards.js'
import { exchange } from '../../host/alike/identity.js'
import { answeredText, dressedAs, type Subject } from '../../host/alike/question.js'
import { amounts, hasSameAnswers, type Trace, watch } from '../../host/alike/watched.js'
import { observeOperations } from '../../jinja/observed.js'
import type { Dict } from '../../jinja/value.js'
import { sourceOf } from '../../recorded/published.js'
import { reportedAnsible } from '../../reports/ansible-rules.js'
import { mapTexts } from '../../reports/own-words.js'
import type { PreflightReport, ReportedHost, ReportedHostName, ReportedHostProblem } from '../../reports/preflight.js'
import { type ReportedDiagnostic, reportedDiagnostic } from '../../reports/report.js'
import { analyzeHost, type HostAnalysis, reportedHost } from '../hosts.js'
import type { Candidate } from './candidate.js'
import type { Fleet } from './fleet.js'

/** Answers that were worked out for one host, and what makes another host have the same. */
export interface Answers {
  readonly host: string
  /** What is told of a host before anything is asked of it. */
  readonly station: string
  readonly trace: Trace
  readonly guards: Guards
  /** Texts with placeholders for the host's own names; `hosts` is empty. */
  readonly report: ReportedHost
  readonly head: Omit<PreflightReport, 'hosts'>
  readonly diagnostics: readonly ReportedDiagnostic[]
}

/** Answers that a candidate has, too: at its station, with the same answers to all that was asked. */
export function answersFor({ station, subject }: Candidate, all: Iterable<Answers>): Answers | undefined {
  for (const each of all) {
    const isSame = each.station === station && hasSameAnswers(each.trace, subject)
    if (isSame && guardsHold(each.guards, subject.identity, subject.facts)) return each
  }
  return undefined
}

/** A run that was worked out, for hosts that differ from its own in what the run does not ask. */
export interface KnownRun {
  readonly answers: Answers
  readonly subject: Subject
  readonly analysis: HostAnalysis
}

/**
 * The answers for a candidate by a run that is known: one at the same station with the same facts, of which the candidate answers
 * all that the tasks of the run asked alike. What the run did is done to it, and it is looked at as its own.
 */
export function workOutBy(fleet: Fleet, { host, subject }: Candidate, known: KnownRun): Answers | undefined {
  const { answers, analysis, subject: first } = known
  const dressed = dressedAs(subject, first.identity)
  const watched = watch(dressed)
  const onHost = lookAtAnother(fleet.tree, analysis, watched.evidence, watched.moment, answered =>
    answeredText(answered, fleet.named().unread),
  )
  if (onHost === undefined) return undefined
  const report = reportedHost({ ...analysis, onHost }, fleet.only)
  for (const { path } of report.changes) watched.shows(path)
  const [facts, looked] = [factsIn(answers.trace), watched.trace()]
  const trace = {
    questions: [...looked.questions, ...facts.questions],
    answers: [...looked.answers, ...facts.answers],
  }
  const exchanged = exchange(subject.identity, first.identity)
  const identity = { ...subject.identity, mask: (text: string) => subject.identity.mask(exchanged(text)) }
  const masked = mapTexts(
    withoutTableLines({ ...report, hosts: [] }),
    maskFor({ ...first, identity, passing: subject.passing }),
  )
  return { ...answers, host, trace, report: masked, diagnostics: [] }
}

/** Whether a run may be that of a candidate, too, as far as facts and names say so. */
export function mayShareRun({ station, subject }: Candidate, answers: Answers): boolean {
  return (
    answers.station === station &&
    guardsHold(answers.guards, subject.identity, subject.facts) &&
    hasSameAnswers(factsIn(answers.trace), subject)
  )
}

/** What was asked of facts. */
function factsIn({ questions, answers }: Trace): Trace {
  const indices = [...questions.keys()].filter(index => /^facts?$/.test(questions[index]?.kind ?? ''))
  return {
    questions: indices.flatMap(index => questions[index] ?? []),
    answers: indices.flatMap(index => answers[index] ?? []),
  }
}

/** Works the answers out for a candidate, and notes what they rest on. */
export function workOut(fleet: Fleet, { host, station, subject }: Candidate): KnownRun {
  const { tree, request, opened, facts, only } = fleet
  const watched = watch(subject)
  const { told, guards } = collectGuards(subject.identity, subject.facts)
  const own = watched.facts === undefined ? [] : [[host, watched.facts] as const]
  const { evidence: _path, facts: _facts, ...plain } = request
  const [analysis, report, head, diagnostics] = observeOperations(told, () => {
    const analysis = analyzeHost(tree, {
      ...plain,
      host,
      opened,
      hostEvidence: watched.evidence,
      hostMoment: watched.moment,
      hostFacts: new Map([...facts(), ...own]),
    })
    const { run, origin } = analysis
    const made = { source: sourceOf(origin), playbook: run.playbook, ansible: reportedAnsible(run.ansible) }
    return [analysis, reportedHost(analysis, only), made, analysis.diagnostics.map(reportedDiagnostic)] as const
  })
  for (const { path } of report.changes) watched.shows(path)
  const masked = mapTexts(withoutTableLines({ ...report, hosts: [] }), maskFor(subject))
  const answers = {
    host,
    station,
    trace: watched.trace(),
    guards: guards(),
    report: masked,
    head,
    diagnostics,
  }
  return { answers, subject, analysis }
}

/** Tables of the kernel have their lines in an order of their own on each host. */
const table = /^\/proc\/(?:modules|(?:1\/)?net\/)/

function withoutTableLines(report: ReportedHost): ReportedHost {
  const problems = report.problems.map(problem => {
    const plain = (answer: ReportedHostProblem['now']): ReportedHostProblem['now'] => ({
      ...answer,
      places: answer.places.map(({ line, ...place }) =>
        line === undefined || table.test(place.file) ? place : { ...place, line },
      ),
    })
    const { now, afterRun, afterReboot } = problem
    return { ...problem, now: plain(now), afterRun: plain(afterRun), afterReboot: plain(afterReboot) }
  })
  return { ...report, problems }
}

/** Fields of a report that hold words of role code and names of things, never of one host. */
const fixed: ReadonlySet<string> = new Set(['id', 'title', 'key', 'state', 'kind', 'permalink'])

/** Puts placeholders into the texts of a report. Numbers of processes stand only where processes are named. */
function maskFor({ identity, passing, facts }: Subject): (text: string, key: string) => string {
  const numbers = [...amounts].flatMap(fact => {
    const value = amountIn(facts, fact)
    return value === undefined ? [] : [[fact, new RegExp(`(${fact}(?:'\\])? is )${value}(?![0-9])`, 'g')] as const]
  })
  return (text, key) => {
    if (fixed.has(key)) return text
    let masked = identity.mask(text).replace(/\(process [0-9, ]+\)/g, found => passing.mask(found))
    if (
      key === 'command' &&
      /^(?:kill|docker|podman|nerdctl|crictl|sudo|lxc-stop|machinectl|systemctl stop) /.test(text)
    )
      masked = passing.mask(masked)
    for (const [fact, pattern] of numbers) masked = masked.replace(pattern, `$1⟦${fact}⟧`)
    return masked
  }
}

function amountIn(facts: Dict | undefined, fact: string): string | undefined {
  const value = facts?.get(fact)
  return value?.kind === 'known' && typeof value.data === 'bigint' ? String(value.data) : undefined
}

/** A host with the answers it has: those worked out for the host named. */
export interface Placed {
  readonly name: ReportedHostName
  readonly as: string
  /** Why there is no evidence of it, as a line for the user. */
  readonly missing?: string
}

/** A host with the answers it has. */
export function placedAs({ host, origin, subject, missing }: Candidate, { host: as }: Answers): Placed {
  const { identity, passing, facts } = subject
  const numbers = [...amounts].flatMap(fact => {
    const value = amountIn(facts, fact)
    return value === undefined ? [] : [[`⟦${fact}⟧`, value] as const]
  })
  const own = new Map([...identity.values, ...passing.values, ...numbers])
  return { name: { host, evidence: origin, own }, as, ...(missing === undefined ? {} : { missing }) }
}

/** Hosts with the same answers together, in the order of their first hosts. */
export function groupsOf(placed: readonly Placed[], all: ReadonlyMap<string, Answers>): readonly ReportedHost[] {
  const texts = new Map([...all].map(([as, { report }]) => [as, JSON.stringify(report)]))
  const groups = new Map<string, Group>()
  for (const { name, as } of placed) {
    const [report, text] = [all.get(as)?.report, texts.get(as)]
    if (report === undefined || text === undefined) throw new Error(`no answers were worked out for ${as}`)
    const group = groups.get(text) ?? { report, words: new Set(text.match(/⟦[^⟧]*⟧/g)), hosts: [] }
    groups.set(text, group)
    group.hosts.push(onlyWords(group.words, name))
  }
  return [...groups.values()].map(({ report, hosts }) => ({ ...report, hosts }))
}

interface Group {
  readonly report: ReportedHost
  /** The placeholders that stand in the report. */
  readonly words: ReadonlySet<string>
  readonly hosts: ReportedHostName[]
}

function onlyWords(words: ReadonlySet<string>, { own, ...name }: ReportedHostName): ReportedHostName {
  return { ...name, own: new Map([...(own ?? [])].filter(([placeholder]) => words.has(placeholder))) }
}
