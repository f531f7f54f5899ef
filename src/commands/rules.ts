import { readFileSync } from 'node:fs'
import { pageOfPort } from '../../rules/any_port.js'
import { problemById, problems } from '../../rules/index.js'
import { renderRulesJson } from '../reports/rules-json.js'
import { UsageError } from '../source/diagnostic.js'
import type { Problem } from '../verdicts/problem.js'
import type { DefineCommand } from './command.js'
import { addOutputOptions, type OutputOptions } from './options.js'
import { writeReport } from './output.js'
import { noProblem } from './subject.js'

/** `whofixes rules`: the problems, or the page of one. */
export const defineRules: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('rules')
    .description('the problems, or the page of one')
    .argument('[problem]', 'as in who-fixes.json')
  addOutputOptions(command, ['text', 'json']).action((problem: string | undefined, options: OutputOptions) => {
    const asked = problem === undefined ? undefined : problemById(problem)
    if (problem !== undefined && asked === undefined) {
      const names = problems.map(({ id }) => id)
      throw new UsageError(noProblem(problem, names))
    }
    const chosen = asked === undefined ? problems : [asked]
    const text =
      options.format === 'json'
        ? renderRulesJson(chosen)
        : asked === undefined
          ? chosen.map(({ id, title }) => `${id.padEnd(16)} ${title}\n`).join('')
          : pageOf(asked)
    writeReport(text, options, terminal)
    finish(0)
  })
}

function pageOf(problem: Problem): string {
  const name = problems.includes(problem) ? problem.id : 'port_N'
  return pageOfPort(readFileSync(new URL(`../../../rules/${name}.md`, import.meta.url), 'utf8'), problem)
}
