import type { Evidence } from '../../../evidence/evidence.js'
import type { Moment } from '../../moment.js'

/** A text that a command prints: known, or not for a reason, with the parts of it that are (null where one is not). */
export type Printed = string | { readonly because: string; readonly pieces?: readonly (string | null)[] }

/** An exit status: one, or one of several for a reason (the version of a program). */
export type Status = number | { readonly oneOf: readonly number[]; readonly because: string }

/** What a command comes to. `silent`: it prints nothing to standard error. */
export interface Ran {
  readonly kind: 'ran'
  readonly status: Status
  readonly stdout: Printed
  readonly silent: boolean
}

/** What a command comes to, or why the host does not say. */
export type Outcome = Ran | { readonly kind: 'open'; readonly because: string }

/** A call of a program: its words, and what it reads from a pipe. */
export interface Call {
  readonly words: readonly string[]
  /** Undefined where nothing is piped into it. */
  readonly stdin: Printed | undefined
  readonly moment: Moment
  readonly evidence: Evidence
}

/** Works out a call; undefined where it does anything but look, or is not worked out. */
export type Program = (call: Call) => Outcome | undefined

/** A command that succeeds, with what it prints. */
export function prints(stdout: Printed): Ran {
  return { kind: 'ran', status: 0, stdout, silent: true }
}

/** A command that ends with a status and says nothing. */
export function ends(status: Status): Ran {
  return { kind: 'ran', status, stdout: '', silent: true }
}

/** A command that ends with a status and an error message. */
export function complains(status: Status, stdout: Printed = ''): Ran {
  return { kind: 'ran', status, stdout, silent: false }
}

/** What the host does not say. */
export function notKnown(because: string): Outcome {
  return { kind: 'open', because }
}

/** One of several statuses, as the program's version has it. */
export function oneOf(oneOf: readonly number[], program: string): Status {
  return { oneOf, because: `which status it is depends on the version of ${program}` }
}

/** Whether a status is 0; undefined where that is open. */
export function succeeds(status: Status): boolean | undefined {
  if (typeof status === 'number') return status === 0
  const ways = new Set(status.oneOf.map(each => each === 0))
  return ways.size === 1 ? ways.has(true) : undefined
}

/** A text joined of two. */
export function joined(left: Printed, right: Printed): Printed {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (left === '') return right
  if (right === '') return left
  const because = typeof left === 'string' ? (right as { because: string }).because : left.because
  return { because, pieces: [...piecesOf(left), ...piecesOf(right)] }
}

function piecesOf(text: Printed): readonly (string | null)[] {
  return typeof text === 'string' ? [text] : (text.pieces ?? [null])
}
