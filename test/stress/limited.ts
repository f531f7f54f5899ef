import { Worker } from 'node:worker_threads'
import type { Measured } from './measure.js'
import type { Assignment } from './worker.js'

/** More processor time than this for one playbook is a hang. */
export const secondsAllowed = 20

/** Measures playbooks in a thread of their own; one that takes too long is given up, and the next one is begun anew. */
export async function measureAll(assignment: Assignment): Promise<readonly Measured[]> {
  const { playbooks } = assignment
  const measured: Measured[] = []
  while (measured.length < playbooks.length) {
    await measureFrom({ ...assignment, playbooks: playbooks.slice(measured.length) }, measured)
  }
  return measured
}

const gaveUp = (thrown: string): Measured => ({
  plays: 0,
  tasks: 0,
  milliseconds: secondsAllowed * 1000,
  unread: [],
  list: '',
  listable: false,
  thrown,
})

/** Measures until all is done or one playbook takes too long. */
function measureFrom(assignment: Assignment, measured: Measured[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const expected = measured.length + assignment.playbooks.length
    const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: assignment })
    let begin = process.cpuUsage()
    const stop = (fault?: string): void => {
      clearInterval(timer)
      if (fault !== undefined) measured.push(gaveUp(fault))
      worker.terminate().then(() => resolve(), reject)
    }
    const timer = setInterval(() => {
      const { user, system } = process.cpuUsage(begin)
      if (user + system > secondsAllowed * 1e6) stop(`no end after ${secondsAllowed} s`)
    }, 500)
    worker.on('message', (result: Measured) => {
      measured.push(result)
      begin = process.cpuUsage()
      if (measured.length === expected) stop()
    })
    worker.on('error', error => stop(String(error)))
  })
}
