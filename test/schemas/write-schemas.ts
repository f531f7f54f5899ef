import { writeFileSync } from 'node:fs'
import { outputNames, renderSchema, schemaFile } from './schemas.js'

for (const name of outputNames) {
  writeFileSync(schemaFile(name), renderSchema(name))
  console.log(schemaFile(name).pathname)
}
