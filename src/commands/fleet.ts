import { type AnalysisRequest, lookAtAnother, type OpenedInventory, openInventory } from '../analyze.js'
import type { Evidence } from '../evidence/evidence.js'
import { type EvidenceHost, evidenceHosts } from '../evidence/open.js'
import { collectGuards, type Guards, guardsHold } from '../host/alike/guards.js'
import { answeredText, dressedAs, type Subject, seldomRead, subjectOf } from '../host/alike/question.js'
import { amounts, differsAt, type Trace, watch } from '../host/alike/watched.js'
import { factsOf } from '../host/facts/facts.js'
import { ANY_HOST, readFacts } from '../inventory/facts.js'
import { groupNamesOf, hostsOf } from '../inventory/inventory.js'
import { readPattern } from '../inventory/patterns.js'
import { formOf, type Network, networksIn } from '../jinja/address-form.js'
import { observeOperations } from '../jinja/observed.js'
import type { Dict, Value } from '../jinja/value.js'
import { sourceOf } from '../recorded/published.js'
import { reportedAnsible } from '../reports/ansible-rules.js'
import { mapTexts } from '../reports/own-words.js'
import type { PreflightReport, ReportedHost, ReportedHostName, ReportedHostProblem } from '../reports/preflight.js'
import { type ReportedDiagnostic, reportedDiagnostic } from '../reports/report.js'
import { type Diagnostic, UsageError } from '../source/diagnostic.js'
import type { SourceTree } from '../source/tree.js'
import { analyzeHost, type HostAnalysis, reportedHost } from './hosts.js'

/** What a fleet is worked out from: everything that is read once. */
export interface Fleet {
  readonly tree: SourceTree
  readonly request: AnalysisRequest
  readonly opened: OpenedInventory
  /** In the order of the inventory. */
  readonly hosts: readonly string[]
  readonly evidence: ReadonlyMap<string, EvidenceHost>
  readonly facts: ReadonlyMap<string, Dict>
  readonly networks: readonly Network[]
  /** Members of results that no role code and no variable names. */
  readonly unread: ReadonlySet<string>
  readonly only: readonly string[] | undefined
  /** What is wrong with what was read. */
  readonly diagnostics: readonly Diagnostic[]
}

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

/** A host with the answers it has: those worked out for the host named. */
export interface Placed {
  readonly name: ReportedHostName
  readonly as: string
  /** Why there is no evidence of it, as a line for the user. */
  readonly missing?: string
}

/** Opens all that the hosts of a pattern share. Throws UsageError where it matches none, or something cannot be read. */
export function openFleet(
  tree: SourceTree,
  request: AnalysisRequest,
  pattern: string,
  only: readonly string[] | undefined,
): Fleet {
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  const opened = openInventory(tree, request, report)
  const { hosts, problems } = readPattern(pattern, opened.inventory)
  const [problem] = problems
  if (hosts.length === 0) {
    throw new UsageError(
      `--host ${pattern}: it matches no host of the inventory${problem === undefined ? '' : ` (${problem})`}`,
    )
  }
  if (request.evidence === undefined) throw new Error('the request names no evidence')
  const all = evidenceHosts(request.evidence, report)
  const [first] = all
  const isOfOne = all.length === 1 && hosts.length === 1 && first !== undefined
  const evidence = new Map(isOfOne ? [[hosts[0] ?? '', first]] : all.map(each => [each.host, each]))
  const facts =
    request.facts === undefined
      ? new Map<string, Dict>()
      : readFacts(request.facts, report, opened.inventory.hosts.keys())
  return { tree, request, opened, hosts, evidence, facts, ...namedIn(tree, opened, request), only, diagnostics }
}

/** Hosts that there is evidence of and that the inventory does not have, a line. */
export function strangersOf({ evidence, opened }: Fleet): readonly string[] {
  const strangers = [...evidence.keys()].filter(host => !opened.inventory.hosts.has(host))
  if (strangers.length === 0) return []
  const more = strangers.length > 8 ? ` and ${strangers.length - 8} more` : ''
  const some = `${strangers.slice(0, 8).join(', ')}${more}`
  return [`evidence of hosts that are not in the inventory is left out: ${some}`]
}

/** What role code and variables name: networks (in which of them an address lies may decide), and members of results. */
function namedIn(
  tree: SourceTree,
  { inventory, beside }: OpenedInventory,
  { extraVars }: AnalysisRequest,
): Pick<Fleet, 'networks' | 'unread'> {
  const texts = [...extraVars]
  const definitions = [
    ...[...inventory.groups.values(), ...inventory.hosts.values()].flatMap(({ variables }) => variables),
    ...beside.flatMap(({ definitions: own }) => own),
  ]
  for (const { at } of definitions) texts.push(at.file.text.slice(at.start, at.end))
  const settings: string[] = [...texts]
  const visit = (directory: string, depth: number): void => {
    for (const name of tree.list(directory)) {
      const path = directory === '' ? name : `${directory}/${name}`
      if (tree.entryKind(path) === 'directory') {
        if (depth < 8) visit(path, depth + 1)
      } else if (/\.(?:ya?ml|j2)$/.test(path)) {
        const text = tree.read(path)?.text ?? ''
        texts.push(text)
        if (/(?:^|\/)(?:defaults|vars|group_vars)\//.test(path)) settings.push(text)
      }
    }
  }
  for (const top of ['roles', 'group_vars', 'playbooks']) if (tree.entryKind(top) === 'directory') visit(top, 0)
  const networks = new Map(settings.flatMap(networksIn).map(network => [network.join('/'), network]))
  const isNamed = (name: string): boolean => texts.some(text => new RegExp(`[.'"]${name}\\b`).test(text))
  return { networks: [...networks.values()], unread: new Set(seldomRead.filter(name => !isNamed(name))) }
}

/** A host that was made ready to be compared. */
export interface Candidate {
  readonly host: string
  readonly origin: string | null
  readonly station: string
  readonly subject: Subject
  readonly missing?: string
}

/** Opens the evidence of a host; where there is none, or it cannot be read, all of it is unknown for that reason. */
export function candidateOf(fleet: Fleet, host: string): Candidate {
  const { opened, facts, networks } = fleet
  const found = fleet.evidence.get(host)
  let evidence: Evidence | undefined
  let missing = `no evidence of ${host}`
  try {
    evidence = found?.open()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    missing = error.message
  }
  const captured = evidence ?? withoutEvidence(host, missing)
  const given = facts.get(host) ?? facts.get(ANY_HOST) ?? (evidence === undefined ? undefined : factsOf(evidence))
  const named = ownNames(host, opened, given, captured)
  const subject = subjectOf(captured, given, named)
  const { inventory, beside } = opened
  const definitions = [
    ...(inventory.hosts.get(host)?.variables ?? []),
    ...beside.flatMap(file => (file.host === host ? file.definitions : [])),
  ].map(({ at }) => subject.identity.mask(at.file.text.slice(at.start, at.end)))
  const station = JSON.stringify([
    ['all', ...groupNamesOf(inventory, host)].map(group => [group, placeIn(hostsOf(inventory, group), host)]),
    definitions,
    [...subject.identity.values].map(([what, value]) => [what, isOfMachine.test(what) ? '' : formOf(value, networks)]),
    facts.has(host),
    // A plain word may stand in any text: nobody shares with such a host.
    /[^A-Za-z]/.test(host) ? '' : host,
    evidence === undefined ? missing : '',
  ])
  return {
    host,
    origin: evidence?.origin ?? null,
    station,
    subject,
    ...(evidence === undefined ? { missing } : {}),
  }
}

/** Numbers of a machine, which say nothing by how they look. */
const isOfMachine = /machine.id|serial|uuid|mac/

/** Longer groups are asked for their first host, and for who is in them. */
const SMALL = 9

function placeIn(hosts: readonly string[], host: string): string {
  const at = hosts.indexOf(host)
  if (hosts.length <= SMALL) return `${at} of ${hosts.length}`
  return at === 0 ? 'first' : at === hosts.length - 1 ? 'last' : ''
}

function withoutEvidence(host: string, because: string): Evidence {
  const unknown = { kind: 'unknown', because } as const
  return {
    host,
    origin: host,
    files: { entry: () => unknown, list: () => unknown },
    command: () => unknown,
  }
}

/** What names a host and no other: its names and addresses in the inventory, in its facts, and in its files. */
function ownNames(
  host: string,
  { inventory }: OpenedInventory,
  facts: Dict | undefined,
  { files }: Evidence,
): readonly (readonly [string, string])[] {
  const named: (readonly [string, string])[] = [['name', host]]
  const add = (what: string, value: string | undefined): void => {
    if (value !== undefined && /[0-9.:-]/.test(value) && !shared.has(value)) named.push([what, value])
  }
  add('short name', host.split('.')[0])
  for (const { name, node } of inventory.hosts.get(host)?.variables ?? []) {
    const value = node.kind === 'scalar' && typeof node.data === 'string' ? node.data : undefined
    if (isName.test(name)) add(name, value)
  }
  for (const name of ['nodename', 'hostname', 'fqdn', 'machine_id', 'product_serial', 'product_uuid'])
    add(name, textOf(facts?.get(name)))
  for (const family of ['default_ipv4', 'default_ipv6']) {
    for (const member of ['address', 'macaddress'])
      add(`${family}.${member}`, textOf(memberOf(facts?.get(family), member)))
  }
  for (const list of ['all_ipv4_addresses', 'all_ipv6_addresses']) {
    const value = facts?.get(list)
    const items = value?.kind === 'known' && Array.isArray(value.data) ? (value.data as readonly Value[]) : []
    for (const [index, item] of items.entries()) add(`${list} ${index + 1}`, textOf(item))
  }
  for (const file of ['/etc/hostname', '/etc/machine-id']) {
    const entry = files.entry(file)
    const content = entry.kind === 'known' && entry.value.kind === 'file' ? entry.value.content() : undefined
    if (content?.kind === 'text') add(file, content.file.text.trim().split('\n')[0])
  }
  return named
}

/** Variables of a host that hold its names and addresses. */
const isName =
  /^(?:ansible_host|ansible_ssh_host|ip|ip6|access_ip|access_ip6|etcd_member_name|kube_override_hostname|etcd_address|etcd_access_address|.*_hostname|.*_address|mac|macaddress)$/

const shared: ReadonlySet<string> = new Set(['127.0.0.1', '127.0.1.1', '::1', '0.0.0.0', '::'])

function textOf(value: Value | undefined): string | undefined {
  return value?.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}

function memberOf(value: Value | undefined, name: string): Value | undefined {
  return value?.kind === 'known' && value.data instanceof Map ? value.data.get(name) : undefined
}

/**
 * Answers that a candidate has, too: at its station, with the same answers to all that was asked. Else where it differs from
 * those there are, as a text: two hosts that differ alike most likely have the same answers.
 */
export function answersFor({ station, subject }: Candidate, all: Iterable<Answers>): Answers | string {
  const differences: string[] = [station]
  for (const each of all) {
    if (each.station !== station) continue
    const at = differsAt(each.trace, subject)
    if (at !== undefined) differences.push(`${each.host} ${at.question} ${at.answer}`)
    else if (guardsHold(each.guards, subject.identity, subject.facts)) return each
    else differences.push(each.host)
  }
  return differences.join('\n')
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
    answeredText(answered, fleet.unread),
  )
  if (onHost === undefined) return undefined
  const report = reportedHost({ ...analysis, onHost }, fleet.only)
  const [facts, looked] = [factsIn(answers.trace), watched.trace()]
  const trace = {
    questions: [...looked.questions, ...facts.questions],
    answers: [...looked.answers, ...facts.answers],
  }
  const masked = mapTexts(withoutTableLines({ ...report, hosts: [] }), maskFor({ ...first, passing: subject.passing }))
  return { ...answers, host, trace, report: masked, diagnostics: [] }
}

/** Whether a run may be that of a candidate, too, as far as facts and names say so. */
export function mayShareRun({ station, subject }: Candidate, { answers }: KnownRun): boolean {
  return (
    answers.station === station &&
    guardsHold(answers.guards, subject.identity, subject.facts) &&
    differsAt(factsIn(answers.trace), subject) === undefined
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
      hostFacts: new Map([...facts, ...own]),
    })
    const { run, origin } = analysis
    const made = { source: sourceOf(origin), playbook: run.playbook, ansible: reportedAnsible(run.ansible) }
    return [analysis, reportedHost(analysis, only), made, analysis.diagnostics.map(reportedDiagnostic)] as const
  })
  const masked = mapTexts(withoutTableLines({ ...report, hosts: [] }), maskFor(subject))
  const answers = { host, station, trace: watched.trace(), guards: guards(), report: masked, head, diagnostics }
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

/** Hosts with the same answers together, the largest groups last: what stands alone is what somebody looks for. */
export function groupsOf(placed: readonly Placed[], all: ReadonlyMap<string, Answers>): readonly ReportedHost[] {
  const groups = new Map<string, { readonly report: ReportedHost; readonly hosts: ReportedHostName[] }>()
  for (const { name, as } of placed) {
    const answers = all.get(as)
    if (answers === undefined) throw new Error(`no answers were worked out for ${as}`)
    const { report } = answers
    const key = JSON.stringify(report)
    const before = groups.get(key)
    if (before === undefined) groups.set(key, { report, hosts: [wordsIn(key, name)] })
    else before.hosts.push(wordsIn(key, name))
  }
  return [...groups.values()].map(({ report, hosts }) => ({ ...report, hosts }))
}

/** Only the words that stand in a text are kept. */
function wordsIn(text: string, { own, ...name }: ReportedHostName): ReportedHostName {
  const used = [...(own ?? [])].filter(([placeholder]) => text.includes(placeholder))
  return { ...name, own: new Map(used) }
}
