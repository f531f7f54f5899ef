import { type OutputName, outputs } from '../../src/reports/schemas.js'

/** The names of all JSON outputs. */
export const outputNames = Object.keys(outputs) as readonly OutputName[]

/** Where the schema of an output is kept; its name is the last part of the schema's address. */
export function schemaFile(name: OutputName): URL {
  return new URL(`../../../schemas/${fileNameOf(name)}`, import.meta.url)
}

/** The last part of the address of a schema: `whofixes-report-1.json`. */
export function fileNameOf(name: OutputName): string {
  return outputs[name].schema.split('/').at(-1) ?? ''
}
