import type { Span } from '../source/text.js'

/**
 * Python data as Jinja sees it. int is bigint, float is number, so that `1` and `1.0` stay apart; a tuple is a list with
 * a mark. Containers hold Values, so that one unknown member does not make the whole container unknown.
 */
export type Data = null | boolean | bigint | number | string | List | Tuple | Dict | Callable
export type List = readonly Value[]
export interface Tuple {
  readonly kind: 'tuple'
  readonly items: readonly Value[]
  /** A view of a dict or a range: iterates like a tuple, has no index (but a range) and no `+`, prints under its own name. */
  readonly view?: 'dict_keys' | 'dict_values' | 'dict_items' | 'range'
}
export type Key = null | boolean | bigint | number | string
export type Dict = ReadonlyMap<Key, Value>
/** A bound method (`x.split`) or macro: only ever called, never printed. */
export interface Callable {
  readonly kind: 'callable'
  readonly name: string
  readonly call: (args: readonly Value[], named: ReadonlyMap<string, Value>, at: Span) => Value
}

/** Why something is not known before the run, in words a reader can act on, and where it stands. */
export interface Cause {
  readonly says: string
  readonly at: Span
  /** The name whose value would decide it (`ansible_facts.memtotal_mb`, `modinfo_br_netfilter.rc`), where there is one. */
  readonly name?: string
  /** True where the program, not the host, is the reason: an unmodelled filter, an unreadable file, an encrypted value. */
  readonly unread?: true
}

export interface Known {
  readonly kind: 'known'
  readonly data: Data
  /** Text that Ansible keeps as text even where it looks like a list (results of `string`, `to_json`, `to_yaml`, …). */
  readonly protected?: true
  /**
   * A number or null that came out of a template such as `{{ other }}`, not one that is stored as such: `{{ name }}` of
   * it prints text, where a stored number stays a number.
   */
  readonly templated?: true
  /** Text as a lookup gave it: only `type_debug` tells it from other text. */
  readonly lookedUp?: true
}

/** Nothing defines it: a fact about a name, not a lack of knowledge. */
export interface Undefined {
  readonly kind: 'undefined'
  readonly says: string
  readonly at: Span
  /** Of an inline `if` without `else`: prints as nothing and is false, where every other undefined value fails. */
  readonly lenient?: true
}

/** Not knowable before the run. It may turn out to be any value, or undefined. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly causes: readonly Cause[]
  /** For a text of which parts are known: the parts in order, null where an unknown part stands. */
  readonly text?: readonly (string | null)[]
  /** For a mapping of which some keys are known (a registered result): those; every other key is unknown. */
  readonly fields?: ReadonlyMap<string, Value>
}

/** One of a few alternatives, because a task that sets it may or may not run. Never nested, at least two options. */
export interface OneOf {
  readonly kind: 'one-of'
  readonly options: readonly Option[]
}
export interface Option {
  readonly value: Known | Undefined | Unknown | Failure
  /** What decides for this option. */
  readonly because: readonly Cause[]
}

/** Evaluation fails as Ansible would fail: a type error, a filter's error, a strict use of an undefined name. */
export interface Failure {
  readonly kind: 'failure'
  readonly says: string
  readonly at: Span
  /** True when the cause is an undefined name: `is defined` and `default` then see the whole as undefined. */
  readonly undefined: boolean
}

export type Value = Known | Undefined | Unknown | OneOf | Failure

/** Whether a condition holds. No boolean accessor on purpose: fold with `decide`. */
export type Truth = { readonly kind: 'true' } | { readonly kind: 'false' } | Unknown

export const TRUE: Truth = { kind: 'true' }
export const FALSE: Truth = { kind: 'false' }

/** Folds a truth; each of the three cases has to be given. */
export function decide<T>(
  truth: Truth,
  cases: { true: () => T; false: () => T; unknown: (causes: readonly Cause[]) => T },
): T {
  switch (truth.kind) {
    case 'true':
      return cases.true()
    case 'false':
      return cases.false()
    case 'unknown':
      return cases.unknown(truth.causes)
  }
}

/** A value that is data. */
export function known(data: Data): Known {
  return { kind: 'known', data }
}

/** A value that is not known for these causes; `text` gives the known parts of one that is certainly text. */
export function unknown(causes: readonly Cause[], text?: readonly (string | null)[]): Unknown {
  return text === undefined
    ? { kind: 'unknown', causes: mergeCauses(causes) }
    : { kind: 'unknown', causes: mergeCauses(causes), text }
}

/** An evaluation that fails as Ansible's would; `isUndefined` where an undefined name is the reason. */
export function failure(says: string, at: Span, isUndefined = false): Failure {
  return { kind: 'failure', says, at, undefined: isUndefined }
}

/** The causes without repeats (same words, same name, same place), in order. */
export function mergeCauses(causes: readonly Cause[]): readonly Cause[] {
  if (causes.length < 2) return causes
  const seen = new Map<string, Cause>()
  for (const cause of causes) {
    const key = `${cause.says}\0${cause.name ?? ''}\0${cause.at.file.path}\0${cause.at.start}`
    if (!seen.has(key)) seen.set(key, cause)
  }
  return [...seen.values()]
}
