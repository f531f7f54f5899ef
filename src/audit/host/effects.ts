import { piecesCanBe } from '../../effects/argument.js'
import { joinAnd } from '../../effects/standing.js'
import type { Action, Change } from '../../reports/audit.js'
import type { Matching } from '../matching/matching.js'
import { type Formula, formulaOf, isSameCondition, type Renamed } from '../matching/same-condition.js'
import type { Side } from '../side.js'
import { type Deed, deedsOf } from './deeds.js'
import {
  type Happening,
  happeningsOf,
  type Likelihood,
  likelihoodOf,
  placeOfHappening,
  shortened,
  underCondition,
} from './happenings.js'
import { movedChanges } from './moved.js'
import { portChanges } from './port-changes.js'
import { unitChanges } from './units.js'

/**
 * What another version does to the host, does no longer, or does under another condition; and what only stands elsewhere.
 * Compared is what happens to what, over the whole run: tasks that do the same in another place or in other words are no
 * change of it. `usedTags` are those of `--tags` and `--skip-tags`.
 */
export function effectChanges(
  old: Side,
  now: Side,
  matching: Matching,
  usedTags: readonly string[] = [],
): readonly Change[] {
  const happenings = happeningsOf(old, now, matching)
  return [
    ...portChanges(happenings.old, happenings.now),
    ...unitChanges(happenings.old, happenings.now),
    ...deedChanges(happenings.old, happenings.now, renamingOf(old, matching)),
    ...movedChanges(old, now, matching, usedTags),
  ]
}

/** A deed with everything that does it. */
interface Done {
  readonly deed: Deed
  readonly values: Set<string>
  readonly happenings: Happening[]
}

function deedChanges(old: readonly Happening[], now: readonly Happening[], renaming: Renaming): readonly Change[] {
  const before = gather(old)
  const after = gather(now)
  const parents = parentsOfWritten([before, after])
  const added = onlyIn(after, before, parents)
  const removed = onlyIn(before, after, parents)
  const changes: Change[] = []
  const pairs = pairByTask(removed, added)
  for (const done of added) {
    const former = pairs.get(done)
    if (former === undefined) changes.push(addedChange(done))
    // Of a path that is not known on one side nobody can say that it is another.
    else if (done.deed.target !== undefined && former.deed.target !== undefined) changes.push(otherTarget(former, done))
  }
  const formers = new Set(pairs.values())
  for (const done of removed) if (!formers.has(done)) changes.push(removedChange(done))
  for (const [key, done] of after) {
    const former = before.get(key)
    if (former === undefined) continue
    const change = otherValue(former, done) ?? otherCondition(former, done, renaming)
    if (change !== undefined) changes.push(change)
  }
  return changes
}

function gather(happenings: readonly Happening[]): ReadonlyMap<string, Done> {
  const found = new Map<string, Done>()
  for (const happening of happenings) {
    for (const deed of deedsOf(happening.occurrence.effect)) {
      const key = `${deed.sort}\0${deed.target ?? `#${happening.task}`}`
      const known = found.get(key) ?? { deed, values: new Set(), happenings: [] }
      if (known.happenings.length === 0) found.set(key, known)
      known.happenings.push(happening)
      if (deed.value !== undefined) known.values.add(deed.value)
    }
  }
  return found
}

/** What one side does and the other does not, by no name that could be the same. */
function onlyIn(
  here: ReadonlyMap<string, Done>,
  there: ReadonlyMap<string, Done>,
  parents: ReadonlySet<string>,
): readonly Done[] {
  const bySort = new Map<string, { patterns: string[]; targets: string[]; tasks: Set<number>; open: Set<number> }>()
  for (const { deed, happenings } of there.values()) {
    const known = bySort.get(deed.sort) ?? { patterns: [], targets: [], tasks: new Set(), open: new Set() }
    bySort.set(deed.sort, known)
    if (deed.target?.includes('…')) known.patterns.push(deed.target)
    if (deed.target !== undefined) known.targets.push(deed.target)
    for (const { task } of happenings) {
      known.tasks.add(task)
      if (deed.target === undefined) known.open.add(task)
    }
  }
  return [...here].flatMap(([key, done]) => {
    if (there.has(key)) return []
    const { sort, target } = done.deed
    const others = bySort.get(sort)
    if (target === undefined) {
      // The same task does such a thing there too.
      return others !== undefined && done.happenings.some(({ task }) => others.tasks.has(task)) ? [] : [done]
    }
    // What the same task does it to there is not known: it may be this.
    if (others !== undefined && done.happenings.every(({ task }) => others.open.has(task))) return []
    if (others?.patterns.some(pattern => canBe(pattern, target))) return []
    if (target.includes('…') && others?.targets.some(other => canBe(target, other))) return []
    return isTold(done, here, there, parents) ? [done] : []
  })
}

/** Whether a target with `…` in it can be another one. A pattern that is nearly all `…` can be everything, so it is nothing. */
function canBe(pattern: string, target: string): boolean {
  const pieces = pattern.split('…')
  if (pieces.join('').length < 5) return false
  return piecesCanBe(
    pieces.flatMap((piece, index) => (index === 0 ? [piece] : [null, piece])).filter(piece => piece !== ''),
    target,
  )
}

/** Every directory that a file is written into, by either side, or below it. */
function parentsOfWritten(sides: readonly ReadonlyMap<string, Done>[]): ReadonlySet<string> {
  const parents = new Set<string>()
  for (const side of sides) {
    for (const { deed } of side.values()) {
      if (deed.sort !== 'file written' || deed.target === undefined) continue
      for (let end = deed.target.lastIndexOf('/'); end > 0; end = deed.target.lastIndexOf('/', end - 1)) {
        const parent = deed.target.slice(0, end)
        if (parents.has(parent)) break
        parents.add(parent)
      }
    }
  }
  return parents
}

/** A directory that a file is written into, and the owner of what is written, are told with the file. */
function isTold(
  { deed: { sort, target } }: Done,
  here: ReadonlyMap<string, Done>,
  there: ReadonlyMap<string, Done>,
  parents: ReadonlySet<string>,
): boolean {
  if (sort !== 'directory' && sort !== 'attributes') return true
  const does = (side: ReadonlyMap<string, Done>, what: string): boolean => side.has(`${what}\0${target}`)
  if (does(there, 'directory') || does(there, 'file written')) return false
  if (sort === 'attributes') return !does(here, 'directory') && !does(here, 'file written')
  return target === undefined || !parents.has(target)
}

/** The same task does the same to something else: pairs in the order they stand. */
function pairByTask(removed: readonly Done[], added: readonly Done[]): ReadonlyMap<Done, Done> {
  const key = ({ deed, happenings }: Done): string => `${deed.sort}\0${happenings[0]?.task}`
  const waiting = new Map<string, Done[]>()
  for (const done of removed) {
    const known = waiting.get(key(done))
    if (known === undefined) waiting.set(key(done), [done])
    else known.push(done)
  }
  const pairs = new Map<Done, Done>()
  for (const done of added) {
    const former = waiting.get(key(done))?.shift()
    if (former !== undefined) pairs.set(done, former)
  }
  return pairs
}

function nameOf({ deed, happenings }: Done): string {
  return deed.target ?? happenings[0]?.occurrence.task.name ?? deed.sort
}

function valueText({ values }: Done): string {
  return values.size === 0 ? '' : ` to ${[...values].join(' or ')}`
}

function addedChange(done: Done): Change {
  const likelihood = likelihoodOf(done.happenings)
  const value = done.deed.sort === 'sysctl' ? valueText(done) : ''
  return {
    kind: 'effect-added',
    name: nameOf(done),
    action: actionOf(done.deed),
    says: `${sentence(done.deed.says)}${value}${underCondition(likelihood)}; it did not before`,
    old: null,
    new: placeOfHappening(done.happenings),
    inventory: [],
  }
}

function removedChange(done: Done): Change {
  return {
    kind: 'effect-removed',
    name: nameOf(done),
    action: 'none',
    says: `No longer ${done.deed.says}${underCondition(likelihoodOf(done.happenings))}`,
    old: placeOfHappening(done.happenings),
    new: null,
    inventory: [],
  }
}

function otherTarget(former: Done, done: Done): Change {
  return {
    ...addedChange(done),
    says: `${sentence(done.deed.says)}${underCondition(likelihoodOf(done.happenings))}; before, the same task ${former.deed.says}`,
    old: placeOfHappening(former.happenings),
  }
}

/** Known on both sides, and not the same. */
function otherValue(former: Done, done: Done): Change | undefined {
  if (former.values.size === 0 || done.values.size === 0) return undefined
  if ([...done.values].every(value => former.values.has(value))) return undefined
  const [before, after] = [[...former.values].join(' or '), [...done.values].join(' or ')]
  const says = `${sentence(done.deed.says)}${done.deed.sort === 'sysctl' ? ` to ${after}` : ` in version ${after}`}`
  return {
    kind: 'effect-added',
    name: nameOf(done),
    action: actionOf(done.deed),
    says: `${says}${underCondition(likelihoodOf(done.happenings))}; it was ${before}`,
    old: withValue(placeOfHappening(former.happenings), before),
    new: withValue(placeOfHappening(done.happenings), after),
    inventory: [],
  }
}

function withValue(place: Change['old'], value: string): Change['old'] {
  return place === null ? null : { ...place, value }
}

function otherCondition(former: Done, done: Done, renaming: Renaming): Change | undefined {
  if (!done.deed.isPlain || done.deed.target === undefined) return undefined
  const [before, after] = [likelihoodOf(former.happenings), likelihoodOf(done.happenings)]
  if (before.kind === 'unread' || after.kind === 'unread') return undefined
  const asNow = { ...before, alternatives: before.alternatives.map(each => each.map(renaming.condition)) }
  if (
    isSameCondition(
      formula(asNow, renaming.name),
      formula(after, name => name),
    )
  )
    return undefined
  const [was, is] = differing(asNow, after)
  // Where what can be said of both is the same, nothing is said.
  if (was === is || isOnlyWording(was, is)) return undefined
  return {
    kind: 'condition-changed',
    name: nameOf(done),
    action: 'none',
    says: `${sentence(done.deed.says)} ${is}; before, ${was}`,
    old: placeOfHappening(former.happenings),
    new: placeOfHappening(done.happenings),
    inventory: [],
  }
}

/** Whether the two only say that a condition is there which always holds. */
function isOnlyWording(was: string, is: string): boolean {
  const open = ['in any case', 'without that condition']
  return open.includes(was) && open.includes(is)
}

/** Both conditions in words, without the alternatives that they share; of a single one, without what it shares. */
function differing(before: Likelihood, after: Likelihood): readonly [was: string, is: string] {
  const text = (conjuncts: readonly string[]): string => joinAnd([...new Set(conjuncts)])
  const [ours, theirs] = [new Set(before.alternatives.map(text)), new Set(after.alternatives.map(text))]
  const [was, is] = [
    before.alternatives.filter(each => !theirs.has(text(each))),
    after.alternatives.filter(each => !ours.has(text(each))),
  ]
  const shares = was.length < before.alternatives.length || is.length < after.alternatives.length
  const words = ({ kind }: Likelihood, left: readonly (readonly string[])[], others: readonly string[]): string => {
    if (kind === 'certain') return 'in any case'
    if (left.length === 0) return 'not in that case'
    const all = left.map(each => each.filter(conjunct => !others.includes(conjunct)))
    if (all.some(each => each.length === 0)) return 'without that condition'
    return `${shares ? 'also' : 'only'} if ${shortened([...new Set(all.map(text))].join(' or '))}`
  }
  // What every alternative of both asks is no difference.
  const common = (was[0] ?? []).filter(each => [...was, ...is].every(conjuncts => conjuncts.includes(each)))
  return [words(before, was, common), words(after, is, common)]
}

function formula({ kind, alternatives }: Likelihood, renamed: Renamed): Formula {
  if (kind === 'certain') return { kind: 'constant', holds: true }
  return formulaOf(
    alternatives.map(conjuncts =>
      // Tasks that notify a handler are told by what they do, not by what they are called.
      conjuncts.map(text => (text.endsWith(' changes something') ? 'what notifies it changes something' : text)),
    ),
    renamed,
  )
}

/** How what the old side's conditions name is called now. */
interface Renaming {
  readonly name: Renamed
  /** A condition in words that names a file. */
  readonly condition: (text: string) => string
}

function renamingOf(old: Side, matching: Matching): Renaming {
  const names = new Map<string, string>()
  for (const placed of old.index.statements) {
    const match = matching.statementOf(placed)
    const [before, after] = [registered(placed.statement), match && registered(match.statement)]
    if (before !== undefined && after !== undefined && before !== after) names.set(before, after)
  }
  const included = 'the included file is '
  return {
    name: name => names.get(name) ?? name,
    condition: text => {
      if (!text.startsWith(included)) return text
      const path = text.slice(included.length)
      return included + (matching.pathOf(path) ?? path)
    },
  }
}

function registered(statement: Side['index']['statements'][number]['statement']): string | undefined {
  const value = statement.keywords.get('register')?.value
  return value?.kind === 'scalar' && typeof value.data === 'string' ? value.data : undefined
}

/** A person should look where a host may be cut off, lose software, or go down. */
function actionOf({ sort }: Deed): Action {
  return sort.startsWith('firewall') || sort === 'package removed' || sort === 'reboot' ? 'advised' : 'none'
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
