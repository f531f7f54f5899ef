import { type ReportedSource, reportedSource } from '../reports/report.js'
import type { TreeOrigin } from '../source/tree.js'
import { publicReference } from '../source/upstream.js'
import { recordedCommit } from './snapshot.js'

/** Where role code was read, with what it is called in kubespray's own repository; git is asked for that when it is first looked at. */
export function sourceOf(origin: TreeOrigin): ReportedSource {
  return reportedSource(origin, () => publicReference(origin, recordedCommit))
}
