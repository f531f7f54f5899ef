import { textOf } from '../../effects/argument.js'
import type { FileChange } from '../../effects/effect.js'
import type { Change } from '../../reports/audit.js'
import type { Invocation } from '../../run/task-run.js'
import { askedOfUnit, unitsOf } from './deeds.js'
import { type Happening, likelihoodOf, placeOfHappening, underCondition } from './happenings.js'
import { changedSettings, readUnitSettings, type UnitSettings } from './unit-settings.js'
import { HOLE, writtenTexts } from './written-text.js'

/** What a side does with one unit, and what it writes into its files. */
interface Treated {
  readonly asked: Map<string, Happening[]>
  readonly happenings: Happening[]
  /** By path; undefined where a text is not known, or not surely. */
  readonly files: Map<string, { readonly settings: UnitSettings | undefined; readonly happening: Happening }>
}

/** Units that are treated otherwise: newly, no longer, into another state, or with other settings in their files. */
export function unitChanges(old: readonly Happening[], now: readonly Happening[]): readonly Change[] {
  const before = treatedUnits(old)
  const after = treatedUnits(now)
  return [...new Set([...after.keys(), ...before.keys()])].flatMap(unit => {
    const [former, treated] = [before.get(unit), after.get(unit)]
    return [...stateChanges(unit, former, treated), ...fileChanges(unit, former, treated)]
  })
}

function treatedUnits(happenings: readonly Happening[]): ReadonlyMap<string, Treated> {
  const units = new Map<string, Treated>()
  const treated = (unit: string): Treated => {
    const known = units.get(unit) ?? { asked: new Map(), happenings: [], files: new Map() }
    units.set(unit, known)
    return known
  }
  const texts = new Map<Invocation, FileChange[]>()
  for (const { occurrence } of happenings) {
    const { effect, invocation } = occurrence
    if (effect.kind === 'file') texts.set(invocation, [...(texts.get(invocation) ?? []), effect])
  }
  for (const happening of happenings) {
    const { effect, invocation } = happening.occurrence
    if (effect.kind === 'unit') {
      for (const unit of unitsOf(effect.unit)) {
        if (unit === undefined) continue
        const { asked, happenings: all } = treated(unit)
        all.push(happening)
        for (const what of askedOfUnit(effect)) asked.set(what, [...(asked.get(what) ?? []), happening])
      }
    }
    const path = effect.kind === 'unit-file' ? textOf(effect.path) : undefined
    if (effect.kind === 'unit-file' && path !== undefined) {
      const file = texts.get(invocation)?.find(each => textOf(each.path) === path && each.change === 'written')
      treated(effect.unit).files.set(path, { settings: file && settingsOf(file), happening })
    }
  }
  return units
}

/** The settings of a unit file as the task writes it; of several possible texts, all that any of them has. */
function settingsOf({ content, contentUnsure }: FileChange): UnitSettings | undefined {
  const texts = contentUnsure === undefined ? writtenTexts(content) : []
  if (texts.length === 0) return undefined
  const settings = new Map<string, string[]>()
  for (const text of texts) {
    for (const [key, values] of readUnitSettings(text)) {
      const known = settings.get(key) ?? []
      settings.set(key, [...known, ...values.filter(value => !known.includes(value))])
    }
  }
  return settings
}

function stateChanges(unit: string, former: Treated | undefined, treated: Treated | undefined): readonly Change[] {
  const asked = [...(treated?.asked.keys() ?? [])]
  const askedBefore = [...(former?.asked.keys() ?? [])]
  const fresh = asked.filter(what => !former?.asked.has(what))
  const gone = askedBefore.filter(what => !treated?.asked.has(what))
  if (fresh.length === 0 && gone.length === 0) return []
  const place = (side: Treated | undefined, whats: readonly string[]): Change['old'] => {
    const of = whats.flatMap(what => side?.asked.get(what) ?? [])
    return placeOfHappening(of.length > 0 ? of : (side?.happenings ?? []))
  }
  const under = (side: Treated | undefined, whats: readonly string[]): string =>
    underCondition(likelihoodOf(whats.flatMap(what => side?.asked.get(what) ?? [])))
  const change = { name: unit, inventory: [], old: place(former, gone), new: place(treated, fresh) }
  // A unit of the operator's own: nothing here starts it or writes its file, and it is stopped.
  const isOwn = [former, treated].some(side => side?.asked.has('started') || (side?.files.size ?? 0) > 0)
  const action = !isOwn && fresh.some(what => /^(?:stopped|disabled|masked)$/.test(what)) ? 'advised' : 'none'
  if (askedBefore.length === 0) {
    const says = `The unit ${unit} is ${joined(fresh)}${under(treated, fresh)}; it was left alone before`
    return [{ ...change, kind: 'effect-added', action, says, old: null }]
  }
  if (asked.length === 0) {
    const says = `The unit ${unit} is left alone; before, it was ${joined(gone)}${under(former, gone)}`
    return [{ ...change, kind: 'effect-removed', action: 'none', says, new: null }]
  }
  const parts = [
    ...(fresh.length === 0 ? [] : [`is now ${joined(fresh)}${under(treated, fresh)}`]),
    ...(gone.length === 0 ? [] : [`is no longer ${joined(gone)}${under(former, gone)}`]),
  ]
  return [{ ...change, kind: 'unit-changed', action, says: `The unit ${unit} ${parts.join(', and ')}` }]
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function fileChanges(unit: string, former: Treated | undefined, treated: Treated | undefined): readonly Change[] {
  return [...(treated?.files ?? [])].flatMap(([path, { settings, happening }]): readonly Change[] => {
    const before = former?.files.get(path)
    if (before?.settings === undefined || settings === undefined) return []
    const ours = before.settings
    const changed = changedSettings(ours, settings).filter(
      key => ![...(ours.get(key) ?? []), ...(settings.get(key) ?? [])].some(value => value.includes(HOLE)),
    )
    if (changed.length === 0) return []
    const parts = changed.slice(0, 6).map(key => {
      const [was, is] = [ours.get(key) ?? [], settings.get(key) ?? []]
      const gone = was.filter(value => !is.includes(value))
      const fresh = is.filter(value => !was.includes(value))
      const name = key.replace(/^\[.*\] /, '')
      if (fresh.length === 0) return `${name}=${gone.join(', ')} is gone`
      return gone.length === 0
        ? `${name}=${fresh.join(', ')} is new`
        : `${name}=${fresh.join(', ')} was ${gone.join(', ')}`
    })
    const more = changed.length > 6 ? `; and ${changed.length - 6} more settings` : ''
    return [
      {
        kind: 'unit-changed',
        name: unit,
        action: 'none',
        says: `The unit file of ${unit} (${path}) changes: ${parts.join('; ')}${more}`,
        old: placeOfHappening([before.happening]),
        new: placeOfHappening([happening]),
        inventory: [],
      },
    ]
  })
}
