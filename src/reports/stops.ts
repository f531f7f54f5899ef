import type { Check } from '../run/task-run.js'
import { type Place, placeOfSpan } from './place.js'
import { jsonOf, valueText } from './value-text.js'

/** One of the playbook's own checks that ends the run for this host. */
export interface ReportedStop extends Place {
  /** The role, as its path under `roles/`; null for a task of the play itself. */
  readonly role: string | null
  /** The name of the task. */
  readonly task: string
  /** The condition that ends the run, with the values that decide it. */
  readonly because: string
  /** What the playbook itself says there; null where it says nothing. */
  readonly message: string | null
  /** True where nothing behind it is taken to happen; false for a check whose demand is taken to be met. */
  readonly final: boolean
  /** What was most likely meant. */
  readonly hints: readonly string[]
}

/** The checks that end the run. */
export function stopsOf(checks: readonly Check[]): readonly ReportedStop[] {
  return checks.flatMap(check =>
    check.outcome === 'stops'
      ? {
          ...placeOfSpan(check.task.task.at),
          role: check.task.role ?? null,
          task: check.task.name,
          because: stopText(check),
          message: check.message ?? null,
          final: check.final,
          hints: check.hints,
        }
      : [],
  )
}

/** What stops the run, with the values that decide it: `` `a >= b` is false: a is 1400, b is 1500 ``. */
export function stopText({ kind, conditions, message }: Check): string {
  const [first] = conditions
  if (first === undefined) return message ?? 'the task fails'
  const cause =
    first.truth.kind === 'unknown'
      ? (first.truth.causes[0]?.says ?? 'not known')
      : kind === 'failed_when'
        ? 'is true'
        : 'is false'
  const names = first.names.flatMap(({ name, value }) =>
    value.kind === 'known' ? `${name} is ${valueText(jsonOf(value), 60)}` : [],
  )
  const values = names.length === 0 ? '' : `: ${names.join(', ')}`
  return `\`${shortCondition(first.text)}\` ${cause}${values}`
}

/** A condition on one line, as much of it as a person reads. */
export function shortCondition(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line
}

const LONGEST = 240
