import type { Span } from '../source/text.js'
import type { ExpressionRules } from './rules.js'
import type { Value } from './value.js'

/** What an expression can see while it is evaluated. */
export interface Environment {
  /** What the version of Ansible decides; absent for what 2.15 to 2.18 have in common. */
  readonly rules?: ExpressionRules
  /** The value of a name, already templated; `undefined` kind where nothing defines it. Called once per use, may cache. */
  readonly variable: (name: string) => Value
  /** Every name that is defined (for `varnames`). */
  readonly variableNames: () => readonly string[]
  /**
   * Lookup plugins that need files, the inventory or the control host (`first_found`, `fileglob`, `template`, `file`,
   * `env`, `inventory_hostnames`, …). Undefined means: not modelled here; the evaluator then answers Unknown with that cause.
   */
  readonly lookup: (
    plugin: string,
    terms: readonly Value[],
    options: ReadonlyMap<string, Value>,
    at: Span,
  ) => Value | undefined
  /** Templates a text the way Ansible templates a variable's value (for `lookup('vars')`-like uses and `{{ }}` inside text). */
  readonly template: (text: string, at: Span) => Value
  /** Told each use of a filter, test, lookup or function that is not modelled: what it gives is unknown, and counted. */
  readonly unmodelled?: (says: string, at: Span) => void
  /** Reads YAML or JSON text as Ansible's `from_yaml` does. A failure is a Failure. */
  readonly readYaml: (text: string, at: Span) => Value
}
