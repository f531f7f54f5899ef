import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { AnalysisRequest } from '../analyze.js'
import type { Answers, Fleet, Placed } from './fleet.js'
import { awaitShare, makeMemory, placeShare, type Share } from './fleet-share.js'

/** What the second thread is told. */
export interface WorkerTask {
  readonly source: string | undefined
  readonly request: AnalysisRequest
  readonly pattern: string
  readonly only: readonly string[] | undefined
  readonly memory: SharedArrayBuffer
  /** Where answers go to the first thread and come from it. */
  readonly answers: MessagePort
  readonly result: MessagePort
}

/** Fewer hosts than this are not worth a second thread. */
const MANY = 12

/** Megabytes of a thread: what is worked out for one host is given back before the next. */
const MEMORY = 190

/**
 * Places all hosts of a fleet, on two threads where there are two processors. It waits for the second without giving up the first:
 * a command is through when its function returns.
 */
export function placeFleet(
  fleet: Fleet,
  task: Pick<WorkerTask, 'source' | 'request' | 'pattern' | 'only'>,
  progress: (placed: number) => void,
): Share {
  const memory = makeMemory()
  const shared = new Int32Array(memory)
  if (fleet.hosts.length < MANY || availableParallelism() < 2)
    return placeShare(fleet, { memory: shared, number: 0, port: undefined }, progress)
  const { port1: answers, port2: theirAnswers } = new MessageChannel()
  const { port1: result, port2: theirResult } = new MessageChannel()
  const data: WorkerTask = { ...task, memory, answers: theirAnswers, result: theirResult }
  const worker = new Worker(new URL('./fleet-worker.js', import.meta.url), {
    workerData: data,
    transferList: [theirAnswers, theirResult],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY, maxYoungGenerationSizeMb: 32 },
  })
  worker.unref()
  const own = placeShare(fleet, { memory: shared, number: 0, port: answers }, progress)
  awaitShare(shared, progress)
  const theirs = (receiveMessageOnPort(result) as { readonly message: Theirs } | undefined)?.message
  answers.close()
  result.close()
  if (theirs === undefined || 'failed' in theirs) throw new Error(theirs?.failed ?? 'the second thread gave nothing')
  return together(own, theirs.share, fleet.hosts)
}

type Theirs = { readonly share: Share } | { readonly failed: string }

/** Hosts in the order of the inventory. */
function together(one: Share, other: Share, hosts: readonly string[]): Share {
  const order = new Map(hosts.map((host, index) => [host, index]))
  const at = ({ name }: Placed): number => order.get(name.host) ?? 0
  const answers: ReadonlyMap<string, Answers> = new Map([...one.answers, ...other.answers])
  return { placed: [...one.placed, ...other.placed].sort((left, right) => at(left) - at(right)), answers }
}
