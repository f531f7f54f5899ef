import type { TaskRun } from '../../run/task-run.js'
import { placeOf, type Span } from '../../source/text.js'
import type { Matching } from '../matching/matching.js'
import type { PlacedStatement } from '../role-index.js'
import type { Side } from '../side.js'

/** Finds the statement that stands at a place. */
export type FindStatement = (at: Span) => PlacedStatement | undefined

/** Where a side's run ends for good, and the tasks behind that it does not get to. */
interface Stop {
  readonly place: string
  readonly tasks: ReadonlySet<TaskRun>
}

/** What is not compared because a run stops for good, in a sentence for the reader; undefined where none does. */
export function stoppedNote(old: Side, now: Side): string | undefined {
  const stops = [
    { stop: stopOf(old), which: 'old' },
    { stop: stopOf(now), which: 'new' },
  ].flatMap(({ stop, which }) => (stop === undefined ? [] : [`the run of the ${which} version stops at ${stop.place}`]))
  return stops.length === 0 ? undefined : `what would be done to the host after that: ${stops.join('; ')}`
}

/**
 * The tasks of both sides that are not compared: those behind a stop, and on the other side those that are the same, or
 * come after them and are none that the stopped run got to. What they do is no longer done only until the stop is mended.
 */
export function behindStops(
  old: Side,
  now: Side,
  matching: Matching,
  oldTaskAt: FindStatement,
  newTaskAt: FindStatement,
): ReadonlySet<TaskRun> {
  return new Set([
    ...behindStop(now, newTaskAt, old, at => {
      const placed = oldTaskAt(at)
      return placed && matching.statementOf(placed)
    }),
    ...behindStop(old, oldTaskAt, now, at => {
      const placed = newTaskAt(at)
      return placed && matching.oldStatementOf(placed)
    }),
  ])
}

/** `counterpartAt` finds for a place of the other side the statement that the stopped one has for it. */
function behindStop(side: Side, taskAt: FindStatement, other: Side, counterpartAt: FindStatement): readonly TaskRun[] {
  const stop = stopOf(side)
  if (stop === undefined) return []
  const stopped = new Set<PlacedStatement>()
  const reached = new Set<PlacedStatement>()
  for (const run of side.analysis.run.tasks) {
    const placed = taskAt(run.task.at)
    if (placed !== undefined) (stop.tasks.has(run) ? stopped : reached).add(placed)
  }
  const here = side.analysis.run.tasks.filter(({ task }) => {
    const placed = taskAt(task.at)
    return placed !== undefined && stopped.has(placed)
  })
  let isBehind = false
  const there = other.analysis.run.tasks.filter(({ task }) => {
    const counterpart = counterpartAt(task.at)
    if (counterpart === undefined) return isBehind
    // What `always` of a block does, the run still gets to.
    if (reached.has(counterpart)) isBehind = false
    else if (stopped.has(counterpart)) isBehind = true
    return stopped.has(counterpart) || (isBehind && !reached.has(counterpart))
  })
  return [...here, ...there]
}

function stopOf({ analysis: { run } }: Side): Stop | undefined {
  const ends = run.checks.filter(({ outcome, final }) => outcome === 'stops' && final)
  const [first] = ends
  if (first === undefined) return undefined
  const places = ends.map(({ task }) => placeOf(task.task.at))
  const behind = run.tasks.filter(({ order, excluded }) => order > first.task.order && excluded !== undefined)
  // What is left out for a stop names its place; with `force_handlers` nothing is.
  const left = behind.filter(({ excluded }) => places.some(place => excluded?.endsWith(` ${place}`)))
  if (left.length === 0) return undefined
  // Handlers that nothing notifies any more may be those that stopped tasks would notify.
  const handlers = behind.filter(({ part }) => part === 'handler')
  return { place: places[0] ?? '', tasks: new Set([...left, ...handlers]) }
}
