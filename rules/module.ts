import {
  bothTrue,
  eitherTrue,
  isOneOfTexts,
  isSamePath,
  notTrue,
  optionsOf,
  piecesOf,
  textOf,
} from '../src/effects/argument.js'
import { isOneOfUnits } from '../src/effects/describe.js'
import type { Effect, FileChange, KernelModule } from '../src/effects/effect.js'
import { isModuleName, takesAway } from '../src/effects/query.js'
import { isModulesLoadFile, statementsOf } from '../src/effects/settings-files.js'
import { decide, FALSE, TRUE, type Truth, type Value } from '../src/jinja/value.js'
import type { Span } from '../src/source/text.js'
import { type Match, NO_MATCH, type Rule, SETTLES } from '../src/verdicts/problem.js'
import type { PhaseRules } from './together.js'

/** Whether a module is this one. */
export function isModule(value: Value, name: string): Truth {
  return isModuleName(value, name)
}

function ofModule(effect: KernelModule, name: string): Match {
  return decide<Match>(isModule(effect.module, name), {
    true: () => SETTLES,
    false: () => NO_MATCH,
    unknown: causes => ({ kind: 'could', says: 'which module is loaded is not known', causes }),
  })
}

/** Rules for a kernel module that has to be loaded: now, and again at each boot. */
export function moduleRules(name: string): PhaseRules {
  const loads: Rule = {
    says: `loads ${name}`,
    matches: effect => {
      if (loadsFiles(effect)) {
        const causes = [{ says: 'it loads what the files in modules-load.d name', at: effect.at }]
        return { kind: 'could', says: 'which modules its files name is not worked out', causes }
      }
      return effect.kind === 'kernel-module' && effect.when === 'now' && effect.state === 'loaded'
        ? ofModule(effect, name)
        : NO_MATCH
    },
    undoneBy: (_, later) =>
      later.kind === 'kernel-module' && later.when === 'now' && later.state === 'unloaded'
        ? isModule(later.module, name)
        : FALSE,
  }
  const persists: Rule = {
    says: `has ${name} loaded at each boot`,
    matches: effect => {
      if (effect.kind === 'kernel-module' && effect.when === 'boot' && effect.state === 'loaded')
        return ofModule(effect, name)
      return effect.kind === 'file' ? perhapsModulesFile(effect, name) : NO_MATCH
    },
    undoneBy: (settling, later) => {
      if (later.kind === 'kernel-module' && later.when === 'boot' && later.state === 'unloaded') {
        return isModule(later.module, name)
      }
      if (later.kind !== 'file' || settling.kind !== 'kernel-module' || settling.file === undefined) return FALSE
      if (later.change === 'removed') return takesAway(later, settling.file)
      return bothTrue(isSamePath(settling.file, later.path), losesModule(later, name))
    },
  }
  return { now: [loads], afterReboot: [persists] }
}

/**
 * systemd-modules-load loads what the files name when it starts again. A reboot in the run does it too, but then the second
 * question has the answer: without a file that is kept it loads nothing.
 */
function loadsFiles(effect: Effect): boolean {
  return (
    effect.kind === 'unit' &&
    isOneOfUnits(effect.unit, ['systemd-modules-load.service', 'kmod.service']).kind === 'true' &&
    isOneOfTexts(effect.state, ['started', 'restarted', 'reloaded']).kind !== 'false'
  )
}

/** Whether one of the lines of a text is the module's name; unknown where a line is not known, or the text. */
function namesModule(content: Value | undefined, name: string, at: Span): Truth {
  const lines = statementsOf(content)
  const unread: Truth = { kind: 'unknown', causes: [{ says: 'the text of the file is not known', at, unread: true }] }
  if (lines === undefined) return unread
  return lines.map(line => isModule(line, name)).reduce(eitherTrue, FALSE)
}

/** Whether a file no longer names the module after a change of it. */
function losesModule(later: FileChange, name: string): Truth {
  const unseen = (says: string): Truth => ({ kind: 'unknown', causes: [{ says, at: later.at, unread: true }] })
  switch (later.change) {
    case 'attributes':
    case 'directory':
    case 'unpacked':
      return FALSE
    case 'removed':
      return TRUE
    case 'link':
      return textOf(later.target) === '/dev/null' ? TRUE : unseen('what the link points to is not known')
    case 'written':
      // It is taken back where the new text does not name the module.
      return notTrue(namesModule(later.content, name, later.at))
    case 'line':
      // Lines that are only added take none away.
      return later.takesOut === undefined && later.content !== undefined
        ? FALSE
        : bothTrue(notTrue(namesModule(later.content, name, later.at)), unseen('which lines leave is not worked out'))
  }
}

/**
 * A file whose path is not known might be one of modules-load.d: where its text names the module, or where that is not
 * known and what is known of the path fits. A path and text of which nothing is known are not taken for it: else no run that
 * writes a file somewhere could be told apart.
 */
function perhapsModulesFile(effect: FileChange, name: string): Match {
  if (effect.change !== 'written' && effect.change !== 'line') return NO_MATCH
  const there = isModulesLoadFile(effect.path)
  if (there.kind !== 'unknown') return NO_MATCH
  const names = namesModule(effect.content, name, effect.at)
  const pathFits = optionsOf(effect.path).some(
    ({ value }) => piecesOf(value)?.some(piece => piece !== null) === true && isModulesLoadFile(value).kind !== 'false',
  )
  return names.kind === 'true' || (names.kind === 'unknown' && pathFits)
    ? { kind: 'could', says: 'the path of the file is not known', causes: there.causes }
    : NO_MATCH
}
