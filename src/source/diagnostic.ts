import type { Span } from './text.js'

/** Everything a reader or parser can report about its input. A closed set: reports and tests rely on these names. */
export type DiagnosticCode =
  | 'file-missing'
  | 'file-too-large'
  | 'file-not-utf8'
  | 'file-unreadable'
  | 'link-outside'
  | 'link-loop'
  | 'yaml-syntax'
  | 'yaml-duplicate-key'
  | 'yaml-alias'
  | 'yaml-tag'
  | 'jinja-syntax'
  | 'jinja-unmodelled'
  | 'playbook-malformed'
  | 'play-malformed'
  | 'task-malformed'
  | 'role-malformed'
  | 'module-unknown'
  | 'import-missing'
  | 'import-templated'
  | 'import-cycle'
  | 'role-missing'
  | 'role-cycle'
  | 'inventory-syntax'
  | 'inventory-group'
  | 'facts-malformed'
  | 'extra-vars-text'
  | 'run-stops'
  | 'run-limit'

/**
 * What a reader found wrong with its input, in one line for people.
 * `severity` is `error` where content was lost (what rests on it is unknown), `warning` where it was read all the same.
 */
export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly at: Span
}

/** Where readers and parsers put what they find; they never throw on input. */
export type Report = (diagnostic: Diagnostic) => void

/** Wrong usage or input that leaves nothing to answer: one line for the user, exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
