import { bothTrue, isOneOfTexts, isSet, isText, membersOf, notTrue, showValue, textOf } from '../effects/argument.js'
import { unitName } from '../effects/describe.js'
import type { Effect, FileChange, Package, Sysctl, Unit } from '../effects/effect.js'
import { type EffectQuery, isAskedFor, takesAway } from '../effects/query.js'
import type { Occurrence, RunEffects } from '../effects/run-effects.js'
import { standingOf } from '../effects/standing.js'
import { FALSE, known, TRUE, type Truth, type Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import { type Evidence, evidenceOf } from './judge.js'

/** Something a run leaves on the host that another run does not certainly take away. */
export interface Left {
  /** What stays: a path, a unit, a package, a setting. */
  readonly what: string
  /** `perhaps`: the other run takes it away only under a condition, or it cannot be told. */
  readonly stays: 'yes' | 'perhaps'
  /** Why it may go, for `perhaps`. */
  readonly why: string | undefined
  /** What leaves it, the first of all that do. */
  readonly left: Evidence
  /** How many tasks leave it. */
  readonly tasks: number
}

export interface Residue {
  readonly left: readonly Left[]
  /** How many lasting things of the run the other one certainly takes away. */
  readonly taken: number
  /** What has a path or name that is not known: it cannot be followed. */
  readonly untold: readonly Evidence[]
}

/** One lasting thing: what it is, and whether an effect takes it away. */
interface Lasting {
  readonly what: string
  readonly takenBy: (effect: Effect) => Truth
}

/**
 * What is left of a run once another (`reset.yml`) has gone over the same host: files, units, packages, settings and the
 * like that nothing takes away. What does not outlast a reboot (loaded modules, running processes) and what lives in the
 * files of a container runtime or of the cluster is not counted for itself.
 */
export function residueOf(run: RunEffects, reset: RunEffects): Residue {
  const takers = reset.occurrences.flatMap(occurrence => {
    const standing = standingOf(occurrence)
    return standing.kind === 'never' ? [] : [{ occurrence, standing }]
  })
  const places = new Map<
    string,
    { readonly occurrence: Occurrence; readonly lasting: Lasting; last: number; tasks: number }
  >()
  const untold = new Map<string, Evidence>()
  for (const [index, occurrence] of run.occurrences.entries()) {
    if (standingOf(occurrence).kind === 'never') continue
    for (const each of lastingOf(occurrence.effect)) {
      if (each === 'untold') {
        const evidence = evidenceFor(occurrence)
        untold.set(`${evidence.says} ${placeOf(occurrence.effect.at)}`, evidence)
        continue
      }
      const before = places.get(each.what)
      if (before === undefined) places.set(each.what, { occurrence, lasting: each, last: index, tasks: 1 })
      else {
        before.last = index
        before.tasks += 1
      }
    }
  }
  const left: Left[] = []
  let taken = 0
  for (const { occurrence, lasting, last, tasks } of places.values()) {
    const later = run.occurrences.slice(last + 1).filter(each => lasting.takenBy(each.effect).kind === 'true')
    if (later.some(each => standingOf(each).kind === 'happens')) {
      taken += 1
      continue
    }
    const reasons: string[] = []
    let certainly = false
    for (const { occurrence: taker, standing } of takers) {
      const takes = lasting.takenBy(taker.effect)
      if (takes.kind === 'false') continue
      if (takes.kind === 'true' && standing.kind === 'happens') {
        certainly = true
        break
      }
      const { says, task } = evidenceFor(taker)
      const when = standing.kind === 'host-decides' ? `if ${standing.condition}` : 'what it acts on is not known'
      reasons.push(`${task.name} ${says}, ${when}`)
    }
    if (certainly) taken += 1
    else {
      const [why] = reasons
      const what = lasting.what
      left.push({ what, stays: why === undefined ? 'yes' : 'perhaps', why, left: evidenceFor(occurrence), tasks })
    }
  }
  return { left, taken, untold: [...untold.values()] }
}

function evidenceFor(occurrence: Occurrence): Evidence {
  const standing = standingOf(occurrence)
  return evidenceOf(occurrence, standing.kind === 'host-decides' ? standing.condition : null, undefined)
}

const nothingAsked: EffectQuery = {
  paths: [],
  units: [],
  sysctls: [],
  kernelModules: [],
  ports: [],
  packages: [],
  programs: [],
  kinds: [],
}

/** What of an effect outlasts the run and a reboot; `untold` for what has a path or name that is not known. */
function lastingOf(effect: Effect): readonly (Lasting | 'untold')[] {
  switch (effect.kind) {
    case 'file':
      return lastingFile(effect)
    case 'unit':
      return lastingUnit(effect)
    case 'kernel-module':
      if (effect.when !== 'boot' || effect.state !== 'loaded' || effect.file === undefined) return []
      return lastingPath(effect.file, `kernel module ${showValue(effect.module)} at boot`)
    case 'sysctl':
      return lastingSetting(effect)
    case 'package':
      if (isOneOfTexts(effect.state, ['absent', 'removed']).kind === 'true') return []
      return membersOf(effect.names).flatMap((member): readonly (Lasting | 'untold')[] => {
        const name = textOf(member)
        if (name === undefined) return ['untold']
        return name === '*' ? [] : name.split(/\s+/).map(each => lastingPackage(each, effect.manager))
      })
    case 'fstab-entries-removed':
      return [
        {
          what: `${showValue(effect.file)} without its lines for ${showValue(effect.mountPoint)}`,
          takenBy: later => (later.kind === 'fstab-entry-written' ? isText(later.file, showValue(effect.file)) : FALSE),
        },
      ]
    case 'fstab-entry-written': {
      const point = textOf(effect.mountPoint)
      if (point === undefined || textOf(effect.file) === undefined) return ['untold']
      return [
        {
          what: `a line for ${point} in ${showValue(effect.file)}`,
          takenBy: later =>
            later.kind === 'fstab-entries-removed'
              ? bothTrue(isText(later.file, showValue(effect.file)), isText(later.mountPoint, point))
              : takesAway(later, effect.file),
        },
      ]
    }
    case 'boot-parameters': {
      const given = textOf(effect.parameters)
      if (given === undefined) return ['untold']
      return [
        {
          what: effect.change === 'added' ? `boot parameters ${given}` : `the kernel's command line without ${given}`,
          takenBy: later =>
            later.kind === 'boot-parameters' && later.change !== effect.change
              ? isText(later.parameters, given)
              : FALSE,
        },
      ]
    }
    case 'account':
    case 'clock':
    case 'schedule':
    case 'storage':
    case 'package-source':
    case 'firewall':
      if (textOf(effect.says)?.endsWith('state=absent') === true) return []
      return [{ what: showValue(effect.says), takenBy: later => isSameStatement(later, effect) }]
    case 'hostname':
      return [{ what: 'the host name', takenBy: () => FALSE }]
    case 'selinux':
      return [
        {
          what: 'the mode of SELinux',
          takenBy: later => (later.kind === 'selinux' ? notTrue(isText(later.state, showValue(effect.state))) : FALSE),
        },
      ]
    // Gone with the next boot, or told by the effects that stand beside it.
    case 'mount':
    case 'unit-file':
    case 'swap':
    case 'processes-signalled':
    case 'network':
    case 'reboot':
    case 'stop-if':
    case 'command':
      return []
    // In the files of the container runtime or of the cluster.
    case 'container':
    case 'kubeadm':
    case 'cluster-object':
      return []
    // The report of the run names these for themselves.
    case 'unreadable-command':
    case 'unmodelled-module':
      return []
  }
}

function lastingUnit(effect: Unit): readonly (Lasting | 'untold')[] {
  const isEnabled = isSet(effect.enabled, false).kind === 'true'
  const isMasked = isSet(effect.masked, false).kind === 'true'
  if (!isEnabled && !isMasked) return []
  const unit = textOf(effect.unit)
  if (unit === undefined) return ['untold']
  const lasting: Lasting[] = []
  if (isEnabled) {
    lasting.push({
      what: `unit ${unitName(unit)} enabled`,
      takenBy: later => isUnitChanged(later, unit, each => each.enabled, false),
    })
  }
  if (isMasked) {
    lasting.push({
      what: `unit ${unitName(unit)} masked`,
      takenBy: later => isUnitChanged(later, unit, each => each.masked, false),
    })
  }
  return lasting
}

function lastingSetting({ key: name, file, value, persisted }: Sysctl): readonly (Lasting | 'untold')[] {
  if (file === undefined || value === undefined || persisted.kind === 'false') return []
  const key = textOf(name)
  if (key === undefined) return ['untold']
  return [
    {
      what: `sysctl ${key} in ${showValue(file)}`,
      takenBy: later =>
        later.kind === 'sysctl' && later.value === undefined
          ? isAskedFor(later, { ...nothingAsked, sysctls: [key] })
          : takesAway(later, file),
    },
  ]
}

function lastingPackage(name: string, manager: Package['manager']): Lasting {
  return {
    what: manager === undefined ? `package ${name}` : `package ${name} of ${manager}`,
    takenBy: later =>
      later.kind === 'package' &&
      later.manager === manager &&
      isOneOfTexts(later.state, ['absent', 'removed']).kind !== 'false'
        ? isAskedFor(later, { ...nothingAsked, packages: [name] })
        : FALSE,
  }
}

function lastingFile(effect: FileChange): readonly (Lasting | 'untold')[] {
  if (effect.change === 'removed' || effect.change === 'attributes') return []
  return textOf(effect.path) === undefined ? ['untold'] : lastingPath(effect.path, showValue(effect.path))
}

function lastingPath(path: Value, what: string): readonly Lasting[] {
  const text = textOf(path)
  // The boot empties these.
  if (text === undefined || /^\/(?:tmp|run|var\/run|dev\/shm)(?:\/|$)/.test(text)) return []
  return [{ what, takenBy: later => takesAway(later, path) }]
}

function isUnitChanged(
  later: Effect,
  unit: string,
  flag: (effect: Extract<Effect, { kind: 'unit' }>) => Value | undefined,
  value: boolean,
): Truth {
  if (later.kind === 'file' && later.change === 'removed') {
    return takesAway(later, known(`/etc/systemd/system/${unitName(unit)}`))
  }
  if (later.kind !== 'unit') return FALSE
  const given = flag(later)
  if (given === undefined || isSet(given, false).kind !== (value ? 'true' : 'false')) return FALSE
  return isAskedFor(later, { ...nothingAsked, units: [unit] })
}

/** The same statement with `state=absent` at its end takes back the one without. */
function isSameStatement(later: Effect, effect: Effect): Truth {
  if (later.kind !== effect.kind || !('says' in later) || !('says' in effect)) return FALSE
  const [theirs, ours] = [textOf(later.says as Value), textOf(effect.says as Value)]
  if (theirs === undefined || ours === undefined || !theirs.endsWith('state=absent')) return FALSE
  const name = (text: string): string | undefined => /\bname=(\S+)/.exec(text)?.[1]
  return name(theirs) !== undefined && name(theirs) === name(ours) ? TRUE : FALSE
}
