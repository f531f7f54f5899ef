import { readdirSync, readFileSync } from 'node:fs'
import type { Report, ReportedVariable } from '../reports/report.js'
import { UsageError } from '../source/diagnostic.js'

/** Where the package keeps what was recorded about each release. */
export const snapshotsDirectory = new URL('../../../kubespray-snapshots/', import.meta.url)

/** What was recorded about a release: facts only, no role code and no expressions. */
export interface Snapshot {
  readonly release: string
  readonly report: Report
  /** Variables by role; all of them, or those with these names. */
  readonly variables: (names: readonly string[]) => ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>>
}

/** The recorded releases, oldest first. */
export function recordedReleases(): readonly string[] {
  return readdirSync(snapshotsDirectory)
    .flatMap(name => /^(v\d+\.\d+\.\d+)\.json$/.exec(name)?.[1] ?? [])
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

export function newestRelease(): string {
  const newest = recordedReleases().at(-1)
  if (newest === undefined)
    throw new UsageError('no release is recorded; name a SOURCE: a directory, DIR@REV or a release')
  return newest
}

export function readSnapshot(release: string): Snapshot | undefined {
  if (!recordedReleases().includes(release)) return undefined
  JSON.parse(readFileSync(new URL(`${release}.json`, snapshotsDirectory), 'utf8'))
  throw new UsageError('TODO')
}
