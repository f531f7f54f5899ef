import type { Task } from '../ansible/statement.js'
import { type Cause, type Dict, type Key, known, type Truth, unknown, type Value } from '../jinja/value.js'
import { placeOf } from '../source/text.js'
import type { Entry } from '../variables/scope.js'
import { knownResult } from './known-results.js'
import type { Invocation } from './task-run.js'

/** What `register` stores for a task that was skipped (rule 103). */
function skipped(): Value {
  return known(
    new Map<Key, Value>([
      ['changed', known(false)],
      ['skipped', known(true)],
      ['skip_reason', known('Conditional result was False')],
    ]),
  )
}

/**
 * The result of one execution: not known before the run, but for what the task itself says of it (its item, and that it
 * was not skipped).
 */
function resultOf(
  task: Task,
  name: string,
  item: Value | undefined,
  facts: ReadonlyMap<string, Value> | undefined,
): Value {
  const says = `${name} is the result of "${task.name ?? task.action}" (${placeOf(task.at)})`
  const notSkipped: Value = {
    kind: 'undefined',
    says: `${name} has no 'skipped': the task was not skipped`,
    at: task.at,
  }
  const fields = new Map<string, Value>([['skipped', notSkipped], ...(facts ?? [])])
  if (item !== undefined) fields.set('item', item)
  const causes: Cause[] = [{ says, at: task.at, name }]
  return { kind: 'unknown', causes, fields }
}

/** The entry `register: name` makes; undefined when nothing is registered. */
export function registeredEntry(
  task: Task,
  name: string,
  runs: Truth,
  invocations: readonly Invocation[],
  itemsKnown: boolean,
  facts: Dict | undefined,
): Entry {
  const [only] = invocations
  const known = only && knownResult(task, only, facts)
  const value =
    task.loop === undefined ? single(task, name, runs, known) : looped(task, name, runs, invocations, itemsKnown)
  return { origin: 'registered vars', at: task.at, content: { value } }
}

function single(task: Task, name: string, runs: Truth, facts: ReadonlyMap<string, Value> | undefined): Value {
  if (runs.kind === 'false') return skipped()
  const result = resultOf(task, name, undefined, facts)
  return runs.kind === 'true' ? result : either(result, skipped(), runs.causes)
}

function looped(task: Task, name: string, runs: Truth, invocations: readonly Invocation[], itemsKnown: boolean): Value {
  const says = `${name} holds the results of "${task.name ?? task.action}" (${placeOf(task.at)})`
  const causes: Cause[] = [{ says, at: task.at, name }]
  if (itemsKnown && invocations.length === 0 && runs.kind !== 'unknown') {
    const members: [Key, Value][] = [
      ['changed', known(false)],
      ['skipped', known(true)],
      ['skipped_reason', known('No items in the list')],
      ['results', known([])],
    ]
    return known(new Map(members))
  }
  if (!itemsKnown) return { kind: 'unknown', causes }
  const results = invocations.map(({ item, runs: itemRuns }, index) => {
    const own = resultOf(task, `${name}.results.${index}`, item, undefined)
    if (itemRuns.kind === 'true') return own
    const skip = withItem(skipped(), item)
    return itemRuns.kind === 'false' ? skip : either(own, skip, itemRuns.causes)
  })
  return { kind: 'unknown', causes, fields: new Map([['results', known(results)]]) }
}

function withItem(value: Value, item: Value | undefined): Value {
  if (item === undefined || value.kind !== 'known' || !(value.data instanceof Map)) return value
  return known(new Map([...value.data, ['item', item] as const]))
}

function either(yes: Value, no: Value, because: readonly Cause[]): Value {
  if (yes.kind === 'one-of' || no.kind === 'one-of') return unknown(because)
  return {
    kind: 'one-of',
    options: [
      { value: yes, because },
      { value: no, because },
    ],
  }
}
