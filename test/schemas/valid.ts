import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv'
import { type OutputName, outputs } from '../../src/reports/schemas.js'
import { outputNames, schemaFile } from './published.js'

const ajv = new Ajv({ strict: true, strictTuples: false, allowUnionTypes: true, allErrors: true })
const compiled = new Map<string, ValidateFunction>()

/** A published schema as it is kept under `schemas/`. */
export function readSchema(name: OutputName): AnySchemaObject {
  return JSON.parse(readFileSync(schemaFile(name), 'utf8'))
}

/** The schema, allowing no member that it does not name: so a member is found that the type does not have. */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(([key, value]) => {
    // Below these stand schemas by names, which are no keywords.
    if (key === 'properties' || key === 'definitions') {
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, strictSchema(each)]))] as const
    }
    return [key, strictSchema(value)] as const
  })
  const closed = 'properties' in schema && !('additionalProperties' in schema) ? { additionalProperties: false } : {}
  return { ...Object.fromEntries(members), ...closed }
}

/** What is wrong with an output by its schema, a line each; empty where nothing is. `published`: members may be added. */
export function faultsOf(output: unknown, name: OutputName, published = false): readonly string[] {
  const key = `${name}${published ? '' : ' strict'}`
  const validate = compiled.get(key) ?? compile(name, published)
  compiled.set(key, validate)
  return validate(output) ? [] : (validate.errors ?? []).map(error => faultText(error, output))
}

function compile(name: OutputName, published: boolean): ValidateFunction {
  const { $id: _, ...schema } = readSchema(name)
  return ajv.compile((published ? schema : strictSchema(schema)) as AnySchemaObject)
}

function faultText({ instancePath, message, params }: ErrorObject, output: unknown): string {
  const said = 'additionalProperty' in params ? `no member '${params.additionalProperty}' is described` : message
  let found: unknown = output
  for (const part of instancePath.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined
  }
  return `${instancePath || '(the whole)'}: ${said}; there is ${JSON.stringify(found)?.slice(0, 120)}`
}

/**
 * Which output a parsed text is: by its `schema` member, and who-fixes.json, whose keys are fixed, by having none.
 * Undefined for formats of others (SARIF, code quality), which say so with `$schema` or are lists.
 */
function nameOf(output: unknown): OutputName | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output) || '$schema' in output) return undefined
  if (!('schema' in output)) return 'answer'
  const name = outputNames.find(each => outputs[each].schema === output.schema)
  assert.ok(name !== undefined, `schema: ${String(output.schema)}: no such output; src/reports/schemas.ts names them`)
  return name
}

/** Parses a JSON output, and fails where it does not follow its schema to the last member. */
export function parseOutput(text: string): ReturnType<typeof JSON.parse> {
  const output: unknown = JSON.parse(text)
  const name = nameOf(output)
  if (name !== undefined) {
    const faults = faultsOf(output, name)
    const more = faults.length > 10 ? `\n… and ${faults.length - 10} more` : ''
    assert.ok(faults.length === 0, `not as schemas/ describe '${name}':\n${faults.slice(0, 10).join('\n')}${more}`)
  }
  return output
}

/** The same for what a command printed, where that is JSON. */
export function checkOutput(text: string): void {
  if (!/^[{[]\s/.test(text)) return
  parseOutput(text)
}
