import { addressText, type PartialAddress, parseAddress, shortHash } from '../addresses/address.js'
import type { AddressedTask } from '../addresses/addressed.js'
import { parseExpression } from '../jinja/parser.js'
import type { NearestPlace } from '../reports/citations.js'
import type { ReportedEvidence, ReportedVerdict } from '../reports/report.js'
import { valueText } from '../reports/value-text.js'
import { isRelease } from '../source/open.js'
import { pathToOpen, positionOf, type Span } from '../source/text.js'
import { type Citation, withAddress, withPlace } from './citation.js'
import type { Edition } from './edition.js'
import { findTask } from './follow/find-task.js'
import { followLines } from './follow/follow-lines.js'
import { findTaskAcross } from './follow/task-across.js'
import { fileLines, type Version } from './follow/version.js'
import type { PinnedPlace } from './pin.js'
import type { Fields } from './template.js'

/** What a citation names in an edition. */
export type LookedUp =
  | Found
  | { readonly kind: 'gone'; readonly says: string; readonly nearest?: NearestPlace }
  /** It cannot be told from what is at hand. */
  | { readonly kind: 'unchecked'; readonly says: string }
  /** The marker names what there is not. */
  | { readonly kind: 'invalid'; readonly says: string }

export interface Found {
  readonly kind: 'found'
  /** Null for a verdict that no task decides. */
  readonly place: PinnedPlace | null
  /** Equal in two editions where they say the same of what is cited. */
  readonly content: string
  /** Whether it says what it said before, where that is known from comparing the two; else `content` tells. */
  readonly isSame?: boolean
  /** How it was recognised, where it is not simply what was asked for. */
  readonly how?: string
  /** Of a task. */
  readonly address?: PartialAddress
  /** What the marker has to say now to name the same. */
  readonly says?: (before: string) => string
  /** What a template may put in, without the fields of the edition itself. */
  readonly fields: Fields
  /** What the lines of the place say, without their common indentation; absent where no role code is at hand. */
  readonly excerpt?: string
}

/** What a citation was when it was last written, and the edition it was written from, or its author read. */
export interface Before {
  readonly address: PartialAddress | undefined
  readonly place: PinnedPlace | null
  /** A hash. */
  readonly content: string | undefined
  /** The name of the version it was written from. */
  readonly version: string | undefined
  /** Undefined where it is not at hand. */
  readonly edition: Edition | undefined
}

const nowhere: Fields = { task: null, role: null, module: null, address: null, effect: null }

/** Looks up what a citation names in an edition. `before` says which task or lines it was, where it was written before. */
export function lookUp(citation: Citation, edition: Edition, before: Before): LookedUp {
  switch (citation.kind) {
    case 'verdict':
      return lookUpVerdict(citation.problem, edition)
    case 'deciding':
      return lookUpDeciding(citation, edition)
    case 'task':
      return lookUpTask(citation.address, edition, before, addressed => taskFound(addressed, edition), true)
    case 'condition':
      if (edition.code === undefined) {
        return { kind: 'unchecked', says: `conditions need the role code of ${edition.name}; ${fetchHint}` }
      }
      return lookUpTask(
        citation.address,
        edition,
        before,
        addressed => conditionFound(addressed, citation.nth, edition),
        false,
      )
    case 'variable':
      return lookUpVariable(citation.name, citation.role, edition)
    case 'lines':
      return lookUpLines(citation, edition, before)
  }
}

type NotFound = Extract<LookedUp, { readonly kind: 'unchecked' | 'invalid' }>

function verdictIn(edition: Edition, problem: string): ReportedVerdict | NotFound {
  const { problems } = edition.report()
  const verdict = problems.find(({ id }) => id === problem)
  if (verdict !== undefined) return verdict
  if (edition.code === undefined && /^port_\d{1,5}$/.test(problem)) {
    return { kind: 'unchecked', says: `${edition.name} is only recorded, without ${problem}; ${fetchHint}` }
  }
  const names = problems.map(({ id }) => id).join(', ')
  return { kind: 'invalid', says: `no problem '${problem}'; there are ${names}, and port_N for any port` }
}

function lookUpVerdict(problem: string, edition: Edition): LookedUp {
  const verdict = verdictIn(edition, problem)
  if ('kind' in verdict) return verdict
  const evidence = verdict.now.evidence[0] ?? verdict.afterReboot.evidence[0]
  const said = (fixedBy: string, condition: string | null): string =>
    // Conditions are quoted otherwise where only a snapshot is at hand.
    condition === null ? fixedBy : `${fixedBy} under a condition`
  return {
    kind: 'found',
    ...standing(evidence, edition),
    content: [
      said(verdict.fixedBy, verdict.condition),
      said(verdict.now.fixedBy, verdict.now.condition),
      said(verdict.afterReboot.fixedBy, verdict.afterReboot.condition),
    ].join('; '),
    fields: {
      ...(evidence === undefined ? nowhere : evidenceFields(evidence)),
      problem,
      title: verdict.title,
      verdict: verdict.fixedBy,
      condition: verdict.condition,
      now: verdict.now.fixedBy,
      afterReboot: verdict.afterReboot.fixedBy,
    },
  }
}

function lookUpDeciding({ problem, phase, nth }: Extract<Citation, { kind: 'deciding' }>, edition: Edition): LookedUp {
  const verdict = verdictIn(edition, problem)
  if ('kind' in verdict) return verdict
  const phases = phase === 'now' ? ['now'] : phase === 'reboot' ? ['afterReboot'] : ['now', 'afterReboot']
  const evidence = phases.flatMap(each => (each === 'now' ? verdict.now : verdict.afterReboot).evidence)[nth - 1]
  if (evidence === undefined) {
    const near = verdict.nearMisses[0]
    const nearest = near && { file: near.file, line: near.line, why: near.why ?? 'it does something else' }
    const says = `no task decides ${problem} in ${edition.name}: it is ${verdict.fixedBy}`
    return { kind: 'gone', says, ...(nearest === undefined ? {} : { nearest }) }
  }
  return {
    kind: 'found',
    ...standing(evidence, edition),
    content: contentOf(evidence),
    ...addressOf(evidence),
    fields: { ...evidenceFields(evidence), problem, title: verdict.title, condition: evidence.condition },
  }
}

function addressOf({ address }: ReportedEvidence): { readonly address?: PartialAddress } {
  const read = address === null ? undefined : parseAddress(address)
  return read === undefined ? {} : { address: read }
}

/** What the deciding task says, by its address; of one that has none, where it stands. */
function contentOf({ address, file, task }: ReportedEvidence): string {
  return (address === null ? undefined : parseAddress(address)?.content) ?? `${file}: ${task}`
}

function evidenceFields({ task, role, module, effect, address }: ReportedEvidence): Fields {
  return { task, role, module, address, effect }
}

/** The place of a piece of evidence: the whole task where its code is at hand, else its first line. */
function standing(
  evidence: ReportedEvidence | undefined,
  edition: Edition,
): { readonly place: PinnedPlace | null; readonly excerpt?: string } {
  if (evidence === undefined) return { place: null }
  const { file, line, address } = evidence
  const version = edition.code?.version
  const asked = address === null ? undefined : parseAddress(address)
  const found = version === undefined || asked === undefined ? undefined : findTask(version.addresses, asked)
  return found?.state === 'same' && version !== undefined
    ? placeOfTask(found.task, version)
    : { place: { file, first: line, last: line } }
}

type Excerpted = { readonly place: PinnedPlace; readonly excerpt: string }

function placeOfTask({ task }: AddressedTask, version: Version): Excerpted {
  return linesOfSpan(task.at, version)
}

/** Whole lines of what stands at a place, without comments and blank lines at the end. */
function linesOfSpan({ file, start, end }: Span, version: Version): Excerpted {
  const first = positionOf(file, start).line
  const lines = (fileLines(version, file.path) ?? []).slice(first - 1, positionOf(file, Math.max(start, end - 1)).line)
  const count = lines.findLastIndex(line => !/^\s*(?:#|$)/.test(line)) + 1
  const last = first + Math.max(1, count) - 1
  return { place: { file: pathToOpen(file), first, last }, excerpt: dedented(lines.slice(0, Math.max(1, count))) }
}

function dedented(lines: readonly string[]): string {
  const indents = lines.filter(line => line.trim() !== '').map(line => line.length - line.trimStart().length)
  const indent = indents.length === 0 ? 0 : Math.min(...indents)
  return lines.map(line => line.slice(indent).trimEnd()).join('\n')
}

function lookUpTask(
  asked: PartialAddress,
  edition: Edition,
  before: Before,
  found: (task: AddressedTask) => LookedUp,
  aboutWhole: boolean,
): LookedUp {
  // What was written says more than the author did, as long as it is about the same task.
  const known = before.address
  const address = known !== undefined && isPartOf(asked, known) ? known : asked
  if (edition.code === undefined) return recordedTask(address, asked, edition)
  const { version } = edition.code
  const old = before.edition?.code?.version
  const answer = old === undefined ? findTask(version.addresses, address) : findTaskAcross(old, version, address)
  if (answer.state === 'ambiguous') {
    const some = answer.among.slice(0, 4).map(({ address: each }) => addressText(each))
    return {
      kind: 'invalid',
      says: `${addressText(address)} is the address of ${answer.among.length} tasks: ${some.join(', ')}`,
    }
  }
  if (answer.state === 'gone') {
    const nearest = answer.nearest && {
      file: pathToOpen(answer.nearest.task.task.at.file),
      line: positionOf(answer.nearest.task.task.at.file, answer.nearest.task.task.at.start).line,
      why: `${addressText(answer.nearest.task.address)}: ${answer.nearest.why}`,
    }
    return {
      kind: 'gone',
      says: `${edition.name} has no task ${addressText(address)}`,
      ...(nearest === undefined ? {} : { nearest }),
    }
  }
  const looked = found(answer.task)
  if (looked.kind !== 'found') return looked
  const { address: now } = answer.task
  // Whether the task changed as a whole says nothing of its conditions.
  const how = answer.state === 'changed' && aboutWhole ? { how: answer.how } : {}
  if (isPartOf(asked, now)) return { ...looked, ...how }
  return { ...looked, how: answer.how, says: says => withAddress(says, now) }
}

/** Whether an address somebody wrote is that of a task, as far as it goes. */
function isPartOf(asked: PartialAddress, whole: PartialAddress): boolean {
  return (
    asked.owner === whole.owner &&
    asked.name === whole.name &&
    (asked.module === undefined || asked.module === whole.module) &&
    (asked.ordinal === undefined || asked.ordinal === (whole.ordinal ?? 1))
  )
}

function recordedTask(address: PartialAddress, asked: PartialAddress, edition: Edition): LookedUp {
  const places = edition.recordedTasks?.(address) ?? []
  const same = places.filter(({ content }) => address.content === undefined || content === address.content)
  const [one, ...more] = same.length > 0 ? same : places
  if (one === undefined) {
    return {
      kind: 'unchecked',
      says: `${edition.name} is only recorded, and no recorded task has this address; ${fetchHint}`,
    }
  }
  if (more.length > 0) {
    const some = places.map(({ file, line }) => `${file}:${line}`)
    return {
      kind: 'invalid',
      says: `${addressText(asked)} is the address of ${places.length} tasks: ${some.join(', ')}`,
    }
  }
  return {
    kind: 'found',
    place: { file: one.file, first: one.line, last: one.line },
    content: one.content,
    address: { ...asked, content: one.content },
    fields: { ...nowhere, role: asked.owner, address: one.address },
  }
}

export const fetchHint = 'make or update the clone with: whofixes fetch'

/** Says that a version is not at hand; of branches the clone has the default one only. */
export function notAtHand(name: string): string {
  const why = isRelease(name) ? '' : ': it is no release, and not on the default branch as the clone has it'
  return `${name} is not at hand${why}; ${fetchHint}`
}

function taskFound(addressed: AddressedTask, edition: Edition): LookedUp {
  const { task, address } = addressed
  if (edition.code === undefined)
    return { kind: 'unchecked', says: `needs the role code of ${edition.name}; ${fetchHint}` }
  return {
    kind: 'found',
    ...placeOfTask(addressed, edition.code.version),
    content: address.content,
    address,
    fields: {
      task: task.name ?? null,
      role: address.owner,
      module: task.module,
      address: addressText(address),
      effect: null,
    },
  }
}

function conditionFound(addressed: AddressedTask, nth: number | undefined, edition: Edition): LookedUp {
  const conditions = edition.code?.conditionsOf(addressed.task.at) ?? []
  const task = taskFound(addressed, edition)
  if (task.kind !== 'found') return task
  const shown = nth === undefined ? conditions : conditions.slice(nth - 1, nth)
  const [only] = shown
  if (only === undefined) {
    const { address, task: found } = addressed
    const isReached = found.when.length === 0 || conditions.length > 0
    const count = conditions.length === 0 ? 'no condition' : conditions.length === 1 ? 'one' : `${conditions.length}`
    const says = isReached ? `has ${count} in this run` : 'is nothing that this run comes to; --playbook names another'
    return { kind: 'gone', says: `${addressText(address)} ${says}` }
  }
  const { excerpt: _, ...rest } = task
  const runs = shown.some(each => each.runs === 'false')
    ? 'false'
    : shown.some(each => each.runs === 'unknown')
      ? 'unknown'
      : 'true'
  const joined = shown.length === 1 ? only.text : shown.map(({ text }) => bracketed(text)).join(' and ')
  return {
    ...rest,
    place: nth === undefined ? rest.place : { file: only.file, first: only.line, last: only.line },
    content: joined,
    fields: { ...rest.fields, condition: joined, runs },
  }
}

const nowhereIn: Span = { file: { path: '', text: '' }, start: 0, end: 0 }

/** A condition as it stands in a row of others: in brackets where it binds less tightly than `and`. */
function bracketed(text: string): string {
  const { kind } = parseExpression(text, nowhereIn)
  return kind === 'or' || kind === 'conditional' ? `(${text})` : text
}

function lookUpVariable(name: string, role: string | undefined, edition: Edition): LookedUp {
  const seen = edition.variable(name, role)
  if (seen === undefined || seen.variable.status === 'undefined') {
    const where = role === undefined ? 'no role' : `role ${role} does not have it, or no role`
    return { kind: 'gone', says: `${edition.name} has no variable ${name}: ${where} of this run defines it` }
  }
  const { status, value, origin, file, line, because } = seen.variable
  const shown = status === 'known' ? valueText(value, Number.POSITIVE_INFINITY) : `not known: ${because ?? ''}`
  return {
    kind: 'found',
    place: file === null || line === null ? null : { file, first: line, last: line },
    content: shown,
    fields: { name, value: shown, status, origin, role: seen.role },
  }
}

function lookUpLines(
  { path, first, last }: { readonly path: string; readonly first: number; readonly last: number },
  edition: Edition,
  before: Before,
): LookedUp {
  if (edition.code === undefined)
    return { kind: 'unchecked', says: `lines need the role code of ${edition.name}; ${fetchHint}` }
  const { version } = edition.code
  const old = before.edition?.code?.version
  const place = before.place ?? { file: path, first, last }
  if (old === undefined)
    return before.content === undefined ? linesFound(version, place) : sameLines(version, place, before)
  const followed = followLines(old, version, place.file, place.first, place.last)
  if (followed.state === 'absent') return { kind: 'gone', says: followed.says }
  if (followed.state === 'gone') {
    const { nearest } = followed
    return {
      kind: 'gone',
      says: `${edition.name} has nothing of what ${place.file}:${place.first}-${place.last} of ${old.name} says`,
      ...(nearest === undefined
        ? {}
        : { nearest: { file: nearest.path, line: nearest.line ?? null, why: nearest.why } }),
    }
  }
  const found = linesFound(version, { file: followed.path, first: followed.first, last: followed.last })
  if (found.kind !== 'found' || found.place === null) return found
  const { place: now } = found
  return { ...found, isSame: followed.state === 'same', says: says => withPlace(says, now) }
}

/** Lines that were written from a version that is not at hand: what is known of them is a hash. */
function sameLines(version: Version, place: PinnedPlace, { content, version: old }: Before): LookedUp {
  const found = linesFound(version, place)
  if (found.kind === 'found' && shortHash(found.content) === content) return found
  const lines = fileLines(version, place.file) ?? []
  const length = place.last - place.first + 1
  const starts = [...lines.keys()].filter(
    at => at + length <= lines.length && shortHash(dedented(lines.slice(at, at + length))) === content,
  )
  const [start, ...more] = starts
  if (start !== undefined && more.length === 0) {
    const now = { file: place.file, first: start + 1, last: start + length }
    const there = linesFound(version, now)
    return there.kind === 'found' ? { ...there, says: says => withPlace(says, now) } : there
  }
  if (old === undefined) return found
  const says = `${old}, from which it was written, is not at hand, and ${version.name} does not say the same there; ${fetchHint}`
  return { kind: 'unchecked', says }
}

function linesFound(version: Version, { file, first, last }: PinnedPlace): LookedUp {
  const lines = fileLines(version, file)
  if (lines === undefined) return { kind: 'gone', says: `${version.name} has no file ${file}` }
  if (last > lines.length) {
    return { kind: 'gone', says: `${file} of ${version.name} has ${lines.length} lines; there is no line ${last}` }
  }
  const excerpt = dedented(lines.slice(first - 1, last))
  const at = version.tree.read(file)
  return {
    kind: 'found',
    place: { file: at === undefined ? file : pathToOpen(at), first, last },
    content: excerpt,
    excerpt,
    fields: nowhere,
  }
}
