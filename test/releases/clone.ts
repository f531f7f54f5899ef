import { type AnalysisRequest, analyze, defaultRequest, shownVariables } from '../../src/analyze.js'
import { reportOfAnalysis } from '../../src/commands/subject.js'
import type { Report } from '../../src/reports/report.js'
import { clonePath, hasClone } from '../../src/source/clone.js'
import { openRevision, releaseTags } from '../../src/source/revision.js'

/** Like describe, where there is a local clone of kubespray; one visible line where there is none. */
export function describeWithClone(title: string, body: () => void): void {
  if (hasClone()) {
    describe(title, body)
    return
  }
  describe(title, () => {
    before(function () {
      console.log('    skipped: no clone of kubespray (whofixes fetch)')
      this.skip()
    })
    it('needs a clone', () => {})
  })
}

/** The release tags from v2.10.0 on, and the default branch. */
export function revisions(): readonly string[] {
  const tags = releaseTags(clonePath()).map(({ tag }) => tag)
  return [...tags.slice(tags.indexOf('v2.10.0')), 'master']
}

export function reportOn(revision: string, request: Partial<AnalysisRequest> = {}): Report {
  const tree = openRevision(clonePath(), revision)
  return reportOfAnalysis(analyze(tree, { ...defaultRequest, variables: () => shownVariables, ...request }))
}

/** `v2.9.0` is before `v2.10.0`; the branch comes after every release. */
export function isFrom(revision: string, release: string): boolean {
  return revision === 'master' || revision.localeCompare(release, 'en', { numeric: true }) >= 0
}
