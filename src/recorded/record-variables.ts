import type { ReportedVariable } from '../reports/report.js'
import { isNotKnown, type Json } from '../reports/value-text.js'
import type { Origin } from '../variables/resolved.js'
import type { RecordedRelease, RecordedRole, RecordedView } from './format.js'
import { type Indexer, indexer } from './indexer.js'

/** A role where it first stands, with the variables its tasks see. */
export interface SeenRole {
  readonly path: string
  readonly variables: ReadonlyMap<string, ReportedVariable>
}

/** Values longer than this (checksum tables, lists of images) are not recorded: their place is. */
const longestValue = 100

/**
 * Each definition once, with the value most roles see; per role only the files it sees besides those all roles see, and
 * where its value is another one. Views and values of `base` keep their numbers.
 */
export function recordVariables(
  recorded: readonly SeenRole[],
  files: Indexer<string>,
  base: Pick<RecordedRelease, 'views' | 'values'> = { views: [], values: [] },
): Pick<RecordedRelease, 'definitions' | 'withoutValue' | 'common' | 'views' | 'values' | 'roles' | 'inOrder'> {
  const seen = recorded.map(({ path, variables }) => ({ path, places: placesOf(variables) }))
  const elected = electValues(seen.flatMap(({ places }) => places))
  const filesOf = (places: readonly SeenPlace[], origin: Origin): readonly number[] => [
    ...new Set(places.filter(place => place.origin === origin).map(({ file }) => files.indexOf(file))),
  ]
  const visible = seen.map(({ path, places }) => ({
    path,
    places,
    defaults: filesOf(places, 'role defaults'),
    vars: filesOf(places, 'role vars'),
  }))
  const common = { defaults: shared(visible.map(each => each.defaults)), vars: shared(visible.map(each => each.vars)) }
  const values = indexer<Json>(value => JSON.stringify(value), base.values)
  const views = indexer<RecordedView>(view => JSON.stringify(view), base.views)
  const roles = visible.map(({ path, places, defaults, vars }) => {
    const isOwn = (file: number): boolean => files.all[file]?.includes(`roles/${path}/`) === true
    const isOther = (of: readonly number[]) => (file: number) => !of.includes(file) && !isOwn(file)
    const role: RecordedRole = {
      view: views.indexOf({
        defaults: defaults.filter(isOther(common.defaults)),
        vars: vars.filter(isOther(common.vars)),
      }),
      defaults: defaults.filter(file => isOwn(file) && !common.defaults.includes(file)),
      vars: vars.filter(file => isOwn(file) && !common.vars.includes(file)),
      differs: differing(places, elected, values),
    }
    return [path, role] as const
  })
  return {
    ...definitionsByFile(elected.values()),
    common,
    views: views.all,
    values: values.all,
    roles: Object.fromEntries(roles),
    inOrder: roles.map(([path]) => path),
  }
}

/** Of each definition the place with the value that most roles see. */
function electValues(places: readonly SeenPlace[]): ReadonlyMap<string, SeenPlace> {
  const ballots = new Map<string, Map<string, { place: SeenPlace; votes: number }>>()
  for (const place of places) {
    const ballot = ballots.get(place.key) ?? new Map<string, { place: SeenPlace; votes: number }>()
    ballots.set(place.key, ballot)
    const said = JSON.stringify(place.definition)
    ballot.set(said, { place, votes: (ballot.get(said)?.votes ?? 0) + 1 })
  }
  const elected = new Map<string, SeenPlace>()
  for (const [key, ballot] of ballots) {
    const [winner] = [...ballot.values()].sort((a, b) => b.votes - a.votes)
    if (winner) elected.set(key, winner.place)
  }
  return elected
}

function definitionsByFile(places: Iterable<SeenPlace>): Pick<RecordedRelease, 'definitions' | 'withoutValue'> {
  const definitions = new Map<string, [string, Json][]>()
  const withoutValue = new Map<string, string[]>()
  for (const { file, name, definition } of places) {
    const place = `${name}:${definition.line}`
    if (definition.value === undefined) withoutValue.set(file, [...(withoutValue.get(file) ?? []), place])
    else definitions.set(file, [...(definitions.get(file) ?? []), [place, definition.value]])
  }
  const byFile = [...definitions].map(([file, entries]) => [file, Object.fromEntries(entries)] as const)
  return { definitions: Object.fromEntries(byFile), withoutValue: Object.fromEntries(withoutValue) }
}

/** A place that defines a name, as one role sees it. */
interface SeenPlace {
  readonly key: string
  readonly name: string
  readonly origin: Origin
  readonly file: string
  readonly wins: boolean
  readonly definition: SeenDefinition
}

/** `value` is absent where it is not known or too long. */
interface SeenDefinition {
  readonly line: number
  readonly value?: Json
}

/** Role defaults and role vars of a role's names, weakest first. */
function placesOf(variables: ReadonlyMap<string, ReportedVariable>): readonly SeenPlace[] {
  return [...variables].flatMap(([name, { origin, file, line, value, status, overridden }]) => {
    const winner =
      file === null || line === null
        ? []
        : [{ origin, file, line, value: status === 'known' ? value : UNRECORDED, wins: true }]
    const all = [...winner, ...overridden.map(place => ({ ...place, wins: false }))].reverse()
    return all.flatMap(place =>
      place.origin === 'role defaults' || place.origin === 'role vars'
        ? [
            {
              key: `${place.file}\0${name}`,
              name,
              origin: place.origin,
              file: place.file,
              wins: place.wins,
              definition: definitionOf(place.line, place.value),
            },
          ]
        : [],
    )
  })
}

const UNRECORDED: Json = { unknown: '' }

/** The names that come to another value in this role than what is recorded with their definition. */
function differing(
  places: readonly SeenPlace[],
  elected: ReadonlyMap<string, SeenPlace>,
  values: Indexer<Json>,
): Readonly<Record<string, number>> {
  const differs: Record<string, number> = {}
  for (const { key, name, wins, definition } of places) {
    if (!wins || JSON.stringify(elected.get(key)?.definition) === JSON.stringify(definition)) continue
    differs[name] = values.indexOf(definition.value === undefined ? UNRECORDED : definition.value)
  }
  return differs
}

/** What stands in all of some lists, in the order of the first. */
function shared(lists: readonly (readonly number[])[]): readonly number[] {
  const [first = [], ...rest] = lists
  return first.filter(file => rest.every(list => list.includes(file)))
}

function definitionOf(line: number, value: Json): SeenDefinition {
  const isRecorded = isWhollyKnown(value) && JSON.stringify(value).length <= longestValue
  return isRecorded ? { line, value } : { line }
}

function isWhollyKnown(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (isNotKnown(value) || 'oneOf' in value) return false
  return Object.values(value).every(isWhollyKnown)
}
