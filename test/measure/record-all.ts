import { fileURLToPath } from 'node:url'
import { replaceFile } from '../../src/commands/output.js'
import { recordedBase, recordRelease } from '../../src/commands/record.js'
import { snapshotsDirectory } from '../../src/recorded/snapshot.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision, releaseTags } from '../../src/source/revision.js'

// npm run record [-- FIRST [LAST]]: the snapshots of all releases of the local clone from v2.10.0 on, oldest first, so that
// the first release of a minor is there when its patch releases are recorded as they differ from it.
const [first = 'v2.10.0', last] = process.argv.slice(2)
const tags = releaseTags(clonePath()).map(({ tag }) => tag)
const positionOf = (tag: string): number => {
  if (!tags.includes(tag)) throw new Error(`${tag}: the local clone has no such release`)
  return tags.indexOf(tag)
}
const releases = tags.slice(positionOf(first), last === undefined ? undefined : positionOf(last) + 1)

let total = 0
for (const release of releases) {
  const before = performance.now()
  const text = recordRelease(openRevision(clonePath(), release), release, recordedBase(release))
  replaceFile(fileURLToPath(new URL(`${release}.json`, snapshotsDirectory)), text)
  total += Buffer.byteLength(text)
  const seconds = ((performance.now() - before) / 1000).toFixed(1)
  console.log(`${release.padEnd(9)} ${String(Buffer.byteLength(text)).padStart(7)} bytes ${seconds.padStart(5)} s`)
}
console.log(`${releases.length} releases, ${total} bytes`)
