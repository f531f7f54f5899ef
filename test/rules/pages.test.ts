import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { anyPort, pageOfPort } from '../../rules/any_port.js'
import { problems } from '../../rules/index.js'
import { analyze, defaultRequest } from '../../src/analyze.js'
import { reportOfAnalysis } from '../../src/commands/subject.js'
import type { Report, ReportedVerdict } from '../../src/reports/report.js'
import { openDirectory } from '../../src/source/directory.js'
import type { Problem } from '../../src/verdicts/problem.js'
import { describeWithClone, reportOn } from '../releases/clone.js'
import { answersOf, examplesOfPage, pageOf } from './page.js'

function reportOnFiles(files: ReadonlyMap<string, string>, beside: readonly Problem[] = []): Report {
  const directory = mkdtempSync(join(tmpdir(), 'whofixes-page-'))
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    return reportOfAnalysis(analyze(openDirectory(directory), { ...defaultRequest, beside }))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function verdictOn(report: Report, id: string): ReportedVerdict {
  const verdict = report.problems.find(problem => problem.id === id)
  assert.ok(verdict, id)
  return verdict
}

/** Every place a verdict names: what settles it, what is open, what came near, what was not read. */
function placesOf({ now, afterReboot, nearMisses, searched, notes }: ReportedVerdict): readonly string[] {
  const named = [...now.evidence, ...now.open, ...afterReboot.evidence, ...afterReboot.open, ...nearMisses]
  // What is only passed over is no place that shows an answer.
  const unresolved = searched.unresolved.filter(({ couldChange }) => couldChange)
  return [...named, ...unresolved, ...notes].map(({ file, line }) => `${file}:${line}`)
}

/** A port that is not in the catalogue, for the page of any. */
const aPort = anyPort('port_8081')
assert.ok(aPort)
const pageFor = (problem: Problem): string =>
  problem === aPort ? pageOfPort(pageOf('port_N'), problem) : pageOf(problem.id)

describe('rule pages: examples', () => {
  for (const problem of [...problems, aPort]) {
    for (const { files, ...stated } of examplesOfPage(pageFor(problem))) {
      it(`${problem.id}: the example for ${stated.fixedBy}`, () => {
        assert.ok(files.has('cluster.yml'), `no yaml block under ### ${stated.fixedBy}`)
        const report = reportOnFiles(files, problem === aPort ? [aPort] : [])
        assert.deepEqual(
          report.diagnostics.filter(({ severity }) => severity === 'error'),
          [],
        )
        const { fixedBy, now, afterReboot } = verdictOn(report, problem.id)
        assert.deepEqual({ fixedBy, now: now.fixedBy, afterReboot: afterReboot.fixedBy }, stated)
      })
    }
  }
})

describeWithClone('rule pages: answers', () => {
  const reports = new Map<string, Report>()
  const reportFor = (revision: string): Report => {
    const report = reports.get(revision) ?? reportOn(revision, { beside: [aPort] })
    reports.set(revision, report)
    return report
  }
  for (const problem of [...problems, aPort]) {
    it(`${problem.id}: what it says of v2.31.0 and master`, () => {
      const stated = answersOf(pageFor(problem))
      for (const revision of ['v2.31.0', 'master']) assert.ok(stated.some(answer => answer.revision === revision))
      for (const { revision, fixedBy, now, afterReboot, place } of stated) {
        const verdict = verdictOn(reportFor(revision), problem.id)
        const found = { fixedBy: verdict.fixedBy, now: verdict.now.fixedBy, afterReboot: verdict.afterReboot.fixedBy }
        assert.deepEqual(found, { fixedBy, now, afterReboot }, revision)
        const places = placesOf(verdict)
        if (place === undefined) assert.deepEqual(places, [], `${revision}: a place that shows it is there`)
        else assert.ok(places.includes(place), `${revision}: ${place} is not among ${places.join(' ')}`)
      }
    })
  }
})
