import { type Change, compareChanges } from '../reports/audit.js'
import type { Report } from '../reports/report.js'
import type { SourceTree } from '../source/tree.js'
import { checkChanges } from './checks.js'
import { deadOptions } from './dead-options.js'
import { givenBy, readByGiven } from './given.js'
import { groupChanges } from './groups.js'
import { effectChanges } from './host/effects.js'
import { matchSides } from './matching/matching.js'
import { ansibleChange, collectionChanges } from './requirements.js'
import type { Compared, Side } from './side.js'
import { unavailableVersions } from './unavailable.js'
import { variableChanges } from './variables.js'
import { verdictChanges } from './verdicts.js'
import { wrapperChanges, wrapperDefinitions, wrapperReads } from './wrapper.js'

/** What an audit is asked about besides the two versions. */
export interface AuditRequest {
  /** As given on the command line. */
  readonly extraVars: readonly string[]
  /** Whether NEW takes the Ansible that OLD was made for. */
  readonly acceptsAnsible: boolean | undefined
  /** The tags that `--tags` and `--skip-tags` name. */
  readonly usedTags: readonly string[]
  /** Playbooks and roles of the user's own that use kubespray. */
  readonly wrapper: SourceTree | undefined
}

/** The two reports that go with the sides. */
export interface Reports {
  readonly old: Report
  readonly new: Report
}

/** Everything that differs between two versions of role code, what matters most first. */
export function auditCode(old: Side, fresh: Side, reports: Reports, request: AuditRequest): readonly Change[] {
  const { wrapper } = request
  const matching = matchSides(old.index, fresh.index)
  const given = givenBy(old, request.extraVars, wrapper === undefined ? [] : wrapperDefinitions(wrapper))
  const ownReads = new Set([...readByGiven(given), ...(wrapper === undefined ? [] : wrapperReads(wrapper))])
  const compared: Compared = { old, new: fresh, matching, given, ownReads }
  return ranked([
    ...verdictChanges(reports.old, reports.new),
    ...checkChanges(compared),
    ...unavailableVersions(compared),
    ...[ansibleChange(reports.old, reports.new, request.acceptsAnsible) ?? []].flat(),
    ...collectionChanges(old, fresh),
    ...groupChanges(old, fresh, matching),
    ...variableChanges(compared),
    ...deadOptions(compared),
    ...effectChanges(old, fresh, matching, request.usedTags),
    ...(wrapper === undefined ? [] : wrapperChanges(wrapper, old, fresh, matching)),
  ])
}

/** In the order in which an audit is read. */
export function ranked(changes: readonly Change[]): readonly Change[] {
  return changes.toSorted(compareChanges)
}
