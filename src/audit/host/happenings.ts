import { type Occurrence, runsOf } from '../../effects/run-effects.js'
import { type Standing, standingOf } from '../../effects/standing.js'
import type { ChangedPlace } from '../../reports/audit.js'
import { placeOfSpan } from '../../reports/place.js'
import type { Span } from '../../source/text.js'
import { absorbed, anyClause, type Clause } from '../../verdicts/clauses.js'
import type { Matching } from '../matching/matching.js'
import { type PlacedStatement, statementsByPlace } from '../role-index.js'
import type { Side } from '../side.js'
import { behindStops, type FindStatement } from './stopped.js'

/** An effect that comes about, or may, on one side. */
export interface Happening {
  readonly occurrence: Occurrence
  readonly standing: Exclude<Standing, { kind: 'never' }>
  /** The same for a task and the one it is matched with. */
  readonly task: number
}

/** What happens to the host on both sides, but for what stands behind a stop; tasks that are matched have the same number. */
export function happeningsOf(
  old: Side,
  now: Side,
  matching: Matching,
): { readonly old: readonly Happening[]; readonly now: readonly Happening[] } {
  const numbers = new Map<PlacedStatement | string, number>()
  const numberOf = (task: PlacedStatement | string): number => {
    const known = numbers.get(task) ?? numbers.size
    numbers.set(task, known)
    return known
  }
  const oldTasks = statementsByPlace(old.index)
  const newTasks = statementsByPlace(now.index)
  const uncompared = behindStops(old, now, matching, oldTasks, newTasks)
  const gather = (side: Side, taskOf: FindStatement): readonly Happening[] =>
    side.analysis.effects.occurrences.flatMap(occurrence => {
      if (occurrence.effect.kind === 'stop-if' || occurrence.effect.kind === 'cluster-object') return []
      // Most do not run; why not is of no interest here.
      if (uncompared.has(occurrence.task) || occurrence.asWritten || runsOf(occurrence).kind === 'false') return []
      const standing = standingOf(occurrence)
      if (standing.kind === 'never') return []
      const placed = taskOf(occurrence.task.task.at)
      return [{ occurrence, standing, task: numberOf(placed ?? asWrittenAt(occurrence.task.task.at)) }]
    })
  return {
    now: gather(now, newTasks),
    old: gather(old, at => {
      const placed = oldTasks(at)
      return placed && (matching.statementOf(placed) ?? placed)
    }),
  }
}

/** A task that the index does not have (its file is outside of roles): only the very same one of that file is matched. */
function asWrittenAt({ file, start, end }: Span): string {
  return `${file.path}\0${file.text.slice(start, end)}`
}

/** Under what several happenings come about together: certainly, as the host decides, or as nobody can tell. */
export interface Likelihood {
  readonly kind: 'certain' | 'host-decides' | 'unread'
  /** Of which any is enough; each is conditions that hold together. */
  readonly alternatives: readonly (readonly string[])[]
  /** The conditions in words; null where nothing is left. */
  readonly condition: string | null
}

/** A value is one of a few: which, depends on something that no condition of the task names. */
const choices = /^(?:set here depending on .*|its value otherwise)$/s

/** More alternatives than this say nothing to a reader. */
const maxAlternatives = 40

/** Whether any of them comes about, and under what: one that certainly does makes it certain. */
export function likelihoodOf(happenings: readonly Happening[]): Likelihood {
  const clauses = new Map<string, Clause>()
  let unread = false
  for (const { standing } of happenings) {
    if (standing.kind === 'happens') return { kind: 'certain', alternatives: [], condition: null }
    if (standing.kind === 'unread') unread = true
    else {
      const conjuncts = standing.conjuncts.filter(text => !choices.test(text))
      if (conjuncts.length === 0) return { kind: 'certain', alternatives: [], condition: null }
      const key = conjuncts.join('\0')
      if (!clauses.has(key)) clauses.set(key, { text: standing.condition, conjuncts })
    }
  }
  const different = absorbed([...clauses.values()].slice(0, maxAlternatives))
  const condition = different.length === 0 ? null : anyClause(different)
  if (unread) return { kind: 'unread', alternatives: [], condition }
  return { kind: 'host-decides', alternatives: different.map(each => each.conjuncts), condition }
}

/** The task that an effect stands in, as a place of a change. */
export function placeOfHappening(happenings: readonly Happening[]): ChangedPlace | null {
  const first = happenings.find(each => each.standing.kind === 'happens') ?? happenings[0]
  return first === undefined ? null : placeOfSpan(first.occurrence.task.task.at)
}

/** `, if …` behind a sentence; nothing where it is certain. */
export function underCondition({ kind, condition }: Likelihood): string {
  if (kind === 'certain') return ''
  if (kind === 'unread' || condition === null) return ', perhaps'
  return `, if ${shortened(condition)}`
}

/** A condition on one line, cut where it is too long to read. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}
