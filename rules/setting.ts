import {
  askText,
  bothTrue,
  causesOf,
  causeText,
  eitherTrue,
  isCertainlySame,
  isOneOfTexts,
  isSamePath,
  notTrue,
  optionsOf,
  piecesOf,
  showValue,
  textOf,
} from '../src/effects/argument.js'
import { isOneOfUnits } from '../src/effects/describe.js'
import type { Effect, FileChange, Sysctl } from '../src/effects/effect.js'
import { isSetting, takesAway } from '../src/effects/query.js'
import type { Occurrence } from '../src/effects/run-effects.js'
import { isSysctlConf, isSysctlDirectoryFile, statementsOf, sysctlKey } from '../src/effects/settings-files.js'
import { standingOf } from '../src/effects/standing.js'
import { type Cause, decide, FALSE, known, TRUE, type Truth, type Value } from '../src/jinja/value.js'
import type { Run } from '../src/run/task-run.js'
import { compareBytes } from '../src/source/store.js'
import type { Span } from '../src/source/text.js'
import { type Match, NO_MATCH, type Note, type Rule, SETTLES } from '../src/verdicts/problem.js'
import type { PhaseRules } from './together.js'

/** Whether a setting is about one of these keys, in any spelling sysctl accepts. */
export function isKey(effect: Sysctl, keys: readonly string[]): Truth {
  return isSetting(effect.key, keys)
}

/**
 * In a file for boot a key may be a pattern (man sysctl.d): it sets what it fits, but a key that some file names itself
 * (procps and systemd alike, whichever file comes later). The setting it is for the first key it fits; undefined for any other.
 */
function patternOf(effect: Sysctl, keys: readonly string[]): (Sysctl & { readonly names: string }) | undefined {
  const text = textOf(effect.key)
  if (text === undefined || !/[*?[]/.test(text) || effect.now.kind !== 'false') return undefined
  const names = keys.find(key => fitsPattern(sysctlKey(text).split('.'), key.split('.')))
  return names === undefined ? undefined : { ...effect, key: known(names), names }
}

/** Part by part: a pattern does not reach over a dot. Sets of characters are not worked out. */
function fitsPattern(pattern: readonly string[], key: readonly string[]): boolean {
  return (
    pattern.length === key.length &&
    pattern.every((part, index) => {
      const text = key[index] ?? ''
      if (part === '*' || part === text) return true
      const [start, end, more] = part.split('*')
      if (end === undefined || more !== undefined || /[?[]/.test(part)) return false
      return text.length >= part.length - 1 && text.startsWith(start ?? '') && text.endsWith(end)
    })
  )
}

type Readable =
  | { readonly kind: 'yes'; readonly condition?: string }
  | { readonly kind: 'no' }
  | { readonly kind: 'open'; readonly causes: readonly Cause[] }

/**
 * Whether systemd-sysctl reads a file at boot: it does in the sysctl.d directories; /etc/sysctl.conf only through a link
 * there. What the host says a link of such a directory points to is read through that link.
 */
export function isReadAtBoot(file: Value, run: Run): Readable {
  const options = optionsOf(file)
  const kinds = options.map(({ value }) => placement(value, run, []))
  const causes = options.flatMap(({ value, because }) => [...because, ...causesOf(value)])
  if (kinds.every(kind => kind === 'elsewhere')) return { kind: 'no' }
  if (kinds.some(kind => kind === 'elsewhere' || kind === 'unknown')) return { kind: 'open', causes }
  if (kinds.every(kind => kind === 'sysctl.conf')) {
    return { kind: 'yes', condition: 'a link in /etc/sysctl.d points to /etc/sysctl.conf' }
  }
  return { kind: 'yes' }
}

function placement(
  value: Value,
  run: Run,
  asked: readonly Span[],
): 'directory' | 'sysctl.conf' | 'link' | 'elsewhere' | 'unknown' {
  if (
    value.kind === 'unknown' &&
    value.causes.length > 0 &&
    value.causes.every(cause => isLinkTarget(cause, run, asked))
  )
    return 'link'
  const inDirectory = isSysctlDirectoryFile(value)
  if (inDirectory.kind === 'true') return 'directory'
  const isConf = isSysctlConf(value)
  if (isConf.kind === 'true') return 'sysctl.conf'
  return inDirectory.kind === 'false' && isConf.kind === 'false' ? 'elsewhere' : 'unknown'
}

/**
 * `stat` gives the target of the link it is asked about as `lnk_source`: the task that registers the result tells which
 * path that was, and it has to be one in a sysctl.d directory each time the task runs.
 */
function isLinkTarget(cause: Cause, run: Run, asked: readonly Span[]): boolean {
  if (cause.unread === true || cause.name === undefined || !cause.name.endsWith('.stat.lnk_source')) return false
  // The task may run again and ask about what it found the first time.
  if (asked.some(span => isSameSpan(span, cause.at))) return true
  const stats = run.tasks.filter(({ task }) => isSameSpan(task.at, cause.at) && /(^|\.)stat$/.test(task.module))
  const paths = stats.flatMap(stat => stat.invocations.map(each => each.arguments.get('path')))
  return (
    paths.length > 0 &&
    paths.every(
      path =>
        path !== undefined &&
        optionsOf(path).every(({ value }) =>
          ['directory', 'link'].includes(placement(value, run, [...asked, cause.at])),
        ),
    )
  )
}

function isSameSpan(left: Span, right: Span): boolean {
  return left.file.path === right.file.path && left.start === right.start
}

function could(says: string, ...truths: readonly Truth[]): Match {
  return { kind: 'could', says, causes: truths.flatMap(truth => (truth.kind === 'unknown' ? truth.causes : [])) }
}

/** Rules for a kernel setting that has to have a value: now, and again at each boot. */
export function settingRules(keys: readonly string[], holds: (value: Value | undefined) => Truth): PhaseRules {
  const name = keys[0] ?? ''
  const ofKey = (effect: Effect, phase: 'now' | 'persisted', judge: (setting: Sysctl) => Match): Match => {
    if (effect.kind !== 'sysctl' || effect[phase].kind === 'false') return NO_MATCH
    const about = isKey(effect, keys)
    if (about.kind === 'false') return NO_MATCH
    const value = holds(effect.value)
    if (value.kind === 'false') {
      return effect.value === undefined || about.kind !== 'true'
        ? NO_MATCH
        : { kind: 'near', why: `sets it to ${showValue(effect.value)}, which is not what is asked` }
    }
    if (about.kind === 'unknown' || value.kind === 'unknown')
      return could('which setting is written is not known', about, value)
    return judge(effect)
  }
  const sets: Rule = {
    says: `sets ${name}`,
    matches: effect => {
      const applies = appliesFiles(effect)
      if (applies.kind !== 'false') return could('what its files set is not worked out', applies)
      return ofKey(effect, 'now', setting =>
        decide<Match>(setting.now, {
          true: () => SETTLES,
          false: () => NO_MATCH,
          unknown: causes => ({ kind: 'could', says: 'whether it is applied at once is not known', causes }),
        }),
      )
    },
    undoneBy: (_, later, occurrence, { occurrences }) => {
      if (later.kind === 'sysctl') return bothTrue(contradicts(later, keys, holds), later.now)
      if (!appliesAll(later)) return FALSE
      // What stands in the way is in files that the run wrote before.
      return occurrences
        .slice(0, occurrences.indexOf(occurrence))
        .map(({ effect }) =>
          effect.kind === 'sysctl' && effect.persisted.kind !== 'false' ? contradicts(effect, keys, holds) : FALSE,
        )
        .some(({ kind }) => kind !== 'false')
        ? openAt(later, 'it applies all files, of which one says otherwise')
        : FALSE
    },
  }
  const keptIn = (effect: Effect, run: Run): Match =>
    ofKey(effect, 'persisted', setting => {
      const { file } = setting
      if (file === undefined || setting.persisted.kind === 'unknown')
        return could('whether it is kept is not known', setting.persisted)
      const read = isReadAtBoot(file, run)
      switch (read.kind) {
        case 'yes':
          return read.condition === undefined ? SETTLES : { kind: 'settles', condition: read.condition }
        case 'no':
          return { kind: 'near', why: `is kept in ${showValue(file)}, which nothing applies at boot` }
        case 'open':
          return { kind: 'could', says: 'which file it is kept in is not known', causes: read.causes }
      }
    })
  const persists: Rule = {
    says: `keeps ${name} in a file that is applied at boot`,
    matches: (effect, occurrence, { occurrences }) => {
      const pattern = effect.kind === 'sysctl' ? patternOf(effect, keys) : undefined
      const match = keptIn(pattern ?? effect, occurrence.run)
      if (match.kind === 'settles' && effect.kind === 'sysctl') {
        // What was written before and is read later wins all the same.
        const wins = occurrences
          .slice(0, occurrences.indexOf(occurrence))
          .map(other => overrides(other, effect, keys, holds))
          .reduce(eitherTrue, FALSE)
        if (wins.kind === 'true') return { kind: 'near', why: 'a file that is read later at boot says otherwise' }
        if (wins.kind === 'unknown') return could('a file that is read later at boot may say otherwise', wins)
      }
      if (pattern === undefined || match.kind !== 'settles') return match
      const condition = `no file for boot names ${pattern.names} itself`
      return { ...match, condition: match.condition === undefined ? condition : `${match.condition} and ${condition}` }
    },
    undoneBy: (settling, later) => {
      if (settling.kind !== 'sysctl' || settling.file === undefined) return FALSE
      if (later.kind === 'file' && later.change === 'removed') return takesAway(later, settling.file)
      if (later.kind === 'file')
        return bothTrue(isSamePath(settling.file, later.path), losesSetting(later, keys, holds))
      if (later.kind !== 'sysctl' || later.file === undefined) return FALSE
      if (later.value === undefined) return bothTrue(isAbout(later, keys), isSamePath(settling.file, later.file))
      if (later.persisted.kind === 'false') return FALSE
      return bothTrue(contradicts(later, keys, holds), comesLater(settling.file, later.file))
    },
  }
  return { now: [sets], afterReboot: [persists] }
}

/** Whether a setting has one of these values, as the kernel reads a number: blanks around it do not matter. */
export function isNumber(...numbers: readonly number[]): (value: Value | undefined) => Truth {
  return value => askText(value, text => numbers.some(number => text.trim() === String(number)))
}

/** Whether a setting has at least this value. */
export function isAtLeast(least: number): (value: Value | undefined) => Truth {
  return value => askText(value, text => /^\d+$/.test(text.trim()) && Number(text) >= least)
}

/**
 * systemd-sysctl (procps on Debian) applies every file when it starts again. A reboot in the run does it too, but then the
 * second question has the answer: without a file that is kept it sets nothing.
 */
function appliesFiles(effect: Effect): Truth {
  if (effect.kind !== 'unit') return FALSE
  const applier = isOneOfUnits(effect.unit, ['systemd-sysctl.service', 'procps.service'])
  if (applier.kind === 'false' || isOneOfTexts(effect.state, ['restarted', 'started', 'reloaded']).kind === 'false')
    return FALSE
  return applier.kind === 'true' ? openAt(effect, 'it applies what the files set') : FALSE
}

/** Whether an effect applies files that are there: the unit, or `sysctl --system` and `sysctl -p`. */
function appliesAll(effect: Effect): boolean {
  if (effect.kind !== 'command') return appliesFiles(effect).kind !== 'false'
  return effect.program === 'sysctl' && effect.powers.includes('changes-sysctl')
}

/**
 * Whether a later setting is about one of the keys. One whose key only the host or the person who runs it can say, without
 * any known piece, is a list of their own: it does not put every other setting in doubt. It stands among what is open.
 */
function isAbout(later: Sysctl, keys: readonly string[]): Truth {
  const about = isKey(later, keys)
  if (about.kind !== 'unknown' || about.causes.some(cause => cause.unread)) return about
  const open = optionsOf(later.key).every(({ value }) => piecesOf(value)?.some(piece => piece !== null) !== true)
  return open ? FALSE : about
}

function contradicts(later: Sysctl, keys: readonly string[], holds: (value: Value | undefined) => Truth): Truth {
  return later.value === undefined ? FALSE : bothTrue(isAbout(later, keys), notTrue(holds(later.value)))
}

/** Whether what an earlier task wrote to another file is read after this one at boot, and says otherwise. */
function overrides(
  earlier: Occurrence,
  setting: Sysctl,
  keys: readonly string[],
  holds: (value: Value | undefined) => Truth,
): Truth {
  const { effect } = earlier
  if (effect.kind !== 'sysctl' || effect.file === undefined || setting.file === undefined) return FALSE
  const standing = standingOf(earlier)
  if (standing.kind === 'never' || effect.persisted.kind === 'false') return FALSE
  const about = bothTrue(contradicts(effect, keys, holds), notTrue(isSamePath(effect.file, setting.file)))
  const wins = bothTrue(about, comesLater(setting.file, effect.file))
  return wins.kind === 'true' && standing.kind !== 'happens' ? { kind: 'unknown', causes: standing.causes } : wins
}

/** Whether a file no longer has the setting after a change of it. */
function losesSetting(later: FileChange, keys: readonly string[], holds: (value: Value | undefined) => Truth): Truth {
  if (later.change === 'attributes' || later.change === 'directory' || later.change === 'unpacked') return FALSE
  if (later.change === 'link') {
    return textOf(later.target) === '/dev/null' ? TRUE : openAt(later, 'what the link points to is not known')
  }
  // Lines that are only added are judged as the settings they are.
  if (later.change === 'line' && later.takesOut === undefined && later.content !== undefined) return FALSE
  if (later.change === 'line') return openAt(later, 'which lines leave the file is not worked out')
  const lines = statementsOf(later.content)
  if (lines === undefined) return openAt(later, 'the text that is written is not known')
  const has = lines.some(line => {
    const [key, ...rest] = (textOf(line) ?? '').split('=')
    return (
      keys.includes(sysctlKey((key ?? '').replace(/^-/, '').trim())) && holds(known(rest.join('='))).kind === 'true'
    )
  })
  if (has) return FALSE
  return lines.every(line => line.kind === 'known')
    ? TRUE
    : openAt(later, 'parts of the text that is written are not known')
}

function openAt(effect: Effect, says: string): Truth {
  return { kind: 'unknown', causes: [{ says, at: effect.at, unread: true }] }
}

/** At boot the files are applied in byte order of their names, whatever directory they stand in. */
function comesLater(file: Value, other: Value): Truth {
  const [left, right] = [textOf(file), textOf(other)]
  if (left === undefined || right === undefined) {
    if (isCertainlySame(file, other)) return TRUE
    const causes = [...causesOf(file), ...causesOf(other)]
    return causes.length === 0 ? TRUE : { kind: 'unknown', causes }
  }
  const name = (path: string): string => path.split('/').at(-1) ?? path
  return compareBytes(name(right), name(left)) >= 0 ? TRUE : FALSE
}

/**
 * What becomes of the task where its file holds a key this kernel does not know: the module has `sysctl -p` read the whole
 * file, which fails unless it is told to pass over such keys.
 */
export function unknownKeys(keys: readonly string[]): (occurrences: readonly Occurrence[]) => readonly Note[] {
  return occurrences =>
    occurrences.flatMap(occurrence => {
      const { effect } = occurrence
      if (effect.kind !== 'sysctl' || effect.ignoresUnknownKeys === undefined) return []
      if (isKey(effect, keys).kind !== 'true') return []
      const says = {
        true: 'A key in its file that the kernel does not know is passed over.',
        false:
          'Where its file holds a key that the kernel does not know (of IPv6, where that is disabled), the task fails: ignoreerrors is off.',
        unknown:
          'Whether a key in its file that the kernel does not know fails the task is not known: it depends on ignoreerrors.',
      }
      return [{ says: says[effect.ignoresUnknownKeys.kind], about: occurrence }]
    })
}

/** Where the file may be one of a few: each, and what decides for it. */
export function alternativeFiles(keys: readonly string[]): (occurrences: readonly Occurrence[]) => readonly Note[] {
  return occurrences =>
    occurrences.flatMap(occurrence => {
      const { effect } = occurrence
      if (effect.kind !== 'sysctl' || effect.file?.kind !== 'one-of' || isKey(effect, keys).kind !== 'true') return []
      const options = effect.file.options.map(option => {
        // The first reason is the place that gives this alternative; the others say what it depends on.
        const [because] = [...option.because, ...causesOf(option.value)]
        return because === undefined ? showValue(option.value) : `${showValue(option.value)}: ${causeText(because)}`
      })
      return [{ says: `The file is ${options.join(', or ')}.`, about: occurrence }]
    })
}
