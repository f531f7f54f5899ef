import { type AnalysisRequest, type OpenedInventory, openInventory } from '../../analyze.js'
import { type EvidenceHost, evidenceHosts } from '../../evidence/open.js'
import { readFacts } from '../../inventory/facts.js'
import { shortName } from '../../inventory/inventory.js'
import { readPattern } from '../../inventory/patterns.js'
import type { Dict } from '../../jinja/value.js'
import { type Diagnostic, UsageError } from '../../source/diagnostic.js'
import { once } from '../../source/once.js'
import type { SourceTree } from '../../source/tree.js'
import { type Named, namedIn } from './named.js'

/** What a fleet is worked out from: everything that is read once. */
export interface Fleet {
  readonly tree: SourceTree
  readonly request: AnalysisRequest
  readonly opened: OpenedInventory
  /** In the order of the inventory. */
  readonly hosts: readonly string[]
  readonly evidence: ReadonlyMap<string, EvidenceHost>
  /** Read when first asked for. */
  readonly facts: () => ReadonlyMap<string, Dict>
  readonly named: () => Named
  /** The names of all hosts of the inventory, whole and up to the first dot. */
  readonly names: () => ReadonlySet<string>
  readonly only: readonly string[] | undefined
  /** What is wrong with what was read so far. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Opens all that the hosts of a fleet share, where `--host` names not one host of the inventory but a pattern, as `all` or a group.
 * Throws UsageError where it matches none, or something cannot be read.
 */
export function openFleet(
  tree: SourceTree,
  request: AnalysisRequest,
  only: readonly string[] | undefined,
): Fleet | undefined {
  const { host: pattern } = request
  if (pattern === undefined) return undefined
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  const opened = request.opened ?? openInventory(tree, request, report)
  const { inventory } = opened
  const isPattern = /[*?!&,:~[\]]/.test(pattern) || inventory.groups.has(pattern)
  if (inventory.hosts.has(pattern) || !isPattern) return undefined
  const { hosts, problems } = readPattern(pattern, inventory)
  const [problem] = problems
  if (hosts.length === 0) {
    throw new UsageError(
      `--host ${pattern}: it matches no host of the inventory${problem === undefined ? '' : ` (${problem})`}`,
    )
  }
  if (request.evidence === undefined) throw new Error('the request names no evidence')
  const all = evidenceHosts(request.evidence, report)
  const [first] = all
  const isOfOne = all.length === 1 && hosts.length === 1 && first !== undefined
  const evidence = new Map(isOfOne ? [[hosts[0] ?? '', first]] : all.map(each => [each.host, each]))
  const facts = once(() =>
    request.facts === undefined
      ? new Map<string, Dict>()
      : readFacts(request.facts, report, opened.inventory.hosts.keys()),
  )
  const named = once(() => namedIn(tree, opened, request))
  const names = once(() => new Set([...inventory.hosts.keys()].flatMap(host => [host, shortName(host)])))
  return { tree, request, opened, hosts, evidence, facts, named, names, only, diagnostics }
}

/** Hosts that there is evidence of and that the inventory does not have, a line. */
export function strangersOf({ evidence, opened }: Fleet): readonly string[] {
  const strangers = [...evidence.keys()].filter(host => !opened.inventory.hosts.has(host))
  if (strangers.length === 0) return []
  const more = strangers.length > 8 ? ` and ${strangers.length - 8} more` : ''
  const some = `${strangers.slice(0, 8).join(', ')}${more}`
  return [`evidence of hosts that are not in the inventory is left out: ${some}`]
}
