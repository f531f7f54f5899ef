import { fileURLToPath } from 'node:url'
import { analyze, defaultRequest, roleVariables } from '../analyze.js'
import { indexRoles, readWithoutDefault } from '../audit/role-index.js'
import type { RecordedRelease } from '../recorded/format.js'
import { type Recording, renderSnapshot } from '../recorded/record.js'
import { baseOf, readRecorded, recordedReleases, snapshotsDirectory } from '../recorded/snapshot.js'
import { reportedVariable } from '../reports/report.js'
import { UsageError } from '../source/diagnostic.js'
import { isRelease, openSource } from '../source/open.js'
import type { SourceTree } from '../source/tree.js'
import type { DefineCommand } from './command.js'
import { replaceFile } from './output.js'
import { reportOfAnalysis, requireKubespray } from './subject.js'

/** `whofixes record`: writes the snapshot of a release. */
export const defineRecord: DefineCommand = (program, terminal, finish) => {
  program
    .command('record')
    .description('record what a release says: kubespray-snapshots/RELEASE.json')
    .argument('<source>', 'a release, or DIR@TAG')
    .option('-o, --output <file>', 'write to this file instead')
    .option('-q, --quiet', 'say nothing')
    .action((source: string, options: { output?: string; quiet?: boolean }) => {
      const tree = openSource(source)
      const release = tree?.origin.revision
      if (tree === undefined)
        throw new UsageError(`${source}: the local clone does not have it; update it with: whofixes fetch`)
      if (release === undefined || !isRelease(release)) {
        throw new UsageError(`${source}: a snapshot is of a release; name one, as in v2.31.0 or DIR@v2.31.0`)
      }
      requireKubespray(tree)
      const path = options.output ?? fileURLToPath(new URL(`${release}.json`, snapshotsDirectory))
      replaceFile(path, recordRelease(tree, release, recordedBase(release)))
      if (!options.quiet) terminal.err(`recorded ${release} in ${path}`)
      const outdated = options.output === undefined ? outdatedBy(release) : []
      if (outdated.length > 0)
        terminal.err(`${outdated.join(', ')}: recorded as they differ from ${release}; record them again`)
      finish(0)
    })
}

/** The recorded releases that say what differs from this one as it was recorded before. */
function outdatedBy(release: string): readonly string[] {
  return recordedReleases().filter(each => {
    if (baseOf(each) !== release) return false
    try {
      readRecorded(each)
      return false
    } catch (error) {
      if (error instanceof UsageError) return true
      throw error
    }
  })
}

/** What a release is recorded as it differs from, where that is recorded; a file of its own otherwise. */
export function recordedBase(release: string): RecordedRelease | undefined {
  const base = baseOf(release)
  return base === undefined ? undefined : readRecorded(base)
}

/** The text of a release's snapshot, from its role code; with `base` only what differs from it. */
export function recordRelease(tree: SourceTree, release: string, base?: RecordedRelease): string {
  return renderSnapshot(recordingOf(tree, release), base)
}

/** What a snapshot is made of: the release with the default inventory. */
export function recordingOf(tree: SourceTree, release: string): Recording {
  const analysis = analyze(tree, { ...defaultRequest, variables: roleVariables, quoteCode: false })
  const roles = analysis.roles.map(({ role, variables }) => ({
    path: role.code.path,
    variables: new Map([...variables].map(([name, variable]) => [name, reportedVariable(variable)] as const)),
  }))
  const report = reportOfAnalysis(analysis)
  const { run, addresses } = analysis
  return { release, report, run, addresses, roles, reads: readWithoutDefault(indexRoles(analysis.code)) }
}
