import { writeFileSync } from 'node:fs'
import { addressOf, pages, renderPage } from './reference.js'

for (const page of pages) {
  writeFileSync(addressOf(page), renderPage(page))
  console.log(`wrote ${page.path}`)
}
