import type { PlacedPlay } from '../../audit/matching/matching.js'
import type { PlacedStatement } from '../../audit/role-index.js'
import { positionOf, type Span } from '../../source/text.js'
import { fileLines, type Version } from './version.js'

/** What a piece of a file is about. */
export type Subject =
  | { readonly kind: 'statement'; readonly placed: PlacedStatement }
  | { readonly kind: 'play'; readonly placed: PlacedPlay }
  /** The entry of a file that is one mapping: role defaults, vars, group_vars. */
  | { readonly kind: 'definition'; readonly name: string }

/** A play, block, task or definition as lines of its file; lines are counted from 1. */
export interface Unit {
  readonly subject: Subject
  readonly path: string
  readonly first: number
  readonly last: number
  /** The lines that are its own: those of inner units are not, a comment right before it is. */
  readonly own: readonly number[]
}

/** The units of a file, outer ones before inner ones, and whose each line is. */
export interface FileUnits {
  readonly units: readonly Unit[]
  /** The innermost unit a line (from 1) belongs to. */
  readonly at: (line: number) => Unit | undefined
}

const known = new WeakMap<Version, Map<string, FileUnits>>()

/** The units of a file of tasks, plays or variables; none for any other file. */
export function unitsOf(version: Version, path: string): FileUnits {
  const ofVersion = known.get(version) ?? new Map<string, FileUnits>()
  known.set(version, ofVersion)
  const before = ofVersion.get(path)
  if (before !== undefined) return before
  const found = placed(fileLines(version, path) ?? [], path, subjectsIn(version, path))
  ofVersion.set(path, found)
  return found
}

interface Located {
  readonly subject: Subject
  readonly first: number
  readonly last: number
}

function subjectsIn(version: Version, path: string): readonly Located[] {
  if (!/\.(?:ya?ml|json)$/.test(path)) return []
  const { statements, plays } = contentAt(version, path)
  const found = [
    ...plays.map(each => located({ kind: 'play', placed: each }, each.play.at)),
    ...statements.map(each => located({ kind: 'statement', placed: each }, each.statement.at)),
  ]
  if (found.length > 0) return found.toSorted((left, right) => left.first - right.first || right.last - left.last)
  return definitionsIn(version, path)
}

interface Content {
  readonly statements: readonly PlacedStatement[]
  readonly plays: readonly PlacedPlay[]
}

const contents = new WeakMap<Version, ReadonlyMap<string, Content>>()

function contentAt(version: Version, path: string): Content {
  const byPath = contents.get(version) ?? contentByPath(version)
  contents.set(version, byPath)
  return byPath.get(path) ?? { statements: [], plays: [] }
}

function contentByPath({ index }: Version): ReadonlyMap<string, Content> {
  const found = new Map<string, { statements: PlacedStatement[]; plays: PlacedPlay[] }>()
  const at = (path: string): { statements: PlacedStatement[]; plays: PlacedPlay[] } => {
    const content = found.get(path) ?? { statements: [], plays: [] }
    found.set(path, content)
    return content
  }
  for (const statement of index.statements) at(statement.path).statements.push(statement)
  for (const play of index.plays) at(play.path).plays.push(play)
  return found
}

function definitionsIn(version: Version, path: string): readonly Located[] {
  const document = version.code.document(path)
  if (document?.kind !== 'map') return []
  const found: Located[] = []
  for (const { key, value } of document.entries) {
    const at = located(
      { kind: 'definition', name: String(key.data) },
      { ...key.span, end: Math.max(key.span.end, value.span.end) },
    )
    // What a merge key or an alias brings in stands elsewhere: it has no lines of its own here.
    const isHere = key.span.start <= value.span.start || value.span.start === value.span.end
    if (isHere && at.first > (found.at(-1)?.last ?? 0)) found.push(at)
  }
  return found
}

function located(subject: Subject, { file, start, end }: Span): Located {
  const text = file.text.slice(start, end)
  const first = positionOf(file, start).line
  return { subject, first, last: Math.max(first, positionOf(file, start + text.trimEnd().length).line) }
}

function placed(lines: readonly string[], path: string, subjects: readonly Located[]): FileUnits {
  const owner: (Located | undefined)[] = []
  for (const unit of subjects) {
    for (let line = unit.first; line <= unit.last; line += 1) owner[line] = unit
    for (let line = unit.first - 1; line > 0 && lines[line - 1]?.trimStart().startsWith('#'); line -= 1) {
      const before = owner[line]
      // The end of a text in the unit before may look like a comment.
      if (before !== undefined && before.last < unit.first) break
      owner[line] = unit
    }
  }
  const own = new Map<Located, number[]>(subjects.map(unit => [unit, []]))
  for (const [line, unit] of owner.entries()) if (unit !== undefined) own.get(unit)?.push(line)
  const made = new Map(subjects.map(unit => [unit, { ...unit, path, own: own.get(unit) ?? [] }]))
  return {
    units: [...made.values()],
    at: line => {
      const unit = owner[line]
      return unit && made.get(unit)
    },
  }
}

/** A unit in words: `the task "Disable swap"`. */
export function unitInWords({ subject }: Unit): string {
  if (subject.kind === 'definition') return `the definition of ${subject.name}`
  if (subject.kind === 'play')
    return subject.placed.play.name === undefined ? 'the play' : `the play "${subject.placed.play.name}"`
  const { statement } = subject.placed
  if (statement.name !== undefined) return `the ${statement.kind} "${statement.name}"`
  return statement.kind === 'block' ? 'the block' : `the task without a name (${statement.action})`
}
