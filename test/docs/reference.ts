import { readFileSync } from 'node:fs'
import type { Argument, Command, Option } from 'commander'
import { problems } from '../../rules/index.js'
import { defineProgram, loadAllCommands } from '../../src/commands/command-line.js'
import { addAnalysisOptions, addOutputOptions } from '../../src/commands/options.js'
import { outputs } from '../../src/reports/schemas.js'
import { fileNameOf, outputNames } from '../schemas/published.js'
import { readSchema } from '../schemas/valid.js'

/** A page of docs/ whose part between the two marks is rendered from the program itself. */
export interface Page {
  readonly path: string
  readonly render: () => string
}

export const pages: readonly Page[] = [
  { path: 'docs/commands.md', render: renderCommands },
  { path: 'docs/rules.md', render: renderRules },
  { path: 'docs/json.md', render: renderOutputs },
]

const begin = '<!-- from here on written by `npm run docs` -->'

/** The page's address from the emitted test. */
export function addressOf(page: Page): URL {
  return new URL(`../../../${page.path}`, import.meta.url)
}

/** The page as it should be: what people wrote above the mark, and what the program says below it. */
export function renderPage(page: Page): string {
  const text = readFileSync(addressOf(page), 'utf8')
  const at = text.indexOf(begin)
  if (at < 0) throw new Error(`${page.path}: the mark is missing: ${begin}`)
  return `${text.slice(0, at)}${begin}\n\n${page.render()}`
}

const commands = await loadAllCommands()

/** Every command as commander knows it. */
export function commandsOf(): readonly Command[] {
  return defineProgram({ out: () => {}, err: () => {}, colours: false }, commands, () => {}).commands
}

function renderCommands(): string {
  const shared = addOutputOptions(addAnalysisOptions(commandsOf()[0]?.createCommand('shared') as Command), ['text'])
  const everywhere = shared.options.filter(({ long }) => long !== '--format')
  const known = new Set(everywhere.map(({ flags }) => flags))
  const sections = commandsOf().map(command => {
    const own = command.options.filter(({ flags }) => !known.has(flags))
    const analyses = everywhere.every(({ flags }) => command.options.some(option => option.flags === flags))
    const also = analyses ? own : command.options
    return [
      `## whofixes ${command.name()}`,
      '',
      sentence(command.description()),
      '',
      '```text',
      `whofixes ${[command.name(), ...command.registeredArguments.map(argumentText)].join(' ')}${command.options.length > 0 ? ' [options]' : ''}`,
      '```',
      '',
      ...command.registeredArguments.map(argument => `- \`${argumentText(argument)}\`: ${argument.description}`),
      ...also.map(optionLine),
      ...(analyses ? ['- and the [options of every analysis](#options-of-every-analysis)'] : []),
      '',
    ].join('\n')
  })
  return ['## Options of every analysis', '', ...everywhere.map(optionLine), '', ...sections]
    .join('\n')
    .replace(/\n+$/, '\n')
}

function argumentText(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name()
  return argument.required ? `<${name}>` : `[${name}]`
}

function optionLine(option: Option): string {
  const choices = option.argChoices === undefined ? '' : `: ${option.argChoices.join(', ')}`
  const first = typeof option.defaultValue === 'string' ? ` (default: ${option.defaultValue})` : ''
  return `- \`${option.flags}\`: ${option.description}${choices}${first}`
}

function renderRules(): string {
  return problems
    .map(({ id, title, asks, requirement, now, afterReboot, byHand }) =>
      [
        `## [${id}](../rules/${id}.md): ${title}`,
        '',
        `${sentence(requirement.says)} (${requirement.source})`,
        '',
        asks,
        '',
        `- looked for now: ${now.map(({ says }) => says).join('; ')}`,
        `- looked for after a reboot: ${afterReboot.map(({ says }) => says).join('; ')}`,
        '',
        'By hand:',
        '',
        '```text',
        ...byHand,
        '```',
        '',
      ].join('\n'),
    )
    .join('\n')
}

function renderOutputs(): string {
  return outputNames
    .flatMap(name => [
      `### ${name}`,
      '',
      readSchema(name).description,
      '',
      `- command: \`${outputs[name].from}\``,
      `- schema: [${fileNameOf(name)}](../schemas/${fileNameOf(name)}), address \`${outputs[name].schema}\``,
      '',
    ])
    .join('\n')
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  return capital.endsWith('.') ? capital : `${capital}.`
}
