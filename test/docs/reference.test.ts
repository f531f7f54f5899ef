import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { problems } from '../../rules/index.js'
import { addressOf, commandsOf, pages, renderPage } from './reference.js'

describe('reference pages', () => {
  for (const page of pages) {
    it(`${page.path} says what the program says (npm run docs writes it)`, () => {
      assert.equal(readFileSync(addressOf(page), 'utf8'), renderPage(page))
    })
  }

  it('names every command, every option and every problem', () => {
    const [commands = '', rules = ''] = pages.map(page => readFileSync(addressOf(page), 'utf8'))
    for (const command of commandsOf()) {
      assert.ok(commands.includes(`## whofixes ${command.name()}\n`), command.name())
      for (const { flags } of command.options) assert.ok(commands.includes(`\`${flags}\``), flags)
    }
    for (const { id } of problems) assert.ok(rules.includes(`(../rules/${id}.md)`), id)
  })

  it('has a page for every problem, named like it', () => {
    for (const { id, title } of problems) {
      const address = new URL(`../../../rules/${id}.md`, import.meta.url)
      assert.ok(existsSync(address), address.pathname)
      assert.ok(readFileSync(address, 'utf8').startsWith(`# ${id}: ${title}\n`), id)
    }
  })
})
