import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { AnalysisRequest } from '../../analyze.js'
import type { Diagnostic } from '../../source/diagnostic.js'
import type { Placed } from './answers.js'
import type { Fleet } from './fleet.js'
import { beatsOf, makeMemory, placedSoFar, placeShare, type Share } from './share.js'

/** What a thread is told. It opens everything for itself. */
export interface WorkerTask {
  readonly source: string | undefined
  /** With the inventory that was opened. */
  readonly request: AnalysisRequest
  readonly only: readonly string[] | undefined
  readonly memory: SharedArrayBuffer
  /** 0 or 1. */
  readonly number: number
  /** Where answers go to the other thread and come from it. */
  readonly port: MessagePort
  readonly result: MessagePort
}

/** What a thread hands back, once. */
export type WorkerResult =
  | { readonly share: Share; readonly diagnostics: readonly Diagnostic[] }
  | { readonly failed: string }

/** All hosts of a fleet, in its order, with all answers; and what was found wrong with the input on the way. */
export interface PlacedFleet extends Share {
  readonly diagnostics: readonly Diagnostic[]
}

/** Fewer hosts than this are not worth threads. */
const MANY = 12

/** Megabytes that a thread may keep, and what it takes more for each host beyond a thousand. */
const MEMORY = 210
const MEMORY_PER_HOST = 0.08

/**
 * Places all hosts of a fleet, on two threads where there are two processors. It waits for them without giving up its own: a command
 * is through when its function returns. Where a thread ends early (for want of memory), all is done again without threads.
 */
export function placeFleet(fleet: Fleet, source: string | undefined, progress: (placed: number) => void): PlacedFleet {
  const found = fleet.hosts.length < MANY || availableParallelism() < 2 ? undefined : onThreads(fleet, source, progress)
  if (found !== undefined) return found
  const alone = { memory: new Int32Array(makeMemory()), number: 0, port: undefined }
  const share = placeShare(fleet, alone, progress)
  return { ...inOrder([share], fleet.hosts), diagnostics: fleet.diagnostics }
}

/** Undefined where a thread ended without a result. */
function onThreads(
  fleet: Fleet,
  source: string | undefined,
  progress: (placed: number) => void,
): PlacedFleet | undefined {
  const { request, opened, only } = fleet
  const task = { source, request: { ...request, opened }, only }
  const memory = makeMemory()
  const shared = new Int32Array(memory)
  const between = new MessageChannel()
  const most = MEMORY + MEMORY_PER_HOST * Math.max(0, fleet.hosts.length - 1000)
  const threads = [between.port1, between.port2].map((port, number) =>
    startThread({ ...task, memory, number, port }, most),
  )
  try {
    const results = threads.map(() => undefined as WorkerResult | undefined)
    const heard = threads.map(() => ({ beats: 0, at: Date.now() }))
    while (results.some(result => result === undefined)) {
      Atomics.wait(pause, 0, 0, 100)
      progress(placedSoFar(shared))
      for (const [number, { result }] of threads.entries()) {
        results[number] ??= receiveMessageOnPort(result)?.message as WorkerResult | undefined
        const beats = beatsOf(shared, number)
        const last = heard[number]
        if (last?.beats !== beats) heard[number] = { beats, at: Date.now() }
        else if (results[number] === undefined && Date.now() - last.at > SILENT) return undefined
      }
    }
    const shares = results.flatMap(result => {
      if (result !== undefined && 'failed' in result) throw new Error(result.failed)
      return result ?? []
    })
    return {
      ...inOrder(
        shares.map(({ share }) => share),
        fleet.hosts,
      ),
      diagnostics: [...fleet.diagnostics, ...shares.flatMap(({ diagnostics }) => diagnostics)],
    }
  } finally {
    for (const { stop } of threads) stop()
  }
}

/** Milliseconds after which a thread that is not heard of is there no more. */
const SILENT = 60_000

/** Nobody writes to it: waiting for it is a pause. */
const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

interface Thread {
  readonly result: MessagePort
  readonly stop: () => void
}

function startThread(task: Omit<WorkerTask, 'result'>, megabytes: number): Thread {
  const { port1: result, port2: theirs } = new MessageChannel()
  const workerData: WorkerTask = { ...task, result: theirs }
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData,
    transferList: [theirs, task.port],
    resourceLimits: { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: 32 },
  })
  worker.unref()
  // Its early end is noticed by the loop that waits for it.
  worker.on('error', () => {})
  return {
    result,
    stop: () => {
      result.close()
      void worker.terminate()
    },
  }
}

/** Hosts in the order of the inventory. */
function inOrder(shares: readonly Share[], hosts: readonly string[]): Share {
  const order = new Map(hosts.map((host, index) => [host, index]))
  const at = ({ name }: Placed): number => order.get(name.host) ?? 0
  return {
    placed: shares.flatMap(({ placed }) => placed).sort((left, right) => at(left) - at(right)),
    answers: new Map(shares.flatMap(({ answers }) => [...answers])),
  }
}
