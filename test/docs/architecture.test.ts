import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { stages } from '../architecture/stages.js'

const root = new URL('../../../', import.meta.url)
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8')
const packageJson = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

/** The cells of the table rows under a heading, without the head of the table. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n')
    .filter(line => line.startsWith('|'))
    .map(line => line.split('|').slice(1, -1))
    .map(cells => cells.map(cell => cell.trim()))
    .filter(([first = '']) => first.startsWith('`'))
}

function quotedIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
}

describe('docs/architecture.md', () => {
  it('names the stages in the order the architecture test holds', () => {
    const named = rowsUnder('Stage by stage').map(([stage = '']) => stage.replaceAll('`', '').replace('src/', ''))
    assert.deepEqual(named, [...stages])
  })

  it('names files to open that are there', () => {
    for (const [stage = '', , , open = ''] of rowsUnder('Stage by stage')) {
      for (const file of quotedIn(open)) {
        const path = `${stage.replaceAll('`', '')}/${file}`
        assert.ok(existsSync(new URL(path, root)), path)
      }
    }
  })

  it('names paths that are there', () => {
    const paths = [...page.matchAll(/`((?:src|rules|test|docs)\/[\w./-]*)`/g)].map(([, path = '']) => path)
    assert.ok(paths.length > 20)
    assert.deepEqual(
      paths.filter(path => !existsSync(new URL(path, root))),
      [],
    )
  })

  it('has each dependency once, in one of the two lists', () => {
    const rows = rowsUnder('Dependencies').map(([name = '']) => name)
    assert.deepEqual(
      rows.filter((name, index) => rows.indexOf(name) !== index),
      [],
    )
    const { dependencies, devDependencies } = packageJson
    assert.deepEqual(
      Object.keys(devDependencies).filter(name => name in dependencies),
      [],
    )
  })

  it('gives a reason and the licence of every dependency', () => {
    const rows = new Map(rowsUnder('Dependencies').map(([name = '', ...cells]) => [name.replaceAll('`', ''), cells]))
    const names = Object.keys({ ...packageJson.dependencies, ...packageJson.devDependencies }).map(name =>
      name.startsWith('@types/') ? '@types/…' : name,
    )
    assert.deepEqual([...rows.keys()].sort(), [...new Set(names)].sort())
    for (const [name, [licence, why = '']] of rows) {
      assert.ok(why.length > 10, name)
      const installed = new URL(`node_modules/${name}/package.json`, root)
      if (existsSync(installed)) assert.equal(licence, JSON.parse(readFileSync(installed, 'utf8')).license, name)
    }
  })
})
