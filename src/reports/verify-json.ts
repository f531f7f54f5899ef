import { jsonText } from './json-text.js'
import { outputs } from './schemas.js'
import type { VerifyReport } from './verify.js'

/** A file of answers, or a host that should be ready, marked key by key. */
export interface VerifyJson extends VerifyReport {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.verify.schema
}

/** The marks for machines. */
export function renderVerifyJson({ file, kind, host, keys }: VerifyReport): string {
  const json: VerifyJson = { schema: outputs.verify.schema, file, kind, host, keys }
  return jsonText(json)
}
