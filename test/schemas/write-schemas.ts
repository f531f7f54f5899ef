import { writeFileSync } from 'node:fs'
import { outputNames, schemaFile } from './published.js'
import { renderSchema } from './schemas.js'

for (const name of outputNames) {
  writeFileSync(schemaFile(name), renderSchema(name))
  console.log(schemaFile(name).pathname)
}
