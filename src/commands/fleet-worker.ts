import { workerData } from 'node:worker_threads'
import { openFleet } from './fleet.js'
import { endShare, placeShare } from './fleet-share.js'
import type { WorkerTask } from './fleet-threads.js'
import { openCodeOf } from './subject.js'

/** The second thread of a fleet: it opens everything for itself, and hands back what it placed. */
const { source, request, pattern, only, memory, answers, result } = workerData as WorkerTask
const shared = new Int32Array(memory)
try {
  const fleet = openFleet(openCodeOf(source, 'preflight'), request, pattern, only)
  result.postMessage({ share: placeShare(fleet, { memory: shared, number: 1, port: answers }, () => {}) })
} catch (error) {
  result.postMessage({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
}
endShare(shared)
