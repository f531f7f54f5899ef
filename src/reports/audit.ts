import type { Count, Place } from './place.js'
import type { ReportedDiagnostic, ReportedSource } from './report.js'
import type { Json } from './value-text.js'

/** What kinds of change an audit tells. */
export const changeKinds = [
  'verdict-changed',
  'check-added',
  'check-changed',
  'check-removed',
  'version-unavailable',
  'type-changed',
  'ansible-version',
  'collection-required',
  'variable-renamed',
  'variable-removed',
  'variable-unused',
  'default-became-vars',
  'group-renamed',
  'group-unused',
  'default-changed',
  'default-removed',
  'default-added',
  'variable-added',
  'port-added',
  'unit-changed',
  'effect-added',
  'effect-removed',
  'condition-changed',
  'tag-removed',
  'playbook-renamed',
  'role-renamed',
  'task-moved',
] as const

/** What kind of change it is. */
export type ChangeKind = (typeof changeKinds)[number]

/** What a change asks of the people who upgrade. `required`: the run would stop, or ignore what they have set. */
export type Action = 'required' | 'advised' | 'none'

/** Where something stood or stands; `value` where it is a variable or a setting and its value is known. */
export interface ChangedPlace extends Place {
  /** The value there, where it is known; what only the run decides inside it stands as `{"unknown": why}`. */
  readonly value?: Json
  /** The stable address of the task that begins there, if one does. */
  readonly address?: string
}

/** The same place in two versions. */
export interface MovedPlace {
  /** In the old version. */
  readonly old: Place
  /** In the new version. */
  readonly new: Place
}

/** One difference between two versions. */
export interface Change {
  /** What kind of change it is (docs/audit.md). */
  readonly kind: ChangeKind
  /** What it is about: a variable, a problem, a group, a role, a task, a path on the host. */
  readonly name: string
  /** The new name, where it is known. */
  readonly to?: string
  /** What it asks of the people who upgrade. */
  readonly action: Action
  /** One sentence in plain words. */
  readonly says: string
  /** Where it stood in the old version; null where it did not. */
  readonly old: ChangedPlace | null
  /** Where it stands in the new version; null where it does not. */
  readonly new: ChangedPlace | null
  /** Where the user's inventory (or wrapper) has a say in it. */
  readonly inventory: readonly Place[]
  /** What shows a rename: the same place in both versions, which read the one name and reads the other. */
  readonly evidence?: readonly MovedPlace[]
  /** True for a check that stops the run in both versions. */
  readonly stoppedBefore?: true
}

/** Two versions side by side. */
export interface Audit {
  readonly old: ReportedSource
  readonly new: ReportedSource
  readonly playbook: string
  readonly host: string
  /** Ranked: what matters most first. */
  readonly changes: readonly Change[]
  /** What could not be compared, and why: a sentence each. */
  readonly notCompared: readonly string[]
  /** What was wrong with the files that were read for the new version. */
  readonly diagnostics: readonly ReportedDiagnostic[]
}

/** How many changes ask for what. */
export interface AuditSummary {
  /** Those without which the run would stop, or ignore what people have set. */
  readonly required: Count
  /** Those that people should look at. */
  readonly advised: Count
  /** Those that ask for nothing. */
  readonly none: Count
}

/** Counts what the changes ask for. */
export function summaryOf(changes: readonly Change[]): AuditSummary {
  const count = (action: Action): number => changes.filter(change => change.action === action).length
  return { required: count('required'), advised: count('advised'), none: count('none') }
}

/** The parts of an audit, what matters most first. */
export const parts = [
  { id: 'verdicts', title: 'Somebody else has to take care of it' },
  { id: 'stops', title: 'Where the run stops, or may' },
  { id: 'ignored', title: 'What you have set and is ignored' },
  { id: 'defaults', title: 'Defaults you rely on that change' },
  { id: 'host', title: 'What happens to the host' },
  { id: 'names', title: 'Names that come and go' },
  { id: 'moved', title: 'Moved only' },
] as const

export type PartId = (typeof parts)[number]['id']

/** Which part of an audit a change belongs to. */
export function partOf({ kind, action, inventory }: Change): PartId {
  switch (kind) {
    case 'verdict-changed':
      return 'verdicts'
    case 'check-added':
    case 'check-changed':
    case 'check-removed':
    case 'version-unavailable':
    case 'ansible-version':
    case 'collection-required':
      return action === 'none' ? 'names' : 'stops'
    case 'type-changed':
      return action === 'required' ? 'stops' : 'defaults'
    case 'variable-renamed':
    case 'variable-removed':
    case 'variable-unused':
    case 'default-became-vars':
    case 'group-renamed':
    case 'group-unused':
      return inventory.length > 0 ? 'ignored' : 'names'
    case 'default-changed':
      return 'defaults'
    case 'default-removed':
    case 'default-added':
    case 'variable-added':
    case 'tag-removed':
      return 'names'
    case 'port-added':
    case 'unit-changed':
    case 'effect-added':
    case 'effect-removed':
    case 'condition-changed':
      return 'host'
    case 'role-renamed':
    case 'playbook-renamed':
    case 'task-moved':
      return inventory.length > 0 ? 'ignored' : 'moved'
  }
}

const actions: readonly Action[] = ['required', 'advised', 'none']
const order = parts.map(({ id }) => id)

/** By part, then by what is asked, by kind and by name: the order in which an audit is read. */
export function compareChanges(left: Change, right: Change): number {
  return (
    order.indexOf(partOf(left)) - order.indexOf(partOf(right)) ||
    actions.indexOf(left.action) - actions.indexOf(right.action) ||
    changeKinds.indexOf(left.kind) - changeKinds.indexOf(right.kind) ||
    (left.name < right.name ? -1 : left.name > right.name ? 1 : 0)
  )
}
