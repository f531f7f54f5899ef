import type { Audit, Change, ChangeKind } from './audit.js'
import { type Draft, type FindingPlace, type Findings, fingerprinted, type RelatedPlace } from './findings.js'
import type { Place } from './place.js'
import type { ReportedDiagnostic } from './report.js'
import { valueText } from './value-text.js'

/**
 * An audit as findings. What is required is an error, what is advised a warning, the rest a note. Each stands where somebody
 * has to look: in the user's own file where that has a say, else in NEW, else at the playbook.
 */
export function findingsOfAudit(audit: Audit, diagnostics: readonly ReportedDiagnostic[] = []): Findings {
  return {
    command: 'audit',
    subject: [audit.playbook, audit.host],
    source: audit.new,
    old: audit.old,
    findings: fingerprinted(audit.changes.map(change => changeFinding(audit, change))),
    diagnostics,
    notLookedAt: audit.notCompared,
  }
}

const levels = { required: 'error', advised: 'warning', none: 'note' } as const

function changeFinding(audit: Audit, change: Change): Draft {
  const { kind, name, to, action, says, inventory, evidence = [] } = change
  const own = inventory.filter(isFile).map((place): FindingPlace => ({ ...at(place), owner: 'own' }))
  const fresh = change.new === null ? [] : [{ ...at(change.new), owner: 'kubespray' } as const]
  const old = change.old === null ? [] : [{ ...at(change.old), owner: 'old' } as const]
  const fallback: FindingPlace = { file: audit.playbook, line: 1, owner: 'kubespray' }
  const place = own[0] ?? fresh[0] ?? fallback
  const related: readonly RelatedPlace[] = [
    ...own.slice(1).map(each => ({ ...each, says: 'yours' })),
    ...fresh.map(each => ({ ...each, says: `is${valueAfter(change.new?.value)}` })),
    ...old.map(each => ({ ...each, says: `was${valueAfter(change.old?.value)}` })),
    ...evidence.flatMap(each => [
      { ...at(each.old), owner: 'old', says: 'read here before' } as const,
      { ...at(each.new), owner: 'kubespray', says: 'and here now' } as const,
    ]),
  ]
  return {
    rule: ruleOf(kind),
    level: levels[action],
    kind: action === 'none' ? 'informational' : 'fail',
    about: to === undefined ? name : `${name} → ${to}`,
    message: `${says}.`,
    commands: [],
    place,
    related: related.filter(each => each.file !== place.file || each.line !== place.line || each.owner !== place.owner),
    flows: [],
    identity: [name, to ?? ''],
  }
}

function at({ file, line }: Place): Place {
  return { file, line }
}

/** `-e:1` is a word of the command line. */
function isFile({ file }: Place): boolean {
  return !file.startsWith('-')
}

function valueAfter(value: Parameters<typeof valueText>[0] | undefined): string {
  return value === undefined ? '' : ` ${valueText(value)}`
}

function ruleOf(kind: ChangeKind): Draft['rule'] {
  return { id: kind, title: titles[kind], help: `${titles[kind]}.\n${actionsHelp}`, page: null }
}

const actionsHelp =
  'An error is required: the run would stop, or ignore what is set. A warning is advised: somebody should look. A note is for information.'

const titles: Readonly<Record<ChangeKind, string>> = {
  'verdict-changed': 'A problem is up to somebody else',
  'check-added': 'The playbook has a new check',
  'check-changed': 'A check of the playbook asks for something else, or comes out otherwise',
  'check-removed': 'A check of the playbook is gone',
  'version-unavailable': 'There is nothing for the version that is set',
  'type-changed': 'A variable is of another type',
  'ansible-version': 'The role code is made for another ansible-core',
  'collection-required': 'The role code needs a collection, or a later one',
  'variable-renamed': 'A variable has a new name',
  'variable-removed': 'Nothing defines or reads a variable any more',
  'variable-unused': 'Nothing reads a variable that is set',
  'default-became-vars': 'An inventory no longer overrides a variable',
  'group-renamed': 'A group has a new name',
  'group-unused': 'Nothing asks for a group any more',
  'default-changed': 'A default is another one',
  'default-removed': 'A variable has no default any more',
  'default-added': 'A variable has a default now',
  'variable-added': 'A variable is new',
  'port-added': 'Something listens on a port that nothing listened on',
  'unit-changed': 'A unit is another one',
  'effect-added': 'Something new happens to the host',
  'effect-removed': 'Something does not happen to the host any more',
  'condition-changed': 'Something happens under another condition',
  'tag-removed': 'No task has a tag any more',
  'playbook-renamed': 'A playbook has a new name',
  'role-renamed': 'A role has a new name',
  'task-moved': 'A task stands elsewhere',
}
