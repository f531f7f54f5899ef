import { piecesOf } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import type { Occurrence, RunEffects } from '../src/effects/run-effects.js'
import { joinAnd, type Standing, standingOf } from '../src/effects/standing.js'
import type { Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Rule } from '../src/verdicts/problem.js'

/**
 * What comes with the next boot is there on the running host only where the run reboots it afterwards: the rule for now
 * that belongs to one for after a reboot.
 */
export function onceRebooted(rule: Rule): Rule {
  return {
    ...rule,
    says: `${rule.says}, and reboots the host`,
    matches: (effect, occurrence, effects) => {
      const match = rule.matches(effect, occurrence, effects)
      if (match.kind !== 'settles' && match.kind !== 'could') return match
      const reboot = rebootAfter(occurrence, effects)
      if (reboot === undefined) {
        return { kind: 'near', why: 'comes only with the next boot, and this run does not reboot the host afterwards' }
      }
      if (match.kind === 'could' || reboot.kind === 'happens') return match
      if (reboot.kind === 'host-decides') {
        const own = standingOf(occurrence)
        // Under the condition of its own task nothing is left to say.
        return own.kind === 'host-decides' && own.condition === reboot.condition
          ? match
          : underCondition(match, reboot.condition)
      }
      return { kind: 'could', says: 'whether the host is rebooted is not known', causes: reboot.causes }
    },
  }
}

type Coming = Exclude<Standing, { readonly kind: 'never' }>

/** The reboot behind an effect that is the most certain; undefined where the run has none there. */
function rebootAfter(occurrence: Occurrence, { occurrences }: RunEffects): Coming | undefined {
  const later = occurrences.slice(occurrences.indexOf(occurrence) + 1).filter(({ effect }) => effect.kind === 'reboot')
  const standings = later.map(standingOf).filter(standing => standing.kind !== 'never')
  return (
    standings.find(({ kind }) => kind === 'happens') ??
    standings.find(({ kind }) => kind === 'host-decides') ??
    standings[0]
  )
}

function underCondition(match: Extract<Match, { kind: 'settles' }>, condition: string): Match {
  const conditions = match.condition === undefined ? [condition] : [match.condition, condition]
  return { ...match, condition: joinAnd([...new Set(conditions)]) }
}

/** Files the kernel's command line is made of, each in its way (a boot loader's configuration, a kernel's entry). */
function isCommandLineFile(path: string): boolean {
  return /^\/etc\/default\/grub($|\.d\/)|^\/etc\/kernel\/cmdline$|^\/boot\/.*(cmdline\.txt|grub\.cfg|grubenv|\.conf)$/.test(
    path,
  )
}

/** A file of the command line is written, and its text may name one of the parameters: whether that boots is not worked out. */
export function mayChangeCommandLine(effect: Effect, names: (text: string) => boolean): Match {
  if (effect.kind !== 'file' || !['written', 'line'].includes(effect.change)) return NO_MATCH
  const path = piecesOf(effect.path)
  const fits = path !== undefined && isCommandLineFile(path.map(piece => piece ?? '').join(''))
  if (!fits || !mayName(effect.content, names)) return NO_MATCH
  const says = 'whether the next boot uses that command line is not worked out'
  return { kind: 'could', says, causes: [{ says: 'the boot loader makes its own of it', at: effect.at, unread: true }] }
}

function mayName(content: Value | undefined, names: (text: string) => boolean): boolean {
  const pieces = content === undefined ? undefined : piecesOf(content)
  return pieces === undefined || pieces.some(piece => piece === null || names(piece))
}

/** The parameters of a command line: `quiet mem=4G` is `quiet` and `mem=4G`. */
export function parametersOf(text: string): readonly string[] {
  return text
    .replaceAll(/["']/g, '')
    .split(/\s+/)
    .filter(part => part !== '')
}
