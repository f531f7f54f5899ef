import type { Change } from '../reports/audit.js'
import { placeOfSpan } from '../reports/place.js'
import { jsonOf, valueText } from '../reports/value-text.js'
import type { AppliedCondition, TaskRun } from '../run/task-run.js'
import type { Span } from '../source/text.js'
import { literalValue } from '../variables/node-value.js'
import type { NameRead } from './role-index.js'
import type { Compared, Side } from './side.js'

/**
 * What the user has switched on and can switch nothing on: every condition that reads it stands beside another one that is
 * false whatever it is set to. Told with whether that was so before.
 */
export function deadOptions({ old, new: fresh, given, ownReads }: Compared): readonly Change[] {
  return [...given].flatMap(([name, set]): Change[] => {
    if (ownReads.has(name)) return []
    const isOn = set.some(({ node }) => {
      const literal = literalValue(node)
      return literal?.kind === 'known' && literal.data !== false && literal.data !== null && literal.data !== ''
    })
    const barred = isOn ? barredBy(name, fresh) : undefined
    if (barred === undefined) return []
    const { gate, condition } = barred
    const ofThisHost = condition.names.some(each =>
      /^(?:inventory_hostname|group_names|groups|ansible_)/.test(each.name),
    )
    const asBefore = barredBy(name, old) !== undefined
    const values = condition.names.flatMap(({ name: each, value }) =>
      value.kind === 'known' ? [`${each} is ${valueText(jsonOf(value), 40)}`] : [],
    )
    const because = `\`${condition.text.trim()}\` is false there${values.length === 0 ? '' : `: ${values.join(', ')}`}`
    return [
      {
        kind: 'variable-unused',
        name,
        action: asBefore || ofThisHost ? 'advised' : 'required',
        says: `${ofThisHost ? 'on this host ' : ''}${name} switches nothing on${asBefore ? ', as before' : ''}: ${because}`,
        old: null,
        new: placeOfSpan(gate.at),
        inventory: set.map(({ at }) => placeOfSpan(at)),
      },
    ]
  })
}

interface Barred {
  /** A place that asks for the option. */
  readonly gate: NameRead
  /** What is false beside it. */
  readonly condition: AppliedCondition
}

/** The condition that bars the option, where all places that ask for it are barred; undefined where one is open. */
function barredBy(name: string, { index, analysis }: Side): Barred | undefined {
  const gates = (index.reads.get(name) ?? []).filter(({ slot }) => slot === 'when')
  const others = (index.reads.get(name) ?? []).filter(({ slot }) => slot !== 'when')
  // What is read elsewhere (a template, another default) has an effect of its own.
  if (gates.length === 0 || others.length > 0) return undefined
  let found: Barred | undefined
  for (const gate of gates) {
    const around = spanOf(gate)
    const condition = around && falseBeside(name, around, analysis.run.tasks)
    if (condition === undefined) return undefined
    found ??= { gate, condition }
  }
  return found
}

/** The statement or role entry whose condition it is. */
function spanOf({ owner }: NameRead): Span | undefined {
  if (owner.kind === 'statement') return owner.placed.statement.at
  return owner.kind === 'role-entry' ? owner.entry.at : undefined
}

/**
 * The condition of this statement that is false for every task behind it and does not ask for the name; undefined where a
 * task may run, where it is the name itself that is false, or where nothing stands behind it.
 */
function falseBeside(name: string, around: Span, tasks: readonly TaskRun[]): AppliedCondition | undefined {
  let found: AppliedCondition | undefined
  for (const { conditions } of tasks) {
    const own = conditions.filter(({ at }) => isWithin(at, around))
    if (own.length === 0) continue
    const barring = own.find(({ truth }) => truth.kind === 'false')
    if (barring === undefined || barring.names.some(each => each.name === name)) return undefined
    found ??= barring
  }
  return found
}

function isWithin(inner: Span, outer: Span): boolean {
  return inner.file === outer.file && inner.start >= outer.start && inner.end <= outer.end
}
