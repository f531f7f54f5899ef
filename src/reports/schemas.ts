/**
 * Every JSON output: the address of its schema, and what writes it. The schema of `NAME` is `schemas/whofixes-NAME-1.json`,
 * made by `npm run schemas` from the exported type `NameJson` and its comments; `docs/json.md` says what the number means.
 * Each output but `answer`, whose keys are fixed, begins with a member `schema` that holds the address.
 */
export const outputs = {
  report: {
    schema: 'https://whofixes.github.io/schemas/whofixes-report-1.json',
    from: 'whofixes report --format json',
  },
} as const

/** The name of a JSON output. */
export type OutputName = keyof typeof outputs
