import { analyze, shownVariables } from '../../src/analyze.js'
import { reportOfAnalysis } from '../../src/commands/subject.js'
import { recordedCommit } from '../../src/recorded/snapshot.js'
import type { Report } from '../../src/reports/report.js'
import { openDirectory } from '../../src/source/directory.js'
import type { TreeOrigin } from '../../src/source/tree.js'
import { smallTree } from '../commands/small-tree.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'

/** As if the tree were read from a release; by its commit it is known to be kubespray's. */
export const released: TreeOrigin = {
  kind: 'revision',
  path: '/clone',
  revision: 'v2.31.0',
  commit: recordedCommit('v2.31.0') ?? '',
}

/** The report on a small tree, with some of its files as given. */
export function reportOnSmallTree(files: Files = {}, assume: readonly string[] = [], origin?: TreeOrigin): Report {
  let report: Report | undefined
  withTemporary(path => {
    writeFiles(path, { ...smallTree, ...files })
    const analysis = analyze(openDirectory(path), {
      playbook: 'cluster.yml',
      inventory: [],
      extraVars: [],
      assume,
      tags: [],
      skipTags: [],
      environment: {},
      variables: () => shownVariables,
    })
    report = reportOfAnalysis(origin === undefined ? analysis : { ...analysis, origin })
  })
  if (report === undefined) throw new Error('no report')
  return report
}

/** A file of the tree with lines before it, as if more stood there. */
export function moved(path: string, lines: number): Files {
  const text = smallTree[path]
  if (typeof text !== 'string') throw new Error(`no such file: ${path}`)
  return { [path]: text.replace('---\n', `---\n${'# more\n'.repeat(lines)}`) }
}

/** Members whose text the program chooses. */
const chosen = new Set([
  'fixedBy',
  'runs',
  'kind',
  'from',
  'status',
  'severity',
  'action',
  'release',
  'permalink',
  'published',
  'id',
])

/** The same report with this text in place of each text that role code or an inventory could have a say in. */
export function poisoned<T>(value: T, text: string): T {
  const walk = (each: unknown, key: string): unknown => {
    if (typeof each === 'string') return chosen.has(key) ? each : text
    if (Array.isArray(each)) return each.map(member => walk(member, key))
    if (each instanceof Map) return new Map([...each].map(([name, member]) => [name, walk(member, String(name))]))
    if (typeof each === 'object' && each !== null) {
      return Object.fromEntries(Object.entries(each).map(([name, member]) => [name, walk(member, name)]))
    }
    return each
  }
  return walk(value, '') as T
}
