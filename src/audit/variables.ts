import { piecesCanBe } from '../effects/argument.js'
import type { Definition } from '../inventory/inventory.js'
import type { Change, ChangedPlace } from '../reports/audit.js'
import { placeOfSpan, placeText } from '../reports/place.js'
import { type Json, jsonOf, valueText } from '../reports/value-text.js'
import { once } from '../source/once.js'
import type { Span } from '../source/text.js'
import { literalValue } from '../variables/node-value.js'
import { type FindRename, type Rename, renamesIn } from './renames.js'
import { type NameDefinition, type NameRead, namesReadBy, type RoleIndex } from './role-index.js'
import type { Compared, Side } from './side.js'
import {
  changedDefaultSays,
  identityOf,
  knownJson,
  type SeenValue,
  type Shape,
  seenValues,
  shapeOf,
  shapeOfNode,
} from './values.js'

/**
 * What became of every variable of the roles' defaults, and of what the user has set. A name is removed where nothing of
 * NEW defines or reads it; a changed text with the same value is no change.
 */
export function variableChanges(compared: Compared): readonly Change[] {
  const old = namesOf(compared.old)
  const fresh = namesOf(compared.new)
  const findRename = renamesIn(compared.old.index, compared.new.index, compared.matching)
  const changes: Change[] = []
  const renamed = new Set<string>()
  for (const [name, defined] of old.defaults) {
    if (fresh.defaults.has(name)) continue
    const change = gone(name, defined, compared, old, fresh, findRename, compared.ownReads)
    if (change.to !== undefined) renamed.add(change.to)
    changes.push(change)
  }
  for (const [name, defined] of fresh.defaults) {
    if (old.defaults.has(name)) changes.push(...changed(name, defined, compared, old, fresh))
    else {
      const conflict = typeConflict(name, undefined, compared, fresh)
      if (conflict !== undefined) changes.push(conflict)
      if (!renamed.has(name)) changes.push(added(name, defined, compared, old, fresh))
    }
  }
  for (const [name, definitions] of compared.given) {
    if (old.defaults.has(name) || fresh.defaults.has(name)) continue
    const change = unused(name, definitions, old, fresh, findRename, compared.ownReads)
    if (change !== undefined) changes.push(change)
  }
  return withoutDerived(changes, old, fresh)
}

/**
 * Leaves out defaults that are written as they were and came to another value only because another default did: that one
 * is told.
 */
function withoutDerived(changes: readonly Change[], old: Names, fresh: Names): readonly Change[] {
  const names = new Set(changes.flatMap(({ kind, name }) => (kind.startsWith('default-') ? [name] : [])))
  const rests = (name: string, met: Set<string>): boolean =>
    [...namesReadBy(fresh.index, name)].some(part => {
      if (met.has(part)) return false
      met.add(part)
      return names.has(part) || rests(part, met)
    })
  return changes.filter(({ kind, name }) => {
    if (kind !== 'default-changed' && kind !== 'type-changed') return true
    const text = (side: Names): string => (side.defaults.get(name) ?? []).map(writtenText).toSorted().join('\n')
    return text(old) !== text(fresh) || !rests(name, new Set([name]))
  })
}

/** The names of one side: where they get a value, what they come to, and who reads them. */
interface Names {
  readonly index: RoleIndex
  readonly defaults: ReadonlyMap<string, readonly NameDefinition[]>
  readonly definitions: (name: string) => readonly NameDefinition[]
  readonly reads: (name: string) => readonly NameRead[]
  readonly seen: (name: string) => readonly SeenValue[]
  /** Whether anything reads or defines it, or may read it under a name put together at run time. */
  readonly isUsed: (name: string) => boolean
  readonly perhapsRead: (name: string) => Span | undefined
  /** A place that reads a name of which nothing is known. */
  readonly openRead: () => Span | undefined
}

function namesOf({ index, analysis }: Side): Names {
  const defaults = new Map<string, readonly NameDefinition[]>()
  for (const [name, definitions] of index.definitions) {
    const own = definitions.filter(({ origin }) => origin === 'role defaults')
    if (own.length > 0) defaults.set(name, own)
  }
  const values = seenValues(analysis.roles)
  const reads = (name: string): readonly NameRead[] =>
    (index.reads.get(name) ?? []).filter(({ owner }) => owner.kind !== 'definition' || owner.defined.name !== name)
  const definitions = (name: string): readonly NameDefinition[] => index.definitions.get(name) ?? []
  // What could not be read as a template is searched as text.
  const words = once(() =>
    index.unread.map(({ at }) => ({
      at,
      words: new Set(at.file.text.slice(at.start, at.end).match(/[A-Za-z_]\w*/g) ?? []),
    })),
  )
  const perhapsRead = (name: string): Span | undefined =>
    index.dynamic.find(({ pieces }) => pieces.some(piece => piece !== null) && piecesCanBe(pieces, name))?.at ??
    words().find(each => each.words.has(name))?.at
  return {
    index,
    defaults,
    definitions,
    reads,
    seen: name => values.get(name) ?? [],
    isUsed: name => reads(name).length > 0 || definitions(name).length > 0 || perhapsRead(name) !== undefined,
    perhapsRead,
    openRead: () => index.dynamic.find(({ pieces }) => pieces.every(piece => piece === null))?.at,
  }
}

/** A name that has left the defaults. */
function gone(
  name: string,
  defined: readonly NameDefinition[],
  { given }: Compared,
  old: Names,
  fresh: Names,
  findRename: FindRename,
  own: ReadonlySet<string>,
): Change {
  const set = given.get(name) ?? []
  const before = valueBefore(defined, old)
  const base = { name, old: before, inventory: placesOf(set) }
  const otherwise = fresh.definitions(name)
  const asVars = otherwise.find(each => isFixed(each) && isSeenToWin(each, fresh))
  if (asVars !== undefined) {
    const place = placeWith(defaultValue(asVars, fresh))
    const says = `${name} is no default any more: ${placeText(place)} sets it, and that wins over an inventory`
    const weak = set.filter(({ strong }) => !strong)
    const ignored = weak.length > 0 ? `; what you set is ignored` : ''
    return { ...base, kind: 'default-became-vars', action: ignoring(weak, before), says: says + ignored, new: place }
  }
  const [read] = fresh.reads(name)
  const maybe = read === undefined ? fresh.perhapsRead(name) : undefined
  const at = read?.at ?? maybe ?? otherwise[0]?.at
  if (at !== undefined) {
    const place = placeOfSpan(at)
    const still =
      read !== undefined
        ? `${placeText(place)} still reads it`
        : maybe !== undefined
          ? `${placeText(place)} puts names together and may read it`
          : `${placeText(place)} sets it while the run goes on`
    const says = `${name} has no default any more; ${still}`
    return { ...base, kind: 'default-removed', action: 'none', says, new: place }
  }
  const rename = findRename(name, old.reads(name))
  if (rename !== undefined) return renamedTo(rename, base, set, fresh)
  if (old.reads(name).length === 0 && old.perhapsRead(name) === undefined) {
    const says = `nothing defines ${name} any more; nothing read it before either`
    return { ...base, kind: 'variable-removed', action: 'none', says, new: null }
  }
  if (own.has(name)) {
    const says = `nothing of kubespray defines or reads ${name} any more; files of yours read it`
    return { ...base, kind: 'variable-removed', action: set.length > 0 ? 'advised' : 'none', says, new: null }
  }
  const open = fresh.openRead()
  if (open !== undefined && set.length > 0) {
    const says = `nothing defines or reads ${name} any more, as far as can be told: ${placeText(placeOfSpan(open))} reads a name that is not known`
    return { ...base, kind: 'variable-removed', action: 'advised', says, new: null }
  }
  const says =
    set.length > 0
      ? `nothing defines or reads ${name} any more: what you set is ignored`
      : `nothing defines or reads ${name} any more`
  return { ...base, kind: 'variable-removed', action: ignoring(set, before), says, new: null }
}

function renamedTo(
  { to, evidence }: Rename,
  base: Pick<Change, 'name' | 'old' | 'inventory'>,
  set: readonly Definition[],
  fresh: Names,
): Change {
  const [first] = evidence
  const [defined] = fresh.defaults.get(to) ?? fresh.definitions(to)
  const place = defined === undefined ? first?.new : placeWith(defaultValue(defined, fresh))
  const says = `${base.name} is now ${to}: ${evidence.length === 1 ? 'the place' : `${evidence.length} places`} that read it ${evidence.length === 1 ? 'reads' : 'read'} ${to}`
  const ignored = set.length > 0 ? '; what you set under the old name is ignored' : ''
  return {
    ...base,
    kind: 'variable-renamed',
    to,
    action: set.length > 0 ? 'required' : 'none',
    says: says + ignored,
    new: place ?? null,
    evidence,
  }
}

/** A name that is new among the defaults. */
function added(
  name: string,
  defined: readonly NameDefinition[],
  { given }: Compared,
  old: Names,
  fresh: Names,
): Change {
  const place = defined[0] === undefined ? null : placeWith(defaultValue(defined[0], fresh))
  const [before] = [...old.reads(name).map(({ at }) => at), ...old.definitions(name).map(({ at }) => at)]
  const set = placesOf(given.get(name) ?? [])
  const value = place?.value === undefined ? '' : `: ${valueText(place.value, 80)}`
  return before === undefined
    ? {
        ...{ kind: 'variable-added', name, action: 'none', says: `${name} is new${value}` },
        ...{ old: null, new: place, inventory: set },
      }
    : {
        ...{ kind: 'default-added', name, action: 'none', says: `${name} has a default now${value}` },
        ...{ old: placeOfSpan(before), new: place, inventory: set },
      }
}

/** A name that has a default in both: another value, or another shape. */
function changed(
  name: string,
  defined: readonly NameDefinition[],
  compared: Compared,
  old: Names,
  fresh: Names,
): readonly Change[] {
  const set = compared.given.get(name) ?? []
  const conflict = typeConflict(name, old, compared, fresh)
  if (conflict !== undefined) return [conflict]
  const nowFixed = fresh.definitions(name).find(each => isFixed(each) && isSeenToWin(each, fresh))
  if (nowFixed !== undefined && !old.definitions(name).some(isFixed)) {
    const place = placeWith(defaultValue(nowFixed, fresh))
    const before = valueBefore(old.defaults.get(name) ?? [], old)
    const says = `${placeText(place)} sets ${name} now, and that wins over an inventory`
    const weak = set.filter(({ strong }) => !strong)
    const ignored = weak.length > 0 ? '; what you set is ignored' : ''
    const action = ignoring(weak, before)
    return [
      {
        kind: 'default-became-vars',
        name,
        action,
        says: says + ignored,
        old: before,
        new: place,
        inventory: placesOf(set),
      },
    ]
  }
  // Whoever sets it does not rely on the default.
  if (set.length > 0) return []
  const pair = differing(old.defaults.get(name) ?? [], defined, compared, old, fresh)
  if (pair === undefined) return []
  const [before, now] = pair
  const [from, to] = [shapeOf(before.value), shapeOf(now.value)]
  const isOtherShape = from !== undefined && to !== undefined && from !== to && from !== 'none' && to !== 'none'
  const isSeen = before.seen && now.seen
  const action =
    !isSeen || before.value === undefined || now.value === undefined || isTable(now.value) ? 'none' : 'advised'
  const places = { old: placeWith(before), new: placeWith(now), inventory: [] }
  if (isOtherShape) {
    const says = `the default of ${name} was ${shapeWords[from]} and is ${shapeWords[to]}`
    return [{ kind: 'type-changed', name, action: isSeen ? 'advised' : 'none', says, ...places }]
  }
  return [
    {
      kind: 'default-changed',
      name,
      action,
      says: changedDefaultSays(name, before.value, now.value) ?? openSays(name),
      ...places,
    },
  ]
}

const shapeWords: Readonly<Record<Shape, string>> = {
  none: 'nothing',
  single: 'a single value',
  list: 'a list',
  mapping: 'a mapping',
}

function openSays(name: string): string {
  return `the default of ${name} is put together in another way; its value is not known before the run`
}

/** A table of tables is there to be looked up in; what is looked up shows the change. */
function isTable(value: Json): boolean {
  return shapeOf(value) === 'mapping' && Object.values(value as object).some(member => shapeOf(member) === 'mapping')
}

interface DefaultValue {
  readonly at: Span
  readonly value: Json | undefined
  /** What stands there, printed, where the value is not known. */
  readonly text: string
  /** Whether a role of the run sees it. */
  readonly seen: boolean
}

/** The first pair of defaults of a role that come to another value; undefined where all are the same. */
function differing(
  before: readonly NameDefinition[],
  now: readonly NameDefinition[],
  { matching }: Compared,
  old: Names,
  fresh: Names,
): readonly [DefaultValue, DefaultValue] | undefined {
  const was = before.map(each => ({ role: each.role, value: defaultValue(each, old) }))
  const is = now.map(each => ({ role: each.role, value: defaultValue(each, fresh) }))
  const known = (values: typeof was): string =>
    [...new Set(values.map(({ value }) => defaultIdentity(value)))].sort().join('\n')
  if (known(was) === known(is)) return undefined
  const pairs = was.flatMap(left => {
    const role = left.role === undefined ? undefined : (matching.roleOf(left.role) ?? left.role)
    const right = is.find(each => each.role === role)
    return right === undefined || defaultIdentity(left.value) === defaultIdentity(right.value)
      ? []
      : [[left.value, right.value] as const]
  })
  const [seen] = [...pairs].sort(([a, b], [c, d]) => Number(c.seen && d.seen) - Number(a.seen && b.seen))
  if (seen !== undefined) return isToldBy(seen) ? seen : undefined
  // No role has it in both versions: then its values as a whole have to differ in something the other does not have.
  const first = was.find(({ value }) => !is.some(each => defaultIdentity(each.value) === defaultIdentity(value)))
  const other = is.find(({ value }) => !was.some(each => defaultIdentity(each.value) === defaultIdentity(value)))
  if (first === undefined || other === undefined) return undefined
  return isToldBy([first.value, other.value]) ? [first.value, other.value] : undefined
}

/** The same text that is known in one version and not in the other says nothing of the default. */
function isToldBy([before, now]: readonly [DefaultValue, DefaultValue]): boolean {
  return before.text !== now.text || (before.value !== undefined && now.value !== undefined)
}

function defaultIdentity({ value, text }: DefaultValue): string {
  return value === undefined ? `text ${text}` : identityOf(value)
}

/** What a default comes to for the host, in the role that sees it. */
function defaultValue(definition: NameDefinition, names: Names): DefaultValue {
  const { name, at, node } = definition
  const text = writtenText(definition)
  for (const { variable } of names.seen(name)) {
    const { winner, overridden } = variable
    if (winner !== undefined && isSame(winner.at, at)) return { at, value: knownJson(variable), text, seen: true }
    const covered = overridden.find(each => isSame(each.at, at))
    if (covered !== undefined) {
      return { at, value: knownJson({ ...variable, value: covered.value }), text, seen: false }
    }
  }
  const literal = node && literalValue(node)
  return { at, value: literal?.kind === 'known' ? jsonOf(literal) : undefined, text, seen: false }
}

/** What stands there, however it is broken into lines. */
function writtenText({ node, at }: NameDefinition): string {
  return node === undefined ? '' : at.file.text.slice(node.span.start, node.span.end).replaceAll(/\s+/g, ' ')
}

function isSame(left: Span, right: Span): boolean {
  return left.file.path === right.file.path && left.start === right.start
}

function placeWith({ at, value }: DefaultValue): ChangedPlace {
  return { ...placeOfSpan(at), ...(value === undefined ? {} : { value }) }
}

/** What wins over an inventory wherever the role's tasks look. */
function isFixed({ origin }: NameDefinition): boolean {
  return origin === 'role vars'
}

/** Whether a role of the run sees it win, or lose only to what the user set with more weight. */
function isSeenToWin({ name, at }: NameDefinition, names: Names): boolean {
  return names
    .seen(name)
    .some(({ variable: { winner, overridden } }) =>
      [winner, ...overridden].some(place => place && isSame(place.at, at)),
    )
}

/** A value of the user's that has the shape NEW no longer takes. */
function typeConflict(name: string, old: Names | undefined, { given }: Compared, fresh: Names): Change | undefined {
  const set = given.get(name) ?? []
  const all = (fresh.defaults.get(name) ?? []).filter(each => isSeenToWin(each, fresh))
  const [now] = all.map(each => defaultValue(each, fresh))
  const to = shapeOf(now?.value)
  const before = old?.defaults.get(name)?.map(each => defaultValue(each, old))[0]
  const was = before && shapeOf(before.value)
  if (now === undefined || to === undefined || to === 'none' || to === was) return undefined
  const wrong = set.flatMap(definition => {
    const shape = shapeOfNode(definition.node)
    return shape === undefined || shape === 'none' || shape === to ? [] : [{ definition, shape }]
  })
  const [first] = wrong
  if (first === undefined) return undefined
  const says = `${name} is ${shapeWords[to]} now; you set ${shapeWords[first.shape]}`
  return {
    ...{ kind: 'type-changed', name, action: 'required', says },
    ...{ old: before === undefined ? null : placeWith(before), new: placeWith(now) },
    inventory: placesOf(wrong.map(({ definition }) => definition)),
  }
}

/** What the user has set, OLD read and NEW reads no more, although it never had a default. */
function unused(
  name: string,
  set: readonly Definition[],
  old: Names,
  fresh: Names,
  findRename: FindRename,
  own: ReadonlySet<string>,
): Change | undefined {
  const [read] = old.reads(name)
  // Ansible's own settings (`ansible_user`) are read by Ansible, whatever the roles do.
  if (read === undefined || fresh.isUsed(name) || own.has(name) || name.startsWith('ansible_')) return undefined
  const base = { name, old: placeOfSpan(read.at), inventory: placesOf(set) }
  const rename = findRename(name, old.reads(name))
  if (rename !== undefined) return renamedTo(rename, base, set, fresh)
  const says = `nothing reads ${name} any more: what you set is ignored`
  return { ...base, kind: 'variable-unused', action: ignoring(set, null), says, new: null }
}

/**
 * What it asks that a setting of the user's is ignored: nothing that is switched off, or is set to what was the default
 * anyway and says nothing, is missed.
 */
function ignoring(set: readonly Definition[], before: ChangedPlace | null): Change['action'] {
  if (set.length === 0) return 'none'
  const says = set.some(({ node }) => {
    const literal = literalValue(node)
    const value = literal?.kind === 'known' ? jsonOf(literal) : undefined
    return value === undefined || !isOff(value) || (before?.value !== undefined && !isOff(before.value))
  })
  return says ? 'required' : 'advised'
}

function isOff(value: Json): boolean {
  return (
    value === false || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

function valueBefore(defined: readonly NameDefinition[], names: Names): ChangedPlace | null {
  const values = defined.map(each => defaultValue(each, names))
  const best = values.find(({ seen }) => seen) ?? values[0]
  return best === undefined ? null : placeWith(best)
}

function placesOf(definitions: readonly Definition[]): Change['inventory'] {
  return definitions.map(({ at }) => placeOfSpan(at))
}
