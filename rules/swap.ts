import { askText, eitherTrue, isOneOfTexts, isSet, isText } from '../src/effects/argument.js'
import { unitName } from '../src/effects/describe.js'
import type { Effect, FileChange, Unit } from '../src/effects/effect.js'
import { decide, FALSE, TRUE, type Truth } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'

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
    if (later.kind !== 'unit' || isSwapUnit(later).kind !== 'true') return FALSE
    return isOneOfTexts(later.state, ['started', 'restarted'])
  },
}

function editsFstab(effect: Effect): effect is FileChange {
  return effect.kind === 'file' && effect.change !== 'attributes' && isText(effect.path, '/etc/fstab').kind === 'true'
}

const leavesFstab: Rule = {
  says: 'removes swap from /etc/fstab',
  matches: effect => {
    if (editsFstab(effect)) {
      return {
        kind: 'could',
        says: 'edits /etc/fstab as text',
        causes: [{ says: 'which lines that changes is not worked out', at: effect.at, unread: true }],
      }
    }
    if (effect.kind !== 'fstab-entries-removed' || isText(effect.file, '/etc/fstab').kind === 'false') return NO_MATCH
    return decide<Match>(isOneOfTexts(effect.mountPoint, MOUNT_POINTS), {
      true: () => SETTLES,
      false: () => NO_MATCH,
      unknown: causes => ({ kind: 'could', says: 'the mount point is not known', causes }),
    })
  },
  undoneBy: (_, later) => {
    if (later.kind === 'fstab-entry-written') {
      return eitherTrue(isOneOfTexts(later.mountPoint, MOUNT_POINTS), isText(later.fstype, 'swap'))
    }
    // An edit whose text does not speak of swap adds none.
    if (!editsFstab(later) || later.content === undefined) return FALSE
    return askText(later.content, text => /\bswap\b/.test(text))
  },
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
    if (later.kind !== 'unit' || later.masked === undefined) return FALSE
    if (askText(later.unit, text => unitName(text) === 'swap.target').kind !== 'true') return FALSE
    return decide<Truth>(isSet(later.masked, false), { true: () => FALSE, false: () => TRUE, unknown: () => FALSE })
  },
}

const zramOff: Rule = {
  says: 'empties the configuration of swap on zram',
  matches: effect =>
    effect.kind === 'file' && askText(effect.path, text => /\/zram-generator\.conf(\.d\/|$)/.test(text)).kind === 'true'
      ? { kind: 'near', why: 'turns off only swap on compressed memory that zram-generator sets up' }
      : NO_MATCH,
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
  powers: ['changes-swap'],
  byHand: [
    'swapoff -a',
    "sed -i.before-swapoff '/^[^#].*[[:space:]]swap[[:space:]]/s/^/#/' /etc/fstab",
    'systemctl mask swap.target',
  ],
}
