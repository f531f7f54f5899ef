/**
 * Every JSON output: the address of its schema, and what writes it. `npm run schemas` makes `schemas/whofixes-NAME-VERSION.json`
 * of the exported type `NameJson` and its comments; `docs/json.md` says what the version means. Each output but `answer`,
 * whose keys are fixed, begins with a member `schema` that holds the address.
 */
export const outputs = {
  report: {
    schema: 'https://whofixes.github.io/schemas/whofixes-report-1.json',
    from: 'whofixes report --format json',
  },
  matrix: {
    schema: 'https://whofixes.github.io/schemas/whofixes-matrix-1.json',
    from: 'whofixes report --matrix os|playbook --format json',
  },
  answer: {
    schema: 'https://whofixes.github.io/schemas/whofixes-answer-1.json',
    from: 'whofixes answer',
  },
  explain: {
    schema: 'https://whofixes.github.io/schemas/whofixes-explain-1.json',
    from: 'whofixes explain PROBLEM --format json',
  },
  'explain-variable': {
    schema: 'https://whofixes.github.io/schemas/whofixes-explain-variable-1.json',
    from: 'whofixes explain VARIABLE --format json',
  },
  vars: {
    schema: 'https://whofixes.github.io/schemas/whofixes-vars-1.json',
    from: 'whofixes vars --format json',
  },
  tasks: {
    schema: 'https://whofixes.github.io/schemas/whofixes-tasks-1.json',
    from: 'whofixes tasks --format json',
  },
  effects: {
    schema: 'https://whofixes.github.io/schemas/whofixes-effects-1.json',
    from: 'whofixes effects --format json',
  },
  residue: {
    schema: 'https://whofixes.github.io/schemas/whofixes-residue-1.json',
    from: 'whofixes effects --residue --format json',
  },
  checks: {
    schema: 'https://whofixes.github.io/schemas/whofixes-checks-1.json',
    from: 'whofixes checks --format json',
  },
  preflight: {
    schema: 'https://whofixes.github.io/schemas/whofixes-preflight-1.json',
    from: 'whofixes preflight --evidence PATH --format json',
  },
  verify: {
    schema: 'https://whofixes.github.io/schemas/whofixes-verify-1.json',
    from: 'whofixes verify FILE --format json',
  },
  audit: {
    schema: 'https://whofixes.github.io/schemas/whofixes-audit-1.json',
    from: 'whofixes audit OLD NEW --format json',
  },
  cite: {
    schema: 'https://whofixes.github.io/schemas/whofixes-cite-1.json',
    from: 'whofixes cite FILE… --format json',
  },
  history: {
    schema: 'https://whofixes.github.io/schemas/whofixes-history-1.json',
    from: 'whofixes history PROBLEM DIR --format json',
  },
  rules: {
    schema: 'https://whofixes.github.io/schemas/whofixes-rules-1.json',
    from: 'whofixes rules --format json',
  },
  snapshot: {
    schema: 'https://whofixes.github.io/schemas/whofixes-snapshot-3.json',
    from: 'whofixes record SOURCE',
  },
} as const

/** The name of a JSON output. */
export type OutputName = keyof typeof outputs
