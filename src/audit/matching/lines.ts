import { diffArrays, FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'

/** What became of a line: the index (from 0) it has now, and whether it says the same there, indentation aside. */
export interface LineMatch {
  readonly at: number
  readonly isSame: boolean
}

/** The lines of a text without their ends; a newline at the end of the text begins no line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** More edits than this are not gone through; then only what the texts begin and end with is matched. */
const maxEdits = 3000

/** More pairs of removed and added lines than this are not compared word by word. */
const maxPairs = 2500

/**
 * Which line of one text is which of another, in order, each at most once. Lines that say the same are matched by a diff,
 * but only where it cannot be another occurrence of the same text: some line of the stretch stands once in both texts, or
 * once between what surely matches. What was replaced is matched with the line most like it.
 */
export function matchLines(old: readonly string[], now: readonly string[]): readonly (LineMatch | undefined)[] {
  const [ours, theirs] = [old.map(line => line.trim()), now.map(line => line.trim())]
  const shorter = Math.min(ours.length, theirs.length)
  let suffix = 0
  // What was added stands before a line like its own first one more often than behind one: the end goes first.
  while (suffix < shorter && ours.at(-1 - suffix) === theirs.at(-1 - suffix)) suffix += 1
  let prefix = 0
  while (prefix < shorter && ours[prefix] === theirs[prefix]) prefix += 1
  if (prefix === ours.length) suffix = 0
  else prefix = Math.min(prefix, shorter - suffix)
  const middle: Region = {
    old: [prefix, ours.length - suffix],
    now: [prefix, theirs.length - suffix],
    runs: runsBetween(ours, theirs, prefix, suffix),
    depth: 0,
  }
  const found: (LineMatch | undefined)[] = ours.map(() => undefined)
  for (let index = 0; index < prefix; index += 1) found[index] = { at: index, isSame: true }
  for (let index = 1; index <= suffix; index += 1) {
    found[ours.length - index] = { at: theirs.length - index, isSame: true }
  }
  const waiting = [middle]
  for (let region = waiting.pop(); region !== undefined; region = waiting.pop()) {
    const sure = sureRuns(region, ours, theirs)
    if (sure.length === 0) {
      matchReplaced(region, ours, theirs, found)
      continue
    }
    for (const run of sure) {
      for (let index = 0; index < run.length; index += 1) {
        found[run.old + index] = { at: run.now + index, isSame: true }
      }
    }
    waiting.push(...between(region, sure))
  }
  return found
}

/** Lines that follow each other and say the same in both. */
interface Run {
  readonly old: number
  readonly now: number
  readonly length: number
}

/** Lines between two that surely match, ends exclusive. */
interface Region {
  readonly old: readonly [start: number, end: number]
  readonly now: readonly [start: number, end: number]
  readonly runs: readonly Run[]
  readonly depth: number
}

/** Deeper than this nothing is taken for sure: texts made to be slow are not gone through. */
const maxRegionDepth = 30

function runsBetween(
  ours: readonly string[],
  theirs: readonly string[],
  prefix: number,
  suffix: number,
): readonly Run[] {
  const [left, right] = [ours.slice(prefix, ours.length - suffix), theirs.slice(prefix, theirs.length - suffix)]
  const changes = diffArrays(left, right, { maxEditLength: maxEdits }) ?? []
  const runs: Run[] = []
  let [old, now] = [prefix, prefix]
  for (const { added, removed, count } of changes) {
    if (!added && !removed) runs.push({ old, now, length: count })
    if (!added) old += count
    if (!removed) now += count
  }
  return runs
}

/** The runs of a region that hold a line that stands once in it on either side. */
function sureRuns(
  { old, now, runs, depth }: Region,
  ours: readonly string[],
  theirs: readonly string[],
): readonly Run[] {
  if (runs.length === 0 || depth > maxRegionDepth) return []
  const [left, right] = [countsOf(ours.slice(...old)), countsOf(theirs.slice(...now))]
  const isSingle = (line: string): boolean => line !== '' && left.get(line) === 1 && right.get(line) === 1
  return runs.filter(run => ours.slice(run.old, run.old + run.length).some(isSingle))
}

function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

function between({ old, now, runs, depth }: Region, sure: readonly Run[]): readonly Region[] {
  const regions: Region[] = []
  let [left, right] = [old[0], now[0]]
  let next = 0
  for (const run of [...sure, { old: old[1], now: now[1], length: 0 }]) {
    const inside: Run[] = []
    for (let here = runs[next]; here !== undefined && here.old < run.old; here = runs[next]) {
      inside.push(here)
      next += 1
    }
    if (run.length > 0) next += 1
    regions.push({ old: [left, run.old], now: [right, run.now], runs: inside, depth: depth + 1 })
    left = run.old + run.length
    right = run.now + run.length
  }
  return regions
}

/** Matches what was replaced with the line most like it, never across another match. */
function matchReplaced(
  { old, now }: Region,
  ours: readonly string[],
  theirs: readonly string[],
  found: (LineMatch | undefined)[],
): void {
  const removed = indices(old).filter(index => ours[index] !== '')
  const added = indices(now).filter(index => theirs[index] !== '')
  const [one, other] = [removed[0], added[0]]
  if (one === undefined || other === undefined) return
  if (removed.length === 1 && added.length === 1) {
    found[one] = { at: other, isSame: ours[one] === theirs[other] }
    return
  }
  if (removed.length * added.length > maxPairs) return
  const [left, right] = [
    new Map(removed.map(index => [index, wordsIn(ours[index] ?? '')])),
    new Map(added.map(index => [index, wordsIn(theirs[index] ?? '')])),
  ]
  const pairs = removed.flatMap(from =>
    added.flatMap(to => {
      const likeness = likenessOf(left.get(from) ?? [], right.get(to) ?? [])
      return likeness >= 0.5 ? [{ from, to, likeness }] : []
    }),
  )
  const taken: { readonly from: number; readonly to: number }[] = []
  for (const { from, to } of pairs.toSorted((a, b) => b.likeness - a.likeness || a.from - b.from || a.to - b.to)) {
    if (taken.some(each => each.from === from || each.to === to || each.from < from !== each.to < to)) continue
    taken.push({ from, to })
    // The same text that was not sure to be the same line is no more than like it.
    found[from] = { at: to, isSame: false }
  }
}

function indices([start, end]: readonly [start: number, end: number]): readonly number[] {
  return Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index)
}

/** The words of a text, repeated ones too. */
export function wordsIn(text: string): readonly string[] {
  return text
    .slice(0, 400)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/** How much two lists of words have in common: 0 nothing, 1 all. */
export function likenessOf(left: readonly string[], right: readonly string[]): number {
  if (left.length + right.length === 0) return 0
  const counts = new Map(countsOf(left))
  let shared = 0
  for (const word of right) {
    const count = counts.get(word) ?? 0
    if (count > 0) {
      shared += 1
      counts.set(word, count - 1)
    }
  }
  return (2 * shared) / (left.length + right.length)
}

/** Lines of a file as a diff names them. */
export interface LabelledLines {
  /** `v2.31.0:roles/x/tasks/main.yml` */
  readonly label: string
  /** The number (from 1) of the first of the lines in its file. */
  readonly first: number
  readonly lines: readonly string[]
}

/** What changed between two pieces of files, as a unified diff with the line numbers of the files. */
export function unifiedDiff(old: LabelledLines, now: LabelledLines): string {
  const text = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('')
  const patch = structuredPatch(old.label, now.label, text(old.lines), text(now.lines), undefined, undefined, {
    context: 3,
    maxEditLength: maxEdits,
  })
  if (patch === undefined) return `--- ${old.label}\n+++ ${now.label}\n(too much changed to show)\n`
  const hunks = patch.hunks.map(hunk => ({
    ...hunk,
    oldStart: hunk.oldStart + old.first - 1,
    newStart: hunk.newStart + now.first - 1,
  }))
  return formatPatch({ ...patch, hunks }, FILE_HEADERS_ONLY)
}
