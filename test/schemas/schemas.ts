import { fileURLToPath } from 'node:url'
import { createGenerator, type Schema, type SchemaGenerator } from 'ts-json-schema-generator'
import { type OutputName, outputs } from '../../src/reports/schemas.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The exported type that an output is built as: `explain-variable` is `ExplainVariableJson`. */
function typeOf(name: OutputName): string {
  const words = name.split('-').map(word => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Json`
}

let generator: SchemaGenerator | undefined

/**
 * The text of an output's schema as its type and the comments on it give it. Members it does not name are allowed, so
 * that who reads an older schema takes newer outputs; the tests do not allow them (`valid.ts`).
 */
export function renderSchema(name: OutputName): string {
  generator ??= createGenerator({
    path: `${root}src/{reports,recorded}/*.ts`,
    tsconfig: `${root}tsconfig.json`,
    // `tsc` checks the types; the generator's own compiler is an older one.
    skipTypeCheck: true,
    additionalProperties: true,
    topRef: false,
    sortProps: false,
  })
  const { $schema, description, ...schema }: Schema = generator.createSchema(typeOf(name))
  const head = { $schema, $id: outputs[name].schema, title: outputs[name].from, description }
  return `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`
}
