import { setFlagsFromString } from 'node:v8'
import {
  type Answers,
  answersFor,
  type KnownRun,
  mayShareRun,
  type Placed,
  placedAs,
  workOut,
  workOutBy,
} from './answers.js'
import { type Candidate, candidateOf, inOrderOfWork } from './candidate.js'
import type { Fleet } from './fleet.js'

/** All hosts of a fleet in the order of the inventory, and all answers there are, by the host they were worked out for. */
export interface PlacedFleet {
  readonly placed: readonly Placed[]
  readonly answers: ReadonlyMap<string, Answers>
}

/** Runs that are kept whole. */
const mostRuns = 3

/** Finds the answers of all hosts, one after the other: most have answers that are known already. `progress` is told how many have. */
export function placeFleet(fleet: Fleet, progress: (placed: number) => void): PlacedFleet {
  // The heap grows by half at most before it is cleaned up, not fourfold: a fleet takes as long and needs a third less memory.
  setFlagsFromString('--heap-growing-percent=50')
  const placed = new Map<string, Placed>()
  const answers = new Map<string, Answers>()
  const runs: KnownRun[] = []

  const byKnownRun = (candidate: Candidate): Answers | undefined => {
    for (const run of runs) {
      const made = mayShareRun(candidate, run.answers) ? workOutBy(fleet, candidate, run) : undefined
      if (made === undefined) continue
      // What was of use last is given up last.
      runs.splice(runs.indexOf(run), 1)
      runs.unshift(run)
      return made
    }
    return undefined
  }

  const byOwnRun = (candidate: Candidate): Answers => {
    const run = workOut(fleet, candidate)
    if (!candidate.isAlone) {
      runs.unshift(run)
      runs.splice(mostRuns)
    }
    return run.answers
  }

  for (const host of inOrderOfWork(fleet)) {
    const candidate = candidateOf(fleet, host)
    const found = answersFor(candidate, answers.values()) ?? byKnownRun(candidate) ?? byOwnRun(candidate)
    answers.set(found.host, found)
    placed.set(host, placedAs(candidate, found))
    progress(placed.size)
  }
  return { placed: fleet.hosts.flatMap(host => placed.get(host) ?? []), answers }
}
