import { piecesCanBe } from '../effects/argument.js'
import type { Snapshot } from '../recorded/snapshot.js'
import type { Change, ChangedPlace } from '../reports/audit.js'
import { placeText } from '../reports/place.js'
import { type Report, type ReportedVariable, reportedVariable } from '../reports/report.js'
import { ansibleChange } from './requirements.js'
import { readWithoutDefault } from './role-index.js'
import type { Side } from './side.js'
import { changedDefaultSays, shapeOf } from './values.js'
import { verdictChanges } from './verdicts.js'

/** What a recorded snapshot says of a version, and role code says as well: enough for an audit without an inventory. */
export interface Outline {
  readonly report: Report
  /** By name the default that the first role sees. */
  readonly defaults: ReadonlyMap<string, ChangedPlace>
  /** By name the role vars that win over an inventory. */
  readonly vars: ReadonlyMap<string, ChangedPlace>
  /** Names that something reads although no default defines them (`*` for any part of a name), with a file that does. */
  readonly reads: ReadonlyMap<string, string>
}

/** The outline of a recorded release. */
export function outlineOfSnapshot({ report, variables, reads }: Snapshot): Outline {
  return { report, ...definedIn([...variables([]).values()].flatMap(each => [...each])), reads: reads() }
}

/** The outline of role code, as far as a snapshot of it would go. */
export function outlineOfSide({ analysis, index }: Side, report: Report): Outline {
  const seen = analysis.roles.flatMap(({ variables }) =>
    [...variables].map(([name, variable]) => [name, reportedVariable(variable)] as const),
  )
  return { report, ...definedIn(seen), reads: readWithoutDefault(index) }
}

function definedIn(seen: readonly (readonly [string, ReportedVariable])[]): Pick<Outline, 'defaults' | 'vars'> {
  const defaults = new Map<string, ChangedPlace>()
  const vars = new Map<string, ChangedPlace>()
  for (const [name, { status, value, origin, file, line, overridden }] of seen) {
    const winner = file === null || line === null ? [] : [{ origin, file, line, value, isKnown: status === 'known' }]
    for (const place of [
      ...winner,
      ...overridden.map(each => ({ ...each, isKnown: shapeOf(each.value) !== undefined })),
    ]) {
      const into = place.origin === 'role defaults' ? defaults : place.origin === 'role vars' ? vars : undefined
      if (into === undefined || into.has(name)) continue
      into.set(name, { file: place.file, line: place.line, ...(place.isKnown ? { value: place.value } : {}) })
    }
  }
  return { defaults, vars }
}

/**
 * What differs between two versions of which at least one is only recorded: verdicts, the Ansible they are for, and the
 * names and values of the defaults of the roles that the run reaches.
 */
export function outlineChanges(old: Outline, fresh: Outline): readonly Change[] {
  const changes: Change[] = [
    ...verdictChanges(old.report, fresh.report),
    ...[ansibleChange(old.report, fresh.report, undefined) ?? []].flat(),
  ]
  const base = { action: 'none', inventory: [] } as const
  for (const [name, before] of old.defaults) {
    const now = fresh.defaults.get(name)
    if (now === undefined) changes.push({ ...base, name, old: before, ...gone(name, fresh) })
    else {
      const says = changedDefaultSays(name, before.value, now.value)
      if (says === undefined) continue
      changes.push({ ...base, name, old: before, new: now, kind: 'default-changed', action: 'advised', says })
    }
  }
  for (const [name, now] of fresh.defaults) {
    if (old.defaults.has(name)) continue
    const reader = readerOf(name, old)
    const before = old.vars.get(name) ?? null
    changes.push(
      reader === undefined && before === null
        ? { ...base, kind: 'variable-added', name, says: `${name} is new`, old: null, new: now }
        : { ...base, kind: 'default-added', name, says: `${name} has a default now`, old: before, new: now },
    )
  }
  return changes
}

function gone(name: string, fresh: Outline): Pick<Change, 'kind' | 'says' | 'new'> {
  const fixed = fresh.vars.get(name)
  if (fixed !== undefined) {
    const says = `${name} is no default any more: ${placeText(fixed)} sets it, and that wins over an inventory`
    return { kind: 'default-became-vars', says, new: fixed }
  }
  const reader = readerOf(name, fresh)
  if (reader !== undefined) {
    return { kind: 'default-removed', says: `${name} has no default any more; ${reader} still reads it`, new: null }
  }
  return {
    kind: 'variable-removed',
    says: `no role of the run defines ${name} any more, and nothing reads it without a default`,
    new: null,
  }
}

/** A file that reads a name, also one that puts names together which may be it. */
function readerOf(name: string, { reads }: Outline): string | undefined {
  const known = reads.get(name)
  if (known !== undefined) return known
  for (const [pattern, file] of reads) {
    if (!pattern.includes('*')) continue
    const pieces = pattern
      .split('*')
      .flatMap((piece, index) => [...(index > 0 ? [null] : []), ...(piece === '' ? [] : [piece])])
    if (piecesCanBe(pieces, name)) return file
  }
  return undefined
}
