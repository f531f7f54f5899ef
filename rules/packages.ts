import { askText, eitherTrue, joinedPieces, membersOf, optionsOf } from '../src/effects/argument.js'
import type { Package } from '../src/effects/effect.js'
import { FALSE, type Truth, type Value } from '../src/jinja/value.js'

/**
 * Whether one of the distribution's packages has such a name; versions and architectures are left off (`python3=3.11`); `stems` are what such
 * names begin with. A list that only the host decides, without any known piece, is not taken for every package there is; one this program could not read is open.
 */
export function namesPackage(
  { names, manager }: Package,
  isIt: (name: string) => boolean,
  stems: readonly string[],
): Truth {
  if (manager === 'pip') return FALSE
  const alternatives = optionsOf(names)
    // Where the list itself cannot be made the task fails, and no package is named.
    .filter(({ value }) => value.kind !== 'failure')
    .map(({ value, because }) => ({ because, truth: membersOf(value).map(isNamed).reduce(eitherTrue, FALSE) }))
  const [first] = alternatives
  if (first === undefined) return FALSE
  if (alternatives.every(({ truth }) => truth.kind === first.truth.kind && truth.kind !== 'unknown')) return first.truth
  const causes = alternatives.flatMap(({ because, truth }) => [
    ...because,
    ...(truth.kind === 'unknown' ? truth.causes : []),
  ])
  return { kind: 'unknown', causes }

  function isNamed(member: Value): Truth {
    const truth = askText(member, text => text.split(/\s+/).some(name => isIt(bare(name))), piecesFit(isIt, stems))
    return truth.kind === 'unknown' && isHostsList(member, truth) ? FALSE : truth
  }
}

function bare(name: string): string {
  return name.replace(/[=<>].*$/, '').replace(/\.(x86_64|aarch64|noarch|amd64|arm64)$/, '')
}

/** Names between unknown pieces are read; one with an unknown piece can be it where it begins like one of the stems. */
function piecesFit(
  isIt: (name: string) => boolean,
  stems: readonly string[],
): (pieces: readonly (string | null)[]) => boolean | undefined {
  return pieces => {
    const words = joinedPieces(pieces).split(/\s+/)
    if (words.some(word => !word.includes('\0') && isIt(bare(word)))) return true
    const open = words.filter(word => word.includes('\0')).map(word => word.slice(0, word.indexOf('\0')))
    return open.some(start => stems.some(stem => stem.startsWith(start) || start.startsWith(stem))) ? undefined : false
  }
}

function isHostsList(member: Parameters<typeof membersOf>[0], truth: Truth): boolean {
  if (truth.kind !== 'unknown' || truth.causes.some(cause => cause.unread === true || cause.name === undefined))
    return false
  return member.kind !== 'unknown' || member.text === undefined || member.text.every(piece => piece === null)
}
