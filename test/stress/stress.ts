import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { openDirectory } from '../../src/source/directory.js'
import { findAnsible } from '../conformance/ansible.js'
import { measureAll } from './limited.js'
import { type AnsibleList, comparableList, listWithAnsible } from './lists.js'
import type { Measured } from './measure.js'
import { type FoundPlaybook, findPlaybooks } from './playbooks.js'
import { type Figures, renderFigures } from './table.js'

/*
 * Other people's role trees: `npm run stress -- [--details FILE] [--no-lists] DIR…`. Each DIR is a checkout; every playbook in
 * it is read and rendered in full, and its list of tasks compared with Ansible's where that is installed. Prints tables;
 * the details are everything about each playbook, as JSON.
 */

interface Detail extends FoundPlaybook, Measured {
  readonly repository: string
  readonly ansible?: AnsibleList
  readonly equal?: boolean
}

const scratch = mkdtempSync(join(tmpdir(), 'whofixes-stress-'))
try {
  await stress(process.argv.slice(2))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function stress(args: readonly string[]): Promise<void> {
  const directories: string[] = []
  let detailsFile: string | undefined
  let withLists = true
  for (const [index, arg] of args.entries()) {
    if (arg === '--no-lists') withLists = false
    else if (args[index - 1] === '--details') detailsFile = arg
    else if (arg !== '--details') directories.push(resolve(arg))
  }
  const details: Detail[] = []
  const figures: Figures[] = []
  for (const directory of directories) {
    process.stderr.write(`${directory}\n`)
    const { figures: own, details: each } = await stressOne(directory, withLists)
    figures.push(own)
    details.push(...each)
  }
  if (detailsFile !== undefined) writeFileSync(detailsFile, JSON.stringify(details, null, 1))
  process.stdout.write(renderFigures(figures))
}

async function stressOne(directory: string, withLists: boolean): Promise<{ figures: Figures; details: Detail[] }> {
  const repository = basename(directory)
  const tree = openDirectory(directory)
  const { yamlFiles, playbooks, groups } = findPlaybooks(tree)
  // One host that every play is for.
  const inventory = join(scratch, `${repository}.ini`)
  writeFileSync(inventory, ['localhost', ...groups.flatMap(group => ['', `[${group}]`, 'localhost']), ''].join('\n'))
  const ansible = withLists ? findAnsible() : undefined
  const details: Detail[] = []
  for (const root of new Set(playbooks.map(each => each.root))) {
    const own = playbooks.filter(each => each.root === root)
    const assignment = { root: join(directory, root), playbooks: own.map(({ path }) => path), inventory }
    const measured = await measureAll(assignment)
    const lists = ansible && listWithAnsible(ansible, assignment.root, assignment.playbooks, inventory)
    for (const [index, result] of measured.entries()) {
      const playbook = own[index]
      const list = lists?.[index]
      if (playbook === undefined) continue
      const compared = list && { ansible: list, equal: comparableList(result.list) === comparableList(list.output) }
      details.push({ repository, ...playbook, ...result, ...compared })
    }
  }
  const made = details.filter(each => each.ansible?.status === 0)
  const lists = ansible && { equal: made.filter(each => each.equal).length, made: made.length }
  const revision = tree.origin.commit?.slice(0, 7) ?? ''
  return { figures: { repository, revision, yamlFiles, measured: details, lists }, details }
}
