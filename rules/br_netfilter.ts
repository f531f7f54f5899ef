import { askText, isCertainlySame } from '../src/effects/argument.js'
import type { Effect, KernelModule } from '../src/effects/effect.js'
import { isModulesLoadFile } from '../src/effects/settings-files.js'
import { decide, FALSE, TRUE, type Truth, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'

/** Whether a module is this one; modprobe takes `-` and `_` for the same. */
export function isModule(value: Value, name: string): Truth {
  return askText(
    value,
    text => text.replaceAll('-', '_') === name,
    pieces => (pieces.length === 1 && pieces[0] === null ? undefined : piecesFit(pieces, name)),
  )
}

function piecesFit(pieces: readonly (string | null)[], name: string): boolean | undefined {
  const first = pieces[0]
  const last = pieces.at(-1)
  const fits =
    (typeof first !== 'string' || name.startsWith(first.replaceAll('-', '_'))) &&
    (typeof last !== 'string' || name.endsWith(last.replaceAll('-', '_')))
  return fits ? undefined : false
}

function ofModule(effect: KernelModule, name: string): Match {
  return decide<Match>(isModule(effect.module, name), {
    true: () => SETTLES,
    false: () => NO_MATCH,
    unknown: causes => ({ kind: 'could', says: 'which module is loaded is not known', causes }),
  })
}

/** Rules for a kernel module that has to be loaded: now, and again at each boot. */
export function moduleRules(name: string): { readonly now: readonly Rule[]; readonly afterReboot: readonly Rule[] } {
  const loads: Rule = {
    says: `loads ${name}`,
    matches: effect => {
      if (effect.kind === 'unit-file') return atUnitStart(effect.atStart, effect.unit, name)
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
      if (later.change !== 'removed' && later.change !== 'written') return FALSE
      if (!isCertainlySame(settling.file, later.path)) return FALSE
      if (later.change === 'removed') return TRUE
      // Written again: it is taken back where the new content does not name the module.
      return askText(later.content, text => !text.replaceAll('-', '_').includes(name))
    },
  }
  return { now: [loads], afterReboot: [persists] }
}

function atUnitStart(effects: readonly Effect[], unit: string, name: string): Match {
  const loads = effects.some(
    effect =>
      effect.kind === 'kernel-module' && effect.state === 'loaded' && isModule(effect.module, name).kind === 'true',
  )
  return loads ? { kind: 'near', why: `is loaded only when ${unit} starts` } : NO_MATCH
}

/** A file whose path is not known might be one of modules-load.d, unless its content cannot name the module. */
function perhapsModulesFile(effect: Extract<Effect, { kind: 'file' }>, name: string): Match {
  if (effect.change !== 'written' && effect.change !== 'line') return NO_MATCH
  const there = isModulesLoadFile(effect.path)
  if (there.kind !== 'unknown' || effect.content === undefined) return NO_MATCH
  const names = askText(effect.content, text => text.replaceAll('-', '_').includes(name))
  return names.kind === 'true'
    ? { kind: 'could', says: 'the path of the file is not known', causes: there.causes }
    : NO_MATCH
}

const rules = moduleRules('br_netfilter')

export const brNetfilter: Problem = {
  id: 'br_netfilter',
  title: 'The kernel module br_netfilter is not loaded',
  asks: 'Who loads br_netfilter, and who has it loaded again at each boot?',
  requirement: {
    says: 'Bridged traffic of pods has to pass the packet filter, which takes br_netfilter in the kernel.',
    source: 'https://kubernetes.io/docs/setup/production-environment/container-runtimes/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  powers: ['changes-modules'],
  byHand: ['modprobe br_netfilter', 'echo br_netfilter > /etc/modules-load.d/br_netfilter.conf'],
}
