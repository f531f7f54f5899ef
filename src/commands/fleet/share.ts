import { createHash } from 'node:crypto'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
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

/** Places in the memory that the threads of a fleet see; of the last two each thread has its own. */
const places = { next: 0, placed: 1, changes: 2, failed: 3, atWork: 4, beats: 6 } as const

/** The memory that all threads see. */
export function makeMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * 8)
}

/** What one of two threads has to do with the other. */
export interface Link {
  readonly memory: Int32Array
  /** 0 or 1. */
  readonly number: number
  /** Where answers and hosts go to the other thread and come from it; undefined where there is none. */
  readonly port: MessagePort | undefined
}

/** What a thread has worked out: the hosts it placed, and all answers it knows, by the host they were worked out for. */
export interface Share {
  readonly placed: readonly Placed[]
  readonly answers: ReadonlyMap<string, Answers>
}

/** What threads tell each other: answers (and whether the run they come from is kept), or a host that shares a run of the other. */
type Told = { readonly answers: Answers; readonly isKept: boolean } | { readonly host: string }

/** Hosts that wait until the other thread knows more, at most. */
const mostWaiting = 48

/** Runs that are kept whole by one thread. */
const mostRuns = 3

/**
 * Places the hosts that this thread gets to, one after the other: most have answers that are known already. What is worked out is
 * told to the other thread at once. A host that most likely has the answers that one is working at waits for them; one that may
 * share a run that the other keeps is left to it. `progress` is told how many are placed by all.
 */
export function placeShare(
  fleet: Fleet,
  { memory, number, port }: Link,
  progress: (placed: number) => void = () => {},
): Share {
  const hosts = inOrderOfWork(fleet)
  const placed: Placed[] = []
  const answers = new Map<string, Answers>()
  const runs: KnownRun[] = []
  const keptByOther = new Set<string>()
  const passedOn: string[] = []
  let waiting: string[] = []
  const own = places.atWork + number
  const other = places.atWork + 1 - number

  const beat = (): void => void Atomics.add(memory, places.beats + number, 1)

  const change = (): void => {
    Atomics.add(memory, places.changes, 1)
    Atomics.notify(memory, places.changes)
  }

  const receive = (): void => {
    for (let got = port && receiveMessageOnPort(port); got !== undefined; got = port && receiveMessageOnPort(port)) {
      const told = got.message as Told
      if ('host' in told) passedOn.push(told.host)
      else {
        answers.set(told.answers.host, told.answers)
        if (told.isKept) keptByOther.add(told.answers.host)
      }
    }
  }

  const tell = (told: Told): void => {
    port?.postMessage(told)
    change()
  }

  const place = (candidate: Candidate, found: Answers): 'placed' => {
    placed.push(placedAs(candidate, found))
    const all = Atomics.add(memory, places.placed, 1) + 1
    progress(all)
    if (all === hosts.length) change()
    return 'placed'
  }

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

  const work = (candidate: Candidate): Answers => {
    const run = workOut(fleet, candidate, beat)
    const isKept = !candidate.isAlone
    if (isKept) {
      runs.unshift(run)
      runs.splice(mostRuns)
    }
    answers.set(candidate.host, run.answers)
    tell({ answers: run.answers, isKept })
    return run.answers
  }

  const settle = (host: string, mayPassOn: boolean): 'placed' | 'passed on' | 'waits' => {
    const candidate = candidateOf(fleet, host)
    const found = answersFor(candidate, answers.values())
    if (typeof found !== 'string') return place(candidate, found)
    const made = byKnownRun(candidate)
    if (made !== undefined) {
      answers.set(host, made)
      tell({ answers: made, isKept: false })
      return place(candidate, made)
    }
    const isOfOther = [...keptByOther].some(each => {
      const known = answers.get(each)
      return known !== undefined && mayShareRun(candidate, known)
    })
    if (mayPassOn && isOfOther) {
      tell({ host })
      return 'passed on'
    }
    const mark = markOf(found)
    if (Atomics.load(memory, other) === mark) return 'waits'
    Atomics.store(memory, own, mark)
    // Both may have begun at once: the first goes on.
    if (number === 1 && Atomics.load(memory, other) === mark) {
      Atomics.store(memory, own, 0)
      return 'waits'
    }
    // The other may have ended its work just now: what it tells comes before it says so.
    const before = answers.size
    receive()
    if (answers.size > before) {
      Atomics.store(memory, own, 0)
      return settle(host, mayPassOn)
    }
    const worked = work(candidate)
    Atomics.store(memory, own, 0)
    change()
    return place(candidate, worked)
  }

  const retry = (): boolean => {
    const before = waiting
    waiting = []
    for (const host of before) {
      receive()
      if (settle(host, true) === 'waits') waiting.push(host)
    }
    return waiting.length < before.length
  }

  const isThrough = (): boolean =>
    Atomics.load(memory, places.placed) >= hosts.length || Atomics.load(memory, places.failed) !== 0
  while (!isThrough()) {
    beat()
    const changes = Atomics.load(memory, places.changes)
    receive()
    const passed = passedOn.shift()
    if (passed !== undefined) {
      if (settle(passed, false) === 'waits') waiting.push(passed)
      continue
    }
    const host = waiting.length < mostWaiting ? hosts[Atomics.add(memory, places.next, 1)] : undefined
    if (host !== undefined) {
      if (settle(host, true) === 'waits') waiting.push(host)
    } else if (!(waiting.length > 0 && retry())) Atomics.wait(memory, places.changes, changes, 1000)
  }
  receive()
  return { placed, answers }
}

/** A number for a text, never 0. */
function markOf(text: string): number {
  return createHash('sha1').update(text).digest().readInt32LE() || 1
}

/** Says that a thread cannot go on: the others need not, either. */
export function failShare(memory: Int32Array): void {
  Atomics.store(memory, places.failed, 1)
  Atomics.add(memory, places.changes, 1)
  Atomics.notify(memory, places.changes)
}

/** Counts on as long as a thread is there: no event of its end comes while another waits. */
export function beatsOf(memory: Int32Array, number: number): number {
  return Atomics.load(memory, places.beats + number)
}

/** How many hosts are placed. */
export function placedSoFar(memory: Int32Array): number {
  return Atomics.load(memory, places.placed)
}
