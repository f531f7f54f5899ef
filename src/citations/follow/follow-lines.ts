import { unifiedDiff } from '../../audit/matching/lines.js'
import { lineOf } from '../../source/text.js'
import { definedInRoles, type LineMap, lineMapOf, type Target } from './line-map.js'
import { followPath, type NearestPath } from './paths.js'
import { followTask } from './task-across.js'
import { type Unit, unitInWords } from './units.js'
import { addressedTask, fileLines, type Version } from './version.js'

/** What became of cited lines. Lines are counted from 1, both ends are in the range. */
export type Followed =
  /** The same content, blank lines and indentation aside, wherever it stands now. */
  | { readonly state: 'same'; readonly path: string; readonly first: number; readonly last: number }
  /** What stands there instead; `diff` is a unified diff with the lines of both files. */
  | {
      readonly state: 'changed'
      readonly path: string
      readonly first: number
      readonly last: number
      readonly diff: string
    }
  | { readonly state: 'gone'; readonly nearest?: NearestPath }
  /** The citation was wrong in OLD already. */
  | { readonly state: 'absent'; readonly says: string }

/**
 * Follows lines of a file from one version to another. Lines of a task, block, play or definition go where that went
 * (`matchSides`, the name of a variable), to whatever file; all others by a diff of the files. Lines that say the same but
 * belong to something else are not taken for them. A whole task that has more lines now has changed.
 */
export function followLines(old: Version, now: Version, path: string, first: number, last: number): Followed {
  const lines = fileLines(old, path)
  if (lines === undefined) return { state: 'absent', says: `${old.name} has no file ${path}` }
  if (!isRange(first, last) || last > lines.length) {
    const asked = first === last ? `line ${first}` : `lines ${first} to ${last}`
    return { state: 'absent', says: `${path} of ${old.name} has ${lines.length} lines; it has no ${asked}` }
  }
  const map = lineMapOf(old, now, path)
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const saying = numbers.filter(line => lines[line - 1]?.trim() !== '')
  const considered = saying.length > 0 ? saying : numbers
  const place = placeOfMost(map, considered)
  const isLeft = place?.some(({ line }) => /[\p{L}\p{N}]/u.test(lines[line - 1] ?? ''))
  const saysAnything = considered.some(line => /[\p{L}\p{N}]/u.test(lines[line - 1] ?? ''))
  if (place === undefined || (saysAnything && !isLeft)) return gone(old, now, map, path, considered)
  return standing(old, now, map, path, { first, last }, considered, place)
}

function isRange(first: number, last: number): boolean {
  return Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 1 && first <= last
}

interface FollowedLine {
  /** In the old file. */
  readonly line: number
  readonly target: Target
}

/** The lines that stand in the file that most of them stand in; where they are strewn about, those around the first. */
function placeOfMost(map: LineMap, considered: readonly number[]): readonly FollowedLine[] | undefined {
  const byPath = new Map<string, FollowedLine[]>()
  for (const line of considered) {
    const target = map.targetOf(line)
    if (target === undefined) continue
    const there = byPath.get(target.path) ?? []
    there.push({ line, target })
    byPath.set(target.path, there)
  }
  const [most] = [...byPath.values()].toSorted((left, right) => right.length - left.length)
  if (most === undefined) return undefined
  const { start, end } = rangeOf(most.map(({ target }) => target.line))
  if (end - start < 3 * considered.length + mostBetween) return most
  const first = most[0]
  const unit = first && map.units.at(first.line)
  const inUnit = most.filter(({ line }) => map.units.at(line) === unit)
  return unit === undefined ? most : inUnit
}

/** So many lines may have come between two cited ones; with more they are taken to have parted. */
const mostBetween = 20

function rangeOf(lines: readonly number[]): { readonly start: number; readonly end: number } {
  let [start, end] = [Number.POSITIVE_INFINITY, 0]
  for (const line of lines) {
    start = Math.min(start, line)
    end = Math.max(end, line)
  }
  return { start, end }
}

function standing(
  old: Version,
  now: Version,
  map: LineMap,
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
  considered: readonly number[],
  place: readonly FollowedLine[],
): Followed {
  const ours = fileLines(old, path) ?? []
  const there = place[0]?.target.path ?? path
  const theirs = fileLines(now, there) ?? []
  const said = (lines: readonly string[]): string =>
    lines
      .map(line => line.trim())
      .filter(line => line !== '')
      .join('\n')
  const wanted = ours.slice(first - 1, last)
  const wholes = wholeUnits(map, first, last, place, there)
  const { start, end } = rangeOf([
    ...place.map(({ target }) => target.line),
    ...wholes.flatMap(unit => [unit.first, unit.last]),
  ])
  const isSameHere = said(theirs.slice(start - 1, end)) === said(wanted)
  const range = isSameHere
    ? withBlanks(ours, theirs, { first, last }, considered, { start, end })
    : wholes.length === 0
      ? onlyRun(theirs, wanted, { start, end })
      : undefined
  if (range !== undefined) return { state: 'same', path: there, first: range.start, last: range.end }
  const diff = unifiedDiff(
    { label: `${old.name}:${path}`, first, lines: wanted },
    { label: `${now.name}:${there}`, first: start, lines: theirs.slice(start - 1, end) },
  )
  return { state: 'changed', path: there, first: start, last: end, diff }
}

/** What the units are now that are cited as a whole: they may have got lines that no old line stands for. */
function wholeUnits(
  map: LineMap,
  first: number,
  last: number,
  place: readonly FollowedLine[],
  path: string,
): readonly Unit[] {
  const units = new Set(place.map(({ line }) => map.units.at(line)))
  return [...units].flatMap(unit => {
    const other = unit !== undefined && unit.first >= first && unit.last <= last ? map.successorOf(unit) : undefined
    return other !== undefined && other.path === path ? [other] : []
  })
}

/** The blank lines around a range belong to it as far as they were cited. */
function withBlanks(
  ours: readonly string[],
  theirs: readonly string[],
  { first, last }: { readonly first: number; readonly last: number },
  considered: readonly number[],
  { start, end }: { readonly start: number; readonly end: number },
): { readonly start: number; readonly end: number } {
  if (ours.slice(first - 1, last).every(line => line.trim() === '')) return { start, end }
  const isBlank = (line: number): boolean => theirs[line - 1]?.trim() === ''
  let [from, to] = [start, end]
  for (let line = considered[0] ?? first; line > first && isBlank(from - 1); line -= 1) from -= 1
  for (let line = considered.at(-1) ?? last; line < last && isBlank(to + 1); line += 1) to += 1
  return { start: from, end: to }
}

/** Where lines stand once between these, in one piece: a diff may take the first of them for one like it further up. */
function onlyRun(
  lines: readonly string[],
  wanted: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
): { readonly start: number; readonly end: number } | undefined {
  if (end - start + 1 < wanted.length || (end - start) * wanted.length > mostCompared) return undefined
  const trimmed = wanted.map(line => line.trim())
  let found: number | undefined
  for (let at = start; at + trimmed.length - 1 <= end; at += 1) {
    if (!trimmed.every((line, index) => lines[at - 1 + index]?.trim() === line)) continue
    if (found !== undefined) return undefined
    found = at
  }
  return found === undefined ? undefined : { start: found, end: found + trimmed.length - 1 }
}

const mostCompared = 1_000_000

function gone(old: Version, now: Version, map: LineMap, path: string, considered: readonly number[]): Followed {
  const nearest = nearestToLines(old, now, map, path, considered)
  return { state: 'gone', ...(nearest === undefined ? {} : { nearest }) }
}

function nearestToLines(
  old: Version,
  now: Version,
  map: LineMap,
  path: string,
  considered: readonly number[],
): NearestPath | undefined {
  const units = [...new Set(considered.flatMap(line => map.units.at(line) ?? []))]
  for (const unit of units) {
    const there = map.successorOf(unit)
    if (there === undefined) continue
    return { path: there.path, line: there.first, why: `${unitInWords(unit)} is there, without what was cited of it` }
  }
  for (const unit of units) {
    const nearest = nearestToUnit(old, now, unit)
    if (nearest !== undefined) return nearest
  }
  if (map.path !== undefined) {
    const what = units[0] === undefined ? 'these lines' : unitInWords(units[0])
    return { path: map.path, why: `the file is there, without ${what}` }
  }
  const followed = followPath(old, now, path)
  return followed.state === 'gone' ? followed.nearest : undefined
}

function nearestToUnit(old: Version, now: Version, { subject }: Unit): NearestPath | undefined {
  if (subject.kind === 'definition') {
    const [other] = definedInRoles(now, subject.name)
    return (
      other && {
        path: other.path,
        line: lineOf(other.at),
        why: `it defines ${subject.name} too, but in another role or file`,
      }
    )
  }
  const task = subject.kind === 'statement' ? addressedTask(old, subject.placed) : undefined
  if (task === undefined) return undefined
  const found = followTask(old, now, task)
  if (found.state !== 'gone' || found.nearest === undefined) return undefined
  return { path: found.nearest.task.path, line: lineOf(found.nearest.task.task.at), why: found.nearest.why }
}
