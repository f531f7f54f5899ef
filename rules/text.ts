import { causesOf, optionsOf, piecesCanBe, piecesOf, textOf } from '../src/effects/argument.js'
import type { Effect, FileChange } from '../src/effects/effect.js'
import { takesAway } from '../src/effects/query.js'
import { statementsOf } from '../src/effects/settings-files.js'
import { type Cause, FALSE, TRUE, type Truth, type Value } from '../src/jinja/value.js'
import { compareBytes } from '../src/source/store.js'
import { type Match, NO_MATCH, type Rule } from '../src/verdicts/problem.js'

/** A file by its path, or the `.conf` files of a directory that ends in `/`. */
export type Place = string

/** A text file that has to hold a line, and what happens where it does. */
export interface FileText {
  /** What the rule is called, as a phrase: `names the host in /etc/hosts`. */
  readonly says: string
  readonly places: readonly Place[]
  /** Whether a line is one that is asked for; `…` stands for each piece of it that is not known. */
  readonly line: (text: string, host: string) => boolean
  /** A line of which the piece that counts is not known, and under which condition it is one that is asked for. */
  readonly open?: { readonly line: (text: string) => boolean; readonly condition: string }
  /** A line that looks like it, and why it is not enough. */
  readonly near?: { readonly line: (text: string) => boolean; readonly why: string }
  /** A line that says the contrary, and whether it counts in `theirs` although the line asked for stands in `ours`. */
  readonly against?: {
    readonly line: (text: string) => boolean
    readonly wins: (ours: string, theirs: string) => boolean
  }
  /** What has to happen beside the text, judged where it is there. */
  readonly beside?: (effect: FileChange, ...rest: Tail<Parameters<Rule['matches']>>) => Match
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never

/** Which of a path's alternatives are one of these places: those that are no path (the run stops there) do not count. */
function isAt(path: Value, places: readonly Place[]): Truth {
  const causes: Cause[] = []
  let [yes, no, open] = [0, 0, 0]
  for (const { value, because } of optionsOf(path)) {
    if (value.kind === 'failure' || value.kind === 'undefined') continue
    const text = textOf(value)
    const pieces = piecesOf(value)
    if (text !== undefined ? places.some(place => isPlace(text, place)) : false) yes++
    // A path of whose beginning nothing is known is not taken for a file of a directory: else it could be any.
    else if (text === undefined && pieces !== undefined && places.some(place => canBePlace(pieces, place))) {
      open++
      causes.push(...causesOf(value))
    } else no++
    causes.push(...because)
  }
  if (yes === 0 && open === 0) return FALSE
  return no === 0 && open === 0 ? TRUE : { kind: 'unknown', causes }
}

function isPlace(path: string, place: Place): boolean {
  if (!place.endsWith('/')) return path === place
  return path.startsWith(place) && path.length > place.length && !path.slice(place.length).includes('/')
}

function canBePlace(pieces: readonly (string | null)[], place: Place): boolean {
  const [first] = pieces
  if (!place.endsWith('/')) return pieces.some(piece => piece !== null) && piecesCanBe(pieces, place)
  return typeof first === 'string' && (first.startsWith(place) || (first.length > 1 && place.startsWith(first)))
}

/** A line as text, with `…` for what is not known of it. */
function shown(line: Value): string {
  return (piecesOf(line) ?? [null]).map(piece => piece ?? '…').join('')
}

type Held =
  | { readonly kind: 'yes' | 'no' }
  | { readonly kind: 'host'; readonly causes: readonly Cause[] }
  | { readonly kind: 'unread'; readonly causes: readonly Cause[] }

/**
 * Whether the text that is put in holds a line. What the host decides is `host`; an alternative that cannot be evaluated
 * stops the run there, so it holds nothing and takes nothing away.
 */
function holds(change: FileChange, fits: (text: string) => boolean): Held {
  const unseen: Held = {
    kind: 'unread',
    causes: [{ says: 'the text that is put in is not known', at: change.at, unread: true }],
  }
  if (change.content === undefined) return unseen
  const options = optionsOf(change.content).filter(
    ({ value }) => value.kind !== 'failure' && value.kind !== 'undefined',
  )
  if (options.length === 0) return unseen
  let has = 0
  let unknownTexts = 0
  const causes: Cause[] = []
  for (const { value, because } of options) {
    causes.push(...because)
    const lines = statementsOf(value)
    if (lines === undefined) {
      unknownTexts++
      causes.push(...causesOf(value))
    } else if (lines.some(line => fits(shown(line)))) has++
    // A whole line that is not known may be any.
    else if (lines.some(line => (piecesOf(line) ?? [null]).every(piece => piece === null))) {
      unknownTexts++
      causes.push(...causesOf(value))
    }
  }
  if (has === 0 && unknownTexts === 0) return { kind: 'no' }
  if (change.contentUnsure !== undefined)
    return { kind: 'unread', causes: [{ says: change.contentUnsure, at: change.at, unread: true }] }
  if (has === options.length) return { kind: 'yes' }
  return { kind: causes.some(cause => cause.unread) ? 'unread' : 'host', causes }
}

function isWritten({ change }: FileChange): boolean {
  return change === 'written' || change === 'line'
}

/** A rule that asks for a line in a text file. */
export function textRule(file: FileText): Rule {
  return {
    says: file.says,
    matches: (effect, occurrence, effects) => {
      if (effect.kind !== 'file' || !isWritten(effect)) return NO_MATCH
      const at = isAt(effect.path, file.places)
      if (at.kind === 'false') return NO_MATCH
      const held = holds(effect, text => file.line(text, occurrence.run.host))
      const isOpen = held.kind === 'no' && file.open !== undefined && holds(effect, file.open.line).kind === 'yes'
      if (held.kind === 'no' && !isOpen) {
        return file.near !== undefined && at.kind === 'true' && holds(effect, file.near.line).kind === 'yes'
          ? { kind: 'near', why: file.near.why }
          : NO_MATCH
      }
      if (held.kind === 'unread') return { kind: 'could', says: 'what the file says is not known', causes: held.causes }
      const conditions = held.kind === 'host' ? [`the text ${file.says}`] : []
      if (isOpen && file.open !== undefined) conditions.push(file.open.condition)
      if (at.kind === 'unknown') {
        const [here] = optionsOf(effect.path).flatMap(({ value }) => {
          const text = textOf(value)
          return text !== undefined && file.places.some(place => isPlace(text, place)) ? [text] : []
        })
        if (here === undefined) return { kind: 'could', says: 'which file it is is not known', causes: at.causes }
        conditions.push(`the file is ${here}`)
      }
      const beside = file.beside?.(effect, occurrence, effects) ?? { kind: 'settles' }
      if (beside.kind !== 'settles') return beside
      if (beside.condition !== undefined) conditions.push(beside.condition)
      return conditions.length === 0
        ? { ...beside, kind: 'settles' }
        : { ...beside, condition: conditions.join(' and ') }
    },
    undoneBy: (settling, later, { run }) => losesLine(settling, later, file, run.host),
  }
}

/**
 * Whether the file no longer holds the line after a later change. An edit that puts a line of its own in the place of another
 * is not held against it: which line its pattern finds is in the host's file.
 */
function losesLine(settling: Effect, later: Effect, file: FileText, host: string): Truth {
  if (settling.kind !== 'file' || later.kind !== 'file') return FALSE
  if (later.change === 'removed') return takesAway(later, settling.path)
  const [ours, theirs] = [textOf(settling.path), textOf(later.path)]
  const against = file.against
  if (ours !== undefined && theirs !== undefined && against?.wins(ours, theirs) === true) {
    if (!isWritten(later) || isAt(later.path, file.places).kind !== 'true') return FALSE
    const held = holds(later, against.line)
    if (held.kind === 'host' || held.kind === 'unread') return { kind: 'unknown', causes: held.causes }
    return held.kind === 'yes' ? TRUE : FALSE
  }
  if (ours === undefined || ours !== theirs) return FALSE
  const open: Truth = {
    kind: 'unknown',
    causes: [{ says: 'which lines leave the file is not worked out', at: later.at, unread: true }],
  }
  switch (later.change) {
    case 'link':
      return open
    case 'written': {
      const held = holds(later, text => file.line(text, host))
      const stays = held.kind === 'yes' || (file.open !== undefined && holds(later, file.open.line).kind === 'yes')
      return stays ? FALSE : held.kind === 'no' ? TRUE : open
    }
    case 'line':
      return later.takesOut === true && (later.content === undefined || textOf(later.content) === '') ? open : FALSE
    default:
      return FALSE
  }
}

/** Of files that are read one after another, each may overrule those before: the files of a directory by their names. */
export function isReadLater(main: 'before' | 'behind'): (ours: string, theirs: string) => boolean {
  const key = (path: string): string => {
    const [directory, name] = path.split(/\/(?=[^/]*$)/)
    if (directory?.endsWith('.d') === true) return `1${name ?? ''}`
    return main === 'before' ? '0' : '2'
  }
  return (ours, theirs) => ours !== theirs && compareBytes(key(theirs), key(ours)) > 0
}
