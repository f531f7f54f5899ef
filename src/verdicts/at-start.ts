import {
  askText,
  bothTrue,
  isOneOfTexts,
  isSamePath,
  isSet,
  notTrue,
  optionsOf,
  piecesCanBe,
  piecesOf,
  showValue,
  textOf,
} from '../effects/argument.js'
import { describeEffect, unitName } from '../effects/describe.js'
import { type Effect, onlyIf, type Unit, type UnitFile } from '../effects/effect.js'
import { takesAway } from '../effects/query.js'
import type { Occurrence, RunEffects } from '../effects/run-effects.js'
import { RC_LOCAL } from '../effects/settings-files.js'
import { type Standing, standingOf, together } from '../effects/standing.js'
import { FALSE, TRUE, type Truth, type Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'

/** An effect with what becomes of it. */
export interface Standed {
  readonly occurrence: Occurrence
  readonly standing: Standing
  /** Of what a unit does at its start: the file that says so, which stands for it as evidence. */
  readonly shown?: Occurrence
}

export interface StandedRun {
  /** Everything the run does, in order, with what units do where it starts them. */
  readonly now: readonly Standed[]
  /** What units do at each boot. */
  readonly atBoot: readonly Standed[]
}

/**
 * The effects of a run with what becomes of each, and with what the units do whose files it writes: now where it starts one
 * after its file was written, at each boot where one is enabled and stays so.
 */
export function standedRun({ occurrences }: RunEffects): StandedRun {
  const base = occurrences.map((occurrence): Standed => ({ occurrence, standing: standingOf(occurrence) }))
  const started = new Map<number, Standed[]>()
  const atBoot: Standed[] = []
  for (const [index, { occurrence, standing }] of base.entries()) {
    const { effect } = occurrence
    if (effect.kind === 'schedule' && effect.runs !== undefined) {
      const inTime = ofJob(
        occurrence,
        effect.runs,
        effect.when === 'boot' ? undefined : 'its time has come',
        base,
        index,
      )
      if (effect.when === 'clock') started.set(index, [...(started.get(index) ?? []), ...inTime])
      atBoot.push(...inTime)
    }
    if (effect.kind !== 'unit-file' || effect.atStart.length === 0) continue
    const file: FileWithStart = { occurrence, effect, standing, index }
    for (const [at, start] of startsOf(file, base)) started.set(at, [...(started.get(at) ?? []), ...start])
    atBoot.push(...bootsOf(file, base))
  }
  const now = base.flatMap((each, index) => [each, ...(started.get(index) ?? [])])
  return { now, atBoot }
}

/** What a job of cron does, once it is run; nothing where a later task takes the job away. */
function ofJob(
  occurrence: Occurrence,
  runs: readonly Effect[],
  condition: string | undefined,
  base: readonly Standed[],
  index: number,
): readonly Standed[] {
  const { effect } = occurrence
  const standing = standingOf(occurrence)
  const kept = unless(base.slice(index + 1), later => isJobRemoved(later, effect))
  const time: Standing =
    condition === undefined
      ? { kind: 'happens' }
      : open({ kind: 'unknown', causes: [{ says: condition, at: effect.at }] }, condition)
  return runs.map(each => {
    const own: Occurrence = { ...occurrence, effect: each }
    const parts = standing.kind === 'never' ? [standing] : [standingOf(own), standing, time, kept]
    return { occurrence: own, standing: together(parts), shown: occurrence }
  })
}

function isJobRemoved(later: Effect, job: Effect): Truth {
  if (later.kind !== 'schedule' || job.kind !== 'schedule') return FALSE
  const name = (value: Value): string | undefined => /\bname=(.*?)(?: \w+=|$)/.exec(textOf(value) ?? '')?.[1]
  const [ours, theirs] = [name(job.says), name(later.says)]
  return ours !== undefined && ours === theirs && textOf(later.says)?.endsWith('state=absent') === true ? TRUE : FALSE
}

interface FileWithStart {
  readonly occurrence: Occurrence
  readonly effect: UnitFile
  readonly standing: Standing
  readonly index: number
}

/** What happens at one start, under the conditions of the file, of the start and of the command itself. */
function whatHappens({ occurrence, effect, standing }: FileWithStart, start: Standing): readonly Standed[] {
  return effect.atStart.map(each => {
    const inner: Occurrence = { ...occurrence, effect: each }
    const own = effect.onlyIf === undefined ? inner : { ...inner, effect: onlyIf(each, effect.onlyIf) }
    const parts = standing.kind === 'never' ? [standing] : [standingOf(own), standing, start]
    return { occurrence: own, standing: together(parts), shown: occurrence }
  })
}

function startsOf(file: FileWithStart, base: readonly Standed[]): readonly (readonly [number, readonly Standed[]])[] {
  const found: (readonly [number, readonly Standed[]])[] = []
  for (const [index, { occurrence, standing }] of base.entries()) {
    const { effect } = occurrence
    if (index < file.index || effect.kind !== 'unit' || standing.kind === 'never') continue
    const start = startStanding(
      file.effect.unit,
      effect,
      isOneOfTexts(effect.state, ['started', 'restarted', 'reloaded']),
    )
    if (start === undefined) continue
    const kept = keptUntil(file, base, index)
    if (kept.kind === 'never') continue
    found.push([index, whatHappens(file, together([standing, start, kept]))])
  }
  if (found.length > 0) return found
  const why = `happens only when ${file.effect.unit} starts, which this run does not do afterwards`
  return [[file.index, whatHappens(file, { kind: 'never', why, because: 'condition' })]]
}

function bootsOf(file: FileWithStart, base: readonly Standed[]): readonly Standed[] {
  const { unit } = file.effect
  const kept = keptUntil(file, base, base.length)
  const found: Standed[] = []
  let why = `happens only when ${unit} starts, and this run does not enable it`
  if (kept.kind === 'never') return whatHappens(file, kept)
  for (const [index, { occurrence, standing }] of base.entries()) {
    const { effect } = occurrence
    if (effect.kind !== 'unit' || standing.kind === 'never') continue
    const start = startStanding(
      unit,
      effect,
      bothTrue(isSet(effect.enabled, false), notTrue(isSet(effect.masked, false))),
    )
    if (start === undefined) continue
    const stays = unless(base.slice(index + 1), later => isDisabled(later, effect))
    if (stays.kind === 'never') why = `happens only when ${unit} starts: ${stays.why}`
    else found.push(...whatHappens(file, together([standing, start, kept, stays])))
  }
  if (unit === RC_LOCAL) {
    const condition = `${showValue(file.effect.path)} is executable`
    const start = open({ kind: 'unknown', causes: [{ says: condition, at: file.effect.at }] }, condition)
    found.push(...whatHappens(file, together([start, kept])))
  }
  return found.length > 0 ? found : whatHappens(file, { kind: 'never', why, because: 'condition' })
}

/** How a unit's start comes from a change of a unit: it is that one, it may be, or it is what starts it in turn. */
function startStanding(unit: string, effect: Unit, starts: Truth): Standing | undefined {
  if (starts.kind === 'false') return undefined
  const is = isUnit(effect.unit, unit)
  const both = bothTrue(is, starts)
  if (both.kind === 'true') return { kind: 'happens' }
  if (both.kind === 'unknown') {
    // A unit of which only the host knows anything is not taken for every unit there is.
    if (is.kind === 'unknown' && isOpen(effect.unit) && !is.causes.some(cause => cause.unread)) return undefined
    return open(both, `${unit} is the unit`)
  }
  const trigger = ['timer', 'path', 'socket']
    .map(kind => unit.replace(/service$/, kind))
    .find(name => name !== unit && isUnit(effect.unit, name).kind === 'true')
  return trigger === undefined || starts.kind !== 'true'
    ? undefined
    : open(
        { kind: 'unknown', causes: [{ says: `${trigger} has started ${unit}`, at: effect.at }] },
        `${trigger} has started ${unit}`,
      )
}

function open(truth: Extract<Truth, { kind: 'unknown' }>, condition: string): Standing {
  const { causes } = truth
  return causes.some(cause => cause.unread)
    ? { kind: 'unread', causes }
    : { kind: 'host-decides', condition, conjuncts: [condition], causes }
}

function isOpen(value: Value): boolean {
  return optionsOf(value).every(option => piecesOf(option.value)?.some(piece => piece !== null) !== true)
}

/** Whether a named unit is the one of a file; a file of `x@.service` is that of each `x@name.service`. */
function isUnit(named: Value, unit: string): Truth {
  const pieces = unit
    .split('…')
    .flatMap((piece, index) => (index === 0 ? [piece] : [null, piece]))
    .filter(piece => piece !== '')
  return askText(
    named,
    text => {
      const name = unitName(text)
      const template = name.replace(/@[^@]*(\.\w+)$/, '@$1')
      return name === unit || template === unit || (pieces.includes(null) && piecesCanBe(pieces, name))
    },
    given => (piecesCanBe(given, unit) || piecesCanBe(given, unit.replace(/\.service$/, '')) ? undefined : false),
  )
}

/** Whether a file still says what it did: `never` where it was removed or written anew without that. */
function keptUntil({ effect, index }: FileWithStart, base: readonly Standed[], until: number): Standing {
  return unless(base.slice(index + 1, until), later => {
    if (later.kind === 'file') return takesAway(later, effect.path)
    if (later.kind !== 'unit-file' || later.edits === true) return FALSE
    const same = isSamePath(later.path, effect.path)
    return same.kind === 'true' && says(later) === says(effect) ? FALSE : same
  })
}

function says({ atStart }: UnitFile): string {
  return atStart.map(describeEffect).join('\n')
}

function isDisabled(later: Effect, enabling: Unit): Truth {
  if (later.kind !== 'unit') return FALSE
  const off =
    isSet(later.masked, false).kind === 'true'
      ? TRUE
      : later.enabled === undefined
        ? FALSE
        : notTrue(isSet(later.enabled, true))
  return off.kind === 'false' ? FALSE : bothTrue(isSameName(later.unit, enabling.unit), off)
}

function isSameName(left: Value, right: Value): Truth {
  const [name] = optionsOf(right).flatMap(
    ({ value }) =>
      piecesOf(value)
        ?.map(piece => piece ?? '…')
        .join('') ?? [],
  )
  return name === undefined
    ? FALSE
    : askText(
        left,
        text => unitName(text) === unitName(name),
        () => false,
      )
}

/** What later effects leave: `never` where one certainly takes it back. */
function unless(later: readonly Standed[], takesBack: (effect: Effect) => Truth): Standing {
  const parts: Standing[] = [{ kind: 'happens' }]
  for (const { occurrence, standing } of later) {
    if (standing.kind === 'never') continue
    const taken = takesBack(occurrence.effect)
    if (taken.kind === 'false') continue
    const what = `${describeEffect(occurrence.effect)} (${placeOf(occurrence.effect.at)})`
    if (taken.kind === 'true' && standing.kind === 'happens')
      return { kind: 'never', why: `taken back later: ${what}`, because: 'condition' }
    if (taken.kind === 'true' && standing.kind === 'host-decides') {
      const condition = `not (${standing.condition})`
      parts.push({ kind: 'host-decides', condition, conjuncts: [condition], causes: standing.causes })
    } else
      parts.push({
        kind: 'unread',
        causes: [{ says: `a later task may take it back: ${what}`, at: occurrence.effect.at, unread: true }],
      })
  }
  return together(parts)
}
