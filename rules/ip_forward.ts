import {
  askText,
  bothTrue,
  causesOf,
  causeText,
  isCertainlySame,
  optionsOf,
  showValue,
  textOf,
} from '../src/effects/argument.js'
import type { Effect, Sysctl } from '../src/effects/effect.js'
import type { Occurrence } from '../src/effects/run-effects.js'
import { isSysctlConf, isSysctlDirectoryFile, sysctlKey } from '../src/effects/settings-files.js'
import { type Cause, decide, FALSE, TRUE, type Truth, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Note, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'

/** The kernel has these two as one variable (net/ipv4/devinet.c: forwarding of `all` is ip_forward). */
const KEYS = ['net.ipv4.ip_forward', 'net.ipv4.conf.all.forwarding']

/** Whether a setting is about one of these keys, in any spelling sysctl accepts. */
export function isKey(effect: Sysctl, keys: readonly string[]): Truth {
  return askText(
    effect.key,
    text => keys.includes(sysctlKey(text)),
    pieces => {
      const first = pieces[0]
      return typeof first !== 'string' || keys.some(key => key.startsWith(sysctlKey(first))) ? undefined : false
    },
  )
}

/** kubeadm compares the first character of the file with 1, the kernel forwards for any number but 0. */
function isOn(value: Value | undefined): Truth {
  return askText(value, text => text.trim().startsWith('1'))
}

type Readable =
  | { readonly kind: 'yes'; readonly condition?: string }
  | { readonly kind: 'no' }
  | { readonly kind: 'open'; readonly causes: readonly Cause[] }

/**
 * Whether systemd-sysctl reads a file at boot: it does in the sysctl.d directories; /etc/sysctl.conf only through a link
 * there. What the host says a link of such a directory points to is read through that link.
 */
export function isReadAtBoot(file: Value): Readable {
  const options = optionsOf(file)
  const kinds = options.map(({ value }) => placement(value))
  const causes = options.flatMap(({ value, because }) => [...because, ...causesOf(value)])
  if (kinds.every(kind => kind === 'elsewhere')) return { kind: 'no' }
  if (kinds.some(kind => kind === 'elsewhere' || kind === 'unknown')) return { kind: 'open', causes }
  if (kinds.every(kind => kind === 'sysctl.conf')) {
    return { kind: 'yes', condition: 'a link in /etc/sysctl.d points to /etc/sysctl.conf' }
  }
  return { kind: 'yes' }
}

function placement(value: Value): 'directory' | 'sysctl.conf' | 'link' | 'elsewhere' | 'unknown' {
  if (value.kind === 'unknown' && value.causes.length > 0 && value.causes.every(isLinkTarget)) return 'link'
  const inDirectory = isSysctlDirectoryFile(value)
  if (inDirectory.kind === 'true') return 'directory'
  const isConf = isSysctlConf(value)
  if (isConf.kind === 'true') return 'sysctl.conf'
  return inDirectory.kind === 'false' && isConf.kind === 'false' ? 'elsewhere' : 'unknown'
}

/** `stat` of a path gives its link's target as `lnk_source` and `lnk_target`. */
function isLinkTarget(cause: Cause): boolean {
  return cause.unread !== true && cause.name !== undefined && /\.stat\.lnk_(source|target)$/.test(cause.name)
}

function could(says: string, ...truths: readonly Truth[]): Match {
  return { kind: 'could', says, causes: truths.flatMap(truth => (truth.kind === 'unknown' ? truth.causes : [])) }
}

/** Rules for a kernel setting that has to have a value: now, and again at each boot. */
export function settingRules(
  keys: readonly string[],
  holds: (value: Value | undefined) => Truth,
): { readonly now: readonly Rule[]; readonly afterReboot: readonly Rule[] } {
  const name = keys[0] ?? ''
  const ofKey = (effect: Effect, judge: (setting: Sysctl) => Match): Match => {
    if (effect.kind !== 'sysctl') return NO_MATCH
    const about = isKey(effect, keys)
    if (about.kind === 'false') return NO_MATCH
    const value = holds(effect.value)
    if (value.kind === 'false') return NO_MATCH
    if (about.kind === 'unknown' || value.kind === 'unknown')
      return could('which setting is written is not known', about, value)
    return judge(effect)
  }
  const sets: Rule = {
    says: `sets ${name}`,
    matches: effect =>
      ofKey(effect, setting =>
        decide<Match>(setting.now, {
          true: () => SETTLES,
          false: () => NO_MATCH,
          unknown: causes => ({ kind: 'could', says: 'whether it is applied at once is not known', causes }),
        }),
      ),
    undoneBy: (_, later) => (later.kind === 'sysctl' ? bothTrue(contradicts(later, keys, holds), later.now) : FALSE),
  }
  const persists: Rule = {
    says: `keeps ${name} in a file that is applied at boot`,
    matches: effect =>
      ofKey(effect, setting => {
        const { file } = setting
        if (setting.persisted.kind === 'false') return NO_MATCH
        if (file === undefined || setting.persisted.kind === 'unknown')
          return could('whether it is kept is not known', setting.persisted)
        const read = isReadAtBoot(file)
        switch (read.kind) {
          case 'yes':
            return read.condition === undefined ? SETTLES : { kind: 'settles', condition: read.condition }
          case 'no':
            return { kind: 'near', why: `is kept in ${showValue(file)}, which nothing applies at boot` }
          case 'open':
            return { kind: 'could', says: 'which file it is kept in is not known', causes: read.causes }
        }
      }),
    undoneBy: (settling, later) => {
      if (settling.kind !== 'sysctl' || settling.file === undefined) return FALSE
      if (later.kind === 'file' && later.change === 'removed')
        return certainly(isCertainlySame(settling.file, later.path))
      if (later.kind !== 'sysctl' || later.file === undefined) return FALSE
      if (later.value === undefined)
        return certainly(isKey(later, keys).kind === 'true' && isCertainlySame(settling.file, later.file))
      if (later.persisted.kind === 'false') return FALSE
      return bothTrue(contradicts(later, keys, holds), comesLater(settling.file, later.file))
    },
  }
  return { now: [sets], afterReboot: [persists] }
}

function contradicts(later: Sysctl, keys: readonly string[], holds: (value: Value | undefined) => Truth): Truth {
  if (later.value === undefined) return FALSE
  const about = isKey(later, keys)
  if (about.kind !== 'true') return FALSE
  return decide<Truth>(holds(later.value), {
    true: () => FALSE,
    false: () => TRUE,
    unknown: causes => ({ kind: 'unknown', causes }),
  })
}

/** Only what is certain takes something back: an unknown path is not a reason to doubt every setting. */
function certainly(same: boolean): Truth {
  return same ? TRUE : FALSE
}

/** At boot the files are applied in byte order of their names, whatever directory they stand in. */
function comesLater(file: Value, other: Value): Truth {
  const [left, right] = [textOf(file), textOf(other)]
  if (left === undefined || right === undefined) return TRUE
  const name = (path: string): string => path.split('/').at(-1) ?? path
  return Buffer.compare(Buffer.from(name(right)), Buffer.from(name(left))) >= 0 ? TRUE : FALSE
}

const rules = settingRules(KEYS, isOn)

/** Where the file may be one of a few: each, and what decides for it. */
function alternatives(occurrences: readonly Occurrence[]): readonly Note[] {
  return occurrences.flatMap(occurrence => {
    const { effect } = occurrence
    if (effect.kind !== 'sysctl' || effect.file?.kind !== 'one-of' || isKey(effect, KEYS).kind !== 'true') return []
    const options = effect.file.options.map(option => {
      // The first reason is the place that gives this alternative; the others say what it depends on.
      const [because] = [...option.because, ...causesOf(option.value)]
      return because === undefined ? showValue(option.value) : `${showValue(option.value)}: ${causeText(because)}`
    })
    return [{ says: `The file is ${options.join(', or ')}.`, about: occurrence }]
  })
}

export const ipForward: Problem = {
  id: 'ip_forward',
  title: 'IPv4 forwarding is off',
  asks: 'Who turns IPv4 forwarding on, and who has it on again after a reboot?',
  requirement: {
    says: 'A node forwards packets between its pods and the network; kubeadm refuses to start without it.',
    source: 'https://kubernetes.io/docs/setup/production-environment/container-runtimes/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'net.ipv4.ip_forward = 1' > /etc/sysctl.d/99-kubernetes.conf",
    'sysctl --system',
    'sysctl net.ipv4.ip_forward',
  ],
  notes: alternatives,
}
