import { matchLines } from '../../audit/matching/lines.js'
import type { NameDefinition, PlacedStatement } from '../../audit/role-index.js'
import { successorOf } from './paths.js'
import { followTask, matchedStatement } from './task-across.js'
import { type FileUnits, type Unit, unitsOf } from './units.js'
import { addressedTask, fileLines, matchingOf, placedTask, rememberPair, type Version } from './version.js'

/** Where a line stands now (from 1), and whether it says the same there. */
export interface Target {
  readonly path: string
  readonly line: number
  readonly isSame: boolean
}

/** What became of a file's lines. */
export interface LineMap {
  readonly targetOf: (line: number) => Target | undefined
  readonly units: FileUnits
  /** What a unit is now. */
  readonly successorOf: (unit: Unit) => Unit | undefined
  /** The file whose lines are compared with those outside of units. */
  readonly path: string | undefined
}

const known = new WeakMap<Version, WeakMap<Version, Map<string, LineMap>>>()

/** What became of each line of a file: worked out once for a file and a pair of versions. */
export function lineMapOf(old: Version, now: Version, path: string): LineMap {
  const maps = rememberPair(known, old, now, () => new Map<string, LineMap>())
  const before = maps.get(path)
  if (before !== undefined) return before
  const made = mapLines(old, now, path)
  maps.set(path, made)
  return made
}

function mapLines(old: Version, now: Version, path: string): LineMap {
  const target = successorOf(old, now, path)
  const lines = fileLines(old, path) ?? []
  const there =
    target === undefined
      ? undefined
      : { path: target, lines: fileLines(now, target) ?? [], units: unitsOf(now, target) }
  const inFile = there === undefined ? [] : matchLines(lines, there.lines)
  const units = unitsOf(old, path)
  const targets = new Map<number, Target>()
  const successors = new Map<Unit, Unit>()
  const claimed = new Map<Unit, Unit>()
  const claim = (unit: Unit, other: Unit): void => {
    successors.set(unit, other)
    claimed.set(other, unit)
  }
  if (there !== undefined) {
    for (const unit of units.units) {
      const other = standsUnchanged(unit, lines, inFile, there)
      if (other !== undefined && !claimed.has(other)) claim(unit, other)
    }
  }
  for (const unit of units.units) {
    const unchanged = successors.get(unit)
    const other = unchanged ?? successorIn(old, now, unit, target, claimed)
    if (other === undefined) continue
    if (unchanged === undefined) claim(unit, other)
    const theirs = fileLines(now, other.path) ?? []
    const matches = matchLines(
      unit.own.map(line => lines[line - 1] ?? ''),
      other.own.map(line => theirs[line - 1] ?? ''),
    )
    for (const [index, line] of unit.own.entries()) {
      const match = matches[index]
      const at = match && other.own[match.at]
      if (match !== undefined && at !== undefined)
        targets.set(line, { path: other.path, line: at, isSame: match.isSame })
    }
  }
  if (there !== undefined) {
    for (const [index, match] of inFile.entries()) {
      // Lines of a unit are nobody else's.
      if (match === undefined || units.at(index + 1) !== undefined || there.units.at(match.at + 1) !== undefined)
        continue
      targets.set(index + 1, { path: there.path, line: match.at + 1, isSame: match.isSame })
    }
  }
  return { targetOf: line => targets.get(line), units, successorOf: unit => successors.get(unit), path: target }
}

interface There {
  readonly path: string
  readonly lines: readonly string[]
  readonly units: FileUnits
}

/** The unit that all of a unit's own lines stand in, in the order of the file, if it has no others. */
function standsUnchanged(
  unit: Unit,
  lines: readonly string[],
  inFile: ReturnType<typeof matchLines>,
  there: There,
): Unit | undefined {
  const own = coreOf(unit, lines)
  let other: Unit | undefined
  let count = 0
  for (const line of own) {
    const match = inFile[line - 1]
    const here = match?.isSame ? there.units.at(match.at + 1) : undefined
    if (here === undefined || (other !== undefined && here !== other)) return undefined
    other = here
    count += 1
  }
  if (other === undefined || !isSameKind(unit, other)) return undefined
  return coreOf(other, there.lines).length === count ? other : undefined
}

/** Own lines that are part of what it says: no blank lines, no comment before it. */
function coreOf(unit: Unit, lines: readonly string[]): readonly number[] {
  return unit.own.filter(line => line >= unit.first && lines[line - 1]?.trim() !== '')
}

function isSameKind({ subject: left }: Unit, { subject: right }: Unit): boolean {
  if (left.kind === 'definition') return right.kind === 'definition' && left.name === right.name
  if (left.kind === 'play') return right.kind === 'play'
  return right.kind === 'statement' && left.placed.statement.kind === right.placed.statement.kind
}

/** What a unit that changed or moved is now; what another one surely is already is not taken. */
function successorIn(
  old: Version,
  now: Version,
  unit: Unit,
  target: string | undefined,
  claimed: ReadonlyMap<Unit, Unit>,
): Unit | undefined {
  let found = matchedUnit(old, now, unit, target)
  // Alike units that were matched in another order: they change places, once around at most.
  for (let turn = 0; turn < maxTurns && found !== undefined; turn += 1) {
    const other = claimed.get(found)
    if (other === undefined || other === unit) return found
    found = matchedUnit(old, now, other, target)
  }
  return undefined
}

const maxTurns = 20

function matchedUnit(
  old: Version,
  now: Version,
  { subject, path }: Unit,
  target: string | undefined,
): Unit | undefined {
  const { playOf } = matchingOf(old, now)
  if (subject.kind === 'statement') {
    const there = matchedStatement(old, now, subject.placed) ?? followedTask(old, now, subject.placed)
    return (
      there &&
      unitsOf(now, there.path).units.find(each => each.subject.kind === 'statement' && each.subject.placed === there)
    )
  }
  if (subject.kind === 'play') {
    const there = playOf(subject.placed)
    return (
      there &&
      unitsOf(now, there.path).units.find(each => each.subject.kind === 'play' && each.subject.placed === there)
    )
  }
  const here = target === undefined ? undefined : definitionUnit(now, target, subject.name)
  return here ?? movedDefinition(old, now, subject.name, path)
}

/** A task that is found by its name alone. */
function followedTask(old: Version, now: Version, placed: PlacedStatement): PlacedStatement | undefined {
  const task = addressedTask(old, placed)
  const found = task && followTask(old, now, task)
  return found?.state === 'same' || found?.state === 'changed' ? placedTask(now, found.task) : undefined
}

function definitionUnit(version: Version, path: string, name: string): Unit | undefined {
  return unitsOf(version, path).units.findLast(({ subject }) => subject.kind === 'definition' && subject.name === name)
}

const variableFiles: ReadonlySet<string> = new Set(['role defaults', 'role vars', 'include_vars'])

/** Definitions of a name in files of variables of roles. */
export function definedInRoles({ index }: Version, name: string): readonly NameDefinition[] {
  return (index.definitions.get(name) ?? []).filter(({ origin }) => variableFiles.has(origin))
}

/** The one definition of a name in the same role, else the one that no definition of OLD is. */
function movedDefinition(old: Version, now: Version, name: string, path: string): Unit | undefined {
  const matching = matchingOf(old, now)
  const before = definedInRoles(old, name)
  const here = before.find(each => each.path === path)
  // A file of variables that a task reads is one of several, each for another system: the others are not its successors.
  if (here === undefined || here.origin === 'include_vars') return undefined
  const places = new Set(before.filter(each => each !== here).map(each => matching.pathOf(each.path) ?? each.path))
  const fresh = definedInRoles(now, name).filter(each => each.origin !== 'include_vars' && !places.has(each.path))
  const role = here.role === undefined ? undefined : matching.roleOf(here.role)
  const inRole = fresh.filter(each => each.role === role && each.origin === here.origin)
  const [found, ...more] = inRole.length > 0 ? inRole : fresh
  return found === undefined || more.length > 0 ? undefined : definitionUnit(now, found.path, name)
}
