import { isText, joinedPieces, optionsOf, piecesOf } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import type { Occurrence, RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'

/** The texts that an effect may put into a file, unknown pieces as NUL; undefined where nothing is known of one. */
function textsOf(effect: Effect): readonly string[] | undefined {
  if (effect.kind !== 'file' || effect.content === undefined || effect.contentUnsure !== undefined) return undefined
  const texts = optionsOf(effect.content).flatMap(({ value }) => {
    if (value.kind === 'failure') return []
    const pieces = piecesOf(value)
    return [pieces && joinedPieces(pieces)]
  })
  return texts.every(text => text !== undefined) ? texts : undefined
}

function changesAt(paths: readonly string[], { occurrences }: RunEffects): readonly Occurrence[] {
  return occurrences.filter(
    occurrence =>
      !occurrence.asWritten &&
      occurrence.effect.kind === 'file' &&
      occurrence.effect.change !== 'attributes' &&
      paths.some(path => isText((occurrence.effect as Extract<Effect, { kind: 'file' }>).path, path).kind === 'true') &&
      standingOf(occurrence).kind !== 'never',
  )
}

/** Whether the last such text that the run puts into one of these files certainly has a line, whatever else is open in the file. */
export function putsLine(paths: readonly string[], line: RegExp, effects: RunEffects): boolean {
  const telling = changesAt(paths, effects).filter(
    ({ effect }) => textsOf(effect)?.some(text => line.test(text)) === true,
  )
  const last = telling.at(-1)
  if (last === undefined) return false
  const happens = telling.some(each => standingOf(each).kind === 'happens')
  return happens && textsOf(last.effect)?.every(text => line.test(text)) === true
}

/** Whether nothing that the run puts into a file can be such a line. */
export function putsNo(path: string, line: RegExp, effects: RunEffects): boolean {
  const changes = changesAt([path], effects)
  return changes.length > 0 && changes.every(({ effect }) => textsOf(effect)?.every(text => !line.test(text)) === true)
}
