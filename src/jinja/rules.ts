/** What versions of Ansible read differently in expressions, conditions and templates. */
export interface ExpressionRules {
  /**
   * What becomes of a condition that hits an undefined name: it fails, or, where the text asks of that name whether it is
   * defined, it counts as the answer to that.
   */
  readonly undefinedConditions: 'fail' | 'fall back'
  /** A condition has to come to a boolean; anything else is an error and not Python's truth of it. */
  readonly booleanConditions: boolean
  /** A template of one expression gives that expression's value as it is; no text is read back as a list, dict or bool. */
  readonly nativeResults: boolean
}
