import {
  askText,
  bothTrue,
  causesOf,
  eitherTrue,
  isOneOfTexts,
  isSet,
  isText,
  notTrue,
  optionsOf,
  piecesOf,
  showValue,
  textOf,
} from '../src/effects/argument.js'
import { unitName } from '../src/effects/describe.js'
import type { Effect, FstabEntriesRemoved, Unit } from '../src/effects/effect.js'
import type { Occurrence, RunEffects } from '../src/effects/run-effects.js'
import { FALSE, TRUE, type Truth } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Note, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { swapOnHost } from './on_host.js'
import { removesMask } from './unit.js'

const MOUNT_POINTS = ['swap', 'none']

function isSwapUnit(effect: Unit): Truth {
  return askText(effect.unit, text => unitName(text) === 'swap.target' || text.endsWith('.swap'))
}

const turnsOff: Rule = {
  says: 'turns swap off',
  matches: effect => {
    if (effect.kind === 'swap' && effect.state === 'off') {
      return effect.which === 'all' ? SETTLES : { kind: 'near', why: 'turns off only that device' }
    }
    if (
      effect.kind === 'unit' &&
      isText(effect.state, 'stopped').kind !== 'false' &&
      isSwapUnit(effect).kind === 'true'
    ) {
      return { kind: 'near', why: 'turns off only what this unit turned on' }
    }
    return NO_MATCH
  },
  undoneBy: (_, later) => {
    if (later.kind === 'swap') return later.state === 'on' ? TRUE : FALSE
    return later.kind === 'unit'
      ? bothTrue(isSwapUnit(later), isOneOfTexts(later.state, ['started', 'restarted']))
      : FALSE
  },
}

/** Whether an effect changes /etc/fstab as text. */
function editsFstab(effect: Effect): Truth {
  return effect.kind === 'file' && effect.change !== 'attributes' && effect.change !== 'directory'
    ? isText(effect.path, '/etc/fstab')
    : FALSE
}

/**
 * Lines for swap have `swap` or `none` as their mount point, so both have to leave; one alone is enough only where fstab
 * writes that one. With `src` the module takes out a line for `none` only if its device is that one.
 */
function leaving(effect: FstabEntriesRemoved, mountPoint: string): Match {
  const part = {
    name: mountPoint,
    of: MOUNT_POINTS,
    condition: `/etc/fstab has \`${mountPoint}\` as the mount point of swap`,
  }
  if (mountPoint !== 'none' || effect.source === undefined) return { kind: 'settles', part }
  return { kind: 'settles', part, condition: `the device of swap in /etc/fstab is ${showValue(effect.source)}` }
}

const leavesFstab: Rule = {
  says: 'removes swap from /etc/fstab',
  matches: effect => {
    // A path of which nothing is known is no reason to suspect every file: only one that can be told to fit is.
    if (editsFstab(effect).kind === 'true' || (isPartlyKnown(effect) && editsFstab(effect).kind === 'unknown')) {
      return {
        kind: 'could',
        says: 'edits /etc/fstab as text',
        causes: [{ says: 'which lines that changes is not worked out', at: effect.at, unread: true }],
      }
    }
    if (effect.kind !== 'fstab-entries-removed') return NO_MATCH
    const file = isText(effect.file, '/etc/fstab')
    const point = isOneOfTexts(effect.mountPoint, MOUNT_POINTS)
    if (file.kind === 'false' || point.kind === 'false') return NO_MATCH
    if (file.kind === 'unknown')
      return { kind: 'could', says: 'which fstab is meant is not known', causes: file.causes }
    const text = textOf(effect.mountPoint)
    if (point.kind === 'unknown' || text === undefined)
      return { kind: 'could', says: 'the mount point is not known', causes: causesOf(effect.mountPoint) }
    return leaving(effect, text)
  },
  undoneBy: (_, later) => {
    if (later.kind === 'fstab-entry-written') {
      const swapLine = eitherTrue(isOneOfTexts(later.mountPoint, MOUNT_POINTS), isText(later.fstype, 'swap'))
      return bothTrue(isText(later.file, '/etc/fstab'), swapLine)
    }
    if (later.kind !== 'file' || later.change === 'removed') return FALSE
    // A path of which nothing is known does not count, as above; an edit whose text does not speak of swap adds none.
    const edits = editsFstab(later)
    if (edits.kind === 'unknown' && !isPartlyKnown(later)) return FALSE
    const unseen: Truth = {
      kind: 'unknown',
      causes: [{ says: 'the text that is put in is not known', at: later.at, unread: true }],
    }
    return bothTrue(edits, later.content === undefined ? unseen : askText(later.content, text => /\bswap\b/.test(text)))
  },
}

function isPartlyKnown(effect: Effect): boolean {
  return (
    effect.kind === 'file' &&
    optionsOf(effect.path).every(({ value }) => piecesOf(value)?.some(piece => piece !== null) === true)
  )
}

const cutsTarget: Rule = {
  says: 'masks swap.target',
  matches: effect => {
    if (effect.kind !== 'unit' || effect.masked === undefined) return NO_MATCH
    const isTarget = askText(effect.unit, text => unitName(text) === 'swap.target')
    if (isTarget.kind === 'false') {
      return isSwapUnit(effect).kind === 'true' ? { kind: 'near', why: 'masks only that unit' } : NO_MATCH
    }
    const masked = isSet(effect.masked, false)
    if (masked.kind === 'false') return NO_MATCH
    if (isTarget.kind === 'true' && masked.kind === 'true') return SETTLES
    const causes = [isTarget, masked].flatMap(each => (each.kind === 'unknown' ? each.causes : []))
    return { kind: 'could', says: 'which unit is masked is not known', causes }
  },
  undoneBy: (_, later) => {
    if (later.kind === 'file') return removesMask(later, 'swap.target')
    if (later.kind !== 'unit' || later.masked === undefined) return FALSE
    const isTarget = askText(later.unit, text => unitName(text) === 'swap.target')
    return bothTrue(isTarget, notTrue(isSet(later.masked, false)))
  },
}

const zramOff: Rule = {
  says: 'empties the configuration of swap on zram',
  matches: effect =>
    effect.kind === 'file' && askText(effect.path, text => /\/zram-generator\.conf(\.d\/|$)/.test(text)).kind === 'true'
      ? { kind: 'near', why: 'turns off only swap on compressed memory that zram-generator sets up' }
      : NO_MATCH,
}

/** Swap that stands in no fstab comes back where only fstab is edited: the note says so, and what is done about zram. */
function besideFstab(occurrences: readonly Occurrence[], effects: RunEffects): readonly Note[] {
  const matching = (rule: Rule, kind: Match['kind']): readonly Occurrence[] =>
    occurrences.filter(each => rule.matches(each.effect, each, effects).kind === kind)
  const [edited] = matching(leavesFstab, 'settles')
  if (edited === undefined || matching(cutsTarget, 'settles').length > 0) return []
  const zram = matching(zramOff, 'near')
  const comesBack = 'stands in no fstab and comes back at the boot'
  const units = `Swap of a unit of its own ${comesBack}: swap.target is not masked.`
  if (zram.length === 0) {
    const says = `Swap on compressed memory (zram-generator), or of a unit of its own, ${comesBack}: swap.target is not masked.`
    return [{ says, about: edited }]
  }
  return [
    ...zram.map(about => {
      const { remains } = about.invocation
      const where = remains === null ? '' : `, if ${remains}`
      return {
        says: `Swap on compressed memory is kept from coming back by the emptied configuration of zram-generator${where}.`,
        about,
      }
    }),
    { says: units, about: edited },
  ]
}

export const swap: Problem = {
  id: 'swap',
  title: 'Swap is on',
  asks: 'Who turns swap off, and who keeps it off after a reboot?',
  requirement: {
    says: 'The kubelet refuses to start while swap is on, unless it is told to tolerate it.',
    source: 'https://kubernetes.io/docs/concepts/cluster-administration/swap-memory-management/',
  },
  now: [turnsOff],
  afterReboot: [leavesFstab, cutsTarget, zramOff],
  onHost: swapOnHost,
  powers: ['changes-swap'],
  byHand: [
    'swapoff -a',
    "sed -i.before-swapoff '/^[^#].*[[:space:]]swap[[:space:]]/s/^/#/' /etc/fstab",
    'systemctl mask swap.target',
  ],
  notes: besideFstab,
}
