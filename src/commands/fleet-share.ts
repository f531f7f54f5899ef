import { createHash } from 'node:crypto'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import {
  type Answers,
  answersFor,
  type Candidate,
  candidateOf,
  type Fleet,
  type KnownRun,
  mayShareRun,
  type Placed,
  placedAs,
  workOut,
  workOutBy,
} from './fleet.js'

/** Places in the memory that both threads of a fleet see. */
const places = { next: 0, placed: 1, ended: 2, atWork: 3 } as const

/** The memory that both threads see. */
export function makeMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * 8)
}

/** What one of two threads has to do with the other. */
export interface Link {
  readonly memory: Int32Array
  /** 0 or 1. */
  readonly number: number
  /** Where answers go to the other thread and come from it; undefined where there is none. */
  readonly port: MessagePort | undefined
}

/** What a thread has worked out: the hosts it placed, and all answers it knows, by the host they were worked out for. */
export interface Share {
  readonly placed: readonly Placed[]
  readonly answers: ReadonlyMap<string, Answers>
}

/** Hosts that wait until the other thread knows more, at most. */
const mostWaiting = 48

/** Runs that are kept whole. */
const mostRuns = 3

/**
 * Places the hosts that this thread gets to, one after the other: most have answers that are known already. What is worked out is
 * told to the other thread at once; a host that most likely has the answers that one is working at waits for them.
 */
export function placeShare(fleet: Fleet, { memory, number, port }: Link, progress: (placed: number) => void): Share {
  const placed: Placed[] = []
  const answers = new Map<string, Answers>()
  const waiting: string[] = []
  const runs: KnownRun[] = []
  const own = places.atWork + number
  const other = places.atWork + 1 - number

  const receive = (): void => {
    for (let got = port && receiveMessageOnPort(port); got !== undefined; got = port && receiveMessageOnPort(port)) {
      const told = got.message as Answers
      answers.set(told.host, told)
    }
  }

  const tell = (made: Answers): void => {
    answers.set(made.host, made)
    port?.postMessage(made)
  }

  const place = (candidate: Candidate, found: Answers): void => {
    placed.push(placedAs(candidate, found))
    progress(Atomics.add(memory, places.placed, 1) + 1)
  }

  /** False where it has to wait. */
  const settle = (host: string): boolean => {
    receive()
    const candidate = candidateOf(fleet, host)
    const found = answersFor(candidate, answers.values())
    if (typeof found !== 'string') {
      place(candidate, found)
      return true
    }
    for (const run of runs) {
      const made = mayShareRun(candidate, run) ? workOutBy(fleet, candidate, run) : undefined
      if (made === undefined) continue
      tell(made)
      place(candidate, made)
      return true
    }
    const mark = markOf(found)
    if (Atomics.load(memory, other) === mark) return false
    Atomics.store(memory, own, mark)
    // Both may have begun at once: the first goes on.
    if (number === 1 && Atomics.load(memory, other) === mark) {
      Atomics.store(memory, own, 0)
      return false
    }
    const run = workOut(fleet, candidate)
    runs.unshift(run)
    runs.splice(mostRuns)
    const made = run.answers
    tell(made)
    Atomics.store(memory, own, 0)
    Atomics.notify(memory, own)
    place(candidate, made)
    return true
  }

  const settleWaiting = (most: number): void => {
    while (waiting.length > most) {
      const before = Atomics.load(memory, other)
      const again = waiting.splice(0).filter(host => !settle(host))
      waiting.push(...again)
      if (waiting.length > most && before !== 0) Atomics.wait(memory, other, before, 1000)
    }
  }

  for (
    let at = Atomics.add(memory, places.next, 1);
    at < fleet.hosts.length;
    at = Atomics.add(memory, places.next, 1)
  ) {
    const host = fleet.hosts[at]
    if (host !== undefined && !settle(host)) waiting.push(host)
    if (waiting.length >= mostWaiting) settleWaiting(0)
  }
  settleWaiting(0)
  receive()
  return { placed, answers }
}

/** A number for a text, never 0. */
function markOf(text: string): number {
  return createHash('sha1').update(text).digest().readInt32LE() || 1
}

/** Says that the other thread is through. */
export function endShare(memory: Int32Array): void {
  Atomics.store(memory, places.ended, 1)
  Atomics.notify(memory, places.ended)
}

/** Waits until the other thread is through, telling how far both are. */
export function awaitShare(memory: Int32Array, progress: (placed: number) => void): void {
  while (Atomics.load(memory, places.ended) === 0) {
    Atomics.wait(memory, places.ended, 0, 500)
    progress(Atomics.load(memory, places.placed))
  }
}
