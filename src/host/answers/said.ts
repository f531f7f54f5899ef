import type { Task } from '../../ansible/statement.js'
import type { Found } from '../../evidence/host-files.js'
import { known, unknown, type Value } from '../../jinja/value.js'

/** A value the host does not say, for this reason. */
export function open(because: string, { at }: Task): Value {
  return unknown([{ says: because, at }])
}

/** A value as far as it was captured: `what` says what it is of whom, for people. */
export function captured(value: Value | undefined, what: string, task: Task): Value {
  return value ?? open(`${what} was not captured`, task)
}

/** A text, boolean or number as it is said; undefined stays so. */
export function plain(data: string | boolean | number | undefined): Value | undefined {
  return data === undefined ? undefined : known(typeof data === 'number' ? BigInt(data) : data)
}

/** Why something is not known; undefined where it is. */
export function reasonOf(found: Found<unknown>): string | undefined {
  return found.kind === 'unknown' ? found.because : undefined
}

/** The lines of a text as Python's `splitlines` has them. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
