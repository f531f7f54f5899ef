import { type AnalysisRequest, analyze, shownVariables } from '../analyze.js'
import { readPlaybook } from '../ansible/read-plays.js'
import { textOf } from '../effects/argument.js'
import { factsOfDistribution, widespreadDistributions } from '../inventory/distributions.js'
import type { Value } from '../jinja/value.js'
import { sourceOf } from '../recorded/published.js'
import type { Matrix } from '../reports/matrix.js'
import { UsageError } from '../source/diagnostic.js'
import { pathToOpen } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import { readYamlFile } from '../yaml/read.js'
import { reportOfAnalysis } from './subject.js'

/** The variable in which role code lists the distributions it supports. */
const supported = 'supported_os_distributions'

/** The same run for each distribution the role code supports. */
export function matrixOfDistributions(tree: SourceTree, request: AnalysisRequest): Matrix {
  if (request.facts !== undefined) throw new UsageError('--matrix os gives the facts itself; leave out --facts')
  const plain = analyze(tree, { ...request, variables: () => [...shownVariables, supported] })
  const listed = [...plain.roles.values()].map(({ variables }) => variables.get(supported)).find(each => each?.winner)
  const names = listed === undefined ? [] : namesIn(listed.value)
  const at = listed?.winner && pathToOpen(listed.winner.at.file)
  const columns = (names.length > 0 ? names : widespreadDistributions).map(name => ({
    name,
    report: reportOfAnalysis(analyze(tree, { ...request, commonFacts: factsOfDistribution(name) })),
  }))
  return {
    by: 'os',
    source: sourceOf(plain.origin),
    host: plain.run.host,
    playbook: request.playbook,
    columnsFrom: names.length > 0 && at !== undefined ? `those of ${at}` : 'the role code lists none; common ones',
    columns,
  }
}

function namesIn(value: Value): readonly string[] {
  if (value.kind !== 'known' || !Array.isArray(value.data)) return []
  return (value.data as readonly Value[]).flatMap(item => textOf(item) ?? [])
}

/** The run of each playbook that stands at the top of the tree. */
export function matrixOfPlaybooks(tree: SourceTree, request: AnalysisRequest): Matrix {
  const names = tree.list('').filter(name => /\.ya?ml$/.test(name) && isPlaybook(tree, name))
  if (names.length === 0) throw new UsageError('--matrix playbook: no playbook stands at the top of the tree')
  const columns = names.map(name => {
    const analysis = analyze(tree, { ...request, playbook: name, variables: () => shownVariables })
    return { name, analysis, report: reportOfAnalysis(analysis) }
  })
  const [first] = columns
  if (first === undefined) throw new Error('there is a playbook')
  return {
    by: 'playbook',
    source: sourceOf(first.analysis.origin),
    host: first.analysis.run.host,
    playbook: request.playbook,
    columnsFrom: 'those at the top of the tree',
    columns: columns.map(({ name, report }) => ({ name, report })),
  }
}

function isPlaybook(tree: SourceTree, path: string): boolean {
  const file = tree.read(path)
  const node = file && readYamlFile(file, () => {})
  return node?.kind === 'list' && readPlaybook(node, () => {}).some(({ kind }) => kind !== 'unreadable')
}
