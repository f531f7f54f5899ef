import { workerData } from 'node:worker_threads'
import { openCodeOf } from '../subject.js'
import { openFleet } from './fleet.js'
import { failShare, placeShare } from './share.js'
import type { WorkerResult, WorkerTask } from './threads.js'

const { source, request, only, memory, number, port, result } = workerData as WorkerTask
const shared = new Int32Array(memory)

function resultOf(): WorkerResult {
  try {
    const fleet = openFleet(openCodeOf(source, 'preflight'), request, only)
    if (fleet === undefined) throw new Error('the request names no pattern of hosts')
    const share = placeShare(fleet, { memory: shared, number, port })
    return { share, diagnostics: fleet.diagnostics }
  } catch (error) {
    failShare(shared)
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** One of two threads of a fleet: it hands back what it placed. */
result.postMessage(resultOf())
