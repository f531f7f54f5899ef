import { readFileSync } from 'node:fs'
import { problems } from '../../rules/index.js'
import { UsageError } from '../source/diagnostic.js'
import type { DefineCommand } from './command.js'
import { addOutputOptions, type OutputOptions } from './options.js'
import { writeReport } from './output.js'

/** `whofixes rules`: the problems, or the page of one. */
export const defineRules: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('rules')
    .description('the problems, or the page of one')
    .argument('[problem]', 'as in who-fixes.json')
  addOutputOptions(command, ['text', 'json']).action((problem: string | undefined, options: OutputOptions) => {
    const chosen = problems.filter(({ id }) => problem === undefined || id === problem)
    if (chosen.length === 0) {
      throw new UsageError(`no problem '${problem}'; there are ${problems.map(({ id }) => id).join(', ')}`)
    }
    const list = chosen.map(({ id, title, asks, requirement, byHand }) => ({ id, title, asks, requirement, byHand }))
    const text =
      options.format === 'json'
        ? `${JSON.stringify({ problems: list }, null, 2)}\n`
        : problem === undefined
          ? list.map(({ id, title }) => `${id.padEnd(16)} ${title}\n`).join('')
          : pageOf(problem)
    writeReport(text, options, terminal)
    finish(0)
  })
}

function pageOf(problem: string): string {
  return readFileSync(new URL(`../../../rules/${problem}.md`, import.meta.url), 'utf8')
}
