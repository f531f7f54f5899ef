import { parentPort, workerData } from 'node:worker_threads'
import { openDirectory } from '../../src/source/directory.js'
import { measure } from './measure.js'

/** What a worker is started with: playbooks of one root, to be measured one after the other. */
export interface Assignment {
  readonly root: string
  readonly playbooks: readonly string[]
  readonly inventory: string
}

if (parentPort !== null) {
  const { root, playbooks, inventory }: Assignment = workerData
  const tree = openDirectory(root)
  for (const playbook of playbooks) parentPort.postMessage(measure(tree, playbook, inventory))
}
